"""The columns of a generalized release beside those of its original: a label counts as its leaves, each alike.

| original | release | counts as |
|---|---|---|
| 20 | 20 | 20 |
| 21, 24 | `21-24` | half 21, half 24, in both rows |
| 30 | `*` | every leaf of the column, each alike |
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.data.table import Table
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.label_semantics import LeafSets, Vocabulary

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Columns with more values than bins are compared by bins: numbers by tenths, others by their most frequent values.
MOST_BINS = 50
NUMBER_BINS = 10


@dataclass(frozen=True, eq=False)
class Labeled:
    """A column of one table: the label of each row, and what the labels stand for, in the order of indices."""

    codes: Ints
    sets: LeafSets

    @cached_property
    def counts(self) -> Ints:
        """The number of rows of each label."""
        return np.bincount(self.codes, minlength=self.sets.n_labels)

    def shares(self, group_of: Ints, n_groups: int) -> Floats:
        """Return the share of each label that lies in each group of indices; labels of nothing lie nowhere."""
        sets = self.sets
        out = np.zeros((sets.n_labels, n_groups))
        for group in range(n_groups):
            # How many indices of the group lie before each index.
            before = np.concatenate([[0], np.cumsum(group_of == group)])
            out[:, group] = np.bincount(sets.label, before[sets.end] - before[sets.first], sets.n_labels)
        return out / np.maximum(sets.sizes, 1)[:, None]


@dataclass(frozen=True, eq=False)
class SpreadColumn:
    """One column of both tables over the same indices."""

    name: str
    vocabulary: Vocabulary
    original: Labeled
    released: Labeled

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers."""
        return self.vocabulary.is_numeric

    @cached_property
    def numbers(self) -> Floats:
        """The number at each index but that of the missing value."""
        return np.array(self.vocabulary.numbers)

    def weights(self, side: Labeled) -> Floats:
        """Return how many rows each number counts for, missing values left out."""
        sets, n_leaves = side.sets, self.vocabulary.n_leaves
        ends = np.minimum(sets.end, n_leaves)
        lengths = np.maximum(ends - sets.first, 0)
        sizes = np.zeros(sets.n_labels)
        np.add.at(sizes, sets.label, lengths)
        each = np.divide(side.counts, sizes, out=np.zeros(len(sizes)), where=sizes > 0)[sets.label]
        # Single values are counted apart, as adding up steps would leave a hair of rounding on them.
        is_single = sizes[sets.label] == 1
        out = np.zeros(n_leaves)
        np.add.at(out, sets.first[is_single & (lengths > 0)], each[is_single & (lengths > 0)])
        steps, spread = np.zeros(n_leaves + 1), ~is_single & (lengths > 0)
        np.add.at(steps, sets.first[spread], each[spread])
        np.add.at(steps, ends[spread], -each[spread])
        return out + np.maximum(np.cumsum(steps)[:-1], 0)

    def moments(self, side: Labeled) -> tuple[Floats, Floats]:
        """Return the mean of the numbers that each label stands for, NaN if it stands for none, and their variance."""
        n_leaves, sets = self.vocabulary.n_leaves, side.sets
        ends = np.minimum(sets.end, n_leaves)
        center = self.numbers[n_leaves // 2]
        # From the middle, so that large numbers keep their digits.
        sums = np.concatenate([[0.0], np.cumsum(self.numbers - center)])
        squares = np.concatenate([[0.0], np.cumsum((self.numbers - center) ** 2)])
        totals = np.zeros((3, sets.n_labels))
        has = ends > sets.first
        for row, upto in enumerate((np.arange(n_leaves + 1.0), sums, squares)):
            np.add.at(totals[row], sets.label[has], upto[ends[has]] - upto[sets.first[has]])
        size = np.where(totals[0] > 0, totals[0], np.nan)
        means = totals[1] / size + center
        variances = np.maximum(totals[2] / size - (totals[1] / size) ** 2, 0)
        is_single = totals[0] == 1
        at = np.zeros(sets.n_labels, np.int64)
        at[sets.label[has]] = sets.first[has]
        means[is_single] = self.numbers[at[is_single]]
        variances[is_single] = 0
        return means, variances

    @cached_property
    def original_shares(self) -> Floats:
        """The share of each label of the original that lies in each bin."""
        return self.original.shares(*self.bins)

    @cached_property
    def released_shares(self) -> Floats:
        """The share of each label of the release that lies in each bin."""
        return self.released.shares(*self.bins)

    @cached_property
    def bins(self) -> tuple[Ints, int]:
        """The bin of each index, and how many bins there are; the missing value has one of its own."""
        n_leaves = self.vocabulary.n_leaves
        if n_leaves <= MOST_BINS:
            return np.arange(n_leaves + 1), n_leaves + 1
        counts = np.bincount(self.original.sets.first[self.original.codes], minlength=n_leaves + 1)[:n_leaves]
        if self.is_numeric:
            below = (np.cumsum(counts) - counts) / max(1, counts.sum())
            found = np.minimum((below * NUMBER_BINS).astype(np.int64), NUMBER_BINS - 1)
            return np.append(found, NUMBER_BINS), NUMBER_BINS + 1
        found = np.full(n_leaves + 1, MOST_BINS - 1)
        found[np.argsort(-counts, kind="stable")[: MOST_BINS - 1]] = np.arange(MOST_BINS - 1)
        found[n_leaves] = MOST_BINS
        return found, MOST_BINS + 1


def spread_columns(
    original: Table,
    released: Table,
    hierarchies: Mapping[str, Hierarchy],
    numeric: Sequence[str],
    *,
    only_numbers: bool = False,
) -> list[SpreadColumn]:
    """Read the quasi-identifiers and sensitive columns of both tables; the release must have them all.

    Where only numbers are asked for, other columns are not even looked at.
    """
    for table in (original, released):
        if not table.n_rows:
            raise InputError.of("a row or more", file=table.name, value="no rows")
    out = []
    for name in [*original.quasi_identifiers, *original.sensitive]:
        if name not in released.frame.columns:
            raise InputError.of("the columns of the original", file=released.name, column=name)
        before, after = original.frame[name], released.frame[name]
        is_numeric = before.dtype.is_numeric() or name in numeric
        if only_numbers and not is_numeric:
            continue
        hierarchy = hierarchies.get(name)
        exact = _numbers_of(after) if is_numeric else None
        if exact is not None and len(exact) == len(after) - after.null_count():
            # All released cells are numbers, which need not be leaves.
            hierarchy = None
        columns = [before] if exact is None else [before, exact]
        vocabulary = Vocabulary.of(name, columns, hierarchy, is_numeric=is_numeric)
        ours = _original(vocabulary, before, original.name)
        out.append(SpreadColumn(name, vocabulary, ours, _released(vocabulary, after, released.name)))
    return out


def numeric_columns(
    original: Table, released: Table, hierarchies: Mapping[str, Hierarchy], numeric: Sequence[str], at_least: int
) -> list[SpreadColumn]:
    """Read the columns of numbers; fewer than are needed is an InputError."""
    read = spread_columns(original, released, hierarchies, numeric, only_numbers=True)
    found = [one for one in read if one.is_numeric]
    if len(found) < at_least:
        raise InputError.of(Text("columns of numbers, {n} or more", n=at_least), file=original.name, value=len(found))
    return found


def pair_counts(one: Ints, other: Ints, n_others: int) -> tuple[Ints, Ints, Ints]:
    """Count the rows of each two labels that occur together: both labels, in order, and the number of rows."""
    pairs, counts = np.unique(one * n_others + other, return_counts=True)
    return pairs // n_others, pairs % n_others, counts


def _original(vocabulary: Vocabulary, values: pl.Series, file: str) -> Labeled:
    indices = vocabulary.indices(values, file=file)
    is_there = np.bincount(indices, minlength=vocabulary.n_leaves + 1) > 0
    there = np.flatnonzero(is_there)
    sets = LeafSets(vocabulary.n_leaves + 1, len(there), np.arange(len(there)), there, there + 1)
    return Labeled((np.cumsum(is_there) - 1)[indices], sets)


def _released(vocabulary: Vocabulary, cells: pl.Series, file: str) -> Labeled:
    codes, sets = vocabulary.read(cells, file=file)
    # Who says * means some value: the missing one counts only where it stands alone.
    ends = np.where(sets.sizes[sets.label] > 1, np.minimum(sets.end, vocabulary.n_leaves), sets.end)
    is_left = ends > sets.first
    sets = LeafSets(sets.n_indices, sets.n_labels, sets.label[is_left], sets.first[is_left], ends[is_left])
    # In the order of indices, so that an untouched column is added up exactly as the original is.
    first = np.full(sets.n_labels, sets.n_indices)
    np.minimum.at(first, sets.label, sets.first)
    order = np.lexsort([np.arange(sets.n_labels), sets.sizes, first])
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    by_rank = np.argsort(rank[sets.label], kind="stable")
    moved = LeafSets(sets.n_indices, sets.n_labels, rank[sets.label][by_rank], sets.first[by_rank], sets.end[by_rank])
    return Labeled(rank[codes], moved)


def _numbers_of(cells: pl.Series) -> pl.Series:
    """Return the cells that are numbers."""
    if cells.dtype.is_numeric():
        found = cells.drop_nulls()
        return found.filter(found.is_finite()) if found.dtype.is_float() else found
    texts = cells.cast(pl.String).drop_nulls()
    numbers = texts.cast(pl.Float64, strict=False)
    return texts.filter((numbers.is_not_null() & numbers.is_finite()).fill_null(False))


def weighted_mean(values: Floats, weights: Floats) -> float:
    """Return the mean, exactly added up."""
    total = math.fsum(weights)
    if not total:
        return math.nan
    parts = values * weights
    # Of the largest floats there are, a product may be beyond all: each is divided before it is added.
    return math.fsum(parts) / total if np.isfinite(parts).all() else math.fsum(values * (weights / total))
