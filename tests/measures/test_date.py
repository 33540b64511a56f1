from __future__ import annotations

import datetime

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.measures.utility.purchases import Date


def on_days(*days: int | None, month: int = 1) -> History:
    dates = [None if day is None else datetime.date(2011, month, day) for day in days]
    frame = pl.DataFrame({"date": dates}, schema={"date": pl.Date})
    is_kept = pl.col("date").is_not_null()
    return History.of(
        frame.with_columns(
            customer=pl.when(is_kept).then(pl.lit("a")),
            item=pl.when(is_kept).then(pl.lit("x")),
            price=pl.when(is_kept).then(1.0),
            quantity=pl.when(is_kept).then(1),
        )
    )


def test_days_moved_either_way_add_up_and_a_deleted_row_adds_nothing() -> None:
    assert Date().measure(on_days(1, 10, 20, 5), on_days(4, 3, 20, None)).value == pytest.approx(10 / (31 * 4))


def test_dates_beyond_their_month_stop_at_1() -> None:
    assert Date().measure(on_days(1), on_days(1, month=6)).value == 1


def test_all_rows_deleted_moves_nothing() -> None:
    assert Date().measure(on_days(1, 2), on_days(None, None)).value == 0


def test_release_with_other_rows_is_refused() -> None:
    with pytest.raises(InputError, match="as many rows as the original, 2"):
        Date().measure(on_days(1, 2), on_days(1))
