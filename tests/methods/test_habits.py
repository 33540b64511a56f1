"""What habits tell of dealt purchases, by hand on groups of two, and that it tells nothing where there are none."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import tokumei as tk
from tokumei.data.history import History
from tokumei.methods.history.habits import known_by_habits, told_by_habits
from tokumei.methods.history.permute_groups import PermuteGroups


def shop_of(*rows: tuple[str, str, int]) -> History:
    columns = {name: [row[at] for row in rows] for at, name in enumerate(("customer", "item", "quantity"))}
    return tk.History(pl.DataFrame(columns).with_columns(date=pl.lit("2011-05-02"), price=1.0))


def test_purchases_are_given_to_whoever_buys_the_like_and_at_random_where_nobody_does() -> None:
    shop = shop_of(("a", "tea", 1), ("a", "tea", 1), ("b", "oil", 1), ("b", "rye", 1), ("c", "tea", 1))
    groups = PermuteGroups(bound=0.7).group(shop)
    assert groups.labels.tolist() == [0, 0, -1]
    # Both teas of the group are a's: whoever bought the other. Nobody bought another oil or rye: one of two each.
    assert told_by_habits(shop, groups, np.arange(4)) == pytest.approx((1 + 1 + 0.5 + 0.5) / 4)
    # And c is open.
    assert known_by_habits(shop, groups, np.arange(4)) == pytest.approx((1 + 3) / 5)
    # Learned from the teas alone, the others are anybody's; from nothing, all are.
    assert told_by_habits(shop, groups, np.array([2, 3]), np.array([0, 1])) == pytest.approx(1)
    assert told_by_habits(shop, groups, np.arange(4), np.array([], np.int64)) == pytest.approx(1 / 2)


def test_quantities_tell_who_buys_by_the_dozen() -> None:
    rows = [(who, f"i{at}{who}", n) for who, n in (("a", 1), ("b", 12)) for at in range(5)]
    shop = shop_of(*rows, ("c", "tea", 1))
    groups = PermuteGroups(bound=0.7).group(shop)
    assert told_by_habits(shop, groups, np.arange(10)) == 1
    # Of classes of quantities nobody has a common one, so that nobody can be grouped.
    assert PermuteGroups(bound=1, within="quantity").group(shop).members == []


@pytest.mark.parametrize("columns", [["item", "quantity"], ["item"], []])
def test_without_habits_nothing_is_told(columns: list[str]) -> None:
    rng = np.random.default_rng(5)
    rows = [(f"c{who}", f"i{rng.integers(4)}", int(rng.integers(1, 4))) for who in range(8) for _ in range(500)]
    shop = shop_of(*rows)
    shop = tk.History(shop.frame.select("customer", "date", *columns))
    groups = PermuteGroups(bound=0.25).group(shop)
    blind = sum(len(one) * 500 / len(one) for one in groups.members) / 4_000
    # Within four standard deviations.
    assert told_by_habits(shop, groups, np.arange(4_000)) == pytest.approx(blind, abs=4 * np.sqrt(blind / 4_000))


def test_it_is_printed_of_releases_and_predicted() -> None:
    shop = shop_of(*[(f"c{who}", f"i{who // 2}", 1) for who in range(10) for _ in range(3)])
    release = tk.anonymize(shop, method="permute-groups", bound=0.5, seed=1)
    [one] = tk.predict(shop, bound=0.5).predicted
    assert release.facts["known_by_habits"] == pytest.approx(one.facts["known_by_habits"])
    assert 0 < one.facts["known_by_habits"] <= 1
