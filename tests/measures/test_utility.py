from __future__ import annotations

import datetime

import polars as pl

from tokumei.data.history import History
from tokumei.engines.history_rows import rows_of
from tokumei.measures.utility.purchases import Rows, TopItems, top_items


def history(*rows: tuple[str | None, str | None]) -> History:
    frame = pl.DataFrame(list(rows), schema={"customer": pl.String, "item": pl.String}, orient="row")
    # A deleted row is missing in every column.
    when = pl.when(pl.col("customer").is_not_null())
    day = pl.lit(datetime.date(2011, 1, 1))
    return History.of(frame.with_columns(date=when.then(day), price=when.then(1.0), quantity=when.then(1)))


ORIGINAL = history(("a", "x"), ("b", "x"), ("a", "y"), ("a", "y"), ("c", "z"))


def test_rows_counts_the_share_deleted() -> None:
    released = history(("a", "x"), (None, None), ("a", "y"), ("a", "y"), ("c", "z"))
    assert Rows().measure(ORIGINAL, released).value == 0.2


def test_top_items_rank_by_buyers_and_then_by_larger_id() -> None:
    assert top_items(rows_of(ORIGINAL), 3) == ["x", "z", "y"]


def test_top_items_lost_are_counted() -> None:
    released = history(("a", "w"), ("b", "w"), ("a", "x"))
    assert TopItems(2).measure(ORIGINAL, released).value == 0.5
    assert TopItems(2).measure(ORIGINAL, ORIGINAL).value == 0
