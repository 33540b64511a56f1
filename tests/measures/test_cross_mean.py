from __future__ import annotations

import polars as pl

from tokumei.data.table import Table
from tokumei.measures.table.row_by_row import CrossMean

ROWS = pl.Series([0, 1, 2, 3])
ORIGINAL = pl.DataFrame(
    {"q": ["a", "a", "b", "b"], "r": ["x", "y", "x", "y"], "s": [0.0, 0, 2, 2], "t": [10.0, 30, 10, 30]}
)


def table(frame: pl.DataFrame) -> Table:
    return Table.with_quasi_identifiers(frame, ["q", "r"], sensitive=["s", "t"])


def test_cross_mean_counts_moved_and_empty_cells() -> None:
    # Four cells of one row each, two means in each. One s moves by half a standard deviation; cell b, y is empty.
    released = ORIGINAL.head(3).with_columns(s=pl.Series([0.5, 0, 2]))
    assert CrossMean().measure(table(ORIGINAL), table(released), ROWS).value == (0.5 + 1 + 1) / 8


def test_cross_mean_within_a_cell_does_not_see_who_has_what() -> None:
    original = Table.with_quasi_identifiers({"q": ["a", "a", "b"], "s": [1, 3, 5]}, ["q"], sensitive=["s"])
    released = Table.with_quasi_identifiers({"q": ["b", "a", "a"], "s": [5, 2, 2]}, ["q"], sensitive=["s"])
    assert CrossMean().measure(original, released, ROWS).value == 0


def test_cross_mean_of_a_cell_that_only_the_release_has_is_not_compared() -> None:
    original = Table.with_quasi_identifiers({"q": ["a", "b", "b"], "s": [1, 3, 3]}, ["q"], sensitive=["s"])
    released = Table.with_quasi_identifiers({"q": ["a", "b", "c"], "s": [1, 3, 3]}, ["q"], sensitive=["s"])
    assert CrossMean().measure(original, released, ROWS).value == 0
