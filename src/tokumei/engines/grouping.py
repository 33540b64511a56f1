"""Equal rows of small whole numbers, found fast: each row is packed into one integer.

Columns are packed in mixed radix as long as the keys fit 64 bits; where they do not, the keys so far are replaced by
their ranks, which are few, and packing goes on. So any number of columns fits.

Classes over some of the columns are counted from the smallest set of columns that was counted and has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Protocol

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Indices = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]

KEY_BITS = 64
DIGIT_BITS, DIGIT_MASK = 16, 0xFFFF
# A table this many times longer than the keys is still filled faster than the keys are sorted.
DENSE_FACTOR = 2
DENSE_LEAST = 1 << 12


class Grouping(Protocol):
    """Which rows are equal. Groups are numbered in the order of their codes, the first column counting most."""

    @property
    def a_row_of(self) -> Indices:
        """One row of each group."""

    @property
    def group_of(self) -> Indices:
        """The group of each row."""

    def sums(self, weights: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Add up the weights of each group."""

    def least_sum(self, weights: npt.NDArray[np.int64]) -> int:
        """Return the smallest sum of weights, each 1 or more, of a group; 0 where there is no group."""


def group_rows(columns: Sequence[Codes], radices: Sequence[int], n_rows: int) -> Grouping:
    """Group equal rows of codes, each column's codes being smaller than its radix."""
    return group_recoded_rows(columns, [None] * len(columns), radices, n_rows)


def group_recoded_rows(
    columns: Sequence[Codes], maps: Sequence[Codes | None], radices: Sequence[int], n_rows: int
) -> Grouping:
    """Group rows that are equal after each column's codes went through its map."""
    keys, n_keys = _packed(columns, maps, radices, n_rows)
    if n_keys <= max(DENSE_LEAST, DENSE_FACTOR * n_rows):
        return TableGrouping(keys.view(np.int64), n_keys)
    return SortedGrouping.of(keys)


def count_rows(
    columns: Sequence[Codes], radices: Sequence[int], n_rows: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Return the codes of each group of equal rows, in the order of the codes, and their numbers of rows.

    Keys that hold whole rows are sorted by themselves, many times faster than rows are put in order, and read back.
    """
    if prod(radices) > 1 << KEY_BITS:
        grouping = group_rows(columns, radices, n_rows)
        rows = grouping.a_row_of
        return np.array([column[rows] for column in columns], np.int32), grouping.sums(np.ones(n_rows, np.int64))
    keys, _ = _packed(columns, [None] * len(columns), radices, n_rows)
    keys.sort()
    starts = _starts(keys)
    left = keys[starts]
    codes = np.empty((len(columns), len(starts)), np.int32)
    # The last column changes fastest.
    for index in reversed(range(len(columns))):
        radix = np.uint64(radices[index])
        rest = left // radix
        codes[index] = left - rest * radix
        left = rest
    return codes, np.diff(starts, append=n_rows)


@dataclass(frozen=True)
class TableGrouping:
    """Equal keys found by a table with an index for every possible key: best where those are few."""

    keys: Indices
    n_keys: int

    @cached_property
    def _a_row_at(self) -> Indices:
        """For each key one row that has it, or −1."""
        rows = np.full(self.n_keys, -1, np.int64)
        rows[self.keys] = np.arange(len(self.keys))
        return rows

    @cached_property
    def _used(self) -> Indices:
        return np.flatnonzero(self._a_row_at >= 0)

    @property
    def a_row_of(self) -> Indices:
        """One row of each group."""
        return self._a_row_at[self._used]

    @property
    def group_of(self) -> Indices:
        """The group of each row."""
        rank = np.empty(self.n_keys, np.int64)
        rank[self._used] = np.arange(len(self._used))
        return rank[self.keys]

    def sums(self, weights: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Add up the weights of each group."""
        # bincount adds in float64, which is exact for counts below 2^53.
        return np.bincount(self.keys, weights, self.n_keys)[self._used].astype(np.int64)

    def least_sum(self, weights: npt.NDArray[np.int64]) -> int:
        """Return the smallest sum of a group, without looking for a row of each."""
        sums = np.bincount(self.keys, weights, self.n_keys)
        return int(sums[sums > 0].min()) if len(self.keys) else 0


def radix_order(words: Sequence[npt.NDArray[np.integer]]) -> Indices:
    """Return the order of rows by words of whole numbers from 0 on, the last word counting most; ties stay.

    Sixteen bits at a time, which numpy sorts by radix, several times faster than whole words; a digit that is the same
    everywhere is skipped.
    """
    order: Indices | None = None
    for word in words:
        used = int(np.bitwise_or.reduce(word ^ word[0])) if len(word) else 0
        for shift in range(0, used.bit_length(), DIGIT_BITS):
            if used >> shift & DIGIT_MASK:
                digit = (word >> word.dtype.type(shift)).astype(np.uint16)
                rest = np.argsort(digit if order is None else digit[order], kind="stable")
                order = rest if order is None else order[rest]
    return np.arange(len(words[0])) if order is None else order


@dataclass(frozen=True)
class SortedGrouping:
    """Equal keys found by sorting: the rows in order, and where each group starts."""

    order: Indices
    starts: Indices

    @classmethod
    def of(cls, keys: Keys) -> SortedGrouping:
        """Sort the keys."""
        if not len(keys):
            return cls(np.zeros(0, np.int64), np.zeros(0, np.int64))
        order = radix_order([keys])
        return cls(order, _starts(keys[order]))

    @property
    def a_row_of(self) -> Indices:
        """One row of each group."""
        return self.order[self.starts]

    @property
    def group_of(self) -> Indices:
        """The group of each row."""
        group_of = np.empty(len(self.order), np.int64)
        sizes = np.diff(self.starts, append=len(self.order))
        group_of[self.order] = np.repeat(np.arange(len(self.starts)), sizes)
        return group_of

    def sums(self, weights: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Add up the weights of each group."""
        if not len(self.starts):
            return np.zeros(0, np.int64)
        return np.add.reduceat(weights[self.order], self.starts)

    def least_sum(self, weights: npt.NDArray[np.int64]) -> int:
        """Return the smallest sum of a group."""
        return int(self.sums(weights).min()) if len(self.starts) else 0


def _starts(ordered: Keys) -> Indices:
    """Return where each run of equal keys starts."""
    is_start = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_start[1:])
    return np.flatnonzero(is_start)


def _packed(
    columns: Sequence[Codes], maps: Sequence[Codes | None], radices: Sequence[int], n_rows: int
) -> tuple[Keys, int]:
    """Return one integer for each row, and how many different ones there could be."""
    keys = np.zeros(n_rows, np.uint64)
    n_keys = 1
    # From the last column on, so that a column's stride is known when its turn comes.
    for codes, code_map, radix in zip(reversed(columns), reversed(maps), reversed(radices), strict=True):
        if n_keys * radix > 1 << KEY_BITS:
            ranks = SortedGrouping.of(keys)
            keys, n_keys = ranks.group_of.astype(np.uint64), len(ranks.starts)
        if radix > 1:
            stride = np.uint64(n_keys)
            if code_map is None:
                keys += codes.astype(np.uint64) * stride
            else:
                # The map and the stride are one small table; mode "clip" saves numpy a pass over the codes.
                keys += np.take(code_map.astype(np.uint64) * stride, codes, mode="clip")
            n_keys *= radix
    return keys, n_keys


# A set of columns is worth counting on the way if it may have so many times fewer classes.
WORTH = 2


@dataclass(frozen=True)
class Classes:
    """Classes by the codes of some columns, by number, and their sizes."""

    codes: Mapping[int, Codes]
    sizes: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NestedClasses:
    """The classes of all columns, and those of fewer columns as they were asked for.

    Two columns of two million classes are counted from three or four that have few values, not from the two million.
    """

    whole: Classes
    radices: Mapping[int, int]
    _counted: dict[frozenset[int], Classes] = field(default_factory=dict)

    def over(self, columns: Iterable[int]) -> Classes:
        """Return the classes of some columns."""
        wanted = frozenset(columns)
        if wanted == self.whole.codes.keys():
            return self.whole
        if wanted not in self._counted:
            self._counted[wanted] = self._rolled_up(self._nearest(wanted), wanted)
        return self._counted[wanted]

    def _nearest(self, wanted: frozenset[int]) -> Classes:
        """Return classes that have one more column, that of fewest values, or all where that would save little."""
        more = min(self.whole.codes.keys() - wanted, key=self.radices.__getitem__)
        parent = wanted | {more}
        if WORTH * prod(self.radices[column] for column in parent) > len(self.whole.sizes):
            return self.whole
        return self.over(parent)

    def _rolled_up(self, classes: Classes, wanted: frozenset[int]) -> Classes:
        columns = sorted(wanted)
        grouping = group_rows(
            [classes.codes[one] for one in columns], [self.radices[one] for one in columns], len(classes.sizes)
        )
        rows = grouping.a_row_of
        return Classes({one: classes.codes[one][rows] for one in columns}, grouping.sums(classes.sizes))
