"""The labels of one attribute as nodes of its value tree, and the closest label of two of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tokumei.hierarchies.hierarchy import SUPPRESSED
from tokumei.measures.losses import Attribute, CellLoss
from tokumei.methods.local.task import Bools, Floats, Ints, LocalAttribute


@dataclass(frozen=True, eq=False)
class ValueTree:
    """Every label of an attribute as a node; then the missing value, and at last the node that says nothing.

    A label that covers the same leaves as one of a finer level is the same node. `node_at[level, leaf]` is the node of
    a leaf at a level, the missing value being the last leaf; above the last level nothing is said of any.
    """

    attribute: LocalAttribute
    node_at: Ints
    labels: tuple[str | None, ...]
    # The level at which each node stands first.
    level_of: Ints
    # A leaf of each node.
    leaf_in: Ints

    @classmethod
    def of(cls, attribute: LocalAttribute) -> ValueTree:
        """Make the tree of an attribute, numbering its labels from the leaves up."""
        levels, n_leaves = attribute.hierarchy.levels, attribute.n_leaves
        node_at = np.zeros((len(levels) + 1, n_leaves + 1), np.int64)
        labels: list[str | None] = []
        level_of: list[int] = []
        leaf_in: list[int] = []
        seen: dict[bytes, int] = {}
        for index, level in enumerate(levels):
            order = np.argsort(level.codes, kind="stable")
            for leaves in np.split(order, np.cumsum(np.bincount(level.codes))[:-1]):
                node = seen.setdefault(leaves.tobytes(), len(labels))
                if node == len(labels):
                    labels.append(level.labels[level.codes[leaves[0]]])
                    level_of.append(index)
                    leaf_in.append(int(leaves[0]))
                node_at[index, leaves] = node
        missing, nothing = len(labels), len(labels) + 1
        node_at[:-1, -1], node_at[-1] = missing, nothing
        return cls(
            attribute,
            node_at,
            (*labels, None, SUPPRESSED),
            np.array([*level_of, 0, len(levels)], np.int64),
            np.array([*leaf_in, n_leaves, n_leaves], np.int64),
        )

    @property
    def n_nodes(self) -> int:
        """Number of nodes, with the missing value and with nothing."""
        return len(self.labels)

    @property
    def nothing(self) -> int:
        """The node that says nothing, not even whether there is a value."""
        return self.n_nodes - 1

    def node_costs(self, loss: CellLoss) -> Floats:
        """Return what each node costs by a loss: 1 less what it can still lose."""
        levels = self.attribute.hierarchy.levels
        seen = Attribute(
            self.attribute.hierarchy,
            np.bincount(self.attribute.leaf_of, minlength=self.attribute.n_leaves + 1),
            self.attribute.is_numeric,
        )
        costs = np.zeros(self.n_nodes)
        # Coarse levels first, so that the finest at which a node stands has the last word.
        for index in range(len(levels) - 1, -1, -1):
            rest = loss.level_cost(seen, index).rest
            costs[self.node_at[index, :-1]] = 1 - rest[levels[index].codes]
            if index == 0:
                costs[-2] = 1 - rest[-1]
        costs[-1] = 1
        return costs

    @cached_property
    def _inside(self) -> Ints:
        """For each level and node the label in which all its leaves lie; −1 if there is none."""
        levels = self.attribute.hierarchy.levels
        inside = np.full((len(levels), self.n_nodes), -1, np.int64)
        for index, level in enumerate(levels):
            for finer in range(len(levels)):
                nodes = self.node_at[finer, :-1]
                low, high = np.full(self.n_nodes, len(level)), np.full(self.n_nodes, -1)
                np.minimum.at(low, nodes, level.codes)
                np.maximum.at(high, nodes, level.codes)
                inside[index, low == high] = low[low == high]
        return inside

    def joined(self, node: int, others: Ints) -> Ints:
        """Return the closest node that covers this one and each of the others: of the finest level, or nothing."""
        out = np.full(len(others), self.nothing, np.int64)
        for index in range(len(self._inside) - 1, -1, -1):
            label = self._inside[index, node]
            if label >= 0:
                out[self._inside[index][others] == label] = self.node_at[index, self.leaf_in[node]]
        out[others == node] = node
        return out

    def is_top(self) -> Bools:
        """Return which nodes say nothing of a value that is not missing."""
        covers_all = self.level_of == self.attribute.hierarchy.height
        out: Bools = covers_all & self.attribute.hierarchy.has_single_top
        out[-1] = True
        return out
