"""The attributes as groups are cut along them: an index for every class, and how wide a run of indices is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tokumei.methods.local.grid import Grid
from tokumei.methods.local.task import Bools, Codes, Floats, Ints, LocalAttribute


class Axis(Protocol):
    """One attribute: the index of each class, the missing value being one past the last."""

    @property
    def indices(self) -> Codes:
        """The index of each class."""

    @property
    def missing(self) -> int:
        """The index of a missing value."""

    def is_cut_in_two(self, low: Ints, high: Ints) -> Bools:
        """Return which runs of indices are cut in two between neighbors; of the others every key is a part."""

    def widths(self, low: Ints, high: Ints) -> Floats:
        """Return the certainty penalty of the label that covers each run of indices, 0 for a single one."""

    def keys(self, indices: Codes, group_at: Ints, low: Ints, high: Ints) -> Codes:
        """Return a key for the parts of a group: equal keys stay together, and the missing value's is last.

        `indices` are those of some classes, `group_at` the group of each, `low` and `high` the ends of every group.
        """


@dataclass(frozen=True, eq=False)
class NumberAxis:
    """A numeric attribute, in the order of its numbers."""

    indices: Codes
    missing: int
    numbers: Floats
    grid: Grid

    @classmethod
    def of(cls, attribute: LocalAttribute) -> NumberAxis:
        """Take the leaves as they are, which is in ascending order."""
        return cls(attribute.leaf_of, attribute.missing, attribute.numbers, attribute.cells)

    def is_cut_in_two(self, low: Ints, high: Ints) -> Bools:
        """Cut between two cells; within one, the grid says into which parts."""
        return self.grid.spans_cells(low, high)

    def widths(self, low: Ints, high: Ints) -> Floats:
        """Return the share of the whole width that the range covers which holds both numbers."""
        whole = float(self.numbers[-1] - self.numbers[0])
        first, last = self.grid.cover(low, high)
        out: Floats = (self.numbers[last] - self.numbers[first]) / (whole or 1.0)
        return out

    def keys(self, indices: Codes, group_at: Ints, low: Ints, high: Ints) -> Codes:
        """Return the first number of each cell, or of each part of a single one."""
        return self.grid.parts(indices, low[group_at], high[group_at])


@dataclass(frozen=True, eq=False)
class TreeAxis:
    """A categorical attribute, its leaves in the order of its tree.

    In that order the closest label above some leaves is the closest above the first and the last of them. Levels that
    cross are made to nest: two leaves are together at a level if they are so there and at all coarser ones.
    """

    indices: Codes
    missing: int
    # The label of each index at each level, the missing value's being greater than any.
    labels: Codes
    # What each label of each level costs.
    costs: Floats

    def is_cut_in_two(self, low: Ints, high: Ints) -> Bools:  # noqa: ARG002
        """Return False: every child of a label is a part."""
        return np.zeros(len(low), np.bool_)

    @classmethod
    def of(cls, attribute: LocalAttribute) -> TreeAxis:
        """Assign numbers to the labels from the top down, so that those below one label follow each other."""
        levels, n_leaves = attribute.hierarchy.levels, attribute.n_leaves
        nested = [np.zeros(n_leaves, np.int64)] * len(levels)
        for index in range(len(levels) - 1, -1, -1):
            above = nested[index + 1] if index + 1 < len(levels) else np.zeros(n_leaves, np.int64)
            pairs = above * len(levels[index]) + levels[index].codes
            nested[index] = np.unique(pairs, return_inverse=True)[1].reshape(-1)
        # At level 0 every leaf is alone, so its number there is its index.
        labels = np.full((len(levels), n_leaves + 1), n_leaves, np.int32)
        costs = np.zeros((len(levels), n_leaves + 1))
        for index, codes in enumerate(nested):
            labels[index, nested[0]] = codes
            n_below = np.bincount(codes)
            costs[index, : len(n_below)] = np.where(n_below > 1, n_below / n_leaves, 0.0)
        index_of_leaf = np.append(nested[0], n_leaves).astype(np.int32)
        return cls(index_of_leaf[attribute.leaf_of], attribute.missing, labels, costs)

    def widths(self, low: Ints, high: Ints) -> Floats:
        """Return the share of all leaves that the closest label covers."""
        # There may be no single top: then the coarsest label says nothing.
        level = np.minimum(self._levels(low, high), len(self.labels) - 1)
        return self.costs[level, self.labels[level, low]]

    def keys(self, indices: Codes, group_at: Ints, low: Ints, high: Ints) -> Codes:
        """Return the labels one level below the closest that covers the group."""
        below = np.maximum(self._levels(low, high) - 1, 0)
        return self.labels[below[group_at], indices]

    def _levels(self, low: Ints, high: Ints) -> Ints:
        """Return the finest level with one label for both ends: as they nest, the number of levels with two."""
        out: Ints = (self.labels[:, low] != self.labels[:, high]).sum(axis=0)
        return out


def axis_of(attribute: LocalAttribute) -> Axis:
    """Return the axis of an attribute."""
    return NumberAxis.of(attribute) if attribute.is_numeric else TreeAxis.of(attribute)
