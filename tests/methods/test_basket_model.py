"""Baskets of nobody: bins, what goes together, and what is drawn, by examples worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from tokumei.methods.history.basket_model import (
    EDGES,
    BasketModel,
    ItemValues,
    bins_of,
    brought_along,
    drawn_of_bins,
)

N_BINS = len(EDGES) - 1
COLUMNS = ["customer", "date", "item", "price", "quantity"]


def of_one_bin(number: int) -> np.ndarray:
    made = np.zeros(N_BINS)
    made[bins_of([number])] = 1
    return made


def model(**changes: object) -> BasketModel:
    """Customers of two baskets of one item in March 2011: a three times in four, b else; a costs 1 and b 2 or 4."""
    costs = [1.0, 2.0, 4.0]
    cells = pl.DataFrame({"code": [0, 1, 1], "low": costs, "high": costs, "weight": [1.0, 1.0, 1.0]})
    pieces = pl.DataFrame({"code": [0, 1], "low": [3.0, 4.0], "high": [3.0, 6.0], "weight": [1.0, 1.0]})
    made = BasketModel(
        names=pl.Series(["a", "b"]),
        baskets=of_one_bin(2),
        sizes=of_one_bin(1),
        first_month=2011 * 12 + 2,
        months=np.array([1.0]),
        weekdays=np.array([0, 0, 0, 0, 0, 1.0, 0]),
        hours=None,
        returns=np.zeros(N_BINS),
        items=np.array([3.0, 1.0]),
        brings=sparse.csr_array((2, 2)),
        season=None,
        prices=ItemValues.of(cells, 2),
        quantities=ItemValues.of(pieces, 2),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def test_bins_begin_with_the_numbers_that_the_docs_name() -> None:
    assert EDGES[:8].tolist() == [1, 2, 3, 4, 6, 8, 11, 16]
    assert bins_of([1, 2, 3, 4, 5, 6, 10, 11]).tolist() == [0, 1, 2, 3, 3, 4, 5, 6]


def test_numbers_drawn_of_a_bin_lie_in_it_and_fall_as_one_over_the_number() -> None:
    bins = np.full(40_000, int(bins_of([4])[0]))
    drawn = drawn_of_bins(bins, np.random.default_rng(1))
    assert set(drawn) == {4, 5}
    # log(5 / 4) / log(6 / 4); six standard deviations are .015.
    assert (drawn == 4).mean() == pytest.approx(0.5503, abs=0.015)


def test_items_that_go_together_bring_each_other_as_worked_out_by_hand() -> None:
    counts = np.array([100.0, 100.0])
    alone, brings = brought_along(counts, sparse.csr_array([[0, 80.0], [80.0, 0]]), n_pairs=0)
    assert alone.tolist() == [60, 60]
    # One or more come with chance .8 / 1.2.
    assert 1 - np.exp(-brings.toarray()[0, 1]) == pytest.approx(2 / 3)
    assert brings.toarray()[0, 0] == 0


def test_items_that_meet_as_often_as_by_chance_bring_nothing() -> None:
    # Of 4 × 100 baskets with an item each pair is expected in 160 / 12 = 13.3 of both ways.
    counts, pairs = np.full(4, 100.0), (np.ones((4, 4)) - np.eye(4)) * 13
    alone, brings = brought_along(counts, sparse.csr_array(pairs), n_pairs=160)
    assert brings.nnz == 0
    assert alone.tolist() == counts.tolist()


def test_customers_have_the_baskets_the_days_and_the_items_of_the_model() -> None:
    drawn = model().draw(4_000, np.random.default_rng(1), COLUMNS)
    assert drawn.height == 8_000
    assert drawn.group_by("customer").len()["len"].unique().to_list() == [2]
    # The Saturdays of March 2011, two of them of each customer where there is room.
    assert drawn["date"].dt.to_string().unique().sort().to_list() == [f"2011-03-{day:02}" for day in (5, 12, 19, 26)]
    assert (drawn.group_by("customer").agg(pl.col("date").n_unique())["date"] == 2).sum() > 3_900
    assert (drawn["item"] == "a").mean() == pytest.approx(0.75, abs=0.03)
    assert drawn.filter(pl.col("item") == "a").select("price", "quantity").unique().rows() == [(1.0, 3)]
    of_b = drawn.filter(pl.col("item") == "b")
    assert set(of_b["price"]) == {2.0, 4.0}
    assert set(of_b["quantity"]) == {4, 5}


def test_what_returns_surely_is_all_that_a_customer_has() -> None:
    drawn = model(returns=np.ones(N_BINS)).draw(500, np.random.default_rng(1), COLUMNS)
    assert drawn.group_by("customer").agg(pl.col("item").n_unique())["item"].unique().to_list() == [1]


def test_season_says_which_item_a_month_has() -> None:
    season = np.array([[4 / 3, 0.0], [0.0, 4.0]])
    drawn = model(months=np.array([1.0, 1.0]), season=season).draw(500, np.random.default_rng(1), COLUMNS)
    assert set(drawn.select(pl.col("date").dt.month(), "item").rows()) == {(3, "a"), (4, "b")}


def test_calibrated_model_has_items_and_pairs_as_often_as_they_were_counted() -> None:
    """Of 1,000 baskets of three of twelve items 250 have each item; a and b are in 200 together."""
    n = 12
    counts = np.full(n, 250.0)
    pairs = np.zeros((n, n))
    pairs[0, 1] = pairs[1, 0] = 200
    alone, brings = brought_along(counts, sparse.csr_array(pairs), n_pairs=6_000)
    made = model(
        names=pl.Series([f"i{at:02}" for at in range(n)]),
        baskets=of_one_bin(1),
        sizes=of_one_bin(3),
        items=alone,
        brings=brings,
        prices=None,
        quantities=None,
    ).calibrated(counts, sparse.csr_array(pairs), seed=1)
    drawn = made.draw(10_000, np.random.default_rng(2), ["customer", "date", "item"])
    share = drawn["item"].value_counts(sort=True)["count"] / 10_000
    assert share.to_list() == pytest.approx([0.25] * n, abs=0.03)
    both = drawn.filter(pl.col("item").is_in(["i00", "i01"])).group_by("customer").len()["len"] == 2
    assert both.sum() / 10_000 == pytest.approx(0.2, abs=0.03)


def test_item_without_values_has_those_of_others() -> None:
    cells = pl.DataFrame({"code": [1], "low": [2.5], "high": [2.5], "weight": [4.0]})
    values = ItemValues.of(cells, 3)
    assert values.draw(np.array([0, 1, 2]), 2, np.random.default_rng(1)).tolist() == [2.5, 2.5, 2.5]
