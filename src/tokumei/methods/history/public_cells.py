"""Aligned rows written as public cells, whose ranges and sets say nothing of who is in the group.

A range from the least to the greatest value of a group tells two of its purchases exactly, and a set of exactly the
items that occur tells all of them. Here ranges consist of whole cells of a grid: weeks, months, quarters or years of
the calendar, and round steps of prices and quantities as tables have them. Sets consist of whole parts of the item
list. Cells and parts follow from the whole history: its first and last month, how many rows it has, how its numbers are
rounded, and between which numbers all but the outermost rows lie.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.data.cells import Kind, RangeCells, SetCells
from tokumei.data.files.released_histories import LARGEST_SET
from tokumei.data.release import DELETED, GeneralizedHistory
from tokumei.methods.history.alignment import (
    GRID,
    ITEMS_A_PART,
    N_COLUMNS,
    Floats,
    Indices,
    Purchases,
    line_costs,
    range_costs,
)
from tokumei.methods.local.grid import CELLS_PER_GROUP, Grid, grid_of_numbers

# A part of a cell is cut no finer than so many values that occur in the history: of two both would have to occur.
FEWEST_VALUES = 3
# A range ends where the last number of its cell may lie; of numbers with more digits, where the next cell begins.
MOST_DIGITS = 6
# Days of the calendar's cells, by the names that Polars has for them.
CALENDAR = {"1w": 7.0, "1mo": 30.4, "1q": 91.3, "1y": 365.2}


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one column: for each value in the history, its cell and the finer parts of it, from low to high.

    `values` ascend. `part`, `low` and `high` have a line each depth, from whole cells to the finest parts.
    """

    values: Floats
    part: Indices
    low: Floats
    high: Floats

    def cover(self, least: Floats, greatest: Floats) -> tuple[Floats, Floats]:
        """Return the ends of the least ranges that hold the given ones; a single value stays as it is."""
        first, last = np.searchsorted(self.values, least), np.searchsorted(self.values, greatest)
        depth = np.maximum((self.part[:, first] == self.part[:, last]).sum(axis=0) - 1, 0)
        is_one = least == greatest
        return np.where(is_one, least, self.low[depth, first]), np.where(is_one, greatest, self.high[depth, last])


@dataclass(frozen=True, eq=False)
class PublicCells:
    """The cells of each column of GRID, and the items in alphabetical order in parts, by their numbers from 1 on."""

    columns: tuple[Cells, ...]
    items: list[str]

    @classmethod
    def of(cls, raw: Floats, kept: npt.NDArray[np.bool_], items: list[str], *, k: int) -> PublicCells:
        """Choose the cells for the rows that are kept of a history, whose numbers come in the order of GRID."""
        columns = []
        for name, numbers in zip(GRID, raw, strict=True):
            values, n_rows = np.unique(numbers[kept], return_counts=True)
            choose = _calendar if name == "date" else _steps
            columns.append(choose(values, n_rows.astype(np.int64), k))
        return cls(tuple(columns), items)

    @property
    def n_parts(self) -> int:
        """How many parts the item list has, which are of the same size or larger by one."""
        return max(1, len(self.items) // ITEMS_A_PART)

    def part_of(self, items: Indices) -> Indices:
        """Return the part of each item; of 0, which is no item, that of the first."""
        parts: Indices = np.maximum(items - 1, 0) * self.n_parts // max(1, len(self.items))
        return parts

    def fill(self, items: Indices) -> list[str]:
        """Return the items of all parts that hold one of the given items; a single item stays as it is."""
        if len(items) == 1:
            return [self.items[items[0] - 1]]
        n_items, parts = len(self.items), np.unique(self.part_of(items)).tolist()
        # The first item whose part is p is the least i with i · n_parts / n_items ≥ p.
        starts = ((-(-part * n_items // self.n_parts), -(-(part + 1) * n_items // self.n_parts)) for part in parts)
        return [self.items[at] for start, end in starts for at in range(start, end)]


def in_parts(purchases: Purchases, cells: PublicCells | None) -> Purchases:
    """Return purchases that are aligned by parts of the item list, if sets consist of these."""
    return purchases if cells is None else replace(purchases, parts=cells.part_of(purchases.items))


def _calendar(days: Floats, n_rows: Indices, k: int) -> Cells:
    """Choose weeks, months, quarters or years for days since 1970, within the months of the history."""
    if not len(days):
        return _single(days)
    typical = (days[-1] - days[0]) * min(1.0, k / n_rows.sum()) ** (1 / N_COLUMNS) / CELLS_PER_GROUP
    every = min(CALENDAR, key=lambda one: abs(np.log(CALENDAR[one] / max(typical, 1.0))))
    date = pl.Series(days).cast(pl.Int32).cast(pl.Date)
    start = date.dt.truncate(every)
    low, high = (one.cast(pl.Int32).cast(pl.Float64).to_numpy() for one in (start, start.dt.offset_by(every)))
    least, greatest = (float(one.cast(pl.Int32)[0]) for one in (date[:1].dt.month_start(), date[-1:].dt.month_end()))
    part = np.unique(low, return_inverse=True)[1].astype(np.int64)
    return Cells(days, part[None, :], np.maximum(low, least)[None, :], np.minimum(high - 1, greatest)[None, :])


def _steps(values: Floats, n_rows: Indices, k: int) -> Cells:
    """Choose round steps, as a table has them."""
    if len(values) < 2:
        return _single(values)
    # Through the text, since a price of 0.1 is meant to be a tenth.
    texts = [repr(value) for value in values.tolist()]
    exact = [Fraction(text) for text in texts]
    grid = grid_of_numbers(texts, n_rows, k=k, n_columns=N_COLUMNS)
    unit = _unit(exact)
    ends = [[_possible(one, unit, is_closed=grid.is_closed) for one in line] for line in _ends(grid, len(values))]
    low, high = (np.array([[float(one[at]) for one in line] for line in ends]) for at in (0, 1))
    if exact[0] > 0:
        # Nobody needs to be told that nothing costs 0, and the contest of 2018 takes no such end.
        low = np.maximum(low, float(unit))
    return Cells(values, grid.first[:, :-1].astype(np.int64), low, high)


def _unit(numbers: list[Fraction]) -> Fraction:
    """Return the power of ten that all numbers are multiples of; 0 where it is too fine to be one."""
    parts = math.lcm(*(one.denominator for one in numbers))
    return next((Fraction(1, 10**digits) for digits in range(MOST_DIGITS + 1) if 10**digits % parts == 0), Fraction(0))


def _possible(ends: tuple[Fraction, Fraction], unit: Fraction, *, is_closed: bool) -> tuple[Fraction, Fraction]:
    """Return the first and the last number that can lie between two ends; a range ends with numbers, not beside them.

    >>> [str(one) for one in _possible((Fraction("0.005"), Fraction("0.035")), Fraction("0.01"), is_closed=False)]
    ['1/100', '3/100']
    """
    low, end = ends
    if is_closed or not unit:
        return ends
    return math.ceil(low / unit) * unit, (math.ceil(end / unit) - 1) * unit


def _ends(grid: Grid, n_values: int) -> list[list[tuple[Fraction, Fraction]]]:
    """Return the ends of the part of each value at each depth; parts of few values are those one depth above."""
    lines: list[list[tuple[Fraction, Fraction]]] = []
    for depth in range(len(grid.first)):
        first, last = grid.first[depth, :n_values].tolist(), grid.last[depth, :n_values].tolist()
        told = grid.ends if lines else grid.cells
        lines.append(
            [
                lines[-1][at] if lines and end - start + 1 < FEWEST_VALUES else told[start, end]
                for at, (start, end) in enumerate(zip(first, last, strict=True))
            ]
        )
    return lines


def _single(values: Floats) -> Cells:
    """Return the cell of at most one value, which is written as it is."""
    return Cells(values, np.zeros((1, len(values)), np.int64), values[None, :], values[None, :])


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
    # A column that the history lacks has no value to write.
    for rows in alignments if truth.null_count() < len(truth) else ():
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
