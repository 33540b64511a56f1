"""Groups cut into parts again and again, every open group once a round and all of them at the same time.

A group is cut along one attribute. The one tried first is the one whose label costs most; where the parts do not hold,
the next is tried, and where none is left the group stays as it is. What becomes of a group depends on nothing but its
own classes, so that working in rounds gives the same groups as taking one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tokumei.engines.grouping import radix_order
from tokumei.methods.local.cuts import (
    Axis,
    Parts,
    axis_of,
    balanced_cuts,
    groups_hold,
    keep_failing_together,
    lengths_of,
    may_be_empty,
    spread,
    starts_of_runs,
)
from tokumei.methods.local.task import Bools, Codes, Floats, Ints, LocalTask

# How often a row that is left out counts: twice, since later cuts might have told much of it.
LEFT_OUT_COUNTS = 2
# How far a sum of shares may be off by rounding.
ROUNDING = 1e-9


def split_groups(splitting: Splitting, *, n_rounds: int | None = None) -> tuple[Ints, int]:
    """Return the group of each class, −1 where it is left out, and the rounds it took; at most that many if given."""
    done = 0
    while splitting.open.n_groups and done != n_rounds:
        splitting.do_round()
        done += 1
    splitting.close(np.ones(splitting.open.n_groups, np.bool_))
    return splitting.group_of, done


def first_cut(each: Sequence[Splitting], weights: Floats) -> tuple[int, Ints] | None:
    """Choose the attribute that cuts all rows first, with the part of each of its values; None if nothing holds.

    The task of each has one attribute alone, with its weight among them all: more need not be known of rows to cut
    them, so that this can be told of more classes than anybody could count. No row is left out here. Where several
    numbers would leave the same rows on the smaller side, values stand for the classes that nobody counted.
    """
    wishes = [one.open.wish[0] if one.open.n_groups else np.zeros(2) for one in each]
    wish = np.concatenate([weight * own for weight, own in zip(weights, wishes, strict=True)])
    for way in np.argsort(-wish, kind="stable")[: int((wish > 0).sum())]:
        part_of = each[way // 2].cut_along(int(way % 2))
        if part_of is not None:
            return int(way // 2), part_of
    return None


@dataclass(eq=False)
class _Open:
    """The groups that may still be cut. Their classes stand group by group."""

    starts: Ints
    classes: Ints
    sizes: Ints
    # For each attribute the indices of the classes.
    indices: list[Codes]
    # For each group: its rows, how many of them may be left out, and what its labels cost together.
    rows: Ints
    may_go: Floats
    loss: Floats
    # For each attribute and group: its first and its last index, missing values aside.
    low: Ints
    high: Ints
    # For each group and way to cut it: what its label costs, 0 if there is nothing to cut or it was tried. There are
    # two ways along each attribute: missing values apart from others, and others apart from each other.
    wish: Floats

    @property
    def n_groups(self) -> int:
        return len(self.starts)

    def at_classes(self) -> Ints:
        """Return the group of each class."""
        return spread(self.starts, len(self.classes))


class Splitting:
    """The state between rounds."""

    def __init__(self, task: LocalTask, *, is_relaxed: bool = False) -> None:
        self.task = task
        self.is_relaxed = is_relaxed
        self.axes: Sequence[Axis] = [axis_of(one) for one in task.attributes]
        self.missing = np.array([one.missing for one in self.axes])
        self.group_of = np.full(task.n_classes, -1, np.int64)
        self.n_closed = 0
        # Who is left out could not seem to be in the release.
        n_may_go = task.n_may_suppress if may_be_empty(task) else 0
        # A group that is too small for two parts need not be tried, if no part can be empty or left out.
        self.least_rows = 2 * task.least_size if not n_may_go and task.sizes.min(initial=1) else 0
        starts = np.zeros(min(1, task.n_classes), np.int64)
        self.open = self._measured(
            starts,
            np.arange(task.n_classes),
            task.sizes,
            [one.indices for one in self.axes],
            np.full(len(starts), float(n_may_go)),
        )
        if not groups_hold(task, self.open.classes, self.open.at_classes(), self.open.rows).all():
            # All rows together fail, so they would be left out: any parts that hold are better.
            self.open.loss[:] = np.inf
        self.close(self._is_done())

    def do_round(self) -> None:
        """Try one cut of every open group."""
        ways = self.open.wish.argmax(axis=1)
        parts = self._cut(ways)
        holds = self.parts_hold(parts)
        if self.is_relaxed:
            is_tree = (ways % 2 == 1) & ~self._is_cut_in_two(ways)
            parts, holds = keep_failing_together(self.task, self.open.classes, parts, holds, is_tree)
        is_cut, n_gone = self.allowed(parts, holds)
        self.open.wish[np.flatnonzero(~is_cut), ways[~is_cut]] = 0
        if is_cut.any():
            self._replace(parts, holds, is_cut, n_gone)
        self.close(self._is_done())

    def cut_along(self, way: int) -> Ints | None:
        """Return the part of each class if the one open group is cut this way; None if a part would fail."""
        parts = self._cut(np.array([way]))
        if len(parts.starts) < 2 or not self.parts_hold(parts).all():
            return None
        part_of = np.empty(self.task.n_classes, np.int64)
        part_of[self.open.classes[parts.order]] = parts.at_classes()
        return part_of

    def parts_hold(self, parts: Parts) -> Bools:
        """Whether each part meets what is asked."""
        return groups_hold(self.task, self.open.classes[parts.order], parts.at_classes(), parts.rows)

    def close(self, is_closed: Bools) -> None:
        """Assign numbers to the groups that are final, and forget them."""
        if not is_closed.any():
            return
        now = self.open
        is_kept = now.loss < np.inf
        number = np.where(is_kept, self.n_closed + np.cumsum(is_closed & is_kept) - 1, -1)
        self.n_closed += int((is_closed & is_kept).sum())
        group_at = now.at_classes()
        is_out = is_closed[group_at]
        self.group_of[now.classes[is_out]] = number[group_at[is_out]]
        self.open = _taken(now, np.flatnonzero(~is_closed), np.flatnonzero(~is_out))

    def _is_done(self) -> Bools:
        out: Bools = (self.open.wish.max(axis=1, initial=0) <= 0) | (self.open.rows < self.least_rows)
        return out

    def _measured(self, starts: Ints, classes: Ints, sizes: Ints, indices: list[Codes], may_go: Floats) -> _Open:
        """Measure some groups: the ends of each, and the loss of its labels."""
        low = np.zeros((len(self.axes), len(starts)), np.int64)
        high, wish = low.copy(), np.zeros((len(starts), 2 * len(self.axes)))
        rows = np.add.reduceat(sizes, starts) if len(starts) else np.zeros(0, np.int64)
        for index, (axis, own, weight) in enumerate(zip(self.axes, indices, self.task.column_weights, strict=True)):
            if not len(starts):
                break
            low[index], last = np.minimum.reduceat(own, starts), np.maximum.reduceat(own, starts)
            has_missing = last == axis.missing
            if has_missing.any():
                last = np.maximum.reduceat(np.where(own == axis.missing, -1, own), starts)
            is_value = last >= 0
            high[index] = last
            width = np.zeros(len(starts))
            width[is_value] = axis.widths(low[index, is_value], high[index, is_value])
            wish[:, 2 * index] = weight * (has_missing & is_value)
            wish[:, 2 * index + 1] = weight * np.where((width > 0) & has_missing, 1.0, width)
        loss = wish.reshape(len(starts), len(self.axes), 2).max(axis=2).sum(axis=1)
        return _Open(starts, classes, sizes, indices, rows, may_go, loss, low, high, wish)

    def _cut(self, ways: Ints) -> Parts:
        """Cut every group along the way that it chose, and return the parts."""
        now, group_at = self.open, self.open.at_classes()
        axis_of_group, is_apart = ways // 2, ways % 2 == 0
        key = np.zeros(len(now.classes), np.int64)
        for index, axis in enumerate(self.axes):
            at = np.flatnonzero((axis_of_group == index)[group_at])
            if len(at):
                own, groups = now.indices[index][at], group_at[at]
                keys = axis.keys(own, groups, now.low[index], now.high[index])
                key[at] = np.where(is_apart[groups], own == axis.missing, keys)
        is_number = self._is_cut_in_two(ways) & ~is_apart
        missing = np.where(is_apart, -1, self.missing[axis_of_group])
        both = group_at * (int(key.max()) + 1) + key
        # Relaxed, classes of one number may go to either side: the first of them to the lower.
        order = radix_order([now.classes, both] if self.is_relaxed else [both])
        is_run, key = starts_of_runs(both[order]), key[order]
        if self.is_relaxed:
            is_run |= is_number[group_at] & (key < missing[group_at])
        runs = np.flatnonzero(is_run)
        group_of_run = group_at[runs]
        # A missing value that is not apart goes with the last part.
        is_part = ~is_number[group_of_run] & (key[runs] != missing[group_of_run])
        is_part |= starts_of_runs(group_of_run)
        rows = np.add.reduceat(now.sizes[order], runs)
        is_part[balanced_cuts(group_of_run, rows, lengths_of(runs, len(key)), is_number)] = True
        first = np.flatnonzero(is_part)
        return Parts(order, runs[first], group_of_run[first], np.add.reduceat(rows, first))

    def _is_cut_in_two(self, ways: Ints) -> Bools:
        """Whether the way that each group chose cuts it in two between neighbors."""
        chosen = ways // 2
        each = [axis.is_cut_in_two(self.open.low[at], self.open.high[at]) for at, axis in enumerate(self.axes)]
        out: Bools = np.array(each)[chosen, np.arange(len(ways))]
        return out

    def allowed(self, parts: Parts, holds: Bools) -> tuple[Bools, Ints]:
        """Decide which groups are cut, and how many rows go: all parts hold, or those that fail may be suppressed."""
        n_groups = self.open.n_groups
        n_gone = np.bincount(parts.group_of, np.where(holds, 0, parts.rows), n_groups).astype(np.int64)
        n_empty = np.bincount(parts.group_of, ~holds & (parts.rows == 0), n_groups)
        n_kept = np.bincount(parts.group_of, holds & (parts.rows > 0), n_groups)
        n_parts = np.bincount(parts.group_of, minlength=n_groups)
        is_cut: Bools = (n_gone <= self.open.may_go + ROUNDING) & (n_empty == 0) & (n_kept > 0) & (n_parts > 1)
        is_asked = is_cut & (n_gone > 0)
        if is_asked.any():
            is_cut &= ~is_asked | self._is_worth(parts, is_asked[parts.group_of] & holds, n_gone)
        return is_cut, n_gone

    def _is_worth(self, parts: Parts, is_kept: Bools, n_gone: Ints) -> Bools:
        """Whether each group loses less in these parts than whole."""
        new = self._parts(parts, is_kept, np.zeros(self.open.n_groups))
        after = np.bincount(parts.group_of[is_kept], new.rows * new.loss, self.open.n_groups) + LEFT_OUT_COUNTS * n_gone
        out: Bools = after < self.open.rows * self.open.loss - ROUNDING
        return out

    def _replace(self, parts: Parts, holds: Bools, is_cut: Bools, n_gone: Ints) -> None:
        """Put the parts of groups that are cut in their place; what may still be left out is shared by rows."""
        now = self.open
        stays = _taken(now, np.flatnonzero(~is_cut), np.flatnonzero(~is_cut[now.at_classes()]))
        left = (now.may_go - n_gone) / np.maximum(1, now.rows - n_gone)
        self.open = _joined(stays, self._parts(parts, is_cut[parts.group_of] & holds, left))

    def _parts(self, parts: Parts, is_taken: Bools, may_go_of_row: Floats) -> _Open:
        """Turn parts into groups, given the share of rows that each old group may suppress."""
        now = self.open
        at = parts.order[is_taken[parts.at_classes()]]
        n_classes = lengths_of(parts.starts, len(parts.order))[is_taken]
        return self._measured(
            np.cumsum(n_classes) - n_classes,
            now.classes[at],
            now.sizes[at],
            [np.take(own, at, mode="clip") for own in now.indices],
            may_go_of_row[parts.group_of[is_taken]] * parts.rows[is_taken],
        )


def _taken(groups: _Open, which: Ints, at: Ints) -> _Open:
    """Return some of the groups, with the indices where their classes stand."""
    lengths = lengths_of(groups.starts, len(groups.classes))[which]
    return _Open(
        np.cumsum(lengths) - lengths,
        groups.classes[at],
        groups.sizes[at],
        [np.take(own, at, mode="clip") for own in groups.indices],
        groups.rows[which],
        groups.may_go[which],
        groups.loss[which],
        groups.low[:, which],
        groups.high[:, which],
        groups.wish[which],
    )


def _joined(one: _Open, other: _Open) -> _Open:
    """Return the groups of both."""
    return _Open(
        np.concatenate([one.starts, other.starts + len(one.classes)]),
        np.concatenate([one.classes, other.classes]),
        np.concatenate([one.sizes, other.sizes]),
        [np.concatenate(pair) for pair in zip(one.indices, other.indices, strict=True)],
        np.concatenate([one.rows, other.rows]),
        np.concatenate([one.may_go, other.may_go]),
        np.concatenate([one.loss, other.loss]),
        np.concatenate([one.low, other.low], axis=1),
        np.concatenate([one.high, other.high], axis=1),
        np.concatenate([one.wish, other.wish]),
    )
