"""One label at a time made finer for all rows, as long as what is asked still holds."""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass, replace

import numpy as np

from tokumei.engines.grouping import group_rows
from tokumei.hierarchies.hierarchy import SUPPRESSED
from tokumei.methods.local.cuts import balanced_cuts, groups_hold, lengths_of, may_be_empty, starts_of_runs
from tokumei.methods.local.task import (
    Bools,
    Floats,
    Ints,
    LabelCells,
    LocalAttribute,
    LocalRecoding,
    LocalTask,
    range_labels,
)

# Sums are rounded otherwise on other machines; what differs by less is equal.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Label:
    """What some leaves of an attribute are called, and what that costs; the missing value is a leaf after the last."""

    text: str | None
    cost: float
    leaves: Ints
    # Of a hierarchy's label.
    level: int = 0


@dataclass(frozen=True, eq=False)
class LabelTree:
    """The labels of one attribute, from the one that stands for everything to the leaves.

    A numeric attribute without levels of its own has ranges: each is cut at the median of its rows.
    """

    attribute: LocalAttribute
    # The rows of each leaf.
    rows: Ints

    @classmethod
    def of(cls, task: LocalTask, attribute: LocalAttribute) -> LabelTree:
        """Count the rows of each leaf."""
        rows = np.bincount(attribute.leaf_of, task.sizes, attribute.n_leaves + 1).astype(np.int64)
        return cls(attribute, rows)

    @property
    def has_ranges(self) -> bool:
        """Whether its labels are made here."""
        return self.attribute.is_numeric and self.attribute.hierarchy.height <= 1

    def top(self) -> Label:
        """Return the label of all leaves that occur; with a missing value among them it says nothing."""
        attribute = self.attribute
        occurs = np.bincount(attribute.leaf_of, minlength=attribute.n_leaves + 1) > 0
        has_missing = bool(occurs[-1])
        values = np.flatnonzero(occurs[:-1]) if self.has_ranges else np.arange(attribute.n_leaves)
        if not occurs[:-1].any() and has_missing:
            return self._missing()
        top = (
            self._range(values) if self.has_ranges and len(values) else self._label(values, attribute.hierarchy.height)
        )
        if not has_missing:
            return top
        # Of the hierarchy's labels only the last says nothing, not even that there is a value.
        text = SUPPRESSED if self.has_ranges else attribute.hierarchy.label_of_missing(attribute.hierarchy.height)
        return replace(top, text=text, cost=1.0, leaves=np.append(values, attribute.missing))

    def below(self, label: Label) -> list[Label]:
        """Return the labels that a label consists of; none for a single leaf."""
        values = label.leaves[label.leaves < self.attribute.missing]
        missing = [self._missing()] if 0 < len(values) < len(label.leaves) else []
        if self.has_ranges:
            return [*([self._range(values)] if missing else self._halves(values)), *missing]
        if len(values) < 2:
            return [self._label(values, 0), *missing] if missing else []
        # The label is the finest that covers all its leaves, so one level below they are apart.
        codes = self.attribute.hierarchy.levels[label.level - 1].codes[values]
        order = np.argsort(codes, kind="stable")
        parts = np.split(values[order], np.flatnonzero(np.diff(codes[order])) + 1)
        return [*(self._label(part, label.level - 1) for part in parts), *missing]

    def told(self, label: Label, is_told: Bools) -> Label:
        """Return a label as released: a range ends with released values, not with those of rows left out."""
        leaves = label.leaves[is_told[label.leaves]]
        if not self.has_ranges or not len(leaves) or label.text in (None, SUPPRESSED):
            return label
        return self._range(leaves)

    def _halves(self, values: Ints) -> list[Label]:
        if len(values) < 2:
            return []
        low, high = values[:1], values[-1:]
        part = self.attribute.cells.parts(values, np.repeat(low, len(values)), np.repeat(high, len(values)))
        starts = np.flatnonzero(starts_of_runs(part))
        if self.attribute.cells.spans_cells(low, high)[0]:
            one, is_number = np.zeros(len(starts), np.int64), np.ones(1, np.bool_)
            rows = np.add.reduceat(self.rows[values], starts)
            starts = starts[[0, balanced_cuts(one, rows, lengths_of(starts, len(values)), is_number)[0]]]
        return [self._range(own) for own in np.split(values, starts[1:])]

    def _range(self, values: Ints) -> Label:
        first, last = self.attribute.cells.cover(values[:1], values[-1:])
        text = range_labels(self.attribute, first, last)[0]
        return Label(text, self._width(np.concatenate([first, last])), values)

    def _label(self, values: Ints, level: int) -> Label:
        # Of labels that cover the same leaves the finest is told.
        levels = self.attribute.hierarchy.levels
        while level and (levels[level - 1].codes[values] == levels[level - 1].codes[values[0]]).all():
            level -= 1
        at = levels[level]
        share = len(values) / self.attribute.n_leaves if len(values) > 1 else 0.0
        cost = self._width(values) if self.attribute.is_numeric else share
        return Label(at.labels[at.codes[values[0]]], cost, values, level)

    def _width(self, values: Ints) -> float:
        numbers = self.attribute.numbers
        whole = float(numbers[-1] - numbers[0])
        return float(numbers[values].max() - numbers[values].min()) / whole if whole else 0.0

    def _missing(self) -> Label:
        return Label(None, 0.0, np.array([self.attribute.missing]))


@dataclass(frozen=True, eq=False)
class Step:
    """One label of an attribute, the labels below it, and how far the loss falls if no row has to be left out."""

    index: int
    label: Label
    below: list[Label]
    gain: float


@dataclass(frozen=True, eq=False)
class SplitState:
    """The groups of rows that are labeled alike, and what is lost."""

    group_of: Ints
    holds: Bools
    # What the labels of each class cost.
    costs: Floats
    loss: float
    # Rows of the smallest group that holds.
    k: int
    n_suppressed: int
    is_allowed: bool


class Specializing:
    """The labels as they are, and what can still be made finer."""

    def __init__(self, task: LocalTask) -> None:
        self.task = task
        self.n_may_go = task.n_may_suppress if may_be_empty(task) else 0
        # Groups only get finer, so a step that fails fails ever after; but where a class may hold in a part of a group
        # that fails, fewer rows may have to be left out later.
        self.fails_for_good = not self.n_may_go or all(one.is_strongly_monotone for one in task.requirements)
        self.trees = [LabelTree.of(task, one) for one in task.attributes]
        self.labels = [[tree.top()] for tree in self.trees]
        tops = [labels[0].cost for labels in self.labels]
        costs = np.full(task.n_classes, float(np.dot(task.column_weights, tops)))
        self.now = self._judged(np.zeros(task.n_classes, np.int64), costs)
        self._number = itertools.count()
        self.steps: list[tuple[float, int, Step]] = []
        for index, labels in enumerate(self.labels):
            self._offer(index, labels[0])

    def run(self) -> SplitState:
        """Take the best step until none is left, and give where that leads."""
        while (best := self._best()) is not None:
            step, self.now = best
            self.labels[step.index].remove(step.label)
            self.labels[step.index] += step.below
            for label in step.below:
                self._offer(step.index, label)
        return self.now

    def recoding(self) -> LocalRecoding:
        """Return the labels of every class; groups that fail are left out."""
        is_kept = self.now.holds[self.now.group_of]
        cells = []
        for tree, labels in zip(self.trees, self.labels, strict=True):
            attribute = tree.attribute
            is_told = np.bincount(attribute.leaf_of[is_kept], minlength=attribute.n_leaves + 1) > 0
            told = [tree.told(label, is_told) for label in labels]
            code_of = np.zeros(attribute.n_leaves + 1, np.int32)
            for code, label in enumerate(labels):
                code_of[label.leaves] = code
            texts = tuple(one.text for one in told)
            cells.append(LabelCells(code_of[attribute.leaf_of], texts, np.array([one.cost for one in told])))
        return LocalRecoding(tuple(cells), ~is_kept)

    def _offer(self, index: int, label: Label) -> None:
        tree = self.trees[index]
        below = tree.below(label)
        falls = sum(int(tree.rows[one.leaves].sum()) * (label.cost - one.cost) for one in below)
        gain = float(self.task.column_weights[index]) * falls / max(1, self.task.n_rows)
        if gain > 0:
            heapq.heappush(self.steps, (-gain, next(self._number), Step(index, label, below, gain)))

    def _best(self) -> tuple[Step, SplitState] | None:
        """Return the step with the most gain for the anonymity it costs; of equals the one with the larger gain.

        Steps are looked at by the gain they can have at best, so that most need no counting.
        """
        seen: list[tuple[float, int, Step]] = []
        best: tuple[Step, SplitState] | None = None
        best_score = 0.0
        # Rows that are left out now may hold in finer groups, and then gain all.
        more = self.now.n_suppressed / max(1, self.task.n_rows)
        while self.steps and more - self.steps[0][0] > best_score + ROUNDING:
            entry = heapq.heappop(self.steps)
            after = self._after(entry[2])
            if after.is_allowed or not self.fails_for_good:
                seen.append(entry)
            score = (self.now.loss - after.loss) / (1 + max(0, self.now.k - after.k))
            if after.is_allowed and score > best_score + ROUNDING:
                best, best_score = (entry[2], after), score
        for entry in seen:
            if best is None or entry[2] is not best[0]:
                heapq.heappush(self.steps, entry)
        return best

    def _after(self, step: Step) -> SplitState:
        """Return the state after a step."""
        attribute = self.task.attributes[step.index]
        child_of = np.zeros(attribute.n_leaves + 1, np.int32)
        falls = np.zeros(attribute.n_leaves + 1)
        for number, label in enumerate(step.below, start=1):
            child_of[label.leaves] = number
            falls[label.leaves] = step.label.cost - label.cost
        child = child_of[attribute.leaf_of]
        n_groups = len(self.now.holds)
        pairs = [self.now.group_of.astype(np.int32), child]
        group_of = group_rows(pairs, [n_groups, len(step.below) + 1], self.task.n_classes).group_of
        costs = self.now.costs - float(self.task.column_weights[step.index]) * falls[attribute.leaf_of]
        return self._judged(group_of, costs)

    def _judged(self, group_of: Ints, costs: Floats) -> SplitState:
        """Judge which groups hold, whether the others may be left out, and what is lost."""
        task = self.task
        rows = np.bincount(group_of, task.sizes).astype(np.int64)
        holds = groups_hold(task, np.arange(task.n_classes), group_of, rows)
        n_suppressed = int(rows[~holds].sum())
        is_allowed = n_suppressed <= self.n_may_go and not (~holds & (rows == 0)).any()
        if is_allowed and n_suppressed and not task.is_only_k:
            is_allowed = self._holds_without(group_of, rows, holds)
        loss = float(np.where(holds[group_of], costs, 1.0) @ task.sizes) / max(1, task.n_rows)
        k = int(rows[holds & (rows > 0)].min(initial=task.n_rows))
        return SplitState(group_of, holds, costs, loss, k, n_suppressed, is_allowed)

    def _holds_without(self, group_of: Ints, rows: Ints, holds: Bools) -> bool:
        """Whether what holds still does without the others, since some requirements compare with all rows."""
        kept = np.flatnonzero(holds[group_of])
        number = np.cumsum(holds) - 1
        return bool(groups_hold(self.task, kept, number[group_of[kept]], rows[holds]).all())
