"""Aligned rows written as cells that fit every member of a group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import polars as pl

from tokumei.data.cells import Kind, RangeCells, SetCells
from tokumei.data.files.generalized import LARGEST_SET
from tokumei.data.generalized import DELETED, GeneralizedHistory
from tokumei.methods.generalizing.alignment import line_costs, range_costs
from tokumei.methods.generalizing.public_cells import Cells, PublicCells
from tokumei.methods.generalizing.purchases import GRID, Indices, Purchases


def write_groups(
    original: pl.DataFrame,
    purchases: Purchases,
    alignments: Sequence[Indices],
    pseudonyms: Mapping[str, str],
    cells: PublicCells | None = None,
) -> GeneralizedHistory:
    """Write aligned rows alike, under the pseudonyms of their customers; all other rows are deleted.

    cells: what ranges and sets consist of; if not given they are tight, of exactly what occurs.
    """
    is_kept = np.zeros(original.height, dtype=bool)
    is_kept[np.concatenate([rows.ravel() for rows in alignments])] = True
    named = original["customer"].replace_strict(pseudonyms, default=None, return_dtype=pl.String)
    customer = pl.DataFrame({"name": named, "kept": is_kept}).select(
        pl.when("kept").then("name").otherwise(pl.lit(DELETED)).alias("customer")
    )["customer"]
    date, price, quantity = (
        _ranges(original[column], purchases, alignments, number)
        if cells is None
        else _cell_ranges(original[column], cells.columns[number], float(purchases.width[number] / width), alignments)
        for number, (column, width) in enumerate(GRID.items())
    )
    items = original["item"].to_list()
    fill = (lambda line: sorted({items[row] for row in line})) if cells is None else _in_parts(purchases, cells)
    return GeneralizedHistory(customer, date, _sets(len(items), alignments, fill), price, quantity)


def _ranges(truth: pl.Series, purchases: Purchases, alignments: Sequence[Indices], number: int) -> RangeCells:
    """Write one column of ranges, from the least value of each line to the greatest."""
    values = purchases.values[number]
    # The bounds are taken over as rows of the original, so that no arithmetic can move them off the truth.
    low, high = np.full(len(truth), -1), np.full(len(truth), -1)
    for rows in alignments:
        line = np.arange(len(rows))
        costs = line_costs(values[rows], float(purchases.width[number]))
        # A range that costs as much as a star still tells more; the hair is rounding.
        is_written = (costs <= rows.shape[1] + 1e-9)[:, None]
        low[rows] = np.where(is_written, rows[line, values[rows].argmin(axis=1)][:, None], -1)
        high[rows] = np.where(is_written, rows[line, values[rows].argmax(axis=1)][:, None], -1)
    bounds = pl.DataFrame({"low": low, "high": high}).select(
        pl.when(pl.col(bound) >= 0).then(pl.col(bound)).alias(bound) for bound in ("low", "high")
    )
    return _range_cells(truth.gather(bounds["low"]), truth.gather(bounds["high"]))


def _cell_ranges(truth: pl.Series, cells: Cells, scale: float, alignments: Sequence[Indices]) -> RangeCells:
    """Write one column of ranges that consist of public cells.

    scale: what a unit of the column costs, one over its standard deviation.
    """
    values = truth.to_physical().cast(pl.Float64).to_numpy()
    low, high = np.full(len(truth), np.nan), np.full(len(truth), np.nan)
    for rows in alignments:
        least, greatest = cells.cover(values[rows].min(axis=1), values[rows].max(axis=1))
        costs = range_costs(least, greatest, values[rows], GRID[truth.name]) * scale
        is_written = costs <= rows.shape[1] + 1e-9
        low[rows] = np.where(is_written, least, np.nan)[:, None]
        high[rows] = np.where(is_written, greatest, np.nan)[:, None]
    ends = (pl.Series(one).fill_nan(None) for one in (low, high))
    whole = pl.Int32 if truth.dtype == pl.Date else truth.dtype
    return _range_cells(*(one.cast(whole).cast(truth.dtype) for one in ends))


def _range_cells(low: pl.Series, high: pl.Series) -> RangeCells:
    """Return the cells from some ends to others, suppressed where these are missing."""
    cells = pl.DataFrame({"low": low, "high": high})
    kind = (
        pl.when(pl.col("low").is_null())
        .then(Kind.SUPPRESSED.value)
        .when(pl.col("low") < pl.col("high"))
        .then(Kind.RANGE.value)
        .otherwise(Kind.VALUE.value)
    )
    return RangeCells(cells.select(kind.cast(pl.UInt8).alias("kind"))["kind"], cells["low"], cells["high"])


def _in_parts(purchases: Purchases, cells: PublicCells) -> Callable[[Sequence[int]], list[str]]:
    """Return what fills the set of a line with whole parts, each made once."""
    filled: dict[tuple[int, ...], list[str]] = {}

    def fill(line: Sequence[int]) -> list[str]:
        items = np.unique(purchases.items[list(line)])
        key = tuple(items.tolist())
        if key not in filled:
            filled[key] = cells.fill(items)
        return filled[key]

    return fill


def _sets(n_rows: int, alignments: Sequence[Indices], fill: Callable[[Sequence[int]], list[str]]) -> SetCells:
    """Write the items of each line as a set in alphabetical order, so that the order tells nothing."""
    members: list[list[str] | None] = [None] * n_rows
    for rows in alignments:
        for line in rows.tolist():
            items = fill(line)
            for row in line if len(items) <= LARGEST_SET else ():
                members[row] = items
    column = pl.Series("members", members, pl.List(pl.String))
    size = pl.col("members").list.len()
    kind = (
        pl.when(size.is_null())
        .then(Kind.SUPPRESSED.value)
        .when(size > 1)
        .then(Kind.SET.value)
        .otherwise(Kind.VALUE.value)
    )
    return SetCells(pl.DataFrame({"members": column}).select(kind.cast(pl.UInt8).alias("kind"))["kind"], column)
