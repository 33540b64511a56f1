from __future__ import annotations

import datetime

import polars as pl
import pytest

from tokumei.attacks.history.plain_attacks import ExactMatch
from tokumei.core.errors import InputError
from tokumei.data.history import History


def history(*rows: tuple[str, str, str, float, int]) -> History:
    frame = pl.DataFrame(list(rows), schema=["customer", "date", "item", "price", "quantity"], orient="row")
    return History.of(frame.with_columns(pl.col("date").str.to_date()))


PUBLISHED = history(
    ("P", "2011-01-05", "22728", 3.75, 6),
    ("Q", "2011-01-05", "22999", 3.75, 6),
    ("R", "2011-02-01", "22728", 3.75, 1),
)


def test_last_published_row_that_agrees_counts() -> None:
    known = history(("a", "2011-01-05", "22", 9.0, 6))
    assert ExactMatch(("date", "quantity")).guess(known, PUBLISHED).rows() == [("a", 24132, "Q")]


def test_last_known_row_that_finds_someone_counts() -> None:
    known = history(
        ("a", "2011-01-05", "22", 3.75, 6), ("a", "2011-01-09", "22", 3.75, 1), ("a", "2011-01-10", "99", 1, 1)
    )
    assert ExactMatch(("item", "price", "quantity")).guess(known, PUBLISHED).rows() == [("a", 24132, "R")]


def test_items_agree_on_the_characters_that_are_known() -> None:
    known = history(("a", "2011-01-05", "227", 3.75, 6))
    assert ExactMatch(("item",)).guess(known, PUBLISHED).rows() == [("a", 24132, "R")]


def test_unknown_field_is_refused() -> None:
    with pytest.raises(InputError, match="a field: date, item, price, quantity"):
        ExactMatch(("day",)).guess(PUBLISHED, PUBLISHED)


def test_knowledge_is_the_share_of_rows_asked_for_with_items_cut() -> None:
    day = datetime.date(2011, 1, 1)
    rows = pl.DataFrame({"customer": [f"c{n}" for n in range(100)]}).with_columns(
        date=pl.lit(day), item=pl.lit("22728"), price=pl.lit(1.0), quantity=pl.lit(1)
    )
    known = History.of(rows).known(0.25, seed=3, draw="uniform")
    assert known.n_rows == 100
    assert known.kept.height == 25
    assert set(known.kept["item"]) == {"22"}
    assert History.of(rows).known(0.25, seed=3, draw="uniform").frame.equals(known.frame)
    assert not History.of(rows).known(0.25, seed=4, draw="uniform").frame.equals(known.frame)
