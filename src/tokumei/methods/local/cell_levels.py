"""The label of every cell by its level, raised by cells or branches, one step at a time, until all classes hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tokumei.engines.grouping import group_rows
from tokumei.measures.cell_losses import Ncp
from tokumei.methods.local.joint_labels import ValueTree
from tokumei.methods.local.task import Bools, Codes, Floats, Ints, LabelCells, LocalRecoding, LocalTask


@dataclass(eq=False)
class CellLevels:
    """For each attribute and class the level of its cell; one above the last stands for a cell that is suppressed."""

    task: LocalTask
    trees: tuple[ValueTree, ...]
    levels: list[Ints]
    # The node of each cell, which follows from its level.
    nodes: list[Codes]

    @classmethod
    def of(cls, task: LocalTask) -> CellLevels:
        """Start with every cell as it is."""
        trees = tuple(ValueTree.of(one) for one in task.attributes)
        cells = cls(task, trees, [], [])
        for index in range(len(trees)):
            levels = np.zeros(task.n_classes, np.int64)
            cells.levels.append(levels)
            cells.nodes.append(cells.nodes_at(index, levels))
        return cells

    @property
    def columns(self) -> range:
        """The indices of the attributes."""
        return range(len(self.trees))

    @cached_property
    def node_costs(self) -> list[Floats]:
        """The weighted certainty penalty of each node, tree by tree."""
        weights = self.task.column_weights.tolist()
        return [tree.node_costs(Ncp()) * weight for tree, weight in zip(self.trees, weights, strict=True)]

    @cached_property
    def _next_levels(self) -> list[Ints]:
        """For each tree, level and leaf the next level at which a cell says less; what says nothing is suppressed."""
        return [_next_levels(tree) for tree in self.trees]

    def nodes_at(self, index: int, levels: Ints) -> Codes:
        """Return the node that each class would have in one attribute at these levels."""
        tree = self.trees[index]
        return tree.node_at[levels, tree.attribute.leaf_of].astype(np.int32)

    def is_lost(self, index: int) -> Bools:
        """Return which cells of an attribute are suppressed."""
        out: Bools = self.nodes[index] == self.trees[index].nothing
        return out

    def costs(self, index: int) -> Floats:
        """Return the weighted certainty penalty of each class's cell."""
        return self.node_costs[index][self.nodes[index]]

    def rest(self, index: int) -> Floats:
        """Return what each cell can still lose."""
        out: Floats = self.task.column_weights[index] - self.costs(index)
        return out

    def raised(self, index: int) -> Ints:
        """Return the level of each cell of an attribute one step up its value tree."""
        return self._next_levels[index][self.levels[index], self.trees[index].attribute.leaf_of]

    def put(self, index: int, levels: Ints) -> None:
        """Set the levels of an attribute's cells."""
        self.levels[index], self.nodes[index] = levels, self.nodes_at(index, levels)

    def lose(self, index: int, classes: Bools) -> None:
        """Suppress the cells of some classes."""
        self.put(index, np.where(classes, len(self.trees[index].node_at) - 1, self.levels[index]))

    def groups(self, indices: Sequence[int]) -> Ints:
        """Return one number for classes that have the same labels in some attributes."""
        columns = [self.nodes[index] for index in indices]
        return group_rows(columns, [self.trees[index].n_nodes for index in indices], self.task.n_classes).group_of

    @property
    def loss(self) -> float:
        """The weighted certainty penalty of all rows together."""
        return float(sum(self.costs(index) @ self.task.sizes for index in self.columns))

    def recoding(self, is_suppressed: Bools) -> LocalRecoding:
        """Return the recoding of the cells as they are now, some classes left out."""
        pairs = zip(self.nodes, self.trees, strict=True)
        return LocalRecoding(
            tuple(LabelCells(nodes, tree.labels, tree.node_costs(Ncp())) for nodes, tree in pairs), is_suppressed
        )


def _next_levels(tree: ValueTree) -> Ints:
    node_at, last = tree.node_at, len(tree.node_at) - 1
    is_top = tree.is_top()
    out = np.full(node_at.shape, last, np.int64)
    for level in range(last - 1, -1, -1):
        is_same = node_at[level + 1] == node_at[level]
        out[level] = np.where(is_same, out[level + 1], np.where(is_top[node_at[level + 1]], last, level + 1))
    return out


# So that a column without weight can be divided by; it is the first to go.
LEAST_LOSS = 1e-9


def settle(cells: CellLevels) -> Bools:
    """Change cells until every class of equal labels holds, and say which classes are left out.

    In each turn failing rows go one step up in one column; above the last step their cells are suppressed. Those go
    that hold after it, in the column where most do for what is lost. Where none would, all failing rows go, in the
    column in which they come to share their labels most for what is lost. Rows without any cell left that are too few
    are left out if that is allowed; if not, the rows with the least to lose are added to them.
    """
    while True:
        group_of = cells.groups(cells.columns)
        fails = ~_holds(cells, group_of)
        if not fails.any():
            return fails
        steps = [_step_up(cells, index, group_of, fails) for index in cells.columns]
        best = max((one for one in steps if one is not None), key=lambda one: one.key, default=None)
        if best is None:
            return _leave_out_or_fill(cells)
        cells.put(best.index, np.where(best.goes, best.levels, cells.levels[best.index]))


@dataclass(frozen=True, eq=False)
class StepUp:
    """What a step up in one column would do: who goes, to which levels, and how much that brings for what is lost."""

    index: int
    levels: Ints
    goes: Bools
    # Rows that hold come before labels that are shared; of equals the one that loses least.
    key: tuple[bool, float, float]


def _step_up(cells: CellLevels, index: int, group_of: Ints, fails: Bools) -> StepUp | None:
    """Look at a step up of all failing rows in one column; None if they have no cell left there."""
    sizes = cells.task.sizes
    goes = fails & ~cells.is_lost(index)
    if not goes.any():
        return None
    levels = cells.raised(index)
    nodes = np.where(goes, cells.nodes_at(index, levels), cells.nodes[index])
    rise = (cells.node_costs[index][nodes] - cells.costs(index)) * sizes
    moved = _groups_with(cells, index, nodes, goes, fails)
    settled = goes & _holds(cells, moved)
    who, gain = settled, float(sizes[settled].sum())
    if not settled.any():
        who, gain = goes, float(_n_groups(group_of[fails]) - _n_groups(moved[fails]))
    lost = float(rise[who].sum())
    return StepUp(index, levels, who, (bool(settled.any()), gain / max(LEAST_LOSS, lost), -lost))


def _n_groups(group_of: Ints) -> int:
    return int(np.count_nonzero(np.bincount(group_of)))


def _groups_with(cells: CellLevels, index: int, nodes: Codes, goes: Bools, fails: Bools) -> Ints:
    """Assign numbers to classes with equal labels alike, one column having other nodes; −1 where nobody goes.

    Those that go can only meet failing ones, and others that have one of their new nodes: all the rest is left aside.
    """
    is_met = np.zeros(cells.trees[index].n_nodes, np.bool_)
    is_met[nodes[goes]] = True
    looked_at = np.flatnonzero(fails | is_met[nodes])
    columns = [(nodes if one == index else cells.nodes[one])[looked_at] for one in cells.columns]
    grouping = group_rows(columns, [tree.n_nodes for tree in cells.trees], len(looked_at))
    out = np.full(len(fails), -1, np.int64)
    out[looked_at] = grouping.group_of
    return out


def _holds(cells: CellLevels, group_of: Ints) -> Bools:
    """Return for each class whether its group holds; one in no group does not."""
    holds = cells.task.holds(group_of, int(group_of.max(initial=-1)) + 1)
    out: Bools = np.append(holds, False)[group_of]
    return out


def _leave_out_or_fill(cells: CellLevels) -> Bools:
    """Leave the rows out that have no cell left, or add others to them until they hold."""
    task = cells.task
    while True:
        group_of = cells.groups(cells.columns)
        fails = ~_holds(cells, group_of)
        n_failing = int(task.sizes[fails].sum())
        if n_failing <= task.n_may_suppress:
            return fails
        if fails.all():
            raise task.too_many_out(n_failing)
        rest = np.sum([cells.rest(index) for index in cells.columns], axis=0) * task.sizes
        to_lose = np.bincount(group_of, rest)[group_of]
        least = int(np.argmin(np.where(fails, np.inf, to_lose)))
        for index in cells.columns:
            cells.lose(index, group_of == group_of[least])
