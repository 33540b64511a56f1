"""The k of every node of a lattice, counted together: few attributes first, and nothing that a 1 rules out.

Telling more never makes the smallest class larger. So a node is counted only if its k is above 1 with each of its
attributes left out; else it is 1. That is Incognito's subset join (LeFevre et al. 2005) for a k of 2. All nodes over
the same attributes are rolled up from one count of these, at the finest levels that are still asked for.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tokumei.counting.class_counts import ClassCounts, ColumnMap
from tokumei.counting.grouping import group_recoded_rows
from tokumei.hierarchy.lattice import Lattice, Node
from tokumei.predict.counted_nodes import check_single_tops

Codes = npt.NDArray[np.int32]


class NodeKs:
    """Counts the k of nodes from the counts of a lattice's values."""

    def __init__(self, lattice: Lattice, counts: ClassCounts) -> None:
        check_single_tops(lattice)
        self.lattice = lattice
        over = counts.over(lattice.attributes)
        self.sizes = over.sizes
        self.n_rows = over.n_rows
        self.codes = list(over.codes)
        self.maps = [
            [ColumnMap.of(over.domain(one.attribute), one.recoding(level)) for level in range(len(one.levels))]
            for one in lattice.hierarchies
        ]

    def of(self, nodes: Iterable[Node] | None = None) -> dict[Node, int]:
        """Give the k of all nodes, or of some and of all that these follow into with fewer attributes."""
        asked = set(self.lattice if nodes is None else nodes)
        ks: dict[Node, int] = {}
        wanted = self._with_fewer_attributes(asked)
        for attributes, group in itertools.groupby(sorted(wanted, key=self._attributes_first), key=self._attributes):
            open_nodes = []
            for node in group:
                if any(ks[self._without(node, index)] <= 1 for index in attributes):
                    ks[node] = min(1, self.n_rows)
                else:
                    open_nodes.append(node)
            ks |= self._count(attributes, open_nodes)
        return {node: ks[node] for node in asked}

    def _with_fewer_attributes(self, nodes: set[Node]) -> set[Node]:
        """Add for each node those with some of its attributes left out."""
        known, new = set(nodes), nodes
        while new:
            new = {self._without(node, index) for node in new for index in self._attributes(node)} - known
            known |= new
        return known

    def _count(self, attributes: tuple[int, ...], nodes: list[Node]) -> dict[Node, int]:
        """Count nodes over the same attributes: once at the finest levels among them, and from there."""
        if not nodes or not attributes:
            return dict.fromkeys(nodes, self.n_rows)
        finest = {index: self._common_level(index, {node[index] for node in nodes}) for index in attributes}
        columns = [self.codes[index] for index in attributes]
        maps = [self.maps[index][finest[index]].codes for index in attributes]
        radices = [len(self.maps[index][finest[index]].domain) for index in attributes]
        grouping = group_recoded_rows(columns, maps, radices, len(self.sizes))
        rows = grouping.a_row_of
        sizes = grouping.sums(self.sizes)
        labels = [np.take(code_map, column[rows], mode="clip") for code_map, column in zip(maps, columns, strict=True)]
        out = {}
        for node in nodes:
            upward = [self._upward(index, finest[index], node[index]) for index in attributes]
            radices = [len(self.maps[index][node[index]].domain) for index in attributes]
            rolled = group_recoded_rows(labels, upward, radices, len(sizes)).sums(sizes)
            out[node] = int(rolled.min()) if len(rolled) else 0
        return out

    def _common_level(self, index: int, levels: set[int]) -> int:
        """Give the coarsest level that all of these follow from."""
        is_finer = self.lattice.hierarchies[index].finer
        return max(
            level
            for level in range(min(levels) + 1)
            if all(level == other or is_finer[level, other] for other in levels)
        )

    def _upward(self, index: int, fine: int, coarse: int) -> Codes | None:
        """Give for each label of a level its label at a level that follows from it."""
        if fine == coarse:
            return None
        below, above = self.maps[index][fine], self.maps[index][coarse]
        out = np.zeros(len(below.domain), np.int32)
        out[below.codes] = above.codes
        return out

    def _attributes(self, node: Node) -> tuple[int, ...]:
        """Give the attributes that a node tells of: those above one label."""
        return tuple(index for index, level in enumerate(node) if len(self.maps[index][level].domain) > 1)

    def _attributes_first(self, node: Node) -> tuple[int, tuple[int, ...]]:
        attributes = self._attributes(node)
        return len(attributes), attributes

    def _without(self, node: Node, index: int) -> Node:
        return (*node[:index], self.lattice.hierarchies[index].height, *node[index + 1 :])
