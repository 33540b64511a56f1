"""Groups cut in two around the two classes that are furthest apart."""

from __future__ import annotations

import numpy as np

from tokumei.measures.requirement import ROUNDING
from tokumei.methods.local.joining import Extents
from tokumei.methods.local.task import Floats, Ints, LocalTask


def blocks_of(extents: Extents, classes: Ints, largest: int) -> list[Ints]:
    """Cut classes into halves, and these again, until none has more classes than the largest block may."""
    done, open_ = [], [classes]
    while open_:
        block = open_.pop()
        if len(block) <= largest:
            done.append(np.sort(block))
            continue
        order = np.argsort(_nearer_first(extents, block), kind="stable")
        half = len(block) // 2
        open_ += [block[order[half:]], block[order[:half]]]
    return done


def halve_groups(task: LocalTask, extents: Extents, group_of: Ints) -> Ints:
    """Cut every group in two as long as both parts hold, and give the group of each class; −1 stays −1.

    The parts are the classes nearer to one end and those nearer to the other. Where one of these fails, two parts of
    about as many rows are tried.
    """
    group_of = group_of.copy()
    open_ = _members(group_of)
    while open_:
        left = [(one, _nearer_first(extents, one)) for one in open_ if _may_be_cut(task, one)]
        open_ = []
        for cut in (_by_nearness, _by_rows):
            parts = [cut(task, classes, nearness) for classes, nearness in left]
            is_made = _make_cuts(task, group_of, parts)
            open_ += [half for halves, made in zip(parts, is_made, strict=True) if made for half in halves]
            left = [one for one, made in zip(left, is_made, strict=True) if not made]
    return group_of


def _make_cuts(task: LocalTask, group_of: Ints, parts: list[tuple[Ints, Ints]]) -> list[bool]:
    """Make the second part of each pair a group of its own where both hold, and return where."""
    n_groups = int(group_of.max(initial=-1)) + 1
    # Judged among all groups, since some requirements speak of all classes together.
    proposed = group_of.copy()
    for index, (_, second) in enumerate(parts):
        proposed[second] = n_groups + index
    holds = task.holds(proposed, n_groups + len(parts))
    is_made = []
    n_made = 0
    for index, (first, second) in enumerate(parts):
        made = bool(len(first) and len(second) and holds[group_of[first[0]]] and holds[n_groups + index])
        is_made.append(made)
        if made:
            group_of[second] = n_groups + n_made
            n_made += 1
    return is_made


def _members(group_of: Ints) -> list[Ints]:
    """Return the classes of each group."""
    order = np.argsort(group_of, kind="stable")
    order = order[np.searchsorted(group_of[order], 0) :]
    starts = np.flatnonzero(np.diff(group_of[order], prepend=-1))
    return np.split(order, starts[1:]) if len(order) else []


def _may_be_cut(task: LocalTask, classes: Ints) -> bool:
    return len(classes) > 1 and int(task.sizes[classes].sum()) >= 2 * task.least_size


def _nearer_first(extents: Extents, classes: Ints) -> Floats:
    """Return how much nearer each class is to one of the two ends than to the other, below 0 if it is.

    The ends are the class furthest from the first, and the one furthest from that.
    """
    one = _furthest(extents.joint_costs(int(classes[0]), classes))
    from_one = extents.joint_costs(int(classes[one]), classes)
    from_other = extents.joint_costs(int(classes[_furthest(from_one)]), classes)
    nearness: Floats = from_one - from_other
    nearness[np.abs(nearness) < ROUNDING] = 0
    return nearness


def _furthest(costs: Floats) -> int:
    """Return the index of the first that is as far as any, but for rounding."""
    return int(np.argmax(costs >= costs.max() - ROUNDING))


def _by_nearness(task: LocalTask, classes: Ints, nearness: Floats) -> tuple[Ints, Ints]:  # noqa: ARG001
    is_near = nearness < 0
    return classes[is_near], classes[~is_near]


def _by_rows(task: LocalTask, classes: Ints, nearness: Floats) -> tuple[Ints, Ints]:
    order = np.argsort(nearness, kind="stable")
    before = np.cumsum(task.sizes[classes[order]])
    cut = 1 + int(np.argmin(np.abs(2 * before[:-1] - before[-1])))
    return classes[order[:cut]], classes[order[cut:]]
