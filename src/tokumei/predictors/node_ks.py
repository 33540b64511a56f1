"""The k of every node of a lattice, counted together: few attributes first, and nothing that a 1 rules out.

Telling more never makes the smallest class larger. So a node is counted only if its k is above 1 with each of its
attributes left out; else it is 1. That is Incognito's subset join (LeFevre et al. 2005) for a k of 2. What is left of
nodes over more attributes stands at coarser levels, so that the classes they are rolled up from become few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.engines.class_counts import ColumnMap
from tokumei.engines.grouping import Grouping, group_recoded_rows
from tokumei.engines.nested import WORTH, Classes, NestedClasses
from tokumei.hierarchies.lattice import Node
from tokumei.predictors.counted_nodes import LatticeCounts, check_single_tops

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]

# The classes of nodes are kept to count others from until they are so many times as many as those of the finest levels.
KEPT = 4


@dataclass(frozen=True)
class _Classes:
    """Classes of some attributes, each at a level: the labels of each attribute, and the sizes."""

    levels: Mapping[int, int]
    labels: Mapping[int, Codes]
    sizes: Ints


class NodeKs:
    """Counts the k of nodes from the counts of a lattice's values."""

    def __init__(self, counts: LatticeCounts) -> None:
        check_single_tops(counts.lattice)
        self.lattice, over, whole = counts.lattice, counts.over, counts.nested
        self.n_rows = over.n_rows
        indices = range(len(self.lattice.hierarchies))
        self.maps = [[one.at(level) for level in range(len(one.hierarchy.levels))] for one in counts.maps]
        are_leaves = [_are_leaves(own[0], over.domains[index]) for index, own in enumerate(self.maps)]
        for index in indices:
            if are_leaves[index]:
                # The codes of the values serve as they are: what is counted by them need not be counted again.
                self.maps[index][0] = ColumnMap(
                    np.arange(len(over.domains[index]), dtype=np.int32), over.domains[index]
                )
        labels = {
            index: codes if are_leaves[index] else self.maps[index][0].codes[codes]
            for index, codes in whole.whole.codes.items()
        }
        self.leaves = _Classes(dict.fromkeys(indices, 0), labels, over.sizes)
        self._nested_of = self.leaves if all(are_leaves) else None
        self._nested = whole

    def of(self, nodes: Iterable[Node] | None = None) -> dict[Node, int]:
        """Return the k of all nodes, or of some."""
        asked = set(self.lattice if nodes is None else nodes)
        by_size: dict[int, list[Node]] = {}
        for node in self._with_fewer_attributes(asked):
            by_size.setdefault(len(self._attributes(node)), []).append(node)
        ks: dict[Node, int] = {}
        classes = self.leaves
        for size in sorted(by_size):
            open_nodes: dict[tuple[int, ...], list[Node]] = {}
            for node in by_size[size]:
                attributes = self._attributes(node)
                if any(ks[self._without(node, index)] <= 1 for index in attributes):
                    ks[node] = min(1, self.n_rows)
                else:
                    open_nodes.setdefault(attributes, []).append(node)
            # Nodes of more attributes have these levels, or coarser ones.
            used = sorted({index for attributes in open_nodes for index in attributes})
            if used:
                classes = self._rolled_up(classes, used, [node for some in open_nodes.values() for node in some])
            for attributes, some in open_nodes.items():
                ks |= self._count(classes, attributes, some)
        return {node: ks[node] for node in asked}

    def _with_fewer_attributes(self, nodes: set[Node]) -> set[Node]:
        """Add for each node those with some of its attributes left out."""
        known, new = set(nodes), nodes
        while new:
            new = {self._without(node, index) for node in new for index in self._attributes(node)} - known
            known |= new
        return known

    def _count(self, classes: _Classes, attributes: Sequence[int], nodes: Sequence[Node]) -> dict[Node, int]:
        """Count nodes over the same attributes: once at the finest levels among them, and from there upward."""
        if not attributes:
            return dict.fromkeys(nodes, self.n_rows)
        finest = self._rolled_up(self._over(classes, attributes), attributes, nodes)
        room = KEPT * len(finest.sizes)
        # For each node what those above it are counted from: its own classes where they are few, else what it was from.
        fewest: dict[Node, _Classes] = {}
        out = {}
        for node in sorted(nodes, key=self.lattice.class_count, reverse=True):
            below = (fewest[one] for one in self._directly_below(node, attributes) if one in fewest)
            source = min(below, key=lambda one: len(one.sizes), default=finest)
            levels = {index: node[index] for index in attributes}
            n_possible = prod(len(self.maps[index][level].domain) for index, level in levels.items())
            if n_possible * WORTH <= len(source.sizes) and n_possible <= room:
                source = self._at(source, levels)
                room -= len(source.sizes)
                out[node] = int(source.sizes.min())
            else:
                out[node] = self._grouped(source, levels).least_sum(source.sizes)
            fewest[node] = source
        return out

    def _directly_below(self, node: Node, attributes: Sequence[int]) -> Iterator[Node]:
        for index in attributes:
            for level in self.lattice.hierarchies[index].below[node[index]]:
                yield (*node[:index], level, *node[index + 1 :])

    def _over(self, classes: _Classes, attributes: Sequence[int]) -> _Classes:
        """Return the classes of some attributes, counted from few where that can be."""
        if classes is not self._nested_of:
            radices = {index: len(self.maps[index][level].domain) for index, level in classes.levels.items()}
            self._nested, self._nested_of = NestedClasses(Classes(classes.labels, classes.sizes), radices), classes
        found = self._nested.over(attributes)
        return _Classes({index: classes.levels[index] for index in attributes}, found.codes, found.sizes)

    def _rolled_up(self, classes: _Classes, attributes: Sequence[int], nodes: Sequence[Node]) -> _Classes:
        """Return the classes of some attributes at the coarsest levels that those of the nodes follow from."""
        levels = {
            index: self._common_level(index, {node[index] for node in nodes if index in self._attributes(node)})
            for index in attributes
        }
        return classes if levels == classes.levels else self._at(classes, levels)

    def _at(self, classes: _Classes, levels: Mapping[int, int]) -> _Classes:
        """Return the classes of some attributes at coarser levels."""
        grouping = self._grouped(classes, levels)
        rows = grouping.a_row_of
        labels = {}
        for index, level in levels.items():
            own, upward = classes.labels[index][rows], self._upward(index, classes.levels[index], level)
            labels[index] = own if upward is None else upward[own]
        return _Classes(levels, labels, grouping.sums(classes.sizes))

    def _grouped(self, classes: _Classes, levels: Mapping[int, int]) -> Grouping:
        """Find which classes are one at coarser levels."""
        upward = [self._upward(index, classes.levels[index], level) for index, level in levels.items()]
        radices = [len(self.maps[index][level].domain) for index, level in levels.items()]
        return group_recoded_rows([classes.labels[index] for index in levels], upward, radices, len(classes.sizes))

    def _common_level(self, index: int, levels: set[int]) -> int:
        """Return the coarsest level that all of these follow from."""
        is_finer = self.lattice.hierarchies[index].finer
        return max(
            level
            for level in range(min(levels) + 1)
            if all(level == other or is_finer[level, other] for other in levels)
        )

    def _upward(self, index: int, fine: int, coarse: int) -> Codes | None:
        """Return for each label of a level its label at a level that follows from it."""
        if fine == coarse:
            return None
        below, above = self.maps[index][fine], self.maps[index][coarse]
        out = np.zeros(len(below.domain), np.int32)
        out[below.codes] = above.codes
        return out

    def _attributes(self, node: Node) -> tuple[int, ...]:
        """Return the attributes that a node tells of: those above one label."""
        return tuple(index for index, level in enumerate(node) if len(self.maps[index][level].domain) > 1)

    def _without(self, node: Node, index: int) -> Node:
        return (*node[:index], self.lattice.hierarchies[index].height, *node[index + 1 :])


def _are_leaves(leaves: ColumnMap, domain: pl.Series) -> bool:
    """Whether each value of a column is a leaf of its own."""
    return len(leaves.domain) == len(domain)
