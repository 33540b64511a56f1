"""Columns that follow from others, computed once for all rows that are alike.

The purchases of a basket mostly stand together: runs of rows that are alike are told apart first, at a glance each, and
only their heads are compared with one another.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

NUMBER = "tokumei_number"


def once_each(rows: pl.DataFrame, compute: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.DataFrame:
    """Compute on the distinct rows, and return the result for each row.

    >>> rows = pl.DataFrame({"customer": ["a", "a", None, "a"]})
    >>> once_each(rows, lambda some: some.select(n=pl.col("customer").str.len_chars()))["n"].to_list()
    [1, 1, None, 1]
    """
    if rows.is_empty():
        return compute(rows)
    run = rows.to_struct().rle_id()
    heads = rows.filter(run != run.shift(1, fill_value=run[-1] + 1))
    distinct = heads.unique(maintain_order=True)
    numbered = distinct.with_row_index(NUMBER)
    number = heads.join(numbered, on=rows.columns, how="left", nulls_equal=True, maintain_order="left")[NUMBER]
    return compute(distinct).select(pl.all().gather(number.gather(run)))
