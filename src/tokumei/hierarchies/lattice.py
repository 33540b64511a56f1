"""All ways to choose one level for each attribute, ordered from finest to coarsest."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tokumei.core.errors import InputError
from tokumei.core.text import Text, counted
from tokumei.hierarchies.hierarchy import Hierarchy

Node = tuple[int, ...]
"""A level for each attribute, in the order of the lattice's hierarchies."""


@dataclass(frozen=True)
class Lattice:
    """The nodes over some hierarchies: a node is a level for each attribute.

    >>> import tokumei as tk
    >>> tk.Lattice.of([tk.Hierarchy.of_levels("sex", [["f", "m"], ["*", "*"]])]).n_nodes
    2
    """

    hierarchies: tuple[Hierarchy, ...]

    def __repr__(self) -> str:
        return f"Lattice({counted(self.n_nodes, 'node')} over {', '.join(self.attributes)})"

    @classmethod
    def of(cls, hierarchies: Mapping[str, Hierarchy] | Sequence[Hierarchy]) -> Lattice:
        """Make the lattice of hierarchies in the order given."""
        listed = hierarchies.values() if isinstance(hierarchies, Mapping) else hierarchies
        return cls(tuple(listed))

    def __post_init__(self) -> None:
        for one in self.hierarchies:
            if not isinstance(one, Hierarchy):
                raise InputError.of("hierarchies, as tk.Lattice.of(r.hierarchies)", value=type(one).__name__)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attribute of each index in a node."""
        return tuple(hierarchy.attribute for hierarchy in self.hierarchies)

    @property
    def bottom(self) -> Node:
        """The node that generalizes nothing."""
        return (0,) * len(self.hierarchies)

    @property
    def top(self) -> Node:
        """The node that generalizes all."""
        return tuple(hierarchy.height for hierarchy in self.hierarchies)

    @cached_property
    def coarsest(self) -> list[Node]:
        """The nodes that nothing is coarser than: the top alone, unless coarsest levels cross."""
        ends = ([level for level, above in enumerate(one.above) if not above] for one in self.hierarchies)
        return list(itertools.product(*ends))

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return math.prod(len(hierarchy.levels) for hierarchy in self.hierarchies)

    def __iter__(self) -> Iterator[Node]:
        return itertools.product(*(range(len(hierarchy.levels)) for hierarchy in self.hierarchies))

    def __contains__(self, node: object) -> bool:
        return (
            isinstance(node, tuple)
            and len(node) == len(self.hierarchies)
            and all(0 <= level <= hierarchy.height for level, hierarchy in zip(node, self.hierarchies, strict=True))
        )

    def class_count(self, node: Node) -> int:
        """Return the number of classes a node can have: the product of its levels' value counts."""
        return math.prod(n_labels[level] for level, n_labels in zip(node, self._n_labels, strict=True))

    @cached_property
    def _n_labels(self) -> list[list[int]]:
        return [[len(level) for level in hierarchy.levels] for hierarchy in self.hierarchies]

    def height(self, node: Node) -> int:
        """Return the number of steps from the bottom to a node on the longest way."""
        return sum(self.ranks[index][level] for index, level in enumerate(node))

    @cached_property
    def by_height(self) -> tuple[tuple[Node, ...], ...]:
        """The nodes in layers of equal height, from the bottom up."""
        # Where levels cross, the last level need not be the farthest from the bottom.
        layers: list[list[Node]] = [[] for _ in range(sum(max(ranks) for ranks in self.ranks) + 1)]
        for node in self:
            layers[self.height(node)].append(node)
        return tuple(tuple(layer) for layer in layers)

    def coarser_neighbors(self, node: Node) -> list[Node]:
        """Return the nodes one step up: one attribute at a directly coarser level."""
        return [
            (*node[:index], level, *node[index + 1 :])
            for index, hierarchy in enumerate(self.hierarchies)
            for level in hierarchy.above[node[index]]
        ]

    def finer_neighbors(self, node: Node) -> list[Node]:
        """Return the nodes one step down: one attribute at a directly finer level."""
        return [
            (*node[:index], level, *node[index + 1 :])
            for index, hierarchy in enumerate(self.hierarchies)
            for level in hierarchy.below[node[index]]
        ]

    def is_coarser_or_equal(self, node: Node, other: Node) -> bool:
        """Whether the first node follows from the other by generalizing further."""
        return all(
            level == at or bool(hierarchy.finer[at, level])
            for level, at, hierarchy in zip(node, other, self.hierarchies, strict=True)
        )

    def node(self, levels: Mapping[str, int]) -> Node:
        """Return the node of levels by attribute; an attribute not named stays at its values."""
        for attribute, level in levels.items():
            if attribute not in self.attributes:
                raise InputError.of(
                    Text("an attribute: {names}", names=", ".join(self.attributes)), column=attribute, value=level
                )
        for hierarchy in self.hierarchies:
            hierarchy.check_level(levels.get(hierarchy.attribute, 0))
        return tuple(levels.get(attribute, 0) for attribute in self.attributes)

    def levels(self, node: Node) -> dict[str, int]:
        """Return the level of each attribute at a node."""
        return dict(zip(self.attributes, node, strict=True))

    @cached_property
    def ranks(self) -> tuple[tuple[int, ...], ...]:
        """For each hierarchy the longest way from its values to each level."""
        return tuple(_longest_ways(hierarchy) for hierarchy in self.hierarchies)


def _longest_ways(hierarchy: Hierarchy) -> tuple[int, ...]:
    """Levels follow only from earlier ones, so that one pass in their order is enough."""
    ranks: list[int] = []
    for level in range(len(hierarchy.levels)):
        ranks.append(max((ranks[finer] + 1 for finer in hierarchy.below[level]), default=0))
    return tuple(ranks)
