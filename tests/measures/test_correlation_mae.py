from __future__ import annotations

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.table import Table
from tokumei.measures.table.row_by_row import CorrelationMae

ROWS = pl.Series([0, 1, 2, 3])
ALIKE, CROSSED, TURNED, FLAT = [10, 10, 30, 30], [10, 30, 10, 30], [30, 30, 10, 10], [7, 7, 7, 7]


def table(t: list[int]) -> Table:
    return Table.with_quasi_identifiers({"s": [0, 0, 2, 2], "t": t}, [], sensitive=["s", "t"])


@pytest.mark.parametrize(
    ("before", "after", "error"), [(ALIKE, ALIKE, 0), (ALIKE, CROSSED, 0.5), (ALIKE, TURNED, 1), (ALIKE, FLAT, 0.5)]
)
def test_correlation_mae_is_half_the_change_of_the_correlation(
    before: list[int], after: list[int], error: float
) -> None:
    # The correlations are 1, 0, −1, and 0 where nothing varies.
    assert CorrelationMae().measure(table(before), table(after), ROWS).value == pytest.approx(error)


def test_correlation_mae_of_a_single_column_is_not_a_perfect_zero() -> None:
    one = Table.with_quasi_identifiers({"s": [1, 2]}, [], sensitive=["s"])
    with pytest.raises(InputError, match="sensitive columns of numbers, 2 or more"):
        CorrelationMae().measure(one, one, ROWS)
