from __future__ import annotations

from datetime import date, datetime, time

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.history import History, period_name
from tokumei.data.history_columns import SCHEMA

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


def test_history_without_customer_or_date_names_what_is_needed() -> None:
    with pytest.raises(InputError, match=r"customer=NAME.* with one of: who, item") as caught:
        History.of({"who": ["1"], "item": ["A"]}, name="T")
    assert [fault.column for fault in caught.value.faults] == ["customer", "date"]


def test_history_without_quantities_says_so_and_keeps_decimals_where_it_has_them() -> None:
    whole = History.of({"customer": ["1"], "date": [date(2011, 1, 1)], "item": ["A"], "price": [1.0]})
    assert whole.absent == ("invoice", "time", "quantity")
    halves = History.of(ROWS | {"quantity": [3.0, None, 2.5]})
    assert halves.frame["quantity"].to_list() == [3.0, None, 2.5]
    assert History.of(ROWS | {"quantity": [3.0, None, 2.0]}).frame["quantity"].dtype == pl.Int64


def test_history_takes_columns_of_any_name() -> None:
    frame = pl.DataFrame(
        {"household": [7.0, 8.0], "when": ["2011/1/2", "2011/1/3"], "product": [12, 13], "paid": [1, 2], "n": [1, 1]}
    )
    history = History(frame, customer="household", date="when", item="product", price="paid", quantity="n")
    assert history.frame.row(0) == ("7", None, date(2011, 1, 2), None, "12", 1.0, 1)


def test_moments_of_a_frame_keep_their_time() -> None:
    history = History({"customer": ["1"], "date": [datetime(2011, 1, 1, 9, 5)]})
    assert (history.frame["date"][0], history.frame["time"][0]) == (date(2011, 1, 1), time(9, 5))
    with pytest.raises(InputError, match="since there is a column of times"):
        History({"customer": ["1"], "date": [datetime(2011, 1, 1, 9, 5)], "time": [time(9, 6)]})


def test_known_rows_leave_no_customer_out_unless_uniform() -> None:
    frame = {"customer": ["a"] * 90 + [str(number) for number in range(10)], "date": [date(2011, 1, 1)] * 100}
    history = History(frame | {"item": ["ABC"] * 100})
    known = history.known(0.25, seed=1)
    assert (known.kept.height, len(known.customers)) == (25, 11)
    assert set(known.kept["item"]) == {"AB"}
    assert history.known(0.25, seed=1).frame.equals(known.frame)
    uniform = history.known(0.25, seed=1, draw="uniform", item_characters=None)
    assert uniform.kept.height == 25
    assert len(uniform.customers) < 11
    assert set(uniform.kept["item"]) == {"ABC"}
    assert history.known(0.02, seed=1).kept.height == 11
    assert history.known(1, seed=1).kept.height == 100


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
