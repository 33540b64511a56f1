"""The label of every cell by its level, raised cell by cell or for a whole branch of a value tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tokumei.engines.grouping import group_rows
from tokumei.measures.loss.ncp import Ncp
from tokumei.methods.local.recoding import LabelCells, LocalRecoding
from tokumei.methods.local.task import Bools, Codes, Floats, Ints, LocalTask
from tokumei.methods.local.value_tree import ValueTree


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
