"""The account of a budget across releases: worked by hand, kept in a file, refused when it is gone."""

from __future__ import annotations

import math
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tokumei as tk
from tokumei.core.errors import InputError, NotAllowed
from tokumei.hierarchies.builders.from_data import FromData
from tokumei.methods.synthetic.account import Account, Spending, spend
from tokumei.methods.synthetic.private_noise import epsilon_of, rho_of

PEOPLE = pl.DataFrame({"sex": ["f", "m"] * 20, "age": [20, 30, 40, 50] * 10})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "account.toml"
    path.write_text("epsilon = 1\ndelta = 1e-9\n")
    return path


def test_account_of_the_docstring() -> None:
    pure = Account(1.0, 0.0, "key").spend(Spending.pure(0.5, "dp-counts")).spend(Spending.pure(0.5, "dp-counts"))
    assert pure.spent_epsilon == 1.0
    assert pure.left_epsilon == 0.0
    with pytest.raises(NotAllowed, match="ε = 1 is spent; one at ε = 0 or less"):
        pure.spend(Spending.pure(0.01, "dp-counts"))
    mixed = Account(1.0, 1e-9, "key").spend(Spending(rho_of(0.5, 1e-9)))
    assert mixed.spent_rho == pytest.approx(0.0040, abs=1e-4)
    assert mixed.left_epsilon == pytest.approx(0.852, abs=1e-3)


def test_rho_adds_up_and_releases_without_a_delta_count_by_the_smaller_sum() -> None:
    account = Account(3.0, 1e-9, "key", (Spending(0.01), Spending.pure(0.1, "dp-counts")))
    # A release at ε is ε²/2 in ρ.
    assert account.spent_rho == pytest.approx(0.015)
    assert account.spent_epsilon == pytest.approx(epsilon_of(0.015, 1e-9))
    # One with ε = 1 would be ρ = 1/2, which is more than (1, 1e-9) allows; by itself it is ε = 1.
    assert Account(1.0, 1e-9, "key").spend(Spending.pure(1.0, "dp-counts")).spent_epsilon == 1.0
    with pytest.raises(NotAllowed):
        Account(1.0, 0.0, "key").spend(Spending(0.0001))


def test_releases_are_entered_and_the_one_too_many_is_refused(file: Path) -> None:
    one = spend(file, Spending(0.006, method="mst"), PEOPLE)
    two = spend(file, Spending(0.006, method="aim"), PEOPLE.head(3))
    assert [entry.method for entry in two.entries] == ["mst", "aim"]
    assert one.entries[0].data != two.entries[1].data
    before = file.read_text()
    with pytest.raises(NotAllowed, match="would still fit"):
        spend(file, Spending(0.006), PEOPLE)
    assert file.read_text() == before
    assert Account.read(file) == two
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [one.name for one in file.parent.iterdir()] == [file.name]


def test_fingerprint_is_that_of_the_rows_under_the_key_of_the_file(file: Path, tmp_path: Path) -> None:
    first, again = (spend(file, Spending(0.001), PEOPLE).entries[-1].data for _ in range(2))
    assert first == again
    other = tmp_path / "other.toml"
    other.write_text("epsilon = 1\ndelta = 1e-9\n")
    assert spend(other, Spending(0.001), PEOPLE).entries[-1].data != first


def test_two_at_a_time_wait_for_each_other(file: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: spend(file, Spending(0.001), PEOPLE), range(10)))
    assert Account.read(file).spent_rho == pytest.approx(0.01)


@pytest.mark.parametrize(
    "text",
    [
        "epsilon = 1\n",
        "delta = 0\n",
        "epsilon = 0\ndelta = 0\n",
        "epsilon = true\ndelta = 0\n",
        "epsilon = 1\ndelta = 1\n",
        "epsilon = 1\ndelta = 0\nother = 3\n",
        "epsilon = 1\ndelta = 0\n[[release]]\nrho = -1\n",
        "epsilon = nan\ndelta = 0\n",
        "not toml",
    ],
)
def test_file_that_is_no_account_is_one_clear_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "account.toml"
    path.write_text(text)
    with pytest.raises(InputError, match="two lines") as caught:
        Account.read(path)
    assert caught.value.faults[0].file == str(path)


def test_every_method_that_spends_keeps_to_one_account(file: Path) -> None:
    trees = {"sex": FromData().build("sex", PEOPLE["sex"])}
    table = tk.Table(PEOPLE, qi=["sex"], hierarchies=trees)
    counts = tk.anonymize(table, method="dp-counts", epsilon=0.1, budget=str(file))
    assert counts.facts["spent_epsilon"] == pytest.approx(0.1)
    made = tk.anonymize(table, method="mst", hold_out=0, anyway=True, epsilon=0.5, budget=str(file))
    # 0.1²/2 and what (0.5, 1e-9) is.
    rho = 0.005 + rho_of(0.5, 1e-9)
    assert made.facts["spent_epsilon"] == pytest.approx(epsilon_of(rho, 1e-9))
    assert math.isclose(Account.read(file).spent_rho, rho)
    with pytest.raises(NotAllowed):
        tk.anonymize(table, method="aim", hold_out=0, anyway=True, epsilon=0.9, budget=str(file))
    with pytest.raises(InputError, match="one of both"):
        tk.anonymize(table, method="dp-counts", budget=str(file), earlier=["recipe.json"])


def test_account_that_is_not_there_is_named(tmp_path: Path) -> None:
    options: Any = {"budget": str(tmp_path / "none.toml"), "domain": ["sex=f|m"]}
    with pytest.raises((InputError, FileNotFoundError), match=r"none\.toml"):
        tk.anonymize(tk.Table(PEOPLE, qi=["sex"]), method="mst", hold_out=0, anyway=True, **options)
