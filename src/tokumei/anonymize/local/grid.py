"""A public grid for ranges of numbers, so that the ends of a range say nothing of who is in the group.

A range from the smallest to the largest member of a group tells two of its values exactly (Cohen and Nissim 2020). On a
grid a range consists of whole cells. Where the cells lie follows from what is published anyway or from many rows at
once: the number of rows and columns, k, how the numbers are rounded, and between which numbers all but the outermost
rows lie. A range inside one cell is a half of it, or a half of a half, cut at a round number near the middle.
"""

from __future__ import annotations

import bisect
import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tokumei.hierarchy.hierarchy import Hierarchy
from tokumei.hierarchy.labels import joined_whole, number_label
from tokumei.hierarchy.leaves import read_number

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

# A typical group is so many cells wide: fewer widen its range, more tell where its outermost members are.
CELLS_PER_GROUP = 12
# A cell holds so many of the numbers that there could be, where the column has enough of them.
NUMBERS_PER_CELL = 5
# The whole column has at least so many cells, and at most so many between its outermost rows.
FEWEST_CELLS, MOST_CELLS = 4, 65_536
# The share of rows at either end beyond which cells get wider.
TAIL = 0.025
# How many cells lie between a number far out and the outermost rows: a tail is told with this precision.
CELLS_TO_TAIL = 4
# A column is rounded to a unit if so large a share of its distinct numbers is a multiple of it.
ROUNDED = 0.95
# A level of a given hierarchy serves as the grid if its cells are between half and so many times as wide as wanted.
NEAR_WIDTH = 2.5
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
    # From which to which number a part reaches, by its first and its last leaf.
    ends: Mapping[tuple[int, int], tuple[Fraction, Fraction]]
    # Whether a range holds its upper end.
    is_closed: bool

    def spans_cells(self, low: Ints, high: Ints) -> Bools:
        """Say for runs of leaves whether they lie in several cells."""
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
            ends = self.ends[of_first][0], self.ends[of_last, int(self.last[0, last])][1]
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
    return Grid(own, own, _LeafEnds(leaves), is_closed=True)


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
            self._read[first] = _exact(self._leaves[first])
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
    return grid_of_numbers([_exact(leaf) for leaf in hierarchy.leaves], rows, k=k, n_columns=n_columns, given=hierarchy)


def grid_of_numbers(
    exact: Sequence[Fraction], rows: Ints, *, k: int, n_columns: int, given: Hierarchy | None = None
) -> Grid:
    """Choose the grid of numbers in ascending order, with how many rows have each."""
    numbers = np.array([float(one) for one in exact])
    low, high = _bulk(numbers, rows, k)
    n_rows = max(1, int(rows.sum()))
    typical = (high - low) * min(1.0, k / n_rows) ** (1 / max(1, n_columns))
    wanted = max(typical / CELLS_PER_GROUP, (high - low) / MOST_CELLS)
    unit = _unit(exact)
    step = _step(wanted, high - low, unit)
    is_whole = unit.denominator == 1 and all(one.denominator == 1 for one in exact)
    level = None if given is None else _near_level(given, numbers, float(step))
    if level is None:
        bounds = _bounds(step, low, high, exact[0], exact[-1])
    else:
        # A cell begins with its first leaf and ends before the first of the next.
        bounds = [*(exact[at] for at in level), exact[-1] + (1 if is_whole else unit)]
    cells = _filled(exact, numbers, bounds)
    first, last, ends = _halved(exact, cells, is_whole=is_whole)
    return Grid(first, last, ends, is_closed=is_whole)


def _bulk(numbers: Floats, rows: Ints, k: int) -> tuple[float, float]:
    """Return the numbers between which all but the outermost rows lie, at least k of them at each end."""
    n_rows = int(rows.sum())
    n_out = max(k, math.ceil(TAIL * n_rows))
    if 2 * n_out < n_rows:
        upto = np.cumsum(rows)
        first, last = np.searchsorted(upto, [n_out, n_rows - n_out + 1])
        if numbers[first] < numbers[last]:
            return float(numbers[first]), float(numbers[last])
    # Most rows have one number, or there are few: then distinct numbers tell how far they spread.
    n_out = min(math.ceil(TAIL * len(numbers)), (len(numbers) - 1) // 2)
    return float(numbers[n_out]), float(numbers[-1 - n_out])


def _unit(numbers: Sequence[Fraction]) -> Fraction:
    """Return the power of ten that nearly all of the numbers are multiples of."""
    digits = sorted(_trailing(one) for one in numbers if one)
    return Fraction(10) ** digits[int((1 - ROUNDED) * len(digits))] if digits else Fraction(1)


def _trailing(number: Fraction) -> int:
    """Return the largest e such that a number is a multiple of 10^e.

    >>> _trailing(Fraction(1200)), _trailing(Fraction("0.25"))
    (2, -2)
    """
    whole, _, decimals = number_label(abs(number)).partition(".")
    return -len(decimals) if decimals else len(whole) - len(whole.rstrip("0"))


def _step(wanted: float, width: float, unit: Fraction) -> Fraction:
    """Round a step to 1, 2 or 5 times a power of ten: a few units, and no fewer than a few cells in the column."""
    step = max(_nearest_round(wanted), _nearest_round(float(unit) * NUMBERS_PER_CELL))
    while step > 2 * unit and float(step) * FEWEST_CELLS > width:
        step = _finer(step)
    return step


def _nearest_round(number: float) -> Fraction:
    """Return 1, 2 or 5 times a power of ten, whichever is nearest by its ratio."""
    if number <= 0:
        return Fraction(0)
    power = Fraction(10) ** math.floor(math.log10(number))
    return min((power * factor for factor in (1, 2, 5, 10)), key=lambda one: abs(math.log(float(one) / number)))


def _finer(step: Fraction) -> Fraction:
    """Return the next smaller round step: 5 → 2 → 1 → 1/2."""
    lead = step / Fraction(10) ** math.floor(math.log10(float(step)))
    return step * Fraction(2, 5) if lead == 5 else step / 2


def _near_level(hierarchy: Hierarchy, numbers: Floats, step: float) -> list[int] | None:
    """Return the first leaf of each cell of the level whose cells are about as wide as wanted, if there is one."""
    found: list[tuple[float, list[int]]] = []
    for level in hierarchy.levels[1:]:
        starts = np.flatnonzero(np.append(True, np.diff(level.codes) != 0))
        # A label that stands for several stretches of numbers is no cell.
        if len(starts) != len(level) or len(level) < FEWEST_CELLS:
            continue
        width = float(np.median(np.diff(numbers[starts])))
        if step / 2 <= width <= step * NEAR_WIDTH:
            found.append((abs(math.log(width / step)), starts.tolist()))
    return min(found)[1] if found else None


def _bounds(step: Fraction, low: float, high: float, least: Fraction, most: Fraction) -> list[Fraction]:
    """Return where cells begin, from one at or below the least number to one above the greatest."""
    start, end = math.floor(Fraction(low) / step), math.floor(Fraction(high) / step) + 1
    bounds = [index * step for index in range(start, end + 1)]
    while bounds[-1] <= most:
        bounds.append(_outward(bounds[-1], bounds[-1] - end * step, step))
    below = [-bounds[0]]
    while below[-1] < -least:
        below.append(_outward(below[-1], below[-1] + start * step, step))
    return [*(-one for one in reversed(below[1:])), *bounds]


def _outward(bound: Fraction, distance: Fraction, step: Fraction) -> Fraction:
    """Return the bound after one that lies so far outside: the next multiple of a round step that grows outward."""
    size = step
    wanted = float(distance) / CELLS_TO_TAIL
    if wanted > 2 * step:
        size = max(step, _nearest_round(wanted))
    return (math.floor(bound / size) + 1) * size


@dataclass(frozen=True)
class _Part:
    """The leaves from first to last, which lie from `low` up to, but without, `end`."""

    first: int
    last: int
    low: Fraction
    end: Fraction


def _filled(exact: Sequence[Fraction], numbers: Floats, bounds: Sequence[Fraction]) -> list[_Part]:
    """Return the cells between the bounds that hold a leaf."""
    nearest = np.array([float(one) for one in bounds])
    cell = np.searchsorted(nearest, numbers, side="right") - 1
    # Numbers too near to a bound for a float to tell them apart are compared exactly.
    for leaf in np.flatnonzero(nearest[cell] == numbers).tolist():
        if exact[leaf] < bounds[cell[leaf]]:
            cell[leaf] -= 1
    starts = np.flatnonzero(np.append(True, np.diff(cell) != 0))
    lasts = np.append(starts[1:] - 1, len(exact) - 1)
    return [
        _Part(first, last, bounds[at], bounds[at + 1])
        for first, last, at in zip(starts.tolist(), lasts.tolist(), cell[starts].tolist(), strict=True)
    ]


def _halved(
    exact: Sequence[Fraction], cells: Sequence[_Part], *, is_whole: bool
) -> tuple[Codes, Codes, dict[tuple[int, int], tuple[Fraction, Fraction]]]:
    """Halve cells until every part holds one leaf, and return the outermost leaves of parts at each depth."""
    ends: dict[tuple[int, int], tuple[Fraction, Fraction]] = {}
    firsts: list[Codes] = []
    lasts: list[Codes] = []
    parts = list(cells)
    while True:
        starts = np.array([one.first for one in parts])
        lengths = np.array([one.last - one.first + 1 for one in parts])
        firsts.append(np.append(np.repeat(starts, lengths), len(exact)).astype(np.int32))
        lasts.append(np.append(np.repeat(starts + lengths - 1, lengths), len(exact)).astype(np.int32))
        for one in parts:
            ends.setdefault((one.first, one.last), (one.low, one.end - 1 if is_whole else one.end))
        if len(firsts) == MOST_DEPTHS or (lengths == 1).all():
            return np.array(firsts), np.array(lasts), ends
        parts = [half for one in parts for half in _halves(exact, one)]


def _halves(exact: Sequence[Fraction], part: _Part) -> list[_Part]:
    """Cut a part of several leaves near its middle; where one half would hold none, the other half is cut."""
    while part.first < part.last:
        middle = _round_middle(part.low, part.end)
        cut = bisect.bisect_left(exact, middle, part.first, part.last + 1)
        if part.first < cut <= part.last:
            return [_Part(part.first, cut - 1, part.low, middle), _Part(cut, part.last, middle, part.end)]
        low, end = (part.low, middle) if cut > part.last else (middle, part.end)
        part = _Part(part.first, part.last, low, end)
    return [part]


def _round_middle(low: Fraction, end: Fraction) -> Fraction:
    """Return the roundest number in the middle third between two, the nearest to the middle if there are several.

    >>> [int(_round_middle(Fraction(a), Fraction(b))) for a, b in ((0, 1000), (20, 25), (200, 500))]
    [500, 22, 400]
    """
    middle, third = (low + end) / 2, (end - low) / 6
    step = Fraction(10) ** math.ceil(math.log10(float(end - low)))
    while True:
        below = math.floor(middle / step) * step
        near = [one for one in (below, below + step) if abs(one - middle) <= third]
        if near:
            return min(near, key=lambda one: abs(one - middle))
        step = _finer(step)


def _exact(leaf: str) -> Fraction:
    number = read_number(leaf)
    assert number is not None  # noqa: S101 - the leaves of a numeric attribute were read before.
    return number
