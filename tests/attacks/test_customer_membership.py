"""Who is in a released history: what speaks for it, worked out by hand, and who is told by it."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import polars as pl
import pytest

from tokumei.attacks.history.membership import (
    BY_CUSTOMER,
    BY_ROW,
    Asked,
    best_of,
    beyond_control,
    rows_of_one,
    speak_by_rows,
    speak_for,
)
from tokumei.attacks.judge import auc_interval, auc_of, judge_membership, told_at
from tokumei.data.history import History

DAY = dt.date(2021, 3, 5)


def purchases(*rows: tuple[str, dt.date, str, float, int]) -> History:
    """Rows of customer, date, item, price and quantity."""
    columns = ("customer", "date", "item", "price", "quantity")
    return History(pl.DataFrame(rows, schema=columns, orient="row"))


def test_single_purchases_by_hand() -> None:
    """Ann's first purchase was released as it was, of the second the item in the same month; nothing of Bob's."""
    released = purchases(
        ("1", DAY, "tea", 2.0, 1),
        ("2", DAY, "tea", 3.0, 4),
        ("2", DAY.replace(day=9), "rice", 5.0, 1),
        ("1", DAY.replace(month=4), "rice", 5.0, 1),
    )
    known = purchases(
        ("ann", DAY, "tea", 2.0, 1),
        ("ann", DAY, "rice", 6.0, 1),
        ("bob", DAY, "soap", 2.0, 1),
    )
    found = speak_by_rows(known, released)
    assert {name: one.tolist() for name, one in found.items() if name != "rare-items"} == {
        "exact-row": [0.5, 0.0],
        "item-and-day": [0.5, 0.0],
        "item-month-and-price": [0.5, 0.0],
        "item-and-month": [1.0, 0.0],
    }
    # Two of four rows are tea of March, one is rice of March.
    assert found["rare-items"] == pytest.approx([(math.log(2) + math.log(4)) / 2, 0])


def test_rows_of_one_pseudonym_by_hand() -> None:
    """Ann's purchases stand under two pseudonyms, of which the second may follow the first; Bob's nowhere."""
    later = DAY.replace(month=4)
    released = purchases(("p", DAY, "tea", 2.0, 1), ("q", later, "rice", 5.0, 1), ("r", later, "rice", 5.0, 1))
    known = purchases(
        ("ann", DAY, "tea", 2.0, 1),
        ("ann", later, "rice", 5.0, 1),
        ("ann", DAY, "oil", 9.0, 1),
        ("bob", DAY, "s", 1.0, 1),
    )
    months = known.kept.select(period=known.period)["period"].unique().sort().to_list()
    assert rows_of_one(known, released, dict.fromkeys(months, 0)).tolist() == [1 / 3, 0.0]
    assert rows_of_one(known, released, {month: at for at, month in enumerate(months)}).tolist() == [2 / 3, 0.0]


def test_what_a_history_does_not_tell_is_not_compared() -> None:
    visits = pl.DataFrame({"customer": ["1"], "date": [DAY]})
    found = speak_by_rows(History(visits.with_columns(customer=pl.lit("ann"))), History(visits))
    assert found["exact-row"].tolist() == [1.0]


def test_best_pseudonyms_by_hand() -> None:
    largest, second, mean = best_of(np.log(np.array([[2.0, 4.0], [1.0, 1.0]])))
    assert largest == pytest.approx([math.log(4), 0])
    assert second == pytest.approx([math.log(2), 0])
    assert mean == pytest.approx([math.log(3), 0])
    assert best_of(np.array([[1.5]]))[1].tolist() == [0.0]


def test_people_are_held_against_others_outside_of_whom_as_much_is_known() -> None:
    spoken, n_known = np.array([1.0, 2, 3, 4]), np.full(4, 7)
    is_outside = np.array([True, True, True, False])
    beyond = beyond_control(spoken, n_known, is_outside)
    assert beyond[3] == pytest.approx(2 / math.sqrt(2 / 3))
    # Held against 2 and 3, and not against themselves.
    assert beyond[0] == pytest.approx((1 - 2.5) / 0.5)
    assert beyond_control(spoken, n_known, np.array([True, False, False, False])).tolist() == [0] * 4


def test_area_and_threshold_by_hand() -> None:
    inside, outside = np.array([3.0, 1.0]), np.array([2.0, 1.0])
    assert auc_of(inside, outside) == 0.625
    low, high = auc_interval(inside, outside)
    assert 0 <= low < 0.625 < high <= 1
    # Nobody outside may be mistaken for a member, then one of two.
    assert told_at(inside, outside, 0.01).tolist() == [True, False]
    assert told_at(inside, outside, 0.5).tolist() == [True, False]
    assert told_at(np.array([2.0]), outside, 0.01).tolist() == [False]


def test_attacker_is_chosen_by_one_half_and_counted_by_the_other() -> None:
    """One attacker is right of those who choose and wrong of those who judge; what they find counts."""
    first = np.arange(200) < 100
    outside = np.linspace(0, 1, 200)
    lucky = np.where(first, 2.0, -1.0)
    steady = np.where(np.arange(200) % 2 == 0, 2.0, -1.0)
    scores = judge_membership({"lucky": (lucky, outside), "steady": (steady, outside)}, (first, first))
    assert (scores["success"].value, scores["success"].inputs["by"]) == (0.0, "lucky")
    assert scores["success"].inputs["each"] == {"lucky": 0.5, "steady": 0.5}
    assert scores["success"].baseline == 0.01
    assert "at-0.1%" not in scores
    many = np.linspace(0, 1, 2_000)
    assert "at-0.1%" in judge_membership({"lucky": (lucky, many)}, (first, many < 0.5))


def test_all_purchases_under_one_pseudonym_say_more_than_each() -> None:
    """Each outsider's purchases were all made by somebody, but no two of them by the same."""
    n_people, n_goods = 12, 4
    goods = [
        [(DAY + dt.timedelta(days=(3 * who + n) % 20), f"{who:02}{n}") for n in range(n_goods)] for who in range(12)
    ]
    released = [(f"p{who}", day, item, 1.0, 1) for who in range(n_people) for day, item in goods[who]]
    inside = [(f"in{who:02}", day, item, 1.0, 1) for who in range(n_people) for day, item in goods[who]]
    outside = [
        (f"out{who:02}", *goods[(who + n) % n_people][n], 1.0, 1) for who in range(n_people) for n in range(n_goods)
    ]
    known = purchases(*inside, *outside)
    is_outside = np.arange(24) >= 18
    spoken = speak_for(Asked(known, 1.0, 0.0, is_outside), purchases(*released))
    assert tuple(spoken) == (*BY_ROW, *BY_CUSTOMER)
    areas = {name: auc_of(one[:12], one[12:]) for name, one in spoken.items()}
    assert areas["exact-row"] == areas["item-and-day"] == 0.5
    assert areas["likely-rows"] == pytest.approx(0.5, abs=0.2)
    assert areas["best-pseudonym"] == areas["gap-to-second"] == areas["all-pseudonyms"] == 1.0
