"""Find the records that are most like each of some people without asking of every pair what each column says.

Labels of each column stand in a few bins, and columns in a few groups, so that the bins of a group make one code. What
a column says of a person is at most what the best label of a bin says. The sum over all groups, one product of
matrices for many people, bounds from above what a record says; records whose bound lies below what another record says
in truth are left out, and the rest are compared column by column. So the records found are those that a comparison of
all would find.

Example: by ages in bins of ten years and by sex a woman of 33 has one code of four in which her best record must be, as
soon as some woman's record there says more than anybody's of another decade, or any man's, possibly could.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tokumei.attacks.candidates import UNKNOWN
from tokumei.attacks.compared_columns import Compared
from tokumei.attacks.compared_numbers import Floats, NumberHulls, Numbers, Weights
from tokumei.hierarchies.label_semantics import Bools, Ints

Places = npt.NDArray[np.int32]
# Bins of a column, and codes of a group of columns.
N_BINS, MOST_CODES = 32, 1 << 11
# Of no more labels what each says is held for every value; of more it is asked record by record.
FEW_LABELS = 8_192
# Of each person so many records of bounds within so much of the highest are compared, to learn what the best one says.
LOOKED_AT, LOOKED_WITHIN = 64, 0.5
# Bounds that are held at once, of how many people at least and at most.
BOUNDS_AT_ONCE, FEWEST_AT_ONCE, MOST_AT_ONCE = 1 << 23, 8, 64
# So many bounds fit into the memory near a processor.
PART_AT_ONCE = 1 << 17
# Of a larger share of pairs that are left all are compared.
MANY_LEFT = 0.02
# Sums of single precision differ by less.
ROUNDING = 1e-3


@dataclass(frozen=True, eq=False)
class Bins:
    """The labels of a column in bins: the bin of each, and the labels in the order of their bins."""

    of_label: Ints
    order: Ints
    starts: Ints
    hulls: NumberHulls | None

    @classmethod
    def of(cls, column: Compared, counts: Ints) -> Bins:
        """Share out labels evenly; bins without labels are left out."""
        _, own = np.unique(column.bins(N_BINS, counts), return_inverse=True)
        order = np.argsort(own, kind="stable")
        starts = np.searchsorted(own[order], np.arange(int(own.max()) + 1))
        has_many = isinstance(column, Numbers) and len(own) > FEW_LABELS
        hulls = column.hulls(order, starts) if has_many and isinstance(column, Numbers) else None
        return cls(own, order, starts, hulls)

    def most(self, column: Compared, values: Ints, told: Weights | None) -> Weights:
        """Return no less than what any label of each bin says of each value; told: what each label says."""
        if told is None and self.hulls is not None and isinstance(column, Numbers):
            return column.most_of(values, self.hulls).astype(np.float32)
        if told is None:
            told = says_of_all(column, values)
        most: Weights = np.maximum.reduceat(told[:, self.order], self.starts, axis=1)
        return most


def says_of_all(column: Compared, values: Ints) -> Weights:
    """Return what every label says of each value: values × labels."""
    return column.says(values[:, None], np.arange(len(column.shares))[None, :]).astype(np.float32)


@dataclass(frozen=True, eq=False)
class RecordIndex:
    """Records by the codes of some groups of columns: which codes each has, those of all groups counted through."""

    bins: Sequence[Bins]
    groups: Sequence[Sequence[int]]
    codes: Sequence[sparse.csr_array]
    labels: Sequence[Places]
    n_labels: Sequence[int]

    @classmethod
    def of(cls, columns: Sequence[Compared], sizes: Ints) -> RecordIndex:
        """Put as many columns into each group as its codes allow."""
        counts = [np.bincount(one.labels, sizes, len(one.shares)).astype(np.int64) for one in columns]
        bins = [Bins.of(one, each) for one, each in zip(columns, counts, strict=True)]
        groups = _grouped([len(one.starts) for one in bins])
        codes = np.empty((len(sizes), len(groups)), np.int32)
        n_codes = 0
        for at, group in enumerate(groups):
            code = np.zeros(len(sizes), np.int32)
            for index in group:
                code = code * len(bins[index].starts) + bins[index].of_label.astype(np.int32)[columns[index].labels]
            codes[:, at] = code + n_codes
            n_codes += int(np.prod([len(bins[index].starts) for index in group]))
        return cls(
            bins,
            groups,
            _as_matrices(codes, n_codes),
            [one.labels.astype(np.int32) for one in columns],
            [len(one.shares) for one in columns],
        )

    @cached_property
    def by_label(self) -> list[sparse.csr_array]:
        """The same by the labels of all columns themselves."""
        before = np.cumsum([0, *self.n_labels])
        columns = [labels + np.int32(first) for labels, first in zip(self.labels, before[:-1], strict=True)]
        return _as_matrices(np.column_stack(columns), int(before[-1]))


def _as_matrices(codes: Places, n_codes: int) -> list[sparse.csr_array]:
    """Return records × codes, with a 1 for each code that a record has, so many records at a time."""
    size = PART_AT_ONCE // n_at_once(len(codes))
    out = []
    for part in (codes[first : first + size] for first in range(0, len(codes), size)):
        starts = np.arange(0, part.size + 1, part.shape[1], dtype=np.int32)
        ones = np.ones(part.size, np.float32)
        out.append(sparse.csr_array((ones, np.ascontiguousarray(part).reshape(-1), starts), shape=(len(part), n_codes)))
    return out


def n_at_once(n_records: int) -> int:
    """Return how many people are looked at together."""
    return min(MOST_AT_ONCE, max(FEWEST_AT_ONCE, BOUNDS_AT_ONCE // max(1, n_records)))


def _grouped(n_bins: Sequence[int]) -> list[list[int]]:
    """Group columns, those of many bins first."""
    groups: list[list[int]] = []
    sizes: list[int] = []
    for index in sorted(range(len(n_bins)), key=lambda one: -n_bins[one]):
        room = next((at for at, size in enumerate(sizes) if size * n_bins[index] <= MOST_CODES), None)
        if room is None:
            groups.append([index])
            sizes.append(n_bins[index])
        else:
            groups[room].append(index)
            sizes[room] *= n_bins[index]
    return groups


@dataclass(frozen=True, eq=False)
class Search:
    """The records most like some people: what columns say now, by an index of the records, less what is common."""

    columns: Sequence[Compared]
    index: RecordIndex
    common: Weights

    def near(self, people: Ints, within: float) -> tuple[Ints, Ints, Weights]:
        """Return pairs of the place of a person and a record no less likely than the likeliest by this, and how likely.

        Pairs are in the order of people and then of records.
        """
        told = [_ValuesOf(column, bins, people) for column, bins in zip(self.columns, self.index.bins, strict=True)]
        by_group = [_together([told[at].of_people for at in group]) for group in self.index.groups]
        bounds = self._product(self.index.codes, by_group)
        highest = np.array([part.max(axis=0) for part in bounds])
        least = self._least(bounds, highest, told) - np.float32(within + ROUNDING)
        left = _left(bounds, highest, least)
        n_left = sum(np.count_nonzero(flags) for _, flags in left)
        if n_left > MANY_LEFT * len(self.common) * len(people) and all(one.told is not None for one in told):
            # So many that it costs less to add up what all labels say of all records.
            bounds = self._product(self.index.by_label, [one.told[one.at] for one in told if one.told is not None])
            left = _left(bounds, np.array([part.max(axis=0) for part in bounds]), least)
            who, records = _pairs(left, self.n_rows)
            said = _at(bounds, records, who, self.n_rows)
        else:
            who, records = _pairs(left, self.n_rows)
            said = self._exact(who, records, told)
        is_near = said >= (_highest(who, said) - within)[who]
        return who[is_near], records[is_near], said[is_near]

    def _least(self, bounds: Sequence[Weights], highest: Weights, told: Sequence[_ValuesOf]) -> Weights:
        """Return what some record says of each person in truth: the best of those that may say most."""
        best = highest.argmax(axis=0)
        each = [
            np.flatnonzero(bounds[at][:, person] >= highest[at, person] - LOOKED_WITHIN)[:LOOKED_AT] + at * self.n_rows
            for person, at in enumerate(best)
        ]
        who = np.repeat(np.arange(len(each)), [len(one) for one in each])
        return _highest(who, self._exact(who, np.concatenate(each), told)).astype(np.float32)

    @property
    def n_rows(self) -> int:
        """How many records stand in one part of a product."""
        return self.index.codes[0].shape[0]

    def _product(self, codes: Sequence[sparse.csr_array], said: Sequence[Weights]) -> list[Weights]:
        """Return what all codes of each record say of each person: records × people, in parts."""
        by_code = np.ascontiguousarray(np.concatenate(said, axis=1).T)
        out = [part @ by_code for part in codes]
        if self.common.any():
            for at, part in enumerate(out):
                part -= self.common[at * self.n_rows : (at + 1) * self.n_rows, None]
        return out

    def _exact(self, who: Ints, records: Ints, told: Sequence[_ValuesOf]) -> Weights:
        """Return what all columns say of each person of the record beside them, in the order of columns."""
        out = np.zeros(len(records), np.float32)
        for one, labels in zip(told, self.index.labels, strict=True):
            one.add(who, labels[records], out)
        return out - self.common[records]


class _ValuesOf:
    """What a column says of the values of some people."""

    def __init__(self, column: Compared, bins: Bins, people: Ints) -> None:
        values, at = np.unique(column.values[people], return_inverse=True)
        is_known = values != UNKNOWN
        self.column, self.values = column, values[is_known]
        # Of a value that is not known nothing is said, which is the last row.
        self.at = np.where(is_known[at], at - int(not is_known.all()), len(self.values))
        told = says_of_all(column, self.values) if len(column.shares) <= FEW_LABELS else None
        self.told = None if told is None else np.vstack([told, np.zeros((1, told.shape[1]), np.float32)])
        most = bins.most(column, self.values, told)
        self.of_people: Weights = np.vstack([most, np.zeros((1, most.shape[1]), np.float32)])[self.at]

    def add(self, who: Ints, labels: Places, out: Weights) -> None:
        """Add what each of these labels says of the person beside it."""
        at = self.at[who]
        if self.told is not None:
            out += np.take(self.told.reshape(-1), at * self.told.shape[1] + labels)
            return
        is_known: Bools = at < len(self.values)
        said = self.column.says(self.values[at[is_known]], labels[is_known].astype(np.int64))
        out[is_known] += said.astype(np.float32)


def _together(parts: Sequence[Weights]) -> Weights:
    """Return the sum of what is said for every code of some columns: people × codes."""
    out = parts[0]
    for one in parts[1:]:
        out = (out[:, :, None] + one[:, None, :]).reshape(len(out), -1)
    return out


def _left(bounds: Sequence[Weights], highest: Weights, least: Weights) -> list[tuple[Ints, Bools]]:
    """Return for each part the people of whom some bound is no lower than the least, and which bounds are not."""
    out = []
    for part, most in zip(bounds, highest, strict=True):
        some = np.flatnonzero(most >= least)
        out.append((some, (part if len(some) == len(least) else part[:, some]) >= least[some]))
    return out


def _pairs(left: Sequence[tuple[Ints, Bools]], n_rows: int) -> tuple[Ints, Ints]:
    """Return the people and records that are flagged, in the order of people and then of records."""
    found = [np.nonzero(flags) for _, flags in left]
    who = np.concatenate([some[at] for (some, _), (_, at) in zip(left, found, strict=True)])
    records = np.concatenate([record + at * n_rows for at, (record, _) in enumerate(found)])
    order = np.argsort(who.astype(np.uint8), kind="stable")
    return who[order], records[order]


def _at(bounds: Sequence[Weights], records: Ints, who: Ints, n_rows: int) -> Weights:
    """Return the bounds of some pairs."""
    out = np.empty(len(who), np.float32)
    for at, part in enumerate(bounds):
        is_here = records // n_rows == at
        out[is_here] = part[records[is_here] - at * n_rows, who[is_here]]
    return out


def _highest(who: Ints, said: Weights) -> Floats:
    """Return the most that is said of each person; everybody has a pair."""
    return np.maximum.reduceat(said, np.flatnonzero(np.append(True, who[1:] != who[:-1]))).astype(np.float64)
