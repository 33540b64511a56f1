from __future__ import annotations

import polars as pl
import pytest

from tokumei.attacks.history.plain_attacks import ExactMatch
from tokumei.attacks.registry import HISTORY_ATTACKS
from tokumei.data.history import History

JANUARY, FEBRUARY = 24132, 24133


def history(*rows: tuple[str, str, str, float, int]) -> History:
    frame = pl.DataFrame(list(rows), schema=["customer", "date", "item", "price", "quantity"], orient="row")
    return History.of(frame.with_columns(pl.col("date").str.to_date()))


PUBLISHED = history(
    ("P", "2011-01-05", "22728", 3.75, 6),
    ("Q", "2011-01-05", "84029", 3.75, 2),
    ("R", "2011-01-09", "84029", 1.25, 6),
    ("S", "2011-02-01", "22728", 3.75, 2),
)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("s1", ("date", "quantity")),
        ("s2", ("item", "price")),
        ("s3", ("item", "quantity")),
        ("s4", ("date", "item")),
        ("s5", ("item", "price", "quantity")),
        ("s6", ("item", "date", "quantity")),
        ("same-day", ("date",)),
        ("same-item", ("item",)),
    ],
)
def test_sample_attacker_is_exact_match_on_its_fields(name: str, fields: tuple[str, ...]) -> None:
    known = history(
        ("a", "2011-01-05", "84", 1.25, 6), ("b", "2011-01-05", "22", 3.75, 6), ("c", "2011-02-01", "22", 3.75, 2)
    )
    guesses = HISTORY_ATTACKS.make(name).guess(known, PUBLISHED)
    assert guesses.equals(ExactMatch(fields).guess(known, PUBLISHED))
    assert ("c", FEBRUARY, "S") in guesses.rows()


def test_same_day_takes_the_last_buyer_of_the_day() -> None:
    known = history(("a", "2011-01-05", "99", 9, 9), ("b", "2011-01-06", "22", 3.75, 6))
    assert HISTORY_ATTACKS.make("same-day").guess(known, PUBLISHED).rows() == [("a", JANUARY, "Q")]


def test_same_item_looks_in_all_months_and_same_month_and_item_in_one() -> None:
    known = history(("a", "2011-01-30", "22", 9, 9))
    assert HISTORY_ATTACKS.make("same-item").guess(known, PUBLISHED).rows() == [("a", JANUARY, "S")]
    assert HISTORY_ATTACKS.make("same-month-and-item").guess(known, PUBLISHED).rows() == [("a", JANUARY, "P")]
