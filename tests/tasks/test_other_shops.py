"""Shops unlike the contests': weighed goods, visits, several releases a year."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tokumei as tk
from tokumei.attacks.judge import judge, published
from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.core.errors import InputError
from tokumei.data.files.reading import AS_IT_IS
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.methods.pipeline import pipeline_of
from tokumei.reports.evaluation import default_grid, possible_ways
from tokumei.tasks.anonymize_history import write_history_on_engine
from tokumei.tasks.measure_history import measure_history


@pytest.fixture(scope="module")
def greengrocer() -> History:
    """Return a shop that sells by weight."""
    rows = make_retail(30, n_rows=900, seed=3)
    weighed = pl.col("quantity") * 0.125 + 0.003 * pl.col("price").round(0)
    return History.of(rows.with_columns(quantity=weighed.round(3)))


@pytest.mark.parametrize("attack", list(HISTORY_ATTACKS))
def test_every_attack_takes_quantities_with_decimals(greengrocer: History, attack: str) -> None:
    release = tk.anonymize(greengrocer, method="pseudonyms", lifetime=12, seed=1)
    known = greengrocer.known(1.0, seed=1, item_characters=None)
    done = tk.attack(known, release, attack)
    assert done.success is not None
    assert 0 <= done.success["row"]["value"] <= 1
    if attack in ("linkage", "tfidf", "jaccard"):
        assert done.success["row"]["value"] >= 0.9


@pytest.mark.parametrize("method", ["perturb", "delete", "permute-groups", "pseudonyms", "roll-up"])
def test_methods_leave_quantities_with_decimals_what_they_are(greengrocer: History, method: str) -> None:
    options: dict[str, Any] = {"bound": 0.6} if method == "permute-groups" else {}
    release = tk.anonymize(greengrocer, method=method, seed=1, **options)
    assert release.frame.schema["quantity"] == pl.Float64
    left = release.frame["quantity"].drop_nulls()
    assert (left != left.round(0)).any()


def test_several_releases_of_a_year_are_attacked_as_one(greengrocer: History) -> None:
    first, second = greengrocer.periods[:6], greengrocer.periods[6:]
    seen, truth = [], []
    for number, months in enumerate((first, second), 1):
        half = History(greengrocer.frame.filter(greengrocer.period.is_in(months)))
        release = tk.anonymize(half, method="pseudonyms", lifetime=12, seed=number)
        # Pseudonyms of one release say nothing in the other, so they must differ.
        rows = published(release.history, seed=1).frame
        seen.append(rows.with_columns(customer=f"{number}/" + pl.col("customer")))
        truth.append(release.truth.with_columns(pseudonym=f"{number}/" + pl.col("pseudonym")))
    guesses = HISTORY_ATTACKS.make("linkage").guess(greengrocer.known(0.5, seed=1), History(pl.concat(seen)))
    found = judge(guesses, pl.concat(truth), greengrocer.customers, greengrocer.periods)
    assert found.row.value >= 0.9


@pytest.fixture(scope="module")
def gym() -> History:
    """Return visits: who came when to which course, without prices and quantities."""
    rows = make_retail(30, n_rows=900, seed=4)
    return History(rows.select("customer", "date", "item"))


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_rows_that_give_most_away_are_deleted_of_visits_by_what_they_have(
    gym: History, engine: str, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"telling": 0.2, "once": False, "price_deviations": 0.0}
    if engine == "local":
        released = tk.anonymize(gym, method="delete", seed=1, **options).history.frame
    else:
        gym.frame.select("customer", "date", "item").write_parquet(tmp_path / "T.parquet")
        steps = pipeline_of({"step": [{"method": "delete", **options}, {"method": "pseudonyms", "lifetime": 12}]})
        out = tmp_path / "A.parquet"
        write_history_on_engine(
            tmp_path / "T.parquet", steps, {"out": out}, out=out, engine=engine, reading=AS_IT_IS, seed=1
        )
        released = pl.read_parquet(out)
    group = pl.col("item").str.slice(0, 2)
    alike = gym.frame.select(pl.col("customer").n_unique().over("date", group)).to_series()
    is_gone = released["customer"].is_null()
    assert is_gone.sum() == round(0.2 * gym.n_rows)
    # Those deleted share day and kind of course with no more customers than any that stays.
    assert alike.filter(is_gone).max() <= alike.filter(~is_gone).min()  # type: ignore[operator]


def test_every_usual_way_is_tried_on_visits(gym: History) -> None:
    ways, left_out = possible_ways(default_grid(gym.absent), gym)
    assert len(ways) > 30
    assert not left_out


def test_deleting_by_price_says_that_visits_have_none(gym: History) -> None:
    without = "column price, which delete needs; --set price_deviations=0 does without"
    with pytest.raises(InputError, match=without):
        tk.anonymize(gym, method="delete", seed=1)


@pytest.fixture(scope="module")
def bank() -> History:
    """Return bookings of accounts: debits are below 0, some are huge, and nothing has a quantity."""
    rows = make_retail(12, n_rows=300, seed=5).with_row_index("row")
    amount = pl.when(pl.col("row") % 3 == 0).then(pl.col("price")).otherwise(-pl.col("price"))
    amount = pl.when(pl.col("row") % 50 == 0).then(250_000.5).when(pl.col("row") % 49 == 0).then(0.0).otherwise(amount)
    return tk.History(rows.select("customer", "date", "item", price=amount))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["perturb", "dummies", "pseudonyms"])
def test_bookings_below_0_are_measured_alike_here_and_on_an_engine(bank: History, method: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"quantities": 0} if method == "perturb" else {}
    release = tk.anonymize(bank, method=method, seed=1, **options)
    release.save(tmp_path / "A.parquet")
    bank.frame.select("customer", "date", "item", "price").write_parquet(tmp_path / "T.parquet")
    here = tk.measure(bank, release).to_dict()
    there = measure_history(tmp_path / "T.parquet", tmp_path / "A.parquet", engine="duckdb").to_dict()
    assert here["left_out"] == there["left_out"]
    assert here["scores"].keys() == there["scores"].keys()
    for name, score in here["scores"].items():
        assert there["scores"][name]["value"] == pytest.approx(score["value"], abs=1e-9), name
    # What needs a quantity is not measured, and what needs its own row only where there is one.
    assert here["left_out"]["item-item"] == "the history has no quantity"
    assert ("so that no row stands beside its own" in here["left_out"].get("price", "")) == (method == "dummies")
    if method == "pseudonyms":
        # Of what was published it can still be told how many rows are gone.
        gone = measure_history(bank, History(release.frame.head(225)))
        assert gone.scores["rows"].value == 0.25
        assert "price" in gone.left_out
    if method == "perturb":
        assert 0 < here["scores"]["price"]["value"] < 0.05
        assert (release.frame["price"].sign() == bank.frame["price"].sign()).all()
