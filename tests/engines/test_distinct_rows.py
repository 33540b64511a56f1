"""Columns computed once for rows that are alike, held against computing them row by row."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tokumei.engines.draws import once_each

CELL = st.none() | st.sampled_from(["a", "b"])
ROWS = st.lists(st.tuples(CELL, st.none() | st.integers(0, 2)), max_size=30)


@given(ROWS)
def test_each_row_gets_what_it_would_get_alone_and_distinct_rows_are_computed_once(
    cells: list[tuple[str | None, int | None]],
) -> None:
    rows = pl.DataFrame(cells, schema={"who": pl.String, "n": pl.Int64}, orient="row")
    seen: list[tuple[str | None, int | None]] = []

    def compute(some: pl.DataFrame) -> pl.DataFrame:
        seen.extend(some.rows())
        return some.select(who=pl.format("{}!", "who"), n=pl.col("n") * 2)

    found = once_each(rows, compute)
    assert found.rows() == [(who and f"{who}!", None if n is None else 2 * n) for who, n in cells]
    assert seen == list(dict.fromkeys(cells))
