"""Find the records that are most like each of some people without comparing every pair.

Labels of each column stand in a few bins, and columns in a few groups, so that the bins of a group make one code. What
a column says of a person is at most what the best label of a bin says. The sum over all groups bounds from above what
a record says; records whose bound lies below what another record says in truth are left out, group by group, and the
rest are compared column by column. So the records found are those that a comparison of all would find.

Example: by ages in bins of ten years and by sex a woman of 33 has one code of four in which her best record must be, as
soon as some woman's record there says more than anybody's of another decade, or any man's, possibly could.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tokumei.attacks.candidates import UNKNOWN
from tokumei.attacks.compared_columns import Compared, NumberHulls, Numbers, Weights
from tokumei.hierarchies.label_semantics import Ints

Places = npt.NDArray[np.int32]
# Bins of a column, and codes of a group of columns.
N_BINS, MOST_CODES = 32, 1 << 14
# Of no more labels what each says is held for every value; of more it is asked record by record.
FEW_LABELS = 2_048
# Records that are compared to learn what the best one says at least, by the first group and by all.
FIRST_LOOK, SECOND_LOOK = 32, 256
# Of a larger share of records that are left all are looked at.
MANY_LEFT = 0.25
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
    """Records in the order of the codes of the first group of columns.

    groups: the columns of each. codes: of each group the code of each record in this order. present, starts: the codes
    of the first group that some record has, and where these begin. order: the record at each place.
    """

    bins: Sequence[Bins]
    groups: Sequence[Sequence[int]]
    codes: Sequence[Ints]
    present: Ints
    starts: Ints
    order: Ints
    labels: Sequence[Places]

    @classmethod
    def of(cls, columns: Sequence[Compared], sizes: Ints) -> RecordIndex:
        """Put columns that tell the most records apart into the first group."""
        counts = [np.bincount(one.labels, sizes, len(one.shares)).astype(np.int64) for one in columns]
        bins = [Bins.of(one, each) for one, each in zip(columns, counts, strict=True)]
        spread = [_entropy(np.bincount(one.of_label, each)) for one, each in zip(bins, counts, strict=True)]
        groups: list[list[int]] = []
        n_codes = MOST_CODES + 1
        for index in np.argsort(-np.array(spread), kind="stable"):
            n_codes *= len(bins[index].starts)
            if n_codes > MOST_CODES:
                groups.append([])
                n_codes = len(bins[index].starts)
            groups[-1].append(int(index))
        codes = [_codes([bins[at] for at in group], [columns[at].labels for at in group]) for group in groups]
        order = np.argsort(codes[0], kind="stable")
        present, starts = np.unique(codes[0][order], return_index=True)
        return cls(
            bins,
            groups,
            [one[order] for one in codes],
            present,
            np.append(starts, len(order)),
            order,
            [one.labels[order].astype(np.int32) for one in columns],
        )


def _entropy(counts: Ints) -> float:
    shares = counts[counts > 0] / max(1, counts.sum())
    return float(-(shares * np.log(shares)).sum())


def _codes(bins: Sequence[Bins], labels: Sequence[Ints]) -> Ints:
    code = np.zeros(len(labels[0]), np.int64)
    for one, own in zip(bins, labels, strict=True):
        code = code * len(one.starts) + one.of_label[own]
    return code


@dataclass(frozen=True, eq=False)
class Search:
    """The records most like some people: what columns say now, by an index of the records, less what is common."""

    columns: Sequence[Compared]
    index: RecordIndex
    common: Weights

    @cached_property
    def _common(self) -> Weights:
        return self.common[self.index.order]

    @cached_property
    def _least_common(self) -> Weights:
        return np.minimum.reduceat(self._common, self.index.starts[:-1])

    def near(self, people: Ints, within: float) -> tuple[Ints, Ints, Weights]:
        """Return pairs of the place of a person and a record no less likely than the likeliest by this, and how likely.

        Pairs are in the order of people and then of records.
        """
        told = [_ValuesOf(column, bins, people) for column, bins in zip(self.columns, self.index.bins, strict=True)]
        found = [self._of_one(place, told, within) for place in range(len(people))]
        who = np.repeat(np.arange(len(people)), [len(places) for places, _ in found])
        records = np.concatenate([places for places, _ in found]) if found else np.zeros(0, np.int64)
        said = np.concatenate([one for _, one in found]) if found else np.zeros(0, np.float32)
        return who, records, said

    def _of_one(self, person: int, told: Sequence[_ValuesOf], within: float) -> tuple[Ints, Weights]:
        index, common = self.index, self._common
        bounds = [_together([told[at].most_of(person) for at in group]) for group in index.groups]
        rest = np.append(np.cumsum([float(one.max()) for one in bounds[:0:-1]])[::-1], 0.0) + ROUNDING
        first = bounds[0][index.present]
        above = first - self._least_common
        n_look = min(FIRST_LOOK, len(above))
        look = np.argpartition(-above, n_look - 1)[:n_look]
        least = float(self._exact(person, told, _ranges(index.starts, look)[: FIRST_LOOK * 16]).max()) - within
        kept = np.flatnonzero(above + rest[0] >= least)
        counts = index.starts[kept + 1] - index.starts[kept]
        if counts.sum() > MANY_LEFT * len(common):
            # So many that it costs less to look at all.
            bound = np.take(bounds[0], index.codes[0]) - common
            for most, codes in zip(bounds[1:], index.codes[1:], strict=True):
                bound += np.take(most, codes)
            places = np.flatnonzero(bound >= least - ROUNDING)
            bound = bound[places]
        else:
            places = _ranges(index.starts, kept)
            bound = np.repeat(first[kept], counts) - common[places]
            for group, most in enumerate(bounds[1:], 1):
                bound += most[index.codes[group][places]]
                is_kept = bound >= least - rest[group]
                places, bound = places[is_kept], bound[is_kept]
        if len(places) > 2 * SECOND_LOOK:
            look = np.argpartition(-bound, SECOND_LOOK)[:SECOND_LOOK]
            least = max(least, float(self._exact(person, told, places[look]).max()) - within)
            places = places[bound >= least - ROUNDING]
        said = self._exact(person, told, places)
        is_near = said >= said.max() - within
        records = index.order[places[is_near]]
        in_order = np.argsort(records, kind="stable")
        return records[in_order], said[is_near][in_order]

    def _exact(self, person: int, told: Sequence[_ValuesOf], places: Ints) -> Weights:
        """Return what all columns say of the records at some places, in the order of columns."""
        out = np.zeros(len(places), np.float32)
        for one, labels in zip(told, self.index.labels, strict=True):
            one.add(person, labels[places], out)
        return out - self._common[places]


class _ValuesOf:
    """What a column says of the values of some people."""

    def __init__(self, column: Compared, bins: Bins, people: Ints) -> None:
        values, at = np.unique(column.values[people], return_inverse=True)
        is_known = values != UNKNOWN
        self.column, self.values = column, values[is_known]
        self.at = np.where(is_known[at], at - int(not is_known.all()), UNKNOWN)
        self.told = says_of_all(column, self.values) if len(column.shares) <= FEW_LABELS else None
        self.most = bins.most(column, self.values, self.told)

    def most_of(self, person: int) -> Weights:
        """Return no less than what any label of each bin says of one of them."""
        at = self.at[person]
        none: Weights = np.zeros(self.most.shape[1], np.float32)
        return none if at == UNKNOWN else self.most[at]

    def add(self, person: int, labels: Places, out: Weights) -> None:
        """Add what each of these labels says of one of them."""
        at = self.at[person]
        if at == UNKNOWN:
            return
        if self.told is not None:
            out += np.take(self.told[at], labels)
        else:
            out += self.column.says(self.values[at], labels.astype(np.int64)).astype(np.float32)


def _together(parts: Sequence[Weights]) -> Weights:
    """Return the sum of what is said for every code of some columns."""
    out = parts[0]
    for one in parts[1:]:
        out = (out[:, None] + one[None, :]).reshape(-1)
    return out


def _ranges(starts: Ints, which: Ints) -> Ints:
    """Return all places from some starts to the next ones."""
    first, counts = starts[which], starts[which + 1] - starts[which]
    return np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(int(counts.sum()))
