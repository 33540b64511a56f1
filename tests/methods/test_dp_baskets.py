"""Sensitivity, noise and budget of baskets under differential privacy of customers."""

from __future__ import annotations

import datetime
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tokumei as tk
from tokumei.core.errors import CannotAnonymize, InputError, NotAllowed
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.methods.history.basket_model import bins_of
from tokumei.methods.history.dp_baskets import PARTS, Added, DpBaskets
from tokumei.methods.history.drawn_customers import Baskets
from tokumei.methods.history.noisy_baskets import least_told, merged, sure
from tokumei.methods.synthetic.account import Account, Spending
from tokumei.methods.synthetic.private_noise import rho_of

N = 40_000


def wholesaler() -> History:
    """One customer with a basket of 60 items on 200 days."""
    days = [datetime.date(2011, 1, 1) + datetime.timedelta(days=one) for one in range(200)]
    rows = [("w", day, f"i{at + number:04}", 1.0 + at, 1 + at) for number, day in enumerate(days) for at in range(60)]
    return History(pl.DataFrame(rows, schema=["customer", "date", "item", "price", "quantity"], orient="row"))


def test_customer_with_everything_adds_to_no_more_cells_than_noise_is_made_for() -> None:
    method = DpBaskets(most_items=7, most_months=3, most_together=4)
    added = Added.of(Baskets.of(wholesaler()), method, np.random.default_rng(1))
    cells = method.cells()
    assert cells == {**dict.fromkeys(PARTS, 1), "months": 3, "items": 7, "prices": 7, "pairs": 10}
    assert len(added.n_baskets) == len(added.each) == len(added.later) == len(added.quantity) == 1
    assert added.months["month"].n_unique() == added.months.height == 3
    assert added.items["item"].n_unique() == added.items.height == 7
    taken = added.together.filter(pl.col("luck").rank("ordinal").over("customer") <= 4)
    assert taken["item"].n_unique() == taken.height == 4
    assert taken["basket"].n_unique() == 1


def test_customers_are_drawn_from_one_by_one() -> None:
    """With another customer the same are counted, by the same law: nobody's cells depend on others."""
    original = History.of(make_retail(30, seed=1))
    method = DpBaskets(most_items=2, most_months=1)
    added = Added.of(Baskets.of(original), method, np.random.default_rng(1))
    each = added.items.group_by("customer").len()["len"]
    assert each.max() == 2
    assert len(each) == len(added.n_baskets) == 30
    assert added.months.group_by("customer").len()["len"].unique().to_list() == [1]


@pytest.mark.parametrize("name", ["items", "baskets", "pairs"])
def test_noise_has_the_deviation_that_the_budget_allows(name: str) -> None:
    """The mean of n squares of noise lies within six of its standard errors of σ²: a σ wrong by 3 % fails."""
    rho = 0.5
    method = DpBaskets()
    noise = method.noise((), rho, seed=1)
    assert math.fsum(noise.rhos.values()) == pytest.approx(rho)
    spent = [method.cells()[one] / (2 * noise.sigma(one) ** 2) for one in PARTS]
    assert math.fsum(spent) == pytest.approx(rho)
    drawn = noise.add(name, np.zeros(N, np.int64)).astype(np.float64)
    expected = method.cells()[name] * math.fsum(PARTS.values()) / (2 * rho * PARTS[name])
    reach = 6 * expected * math.sqrt(2 / N)
    assert abs((drawn**2).mean() - expected) < reach
    assert abs(drawn.mean()) < 6 * math.sqrt(expected / N)
    # Noise of another deviation would be told apart.
    assert abs((drawn**2).mean() / 1.03**2 - expected) > reach / 2


def test_noise_of_absent_columns_is_spent_on_the_others() -> None:
    noise = DpBaskets().noise(["time", "price", "quantity"], 0.5, seed=1)
    assert {"hours", "prices", "quantities"}.isdisjoint(noise.rhos)
    assert math.fsum(noise.rhos.values()) == pytest.approx(0.5)


def test_items_of_one_customer_are_told_no_more_often_than_delta_says() -> None:
    assert least_told(10, 20, 1e-9) == pytest.approx(66.67, abs=0.01)
    # At δ′ = .1 a lone customer's four names are told in less than a tenth of the trials.
    noise = DpBaskets(most_months=4).noise((), 0.5, seed=2)
    least = least_told(noise.sigma("months"), 4, 0.1)
    told = (noise.add("months", np.ones(4 * N, np.int64)).reshape(N, 4) >= least).any(axis=1).mean()
    assert 0.02 < told < 0.1


def test_counts_that_may_be_noise_alone() -> None:
    assert merged(np.array([100.0, 12, -4, 4]), 10).tolist() == [100, 4, 4, 4]
    assert sure(np.array([100.0, 29, -4]), 10).tolist() == [100, 0, 0]
    assert sure(np.array([1.0, 2]), 10).tolist() == [0, 1]


def test_release_tells_what_is_promised_and_keeps_no_seed() -> None:
    original = History.of(make_retail(60, seed=1))
    made = tk.anonymize(original, method="dp-baskets", epsilon=5_000, delta=1e-6, hold_out=0.2)
    assert made.recipe.seed is None
    assert made.facts["seed"] is None
    assert made.facts["protects"] == "customers"
    assert made.facts["rho"] == pytest.approx(rho_of(5_000, 5e-7))
    assert made.is_made_up
    assert set(made.frame["item"]) <= set(original.frame["item"])
    # As many as there are, of whom those kept out are part.
    assert 30 <= made.facts["pseudonyms"] <= 90
    two = tk.anonymize(original, method="dp-baskets", epsilon=5_000, delta=1e-6, hold_out=0.2)
    assert not made.frame.equals(two.frame)


def test_seed_is_refused_unless_nothing_is_promised() -> None:
    original = History.of(make_retail(60, seed=1))
    with pytest.raises(InputError, match="no seed"):
        tk.anonymize(original, method="dp-baskets", epsilon=5_000, seed=1)
    both = [tk.anonymize(original, method="dp-baskets", epsilon=5_000, reproducible=True, seed=1) for _ in range(2)]
    assert both[0].frame.equals(both[1].frame)
    assert both[0].facts["promise"].startswith("void")


def test_declared_items_and_months_alone_are_drawn(tmp_path: Path) -> None:
    original = History.of(make_retail(60, seed=1))
    listed = [*original.frame["item"].value_counts(sort=True)["item"].head(3), "never bought"]
    file = tmp_path / "items.txt"
    file.write_text("\n".join(listed) + "\n")
    options: dict[str, Any] = {"epsilon": 5_000.0, "item_list": str(file), "months": "2011-01..2011-03"}
    made = tk.anonymize(original, method="dp-baskets", **options)
    assert set(made.frame["item"]) <= set(listed)
    assert set(made.frame["date"].dt.to_string("%Y-%m")) <= {"2011-01", "2011-02", "2011-03"}
    # Nothing is told by being common, so that all of δ is for the noise.
    assert made.facts["rho"] == pytest.approx(rho_of(5_000, 1e-9))


def test_few_customers_are_hidden() -> None:
    with pytest.raises(CannotAnonymize, match="are told that about"):
        tk.anonymize(History.of(make_retail(30, seed=1)), method="dp-baskets")


@pytest.mark.parametrize(
    "options",
    [
        {"epsilon": 0},
        {"delta": 1.0},
        {"most_items": 0},
        {"months": "2011"},
        {"months": "2011-03..2011-02"},
        {"months": "a..b"},
    ],
)
def test_options_beyond_their_ends_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        DpBaskets(**options)


def test_account_adds_up_the_chances_that_names_are_told(tmp_path: Path) -> None:
    file = tmp_path / "account.toml"
    file.write_text("epsilon = 5000\ndelta = 1e-6\n")
    original = History.of(make_retail(60, seed=1))
    options: dict[str, Any] = {"epsilon": 5_000.0, "delta": 1e-6, "budget": str(file)}
    made = tk.anonymize(original, method="dp-baskets", **options)
    account = Account.read(file)
    assert account.entries[0].delta == 5e-7
    assert account.spent_epsilon == pytest.approx(5_000)
    assert made.facts["releases"] == 1
    with pytest.raises(NotAllowed, match="budget does not allow"):
        tk.anonymize(original, method="dp-baskets", **options)


def test_account_without_such_chances_left_has_none_for_noise() -> None:
    account = Account(1, 1e-6, "key", (Spending(1e-4, delta=9e-7),))
    assert account.delta_of_noise == pytest.approx(1e-7)
    assert account.left_epsilon < Account(1, 1e-6, "key", (Spending(1e-4),)).left_epsilon
    assert not Account(1, 1e-6, "key", (Spending(1e-4, delta=1e-6),)).is_kept


def test_prices_are_counted_in_bins_of_hundredths() -> None:
    assert bins_of(np.array([195.0])) == bins_of([182])
