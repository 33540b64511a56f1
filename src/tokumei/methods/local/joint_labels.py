"""The labels of an attribute as nodes of its value tree, and what it costs to write groups of classes alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tokumei.core.errors import InputError
from tokumei.hierarchies.hierarchy import SUPPRESSED
from tokumei.measures.losses import Attribute, CellLoss
from tokumei.measures.requirement import population_of
from tokumei.methods.local.task import Bools, Floats, Ints, LocalAttribute, LocalTask


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


# The most nodes of a tree whose joint labels are kept for every two of them: 16 megabytes.
LARGEST_TABLE = 1_000
# Where a missing value stands beside numbers from 0 to 1: so far off that a range with both covers everything.
FAR = 4.0


@dataclass(eq=False)
class Extents:
    """The labels of some groups: a node in each value tree, a range of each numeric attribute.

    All attributes of a kind stand in one array, a row each, so that looking at all groups takes few passes. Costs are
    weighted: the nodes carry the weight of their attribute, a numeric attribute is as wide as its weight.
    """

    joints: tuple[JointNodes, ...]
    nodes: Ints
    low: Floats
    high: Floats
    widths: Floats

    @classmethod
    def of(cls, task: LocalTask, loss: CellLoss) -> Extents:
        """Start with the values of each class; a label costs what the loss says, a range of numbers its width."""
        pairs = list(zip(task.attributes, task.column_weights.tolist(), strict=True))
        trees = [(ValueTree.of(one), weight) for one, weight in pairs if not one.is_numeric]
        # Small ones first, so that their tables follow each other.
        trees.sort(key=lambda one: one[0].n_nodes > LARGEST_TABLE)
        starts = np.cumsum([0, *(tree.n_nodes for tree, _ in trees)])
        joints = tuple(
            JointNodes(tree, tree.node_costs(loss) * weight, int(start))
            for (tree, weight), start in zip(trees, starts, strict=False)
        )
        nodes = [one.start + one.tree.node_at[0][one.tree.attribute.leaf_of] for one in joints]
        lines = [_indices(one) * weight for one, weight in pairs if one.is_numeric]
        widths = [[weight] for one, weight in pairs if one.is_numeric]
        indices = np.array(lines, np.float64).reshape(len(lines), task.n_classes)
        return cls(
            joints,
            np.array(nodes, np.int64).reshape(len(nodes), task.n_classes),
            indices,
            indices.copy(),
            np.array(widths, np.float64).reshape(len(lines), 1),
        )

    def joint_costs(self, group: int, others: Ints | None = None) -> Floats:
        """Return the cost of the closest labels that cover a group and each of the others, or each of all."""
        nodes, low, high = self.nodes, self.low, self.high
        if others is not None:
            nodes, low, high = nodes[:, others], low[:, others], high[:, others]
        total = np.zeros(nodes.shape[1])
        tables = []
        for index, one in enumerate(self.joints):
            node = int(self.nodes[index, group])
            if one.is_small:
                tables.append(one.table(node))
            else:
                total += one.costs(node, nodes[index])
        if tables:
            # Mode "clip" saves numpy a pass over the nodes.
            total += np.concatenate(tables).take(nodes[: len(tables)], mode="clip").sum(axis=0)
        if len(low):
            ranges = np.maximum(high, self.high[:, group, None])
            ranges -= np.minimum(low, self.low[:, group, None])
            total += np.minimum(ranges, self.widths, out=ranges).sum(axis=0)
        return total

    def join(self, into: int, group: int) -> None:
        """Make the labels of one group cover another too."""
        for index, one in enumerate(self.joints):
            self.nodes[index, into] = one.joint(int(self.nodes[index, into]), int(self.nodes[index, group]))
        np.minimum(self.low[:, into], self.low[:, group], out=self.low[:, into])
        np.maximum(self.high[:, into], self.high[:, group], out=self.high[:, into])

    def own_costs(self) -> Floats:
        """Return the cost of each group's labels."""
        costs = np.concatenate([np.zeros(0), *(one.node_costs for one in self.joints)])
        total: Floats = costs[self.nodes].sum(axis=0) + np.minimum(self.high - self.low, self.widths).sum(axis=0)
        return total

    def take(self, groups: Ints) -> Extents:
        """Select the labels of these groups, in this order."""
        # Numpy keeps the layout of what is taken from; rows that lie together in memory are summed faster.
        return Extents(
            self.joints,
            np.ascontiguousarray(self.nodes[:, groups]),
            np.ascontiguousarray(self.low[:, groups]),
            np.ascontiguousarray(self.high[:, groups]),
            self.widths,
        )

    def put(self, groups: Ints, others: Extents) -> None:
        """Replace the labels of these groups by those of others."""
        self.nodes[:, groups], self.low[:, groups], self.high[:, groups] = others.nodes, others.low, others.high


@dataclass(eq=False)
class JointNodes:
    """The closest nodes that cover two, and what they cost.

    Nodes are numbered from `start` on, so that the nodes of several trees follow each other. Those of a small tree are
    looked up in tables, which are made when asked for.
    """

    tree: ValueTree
    node_costs: Floats
    start: int
    _kept: dict[int, tuple[Ints, Floats]] = field(default_factory=dict, repr=False)

    @property
    def is_small(self) -> bool:
        """Whether the tree has tables."""
        return self.tree.n_nodes <= LARGEST_TABLE

    def joint(self, one: int, other: int) -> int:
        """Return the closest node that covers both."""
        if self.is_small:
            return self.start + int(self._table(one)[0][other - self.start])
        return self.start + int(self.tree.joined(one - self.start, np.array([other - self.start]))[0])

    def table(self, node: int) -> Floats:
        """Return what the closest node costs that covers this one and each of the tree."""
        return self._table(node)[1]

    def costs(self, node: int, others: Ints) -> Floats:
        """Return what the closest node costs that covers this one and each of the others."""
        return self.node_costs[self.tree.joined(node - self.start, others - self.start)]

    def _table(self, node: int) -> tuple[Ints, Floats]:
        kept = self._kept.get(node)
        if kept is None:
            nodes = self.tree.joined(node - self.start, np.arange(self.tree.n_nodes))
            kept = self._kept[node] = nodes, self.node_costs[nodes]
        return kept


def refuse_population(task: LocalTask, name: str) -> None:
    """Raise an InputError where a requirement knows a population: people in no group would belong to several."""
    if any(population_of(one) is not None for one in task.requirements):
        raise InputError.of(f"no requirement of a population: the groups that {name} makes share values")


def _indices(attribute: LocalAttribute) -> Floats:
    """Return the number of each class, from 0 for the least to 1 for the greatest."""
    numbers = attribute.numbers
    width = float(numbers[-1] - numbers[0])
    shares = (numbers - numbers[0]) / width if width else np.zeros(len(numbers))
    indices: Floats = np.append(shares, FAR)[attribute.leaf_of]
    return indices
