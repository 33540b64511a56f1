"""A public grid for ranges of numbers, so that the ends of a range say nothing of who is in the group.

A range from the smallest to the largest member of a group tells two of its values exactly (Cohen and Nissim 2020). On a
grid a range consists of whole cells. Where the cells lie follows from what is published anyway or from many rows at
once: the number of rows and columns, k, how the numbers are rounded, and between which numbers all but the outermost
rows lie. A range inside one cell is a half of it, or a half of a half, cut at a round number near the middle. Which of
these a group gets follows from its smallest and its largest number alone, and from counts of at least 2k rows.

Every part but a single value holds three possible numbers or more. A group has members in the first and the last part
below its range, or else the range would be narrower: of two possible numbers both would occur.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.labels import (
    ENDLESS,
    finer_round,
    joined_whole,
    nearest_round,
    number_label,
    read_range,
    round_middle,
    roundest,
)

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# A typical group is so many cells wide: fewer widen its range, more tell where its outermost members are.
CELLS_PER_GROUP = 12
# A cell holds so many of the numbers that could be there, where the column has enough of them: few where each has many
# rows, many where groups or numbers have few. Otherwise the outermost members of a group, whose cells are told, have
# these to themselves, and stand at the ends more often than elsewhere. No part has fewer than the fewest.
NUMBERS_IF_DENSE, NUMBERS_PER_CELL, NUMBERS_IF_SPARSE, NUMBERS_IF_RARE, FEWEST_NUMBERS = 4, 5, 10, 50, 3
# Numbers are dense, sparse or rare by how many times k rows each has on average; groups are small below so many rows.
DENSE, SPARSE, RARE, SMALL_GROUP = 25, 5, 0.5, 5
# Or so many, where even then a typical group is k cells wide: its rows leave most of these cells empty, but never the
# outermost two, so that a number at an end is likelier to be a member's than one between.
NUMBERS_IF_WIDE = 20
# The whole column has at least so many cells, and at most so many between its outermost rows.
FEWEST_CELLS, MOST_CELLS = 4, 65_536
# The share of rows at either end beyond which cells get wider.
TAIL = 0.025
# How many cells lie between a number far out and the outermost rows: a tail is told with this precision.
CELLS_TO_TAIL = 4
# A column is rounded to a unit if so large a share of its distinct numbers is a multiple of it.
ROUNDED = 0.95
# Cells end beside round numbers if so many more of the rows, as a share, stand at the ends of cells that are round,
# and at least twice k of them, since fewer would be told of by where cells lie.
HEAPED = 0.05
# How far from the round numbers they end then, in steps.
BESIDE = Fraction(3, 10)
# Steps of more units than that are not cut between two units.
FINE = 100
# A level of a given hierarchy serves as the grid if its cells are about as wide as wanted, up to so many times.
NEAR_WIDTH = 1.2
# Of numbers that differ by more digits than these, the smaller ones are nothing beside the greater.
MOST_DIGITS = 40
# How often a cell is halved at most, before only its leaves are left.
MOST_DEPTHS = 16


@dataclass(frozen=True, eq=False)
class Grid:
    """The cells of a numeric attribute, and how each is halved again and again down to its leaves.

    Leaves are in ascending order; the missing value is one more after the last, and a cell of its own. `first` and
    `last` are the outermost leaves of the part that holds each leaf: a row each depth, from whole cells to the finest
    parts.
    """

    first: Codes
    last: Codes
    # From which to which number a cell reaches, and the narrowest part, by their first and last leaves.
    cells: Mapping[tuple[int, int], tuple[Fraction, Fraction]]
    ends: Mapping[tuple[int, int], tuple[Fraction, Fraction]]
    # Whether a range holds its upper end.
    is_closed: bool

    def spans_cells(self, low: Ints, high: Ints) -> Bools:
        """Return which runs of leaves lie in several cells."""
        out: Bools = self.first[0, low] != self.first[0, high]
        return out

    def cover(self, low: Ints, high: Ints) -> tuple[Ints, Ints]:
        """Return the outermost leaves of the least range that holds each run of leaves.

        That is the leaf itself, the least part of a cell, or whole cells.
        """
        depth = np.maximum(self._depth(low, high) - 1, 0)
        is_one = low == high
        first, last = self.first[depth, low], self.last[depth, high]
        return np.where(is_one, low, first), np.where(is_one, high, last)

    def parts(self, leaves: Codes | Ints, low: Ints, high: Ints) -> Codes:
        """Return the part of each leaf one step below the least range of its run: its cell, its half or itself."""
        depth = self._depth(low, high)
        is_finest = depth == len(self.first)
        found: Codes = self.first[np.minimum(depth, len(self.first) - 1), leaves]
        return np.where(is_finest, leaves, found).astype(np.int32)

    def label(self, first: int, last: int) -> str:
        """Write the range from one leaf to another, which must be the ends of a part or of whole cells."""
        ends = self.ends.get((first, last))
        if ends is None:
            of_first, of_last = (int(self.first[0, first]), int(self.last[0, first])), int(self.first[0, last])
            ends = self.cells[of_first][0], self.cells[of_last, int(self.last[0, last])][1]
        low, high = number_label(ends[0]), number_label(ends[1])
        if not self.is_closed:
            return f"[{low}, {high})"
        if ends[0].denominator == 1 and ends[1].denominator == 1:
            return joined_whole(low, high)
        return f"[{low}, {high}]"

    def _depth(self, low: Ints, high: Ints) -> Ints:
        """Return at how many depths both ends of a run are in one part; as parts nest, these are the first."""
        out: Ints = (self.first[:, low] == self.first[:, high]).sum(axis=0)
        return out


def tight_grid(leaves: Sequence[str]) -> Grid:
    """Return the grid whose cells are the leaves, so that ranges end with values of the group."""
    own = np.arange(len(leaves) + 1, dtype=np.int32)[None, :]
    ends = _LeafEnds(leaves)
    return Grid(own, own, ends, ends, is_closed=True)


class _LeafEnds(Mapping[tuple[int, int], tuple[Fraction, Fraction]]):
    """The numbers of single leaves, each read when asked for, since there may be millions."""

    def __init__(self, leaves: Sequence[str]) -> None:
        self._leaves = leaves

    @functools.cached_property
    def _read(self) -> dict[int, Fraction]:
        return {}

    def __getitem__(self, leaves: tuple[int, int]) -> tuple[Fraction, Fraction]:
        first, last = leaves
        if first != last:
            raise KeyError(leaves)
        if first not in self._read:
            self._read[first] = Fraction(Decimal(self._leaves[first]))
        return self._read[first], self._read[first]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return ((leaf, leaf) for leaf in range(len(self._leaves)))

    def __len__(self) -> int:
        return len(self._leaves)


def public_grid(hierarchy: Hierarchy, rows: Ints, *, k: int, n_columns: int) -> Grid:
    """Choose the grid of a column of numbers: a level of its hierarchy, or round steps that widen in the tails.

    hierarchy: its leaves are numbers in ascending order.
    rows: how many rows have each leaf.
    """
    return grid_of_numbers(hierarchy.leaves, rows, k=k, n_columns=n_columns, given=hierarchy)


def grid_of_numbers(
    leaves: Sequence[str], rows: Ints, *, k: int, n_columns: int, given: Hierarchy | None = None
) -> Grid:
    """Choose the grid of numbers in ascending order, with how many rows have each."""
    column = _Column.of(leaves, rows)
    low, high = column.bulk(k)
    n_rows = max(1, int(rows.sum()))
    typical = (high - low) * min(1.0, k / n_rows) ** (1 / max(1, n_columns))
    step = column.step(typical, high - low, k)
    bounds = None if given is None else _level_bounds(given, column, step)
    if bounds is None:
        beside = column.beside(step, k)
        bounds = [one + beside for one in _bounds(step, low - beside, high - beside, column, beside)]
    cells = column.filled(bounds)
    firsts, lasts, parts = _halved(column, cells, least_rows=2 * k)
    return Grid(firsts, lasts, column.ends(cells), column.ends(parts), is_closed=column.is_whole)


@dataclass(frozen=True)
class _Part:
    """The leaves from first to last, which lie from `low` up to, but without, `end`."""

    first: int
    last: int
    low: int
    end: int


@dataclass(frozen=True, eq=False)
class _Column:
    """The numbers of the leaves as whole multiples of `1 / scale`, which is finer than they are."""

    numbers: Sequence[int]
    rows: Ints
    scale: int
    # Whether all are whole numbers, of which a range is written with its last.
    is_whole: bool

    @classmethod
    def of(cls, leaves: Sequence[str], rows: Ints) -> _Column:
        """Read the leaves exactly; digits too far behind the first are cut, downwards, as no bound has so many."""
        exact = [Decimal(leaf).normalize() for leaf in leaves]
        places = [max(0, -int(one.as_tuple().exponent)) for one in exact]
        scale = 10 ** max(1, min(1 + max(places), MOST_DIGITS - max(one.adjusted() for one in exact)))
        return cls([math.floor(Fraction(one) * scale) for one in exact], rows, scale, not any(places))

    @functools.cached_property
    def unit(self) -> int:
        """The power of ten that nearly all of the numbers are multiples of."""
        digits = sorted(_trailing(one) for one in self.numbers if one)
        return int(10 ** digits[int((1 - ROUNDED) * len(digits))]) if digits else self.scale

    @functools.cached_property
    def spacing(self) -> int:
        """How far apart possible numbers are: the unit, or more where most neighbors are further apart."""
        gaps = sorted(after - before for before, after in itertools.pairwise(self.numbers))
        return max(self.unit, gaps[len(gaps) // 2]) if gaps else self.unit

    @functools.cached_property
    def upto(self) -> Ints:
        """The rows of each leaf and of all before it."""
        return np.cumsum(self.rows)

    def n_rows(self, part: _Part) -> int:
        """Return the rows of a part."""
        return int(self.upto[part.last] - (self.upto[part.first - 1] if part.first else 0))

    def bulk(self, k: int) -> tuple[int, int]:
        """Return the numbers between which all but the outermost rows lie, at least k of them at each end."""
        n_rows, n_leaves = int(self.rows.sum()), len(self.numbers)
        n_out = max(k, math.ceil(TAIL * n_rows))
        if 2 * n_out < n_rows:
            first, last = np.searchsorted(self.upto, [n_out, n_rows - n_out + 1]).tolist()
            if first < last:
                return self.numbers[first], self.numbers[last]
        # Most rows have one number, or there are few: then distinct numbers tell how far they spread.
        n_out = min(math.ceil(TAIL * n_leaves), (n_leaves - 1) // 2)
        return self.numbers[n_out], self.numbers[-1 - n_out]

    def step(self, typical: float, width: int, k: int) -> int:
        """Round a step to 1, 2 or 5 times a power of ten: a few numbers, and no fewer than a few cells in all.

        typical: how wide a group is.
        """
        least = FEWEST_NUMBERS * self.unit
        wanted = max(typical / CELLS_PER_GROUP, width / MOST_CELLS)
        step = max(nearest_round(wanted), self._narrowest(typical, width, k))
        while finer_round(step) >= least and step * FEWEST_CELLS > width:
            step = finer_round(step)
        return max(least, least if step * FEWEST_CELLS > width else step)

    def _narrowest(self, typical: float, width: int, k: int) -> int:
        """Return the step of a few numbers that could be."""
        rows_of_number = float(self.rows.sum()) / k / max(1, width / self.spacing)
        if self.spacing == self.unit and rows_of_number >= DENSE:
            return NUMBERS_IF_DENSE * self.unit
        is_sparse = k < SMALL_GROUP or rows_of_number < SPARSE
        is_wide = typical >= k * NUMBERS_IF_WIDE * self.spacing
        least = NUMBERS_IF_WIDE if is_wide else NUMBERS_IF_SPARSE if is_sparse else NUMBERS_PER_CELL
        step = nearest_round(self.spacing * least)
        # Most of the numbers between those that occur could be, too, and make cells wide enough by themselves.
        is_rare = rows_of_number * self.unit < RARE * self.spacing
        return max(step, NUMBERS_IF_RARE * self.unit) if is_rare else step

    def beside(self, step: int, k: int) -> int:
        """Return how far beside round numbers cells begin: 0, or more where many people have just the round ones."""
        # Between two of the rounded numbers lies no other; finer ones need the bounds only away from the round ones.
        is_rounded = (not self.is_whole or self.unit > self.scale) and step <= FINE * self.unit
        beside = self.unit // 2 if is_rounded else max(1, round(step / self.unit * BESIDE)) * self.unit
        heaped = self._at_ends(step, 0) - self._at_ends(step, beside)
        return beside if heaped > HEAPED * self.rows.sum() and heaped >= 2 * k else 0

    def _at_ends(self, step: int, beside: int) -> int:
        """Count the rows whose number is an end of a cell of such a step."""
        ends = {0, step - self.scale} if self.is_whole else {0}
        is_end = [(one - beside) % step in ends for one in self.numbers]
        return int(self.rows[is_end].sum())

    def filled(self, bounds: Sequence[int]) -> list[_Part]:
        """Return the cells between the bounds that hold a leaf."""
        cells, first = [], 0
        while first < len(self.numbers):
            at = bisect.bisect_right(bounds, self.numbers[first]) - 1
            after = bisect.bisect_left(self.numbers, bounds[at + 1], first)
            cells.append(_Part(first, after - 1, bounds[at], bounds[at + 1]))
            first = after
        return cells

    def ends(self, parts: Iterable[_Part]) -> dict[tuple[int, int], tuple[Fraction, Fraction]]:
        """Return from which to which number each part reaches."""
        last = self.scale if self.is_whole else 0
        return {
            (one.first, one.last): (Fraction(one.low, self.scale), Fraction(one.end - last, self.scale))
            for one in parts
        }


def _trailing(number: int) -> int:
    """Return the largest e such that a number is a multiple of 10^e.

    >>> _trailing(1200)
    2
    """
    text = str(number)
    return len(text) - len(text.rstrip("0"))


def _level_bounds(hierarchy: Hierarchy, column: _Column, step: int) -> list[int] | None:
    """Return the bounds of the level whose cells are about as wide as wanted, if there is one.

    They are those that its labels say. Where labels are words, a bound is the roundest number between the last leaf
    of one and the first of the next, and the outermost follow from the step, since leaves may be the column's own.
    """
    found: list[tuple[float, list[int]]] = []
    for level in hierarchy.levels[1:]:
        starts = np.flatnonzero(np.append(True, np.diff(level.codes) != 0)).tolist()
        # A label that stands for several stretches of numbers is no cell.
        if len(starts) != len(level) or len(level) < FEWEST_CELLS:
            continue
        told = [read_range(level.labels[level.codes[at]]) for at in starts]
        numbers = column.numbers
        inner = []
        for one, at in zip(told[1:], starts[1:], strict=True):
            # Text that is made of the column's own values may end with any of them.
            is_told = one is not None and not one.is_open_below and (one.low * column.scale).denominator == 1
            low = int(one.low * column.scale) if is_told and one is not None else 0
            is_between = is_told and numbers[at - 1] < low <= numbers[at]
            inner.append(low if is_between else roundest(numbers[at - 1] + 1, numbers[at]))
        width = float(np.median(np.diff(inner)))
        if not step / NEAR_WIDTH <= width <= step * NEAR_WIDTH or min(np.diff(inner)) < FEWEST_NUMBERS * column.unit:
            continue
        size = max(column.unit, nearest_round(width))
        first, last = told[0], told[-1]
        low, end = inner[0] - math.ceil((inner[0] - numbers[0]) / size) * size, inner[-1]
        end += (numbers[-1] - end) // size * size + size
        if first is not None and first.low > -ENDLESS and first.low * column.scale <= numbers[0]:
            low = math.floor(first.low * column.scale)
        if last is not None and last.high < ENDLESS:
            told_end = math.ceil(last.high * column.scale) + (column.scale if column.is_whole else 0)
            end = told_end if told_end > numbers[-1] else end
        found.append((abs(math.log(width / step)), [low, *inner, end]))
    return min(found)[1] if found else None


def _bounds(step: int, low: int, high: int, column: _Column, beside: int) -> list[int]:
    """Return where cells begin, from one at or below the least number to one above the greatest."""
    start, end = low // step, high // step + 1
    bounds = [index * step for index in range(start, end + 1)]
    while bounds[-1] <= column.numbers[-1] - beside:
        bounds.append(_outward(bounds[-1], bounds[-1] - end * step, step))
    below = [-bounds[0]]
    while below[-1] < beside - column.numbers[0]:
        below.append(_outward(below[-1], below[-1] + start * step, step))
    return [*(-one for one in reversed(below[1:])), *bounds]


def _outward(bound: int, distance: int, step: int) -> int:
    """Return the bound after one that lies so far outside: the next multiple of a round step that grows outward."""
    size = step
    wanted = distance / CELLS_TO_TAIL
    if wanted > 2 * step:
        size = max(step, nearest_round(wanted))
    return (bound // size + 1) * size


def _halved(column: _Column, cells: Sequence[_Part], *, least_rows: int) -> tuple[Codes, Codes, list[_Part]]:
    """Halve cells as far as may be; return the outermost leaves of parts at each depth, and the narrowest parts."""
    narrowest: dict[tuple[int, int], _Part] = {}
    firsts: list[Codes] = []
    lasts: list[Codes] = []
    parts, n_leaves = list(cells), len(column.numbers)
    while True:
        starts = np.array([one.first for one in parts])
        lengths = np.array([one.last - one.first + 1 for one in parts])
        firsts.append(np.append(np.repeat(starts, lengths), n_leaves).astype(np.int32))
        lasts.append(np.append(np.repeat(starts + lengths - 1, lengths), n_leaves).astype(np.int32))
        halves = [_halves(column, one, least_rows) for one in parts]
        for (narrow, _), one in zip(halves, parts, strict=True):
            narrowest[one.first, one.last] = narrow
        if len(firsts) == MOST_DEPTHS or all(len(both) < 2 for _, both in halves):
            return np.array(firsts), np.array(lasts), list(narrowest.values())
        parts = [half for narrow, both in halves for half in both or [narrow]]


def _halves(column: _Column, part: _Part, least_rows: int) -> tuple[_Part, list[_Part]]:
    """Cut a part near its middle, and its half again if that holds all; return the last part that was cut, and its two.

    Nothing is cut that has too few rows to tell of, nor where less than a few possible numbers would be left.
    """
    if part.first == part.last or column.n_rows(part) < least_rows:
        return part, []
    while True:
        middle = round_middle(part.low, part.end)
        if min(middle - part.low, part.end - middle) < FEWEST_NUMBERS * column.spacing:
            return part, []
        cut = bisect.bisect_left(column.numbers, middle, part.first, part.last + 1)
        lower, upper = _Part(part.first, cut - 1, part.low, middle), _Part(cut, part.last, middle, part.end)
        if part.first < cut <= part.last:
            return part, [lower, upper]
        part = lower if cut > part.last else upper
