from __future__ import annotations

from datetime import date, time

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.history import SCHEMA, History, period_name

ROWS = {
    "customer": ["7", None, "12"],
    "invoice": ["0", None, "0"],
    "date": [date(2010, 12, 31), None, date(2011, 3, 1)],
    "time": [time(9, 9), None, time(10, 0)],
    "item": ["A", None, "B"],
    "price": [1.5, None, 2.0],
    "quantity": [3, None, 4],
}


def test_history_has_all_columns_in_one_order() -> None:
    history = History.of(pl.DataFrame(ROWS).select(reversed(list(ROWS))))
    assert history.frame.schema == pl.Schema(SCHEMA)
    assert history.n_rows == 3


def test_history_casts_and_adds_the_optional_columns() -> None:
    history = History.of({"customer": [7], "date": [date(2011, 1, 1)], "item": ["A"], "price": [2], "quantity": ["5"]})
    assert history.frame.row(0) == ("7", None, date(2011, 1, 1), None, "A", 2.0, 5)


def test_history_without_a_needed_column_names_it() -> None:
    with pytest.raises(InputError) as caught:
        History.of({"customer": ["1"], "date": [date(2011, 1, 1)], "item": ["A"], "price": [1.0]}, name="T")
    assert [fault.column for fault in caught.value.faults] == ["quantity"]


def test_history_with_half_a_piece_is_refused_not_rounded() -> None:
    with pytest.raises(InputError) as caught:
        History.of(ROWS | {"quantity": [3.0, None, 2.5]}, name="T")
    assert caught.value.faults[0].value == "2.5"


def test_history_with_a_value_that_does_not_fit_names_row_and_value() -> None:
    with pytest.raises(InputError) as caught:
        History.of(ROWS | {"quantity": ["3", "x", "y"]}, name="T")
    error = caught.value
    assert (error.faults[0].line, error.faults[0].column, error.faults[0].value) == (2, "quantity", "x")
    assert error.n_faults == 2


def test_kept_customers_and_periods_leave_out_deleted_rows() -> None:
    history = History.of(ROWS)
    assert history.kept.height == 2
    assert history.customers == ["12", "7"]
    assert history.period.to_list() == [24131, None, 24134]
    assert [period_name(period) for period in history.periods] == ["2010-12", "2011-01", "2011-02", "2011-03"]


def test_history_of_deleted_rows_alone_has_no_periods() -> None:
    history = History.of(pl.DataFrame(schema=SCHEMA))
    assert (history.n_rows, history.customers, history.periods) == (0, [], [])
