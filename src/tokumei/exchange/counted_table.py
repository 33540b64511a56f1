"""The provider's own table, counted as seldom as possible: what follows from a count is rolled up from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from tokumei.core.progress import step
from tokumei.counting.class_counts import ClassCounts, ColumnMap
from tokumei.counting.count import count_classes
from tokumei.counting.engine import Engine
from tokumei.counting.recoding import Recoding
from tokumei.data.files.reading import Reading
from tokumei.exchange.joint import joint_node
from tokumei.hierarchy.hierarchy import Hierarchy
from tokumei.hierarchy.lattice import Lattice, Node

# So many classes fit in memory many times over. Beyond, no finer node is counted than is needed.
MOST_CLASSES = 5_000_000


class CountedTable:
    """Class counts of any node of a table, and of the columns that are carried along.

    The finest counts so far are kept. A node that does not follow from them is counted together with them, in one
    pass over the rows; all others take none. `n_passes` tells how many there were.
    """

    def __init__(
        self,
        lattice: Lattice,
        source: Any,
        *,
        carried: Sequence[str] = (),
        engine: str | Engine = "local",
        **reading: Any,
    ) -> None:
        self.lattice = lattice
        self.carried = tuple(carried)
        self.n_passes = 0
        self._source = source
        self._reading: dict[str, Any] = {"engine": engine, "reading": Reading.of(reading)}
        self._finest: tuple[Node, ClassCounts] | None = None
        self._maps: dict[tuple[int, int], ColumnMap] = {}
        self._ks: dict[Node, int] = {}

    def classes(self, node: Node) -> ClassCounts:
        """Give the classes of a node by its labels, split by the columns that are carried along."""
        at, counts = self._counts_for(node)
        indices = [index for index, level in enumerate(node) if level != at[index]]
        return counts.roll_up({self.lattice.attributes[index]: self._map(index, node[index]) for index in indices})

    def k(self, node: Node) -> int:
        """Give the true k of a node."""
        if node not in self._ks:
            self._ks[node] = self.classes(node).over(self.lattice.attributes).k
        return self._ks[node]

    def _map(self, index: int, level: int) -> ColumnMap:
        """Give what the labels counted become at a level."""
        at, counts = self._counts_for(self.lattice.top)
        if (index, level) not in self._maps:
            recoding = relabeling(self.lattice.hierarchies[index], at[index], level)
            self._maps[index, level] = ColumnMap.of(counts.domain(recoding.column), recoding)
        return self._maps[index, level]

    def _counts_for(self, node: Node) -> tuple[Node, ClassCounts]:
        """Give counts that a node follows from."""
        if self._finest is not None and self.lattice.is_coarser_or_equal(node, self._finest[0]):
            return self._finest
        is_small = self.lattice.class_count(self.lattice.bottom) <= MOST_CLASSES
        at = self.lattice.bottom if is_small else node
        at = at if self._finest is None else joint_node(self.lattice, [at, self._finest[0]])
        recodings = [each.recoding(level) for each, level in zip(self.lattice.hierarchies, at, strict=True)]
        columns = [*self.lattice.attributes, *self.carried]
        with step("counting"):
            # Values are looked up once for each class where that is cheaper than once for each row.
            counts = count_classes(self._source, columns, recodings=() if is_small else recodings, **self._reading)
            counts = counts.roll_up(counts.maps(recodings)) if is_small else counts
        self.n_passes += 1
        self._finest = at, counts
        self._maps.clear()
        return self._finest


def relabeling(hierarchy: Hierarchy, fine: int, coarse: int) -> Recoding:
    """Give what the labels of one level become at a level that follows from it."""
    label_of = dict(zip(hierarchy.labels_at(fine), hierarchy.labels_at(coarse), strict=True))
    values, labels = pl.Series(list(label_of), dtype=pl.String), pl.Series(list(label_of.values()), dtype=pl.String)
    return Recoding(hierarchy.attribute, values, labels, hierarchy.label_of_missing(coarse))
