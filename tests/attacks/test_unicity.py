from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

from tokumei.attacks.history.singling_out import (
    ABOUT,
    EXACTNESS,
    draw_points,
    points_of,
    singled_out_from,
    unicity_curve,
)
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail

# a has 1 and 2, b has 1 and 3, c has 4 alone.
POINTS = pl.DataFrame({"customer": list("aabbc"), "point": [1, 2, 1, 3, 4]})


def drawn(**orders: tuple[int, ...]) -> pl.DataFrame:
    rows = [(who, at, point) for who, order in orders.items() for at, point in enumerate(order, 1)]
    return pl.DataFrame(rows, schema=["customer", "number", "point"], orient="row")


def test_shares_worked_out_by_hand_over_every_draw() -> None:
    by_one, by_two = [], []
    for first, second in itertools.product(((1, 2), (2, 1)), ((1, 3), (3, 1))):
        since = singled_out_from(POINTS, drawn(a=first, b=second, c=(4,)), 2).to_list()
        # Who is known by 1 is one of two; by their other point alone.
        assert since == [2 if first[0] == 1 else 1, 2 if second[0] == 1 else 1, 1]
        by_one.append(sum(one <= 1 for one in since) / 3)
        by_two.append(sum(one <= 2 for one in since) / 3)
    assert np.mean(by_one) == pytest.approx(2 / 3)
    assert np.mean(by_two) == 1


def test_who_has_fewer_points_than_somebody_else_is_never_singled_out() -> None:
    points = pl.DataFrame({"customer": list("aab"), "point": [1, 2, 1]})
    assert singled_out_from(points, drawn(a=(1, 2), b=(1,)), 3).to_list() == [2, 4]


def test_who_has_fewer_points_counts_in_one_convention_alone() -> None:
    """a and b have the items 1, 2 and 1, 3; c has 4 alone, and d has 1 alone, whom a and b hide."""
    rows = {"customer": list("aabbcd"), "item": list("121341"), "date": ["2011-05-02"] * 6}
    curve = unicity_curve(
        History.of(rows | {"price": [1.0] * 6, "quantity": [1] * 6}), "item", n_points=3, draws=4, seed=1
    )
    # By two: a and b by 2 and 3, c by 4; not d. By as many as two: a and b, of two.
    assert (curve.shares[1:], curve.n_enough, curve.shares_of_enough[1:]) == ((0.75, 0.75), (4, 2, 0), (1.0, None))


def test_fast_way_agrees_with_looking_at_every_other_customer() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        points = pl.DataFrame(
            {"customer": rng.choice(list("abcdef"), 25).tolist(), "point": rng.integers(1, 8, 25).tolist()}
        )
        points = points.unique().sort("customer", "point")
        chosen = draw_points(points, 4, seed=int(rng.integers(1_000)))
        has = {who: set(rows["point"]) for (who,), rows in points.group_by("customer")}
        plain = []
        for who in sorted(has):
            order = chosen.filter(pl.col("customer") == who)["point"].to_list()
            alone = [p for p in range(1, 5) if not any(set(order[:p]) <= has[other] for other in has if other != who)]
            plain.append(min(alone, default=5))
        assert singled_out_from(points, chosen, 4).to_list() == plain


def test_curves_rise_with_points_and_with_how_exactly_they_are_known() -> None:
    shop = History.of(make_retail(60, n_rows=2_000, seed=3))
    curves = {knows: unicity_curve(shop, knows, n_points=5, draws=2, seed=1) for knows in EXACTNESS}
    for one in curves.values():
        assert list(one.shares) == sorted(one.shares)
        assert all(low <= share <= high for share, (low, high) in zip(one.shares, one.intervals, strict=True))
    assert curves["day and item"].shares[0] > curves["month and item"].shares[0] > curves["month"].shares[0]
    assert curves["day and item"].shares[3] > 0.9


def test_points_are_counted_once_and_prices_within_a_fifth_are_one() -> None:
    rows = {"customer": ["a", "a", "b"], "date": ["2011-05-02"] * 3, "item": ["tea", "tea", "teapot"]}
    shop = History.of({**rows, "price": [1.0, 1.0, 1.05], "quantity": [1, 2, 1]})
    assert points_of(shop, "day and item").rows() == [("a", 1), ("b", 2)]
    assert points_of(shop, "day, kind of item and price to a fifth")["point"].n_unique() == 1


def test_debits_single_out_as_many_as_the_same_amounts_above_0() -> None:
    rows = make_retail(60, n_rows=2_000, seed=3)
    curves = [
        unicity_curve(History.of(one), "day, kind of item and price to a fifth", n_points=3, draws=2, seed=1).shares
        for one in (rows, rows.with_columns(price=-pl.col("price")))
    ]
    # Points are numbered by their prices, so that the draws differ.
    assert curves[0] == pytest.approx(curves[1], abs=0.1)
    prices = pl.Series("price", [5.2, 5.5, 7.0, 0.0, -5.2, -7.0])
    assert prices.to_frame().select(ABOUT)["about"].n_unique() == 5
