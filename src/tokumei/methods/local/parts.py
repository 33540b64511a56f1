"""The parts that groups are cut into, before anybody has said whether they hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokumei.engines.grouping import radix_order
from tokumei.methods.local.judging import groups_hold
from tokumei.methods.local.segments import lengths_of, spread, starts_of_runs, within_run
from tokumei.methods.local.task import Bools, Ints, LocalTask


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
