from __future__ import annotations

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.table import Table
from tokumei.measures.table.row_by_row import CrossMean, MeanMae

ROWS = pl.Series([0, 1, 2, 3])


def table(s: list[float], t: list[float]) -> Table:
    return Table.with_quasi_identifiers({"q": ["a"] * len(s), "s": s, "t": t}, ["q"], sensitive=["s", "t"])


# The standard deviations are 1 and 10.
ORIGINAL = table([0, 0, 2, 2], [10, 30, 10, 30])


def test_mean_mae_is_the_shift_of_means_in_standard_deviations() -> None:
    # The mean of s moves from 1 to 1.5, that of t stays.
    assert MeanMae().measure(ORIGINAL, table([0, 0, 2, 4], [30, 30, 10, 10]), ROWS).value == 0.25


def test_mean_mae_of_a_column_far_off_is_one() -> None:
    assert MeanMae().measure(ORIGINAL, table([100, 100], [20, 20]), ROWS).value == 0.5


def test_means_of_no_column_are_left_out_and_no_perfect_zero() -> None:
    nothing = Table.with_quasi_identifiers({"q": ["a", "b"]}, ["q"])
    for part in (MeanMae(), CrossMean()):
        with pytest.raises(InputError, match="sensitive columns of numbers, 1 or more"):
            part.measure(nothing, nothing, pl.Series([0, 1]))
