"""Cuts of groups: the axes they lie along, the parts they make, and whether these meet what is asked.

Groups stand in runs, one after another, and are worked on all at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tokumei.engines.grouping import radix_order
from tokumei.methods.local.grid import Grid
from tokumei.methods.local.task import Bools, Codes, Floats, Ints, LocalAttribute, LocalTask


def starts_of_runs(values: npt.NDArray[np.integer]) -> Bools:
    """Mark where a value differs from the one before."""
    is_start = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=is_start[1:])
    return is_start


def lengths_of(starts: Ints, n: int) -> Ints:
    """Return the lengths of the runs that start here and fill n indices."""
    return np.diff(starts, append=n)


def spread(starts: Ints, n: int) -> Ints:
    """Return for each of n indices the number of its run."""
    return np.repeat(np.arange(len(starts)), lengths_of(starts, n))


def within_run(values: Ints, starts: Ints) -> Ints:
    """Add up what stands before each index in its own run."""
    before = np.cumsum(values) - values
    return before - np.repeat(before[starts], lengths_of(starts, len(values)))


def may_be_empty(task: LocalTask) -> bool:
    """Whether people of the population may stand in a group of no rows.

    They may unless everybody must seem to be in the release with some chance, as δ-presence can ask.
    """
    return not any(getattr(one, "delta_min", 0.0) > 0 for one in task.requirements)


def groups_hold(task: LocalTask, classes: Ints, group_at: Ints, rows: Ints) -> Bools:
    """Return for each group whether it meets every requirement, from some classes, the group of each and all rows."""
    if task.is_only_k:
        return rows >= task.least_size
    group_of = np.full(task.n_classes, -1, np.int64)
    group_of[classes] = group_at
    holds = task.holds(group_of, len(rows))
    return holds | (rows == 0) if may_be_empty(task) else holds


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


@dataclass(frozen=True, eq=False)
class Parts:
    """Parts of groups: `order` puts the classes part by part, and the parts of a group follow each other."""

    order: Ints
    # Where each part starts in that order.
    starts: Ints
    group_of: Ints
    rows: Ints

    def at_classes(self) -> Ints:
        """Return the part of each class, in that order."""
        return spread(self.starts, len(self.order))


def balanced_cuts(group_of_run: Ints, rows: Ints, n_classes: Ints, is_number: Bools) -> Ints:
    """Return for each group cut by a number the run at which its second part starts.

    Runs are equal values in ascending order. The cut is the one at the median: the smaller side has the most rows, then
    the most classes; of equally good ones it is the lowest.
    """
    at = np.flatnonzero(is_number[group_of_run])
    if not len(at):
        return at
    groups = group_of_run[at]
    first = np.flatnonzero(starts_of_runs(groups))
    rows_balance = _smaller_side(rows[at], first)
    balance = rows_balance * (int(n_classes.sum()) + 1) + _smaller_side(n_classes[at], first)
    # Nothing would be below the first run.
    balance[first] = -1
    best = np.repeat(np.maximum.reduceat(balance, first), lengths_of(first, len(at)))
    found = np.flatnonzero(balance == best)
    return at[found[starts_of_runs(groups[found])]]


def _smaller_side(values: Ints, first: Ints) -> Ints:
    """Return the rows of the smaller side if a run and all after it in its group were cut off."""
    below = within_run(values, first)
    total = np.repeat(np.add.reduceat(values, first), lengths_of(first, len(values)))
    return np.minimum(below, total - below)


def keep_failing_together(
    task: LocalTask, classes: Ints, parts: Parts, holds: Bools, is_asked: Bools
) -> tuple[Parts, Bools]:
    """Make one part of all that fail in a group, if it is asked of the group, and say again which parts hold.

    Where that one fails too, the smallest part that holds joins it, unless it is the only one.
    """
    is_left = ~holds & is_asked[parts.group_of]
    if not is_left.any():
        return parts, holds
    joined, joined_hold = _with_left_together(task, classes, parts, is_left)
    fails = np.zeros(len(is_asked), np.bool_)
    fails[joined.group_of[~joined_hold]] = True
    fails &= is_asked & (np.bincount(parts.group_of, holds, len(is_asked)) > 1)
    able = np.flatnonzero(holds & fails[parts.group_of])
    if not len(able):
        return joined, joined_hold
    able = able[radix_order([parts.rows[able], parts.group_of[able]])]
    is_left[able[starts_of_runs(parts.group_of[able])]] = True
    return _with_left_together(task, classes, parts, is_left)


def _with_left_together(task: LocalTask, classes: Ints, parts: Parts, is_left: Bools) -> tuple[Parts, Bools]:
    """Make one part of those left in each group, and judge all."""
    number, left = np.arange(len(parts.starts)), np.flatnonzero(is_left)
    last_left = np.full(int(parts.group_of[-1]) + 1, -1, np.int64)
    np.maximum.at(last_left, parts.group_of[left], left)
    number[left] = last_left[parts.group_of[left]]
    number_at = number[parts.at_classes()]
    order = radix_order([number_at])
    starts = np.flatnonzero(starts_of_runs(number_at[order]))
    used = number_at[order][starts]
    rows = np.bincount(number, parts.rows).astype(np.int64)[used]
    joined = Parts(parts.order[order], starts, parts.group_of[used], rows)
    return joined, groups_hold(task, classes[joined.order], joined.at_classes(), rows)
