from __future__ import annotations

import polars as pl

from tokumei.data.table import Table
from tokumei.measures.table.row_by_row import CrossCount

ROWS = pl.Series([0, 1, 2])


def table(q: str, r: str) -> Table:
    return Table.with_quasi_identifiers({"q": list(q), "r": list(r)}, ["q", "r"])


def test_cross_count_is_the_sum_of_gaps_over_the_rows_of_both() -> None:
    # Cells ax, ay, bx, by have 1, 1, 1, 1 rows before and 0, 2, 1, 0 after.
    assert CrossCount().measure(table("aabb", "xyxy"), table("aab", "yyx"), ROWS).value == 3 / 7


def test_cross_count_of_tables_without_a_common_cell_is_one() -> None:
    assert CrossCount().measure(table("aa", "xx"), table("ab", "yy"), ROWS).value == 1


def test_cross_count_takes_the_mean_over_all_pairs() -> None:
    names = ["q", "r", "t"]
    original = Table.with_quasi_identifiers({"q": ["a", "b"], "r": ["x", "y"], "t": ["1", "1"]}, names)
    released = Table.with_quasi_identifiers({"q": ["a", "b"], "r": ["x", "x"], "t": ["1", "1"]}, names)
    # q × r: by became bx, 2/4. q × t: the same. r × t: y1 became x1, 2/4.
    assert CrossCount().measure(original, released, ROWS).value == (0.5 + 0 + 0.5) / 3


def test_cross_count_of_one_quasi_identifier_is_its_own_table() -> None:
    original = Table.with_quasi_identifiers({"q": ["a", "a", "b", "b"]}, ["q"])
    assert (
        CrossCount().measure(original, Table.with_quasi_identifiers({"q": ["a", "a", "b"]}, ["q"]), ROWS).value == 1 / 7
    )
