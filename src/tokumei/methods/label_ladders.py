"""Wider labels for one column of a release: cells of a public grid, or nodes of its hierarchy.

A wider label stands for everything that the label before stood for, so that no label becomes false and nobody has to
see the original. Which labels there are does not depend on the rows of a class: the steps of a ladder are public.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tokumei.hierarchies.hierarchy import SUPPRESSED, Hierarchy
from tokumei.hierarchies.label_semantics import Vocabulary
from tokumei.hierarchies.labels import ENDLESS, NumberRange, interval_label, number_label, read_range
from tokumei.hierarchies.leaves import read_number
from tokumei.methods.local.grid import public_grid

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Label = str | None


class Ladder(Protocol):
    """The public labels of one column."""

    def cover(self, labels: Sequence[Label]) -> Label:
        """Return the narrowest public label that covers all of these; a single value stays as it is."""

    def wider(self, label: Label) -> Label:
        """Return the next label above one; `*` is the last."""

    def cover_costs(self, label: Label, labels: Sequence[Label]) -> Floats:
        """Estimate what covering a label and each of these others costs, from 0 to 1."""


@dataclass(frozen=True, eq=False)
class GridLadder:
    """Ranges of whole cells of a public grid, then of two, four, eight cells side by side.

    A range always consists of whole cells, also where it would fit into half of one: whoever knows how the release was
    made learns that both outermost cells have a row, and nothing of where it is in them.
    starts, ends: where each cell begins and ends, in ascending order; a cell does not hold its end.
    """

    starts: Sequence[Fraction]
    ends: Sequence[Fraction]
    is_whole: bool

    @classmethod
    def of_values(cls, hierarchy: Hierarchy, rows: Ints, *, k: int, n_columns: int) -> GridLadder:
        """Make the grid of a column from its numbers, as a method with ranges on a grid does.

        hierarchy: its leaves are the numbers in ascending order. rows: how many rows have each.
        """
        grid = public_grid(hierarchy, rows, k=k, n_columns=n_columns)
        outermost = np.unique(np.stack([grid.first[0, :-1], grid.last[0, :-1]]), axis=1).T.tolist()
        cells = [grid.ends[first, last] for first, last in outermost]
        starts = [low for low, _ in cells]
        return cls(starts, [high + 1 if grid.is_closed else high for _, high in cells], grid.is_closed)

    @classmethod
    def of_labels(
        cls, column: str, labels: Sequence[Label], rows: Sequence[int], *, k: int, n_columns: int
    ) -> GridLadder:
        """Make the grid of a column from its released labels alone, as if values lay evenly within their ranges."""
        spans = [(span, n) for label, n in zip(labels, rows, strict=True) if (span := _span(label)) is not None]
        ends = sorted({end for span, _ in spans for end in (span.low, span.high)})
        if ends[-1].denominator == 1 and all(end.denominator == 1 for end in ends) and ends[-1] - ends[0] < MOST_LISTED:
            ends = [Fraction(number) for number in range(int(ends[0]), int(ends[-1]) + 1)]
        steps = np.zeros(len(ends) + 1)
        for span, n in spans:
            first, last = bisect.bisect_left(ends, span.low), bisect.bisect_right(ends, span.high)
            steps[first] += n / (last - first)
            steps[last] -= n / (last - first)
        # Rounded so that the whole table keeps its number of rows.
        upto = np.round(np.cumsum(np.cumsum(steps[:-1]))).astype(np.int64)
        tree = Hierarchy.of_levels(column, [[number_label(end) for end in ends]])
        return cls.of_values(tree, np.diff(upto, prepend=0), k=k, n_columns=n_columns)

    def cover(self, labels: Sequence[Label]) -> Label:
        """Return the fewest whole cells that hold all of these; a single value, or a missing one, stays as it is."""
        distinct = set(labels)
        if len(distinct) == 1:
            label = next(iter(distinct))
            if label is None or read_number(label) is not None:
                return label
        cells = self._cells(distinct)
        return SUPPRESSED if cells is None else self._label(*cells)

    def wider(self, label: Label) -> Label:
        """Return the cells around a label, then twice as many cells, and so on."""
        cells = self._cells({label})
        if cells is None:
            return SUPPRESSED
        if self._label(*cells) != label:
            return self._label(*cells)
        first, last = cells
        width = 2
        while first > 0 or last < len(self.starts) - 1:
            around = first // width * width, min((last // width + 1) * width, len(self.starts)) - 1
            if around != cells:
                return self._label(*around)
            width *= 2
        return SUPPRESSED

    def cover_costs(self, label: Label, labels: Sequence[Label]) -> Floats:
        """Estimate the width of the cells that cover a label and each other one, as a share of all cells."""
        own, others = self._spans([label]), self._spans(labels)
        low, high = np.minimum(own[0], others[0]), np.maximum(own[1], others[1])
        starts, ends = self._edges
        at = np.clip(np.searchsorted(starts, low, side="right") - 1, 0, None)
        to = np.clip(np.searchsorted(ends, high, side="left"), None, len(ends) - 1)
        cost = (ends[to] - starts[at]) / (ends[-1] - starts[0])
        is_same = np.array([one == label for one in labels]) & (own[0] == own[1])
        return np.where(is_same, 0.0, np.where(np.isfinite(low) & np.isfinite(high), cost, 1.0))

    def _spans(self, labels: Sequence[Label]) -> tuple[Floats, Floats]:
        found = [_span(label) for label in labels]
        low = np.array([-np.inf if one is None else float(one.low) for one in found])
        return low, np.array([np.inf if one is None else float(one.high) for one in found])

    @cached_property
    def _edges(self) -> tuple[Floats, Floats]:
        return np.array([float(one) for one in self.starts]), np.array([float(one) for one in self.ends])

    def _cells(self, labels: set[Label]) -> tuple[int, int] | None:
        """Return the first and the last cell of the fewest that hold these; None where no cells do."""
        spans = [_span(label) for label in labels]
        if None in spans:
            return None
        known = [one for one in spans if one is not None]
        first = bisect.bisect_right(self.starts, min(one.low for one in known)) - 1
        # A range that is open above may end where a cell ends.
        last = max((bisect.bisect_left if one.is_open else bisect.bisect_right)(self.ends, one.high) for one in known)
        return None if first < 0 or last >= len(self.ends) else (first, last)

    def _label(self, first: int, last: int) -> str:
        return interval_label(self.starts[first], self.ends[last], is_whole=self.is_whole)


# Whole numbers between the ends of ranges are listed up to so many.
MOST_LISTED = 100_000


def _span(label: Label) -> NumberRange | None:
    """Return the numbers that a label stands for; None for a label of anything else, or without an end."""
    if label is None:
        return None
    number = read_number(label)
    found = read_range(label) if number is None else NumberRange(number, number)
    return None if found is None or max(abs(found.low), abs(found.high)) >= ENDLESS else found


@dataclass(frozen=True, eq=False)
class TreeLadder:
    """The nodes of a hierarchy; of a column that has none, the value or nothing."""

    vocabulary: Vocabulary

    def cover(self, labels: Sequence[Label]) -> Label:
        """Return the finest node that covers all of these; a single value, or a missing one, stays as it is."""
        distinct = set(labels)
        if len(distinct) == 1 and (next(iter(distinct)) is None or next(iter(distinct)) in self._nodes):
            return next(iter(distinct))
        return self._above(distinct, least=1)

    def wider(self, label: Label) -> Label:
        """Return the finest node that covers more than a label does."""
        if label is None or label == SUPPRESSED:
            return SUPPRESSED
        return self._above({label}, least=int(self._leaves({label}).sum()) + 1)

    def cover_costs(self, label: Label, labels: Sequence[Label]) -> Floats:
        """Return the share of all values below the finest node that covers a label and each other one."""
        least, most = self._codes([label, *labels])
        low, high = np.minimum(least[0], least[1:]), np.maximum(most[0], most[1:])
        cost = np.ones(len(labels))
        for level in range(len(self.vocabulary.hierarchy.levels) - 1, -1, -1):
            n_leaves = np.bincount(self.vocabulary.hierarchy.levels[level].codes)
            is_one = (low[:, level] == high[:, level]) & (low[:, level] >= 0)
            share = np.where(n_leaves > 1, n_leaves / self.vocabulary.n_leaves, 0.0)
            cost[is_one] = share[low[is_one, level]]
        return np.where([one is None and label is None for one in labels], 0.0, cost)

    def _codes(self, labels: Sequence[Label]) -> tuple[Ints, Ints]:
        """Return the least and the greatest node of each label at each level; what no node covers reaches over all."""
        levels = self.vocabulary.hierarchy.levels
        least, most = np.full((2, len(labels), len(levels)), -1)
        for row, label in enumerate(labels):
            found = self._leaves({label})
            if label is None or not found.any() or label == SUPPRESSED:
                most[row] = self.vocabulary.n_leaves
                continue
            for level, one in enumerate(levels):
                own = one.codes[found]
                least[row, level], most[row, level] = own.min(), own.max()
        return least, most

    def _above(self, labels: set[Label], least: int) -> str:
        """Return the finest node that covers some labels and so many leaves at least."""
        if None in labels or SUPPRESSED in labels:
            return SUPPRESSED
        found = self._leaves(labels)
        for level in self.vocabulary.hierarchy.levels if found.any() else ():
            codes = np.unique(level.codes[found])
            if len(codes) == 1 and int((level.codes == codes[0]).sum()) >= least:
                label: str = level.labels[int(codes[0])]
                return label
        return SUPPRESSED

    def _leaves(self, labels: set[Label]) -> npt.NDArray[np.bool_]:
        """Leaves of the hierarchy that each label stands for."""
        sets = self.vocabulary.leaf_sets(sorted(label for label in labels if label is not None))
        is_in = np.zeros(self.vocabulary.n_leaves + 1, bool)
        for first, end in zip(sets.first.tolist(), sets.end.tolist(), strict=True):
            is_in[first:end] = True
        out: npt.NDArray[np.bool_] = is_in[self.vocabulary.index_of_leaf]
        return out

    @cached_property
    def _nodes(self) -> frozenset[str]:
        return frozenset(label for level in self.vocabulary.hierarchy.levels for label in level.labels) | {SUPPRESSED}


def label_cost(vocabulary: Vocabulary, label: Label) -> float:
    """Return the certainty penalty of a label: the share of the values, or of their width, that it covers.

    >>> import polars as pl
    >>> ages = Vocabulary.of("age", [pl.Series([20, 25, 40])], is_numeric=True)
    >>> label_cost(ages, "20-29"), label_cost(ages, "40"), label_cost(ages, "*")
    (0.25, 0.0, 1.0)
    """
    if label is None:
        return 0.0
    sets = vocabulary.leaf_sets([label])
    if not len(sets.label):
        return 0.0
    if sets.end[-1] > vocabulary.n_leaves:
        return 1.0
    if not vocabulary.is_numeric:
        return float(sets.sizes[0]) / vocabulary.n_leaves if sets.sizes[0] > 1 else 0.0
    numbers = vocabulary.numbers
    return (numbers[int(sets.end.max()) - 1] - numbers[int(sets.first.min())]) / ((numbers[-1] - numbers[0]) or 1.0)
