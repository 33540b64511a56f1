"""Correlations and distributions before and after, worked out by hand."""

from __future__ import annotations

import polars as pl
import pytest

from tokumei.data.history import History
from tokumei.data.table import Table
from tokumei.tasks.measure_table import correlations, history_before_after


def test_correlations_before_and_after_are_those_of_the_definition() -> None:
    numbers = ["1", "2", "3", "4"]
    table = Table(pl.DataFrame({"a": numbers, "b": numbers}), ["a", "b"])
    released = pl.DataFrame({"a": numbers, "b": ["1-2", "1-2", "3-4", "3-4"]})
    # As in the example of the measure: means 1.5, 1.5, 3.5, 3.5 and the variance as before.
    assert correlations(table, released) == [
        {"columns": ["a", "b"], "before": pytest.approx(1.0), "after": pytest.approx(0.8)}
    ]


def test_table_with_one_column_of_numbers_has_no_correlations() -> None:
    frame = pl.DataFrame({"a": ["1", "2"], "b": ["x", "y"]})
    assert correlations(Table(frame, ["a", "b"]), frame) == []


def history() -> History:
    rows = {
        "customer": ["a", "a", "b", "b"],
        "date": ["2020-01-01", "2020-01-31", "2020-02-01", "2020-03-01"],
        "item": ["tea", "tea", "tea", "rice"],
        "price": [1.0, 2.0, 3.0, 4.0],
        "quantity": [1, 1, 1, 1],
    }
    return History.of(pl.DataFrame(rows).with_columns(pl.col("date").str.to_date()))


def test_history_has_shares_of_rows_on_both_sides() -> None:
    released = pl.DataFrame(
        {"date": ["2020/1/5", "2020-02-03"], "item": ["tea", "{rice;tea}"], "price": ["1", "[1;4]"]}
    )
    found = history_before_after(history(), released)
    assert found["date"] == [
        {"value": "2020-01", "before": 0.5, "after": 0.5},
        {"value": "2020-02", "before": 0.25, "after": 0.5},
        {"value": "2020-03", "before": 0.25, "after": 0.0},
    ]
    assert found["item"][0] == {"value": "tea", "before": 0.75, "after": 0.5}
    # A generalized price is in no interval.
    assert found["price"][-1] == {"value": None, "before": 0.0, "after": 0.5}
    assert "quantity" not in found


def test_release_without_a_row_has_no_shares() -> None:
    empty = pl.DataFrame({"date": [], "item": []}, schema={"date": pl.String, "item": pl.String})
    found = history_before_after(history(), empty)
    assert [one["after"] for one in found["item"] if one["value"]] == [0.0, 0.0]
