"""Columns as pieces: nothing rare is written, and what is written looks as the column did."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import CannotAnonymize
from tokumei.methods.perturbing.perturbation import Original
from tokumei.methods.synthetic.columns import read_column, read_numbers


def original(values: Any, numeric: tuple[str, ...] = ()) -> Original:
    return Original(pl.DataFrame({"x": values}), (), numeric)


def test_numbers_become_shared_values_and_ranges_as_in_the_docstring() -> None:
    column = read_column(original([20, 30, 30, 40, 90]), "x", 2, np.random.default_rng(0))
    assert column.low is not None
    assert column.high is not None
    assert (column.low.tolist(), column.high.tolist()) == ([30, 40], [30, 65])
    assert column.pieces.tolist() == [0, 0, 0, 1, 1]
    drawn = column.write(np.array([0, 1] * 50), np.random.default_rng(1))
    assert drawn.dtype == pl.Int64
    assert set(drawn[::2]) == {30}
    assert drawn[1::2].is_between(40, 65).all()


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=60), st.integers(1, 6))
def test_piece_stands_for_enough_rows_and_stays_inside_the_numbers(values: list[int], rare: int) -> None:
    column = read_column(original(values), "x", rare, np.random.default_rng(0))
    counts = np.bincount(column.pieces, minlength=column.n_pieces)
    assert counts.min() >= min(rare, len(values))
    drawn = column.write(column.pieces, np.random.default_rng(0))
    assert drawn.is_between(min(values), max(values)).all()
    # Pieces ascend with the numbers.
    order = np.argsort(values, kind="stable")
    assert (np.diff(column.pieces[order]) >= 0).all()


def test_extreme_of_one_row_is_never_written() -> None:
    values = [*range(100), 10_000]
    column = read_column(original(values), "x", 5, np.random.default_rng(0))
    drawn = column.write(np.repeat(column.pieces, 20), np.random.default_rng(0))
    # The mean of the five largest: 96 to 99 and 10,000.
    assert drawn.max() <= (96 + 97 + 98 + 99 + 10_000) / 5  # type: ignore[operator]


WRITTEN = {
    "whole": ["1", "20", "300"],
    "decimals": ["1.50", "2.00", "10.25"],
    "ragged": ["1.5", "2", "10.25"],
    "days": ["2020-02-29", "2021-12-31", "2020-01-01"],
    "moments": ["2020-02-29 23:59:00", "2021-12-31 00:00:00", "2020-01-01 12:30:00"],
    "hundreds": ["100", "2500", "300"],
    "negative": ["-1", "0", "5"],
}


@pytest.mark.parametrize("name", WRITTEN)
def test_text_of_numbers_is_written_as_it_was_read(name: str) -> None:
    column = read_column(original(WRITTEN[name] * 2, ("x",)), "x", 2, np.random.default_rng(0))
    assert column.is_number
    assert column.write(column.pieces, np.random.default_rng(0)).to_list() == WRITTEN[name] * 2


@pytest.mark.parametrize(
    "values",
    [
        pl.Series([1.5, 2.25, None] * 2),
        pl.Series(["2020-01-01", "2020-03-01"] * 2).str.to_date(),
        pl.Series(["2020-01-01 10:00", "2020-03-01 11:30"] * 2).str.to_datetime("%Y-%m-%d %H:%M"),
        pl.Series([True, False, None] * 2),
        pl.Series(["a", "b", None] * 2, dtype=pl.Categorical),
        pl.Series([1, 2] * 2, dtype=pl.UInt8),
        pl.Series([None, None]),
    ],
)
def test_types_and_missing_values_survive(values: pl.Series) -> None:
    values = values.alias("x")
    column = read_column(original(values), "x", 2, np.random.default_rng(0))
    made = column.write(column.pieces, np.random.default_rng(0))
    assert made.cast(pl.String).to_list() == values.cast(pl.String).to_list()
    assert made.dtype == values.dtype


def test_code_with_leading_zeros_is_a_label() -> None:
    assert read_numbers(original(["007", "010"]), "x") is None


def test_rare_label_becomes_another_and_a_column_of_names_is_refused() -> None:
    column = read_column(original(["a"] * 5 + ["b"]), "x", 2, np.random.default_rng(0))
    assert column.labels == ("a",)
    assert column.pieces.tolist() == [0] * 6
    with pytest.raises(CannotAnonymize, match="No value of column x has 2 rows"):
        read_column(original(["Ann", "Bob"]), "x", 2, np.random.default_rng(0))
