"""Nodes counted for a predictor, and what that cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.engines.class_counts import ClassCounts, ColumnMap
from tokumei.engines.nested import Classes, NestedClasses
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.predictors.predictor import Counter


class CountedNodes:
    """Counts nodes and adds up what that cost: the class count of each, as the thesis reckons it.

    Counts of the lattice's values are rolled up; a counter is asked.
    """

    def __init__(self, lattice: Lattice, counter: Counter | ClassCounts) -> None:
        check_single_tops(lattice)
        self.lattice = lattice
        self.n_classes_counted = 0
        self._count: Counter = (
            LatticeCounts.of(lattice, counter).classes if isinstance(counter, ClassCounts) else counter
        )

    def k(self, node: Node) -> int:
        """Count the k of a node; a table without rows is an InputError."""
        self.n_classes_counted += self.lattice.class_count(node)
        counted = self._count(node)
        k = counted.k if isinstance(counted, ClassCounts) else counted
        if k < 1:
            raise InputError.of("a table with rows", option="k", value=k)
        return k

    def classes(self, node: Node) -> ClassCounts:
        """Count the classes of a node."""
        self.n_classes_counted += self.lattice.class_count(node)
        counted = self._count(node)
        if not isinstance(counted, ClassCounts):
            raise TypeError("this predictor needs a counter that gives the classes of a node, not only its k")
        return counted


def check_single_tops(lattice: Lattice) -> None:
    """Refuse a hierarchy that does not end in one label: a node over few attributes has the others there."""
    for hierarchy in lattice.hierarchies:
        if not hierarchy.has_single_top:
            raise InputError.of("a hierarchy whose last level has one label", column=hierarchy.attribute)


@dataclass(frozen=True, eq=False)
class LevelMaps:
    """What the values of a column become at each level of its hierarchy; a text is looked up once for all levels."""

    hierarchy: Hierarchy
    domain: pl.Series
    _made: dict[int, ColumnMap] = field(default_factory=dict)

    def at(self, level: int) -> ColumnMap:
        """Return the map to the labels of a level."""
        if level not in self._made:
            is_text = self.domain.dtype == pl.String
            self._made[level] = (
                self._through_leaves(level) if is_text else ColumnMap.of(self.domain, self.hierarchy.recoding(level))
            )
        return self._made[level]

    @cached_property
    def _leaf_of(self) -> npt.NDArray[np.int64]:
        """The leaf of each value, missing last."""
        index: dict[str | None, int] = {leaf: at for at, leaf in enumerate((*self.hierarchy.leaves, None))}
        texts = self.hierarchy.recoding(0).labels_of(self.domain)
        return np.fromiter(map(index.__getitem__, texts.to_list()), np.int64, len(texts))

    def _through_leaves(self, level: int) -> ColumnMap:
        found = self.hierarchy.codes_with_missing(level)[self._leaf_of]
        labels = pl.Series([*self.hierarchy.levels[level].labels, None], dtype=pl.String)
        used = np.flatnonzero(np.bincount(found, minlength=len(labels)))
        texts = labels.gather(used)
        order = texts.arg_sort(nulls_last=True).to_numpy()
        place = np.empty(len(labels), np.int32)
        place[used[order]] = np.arange(len(used), dtype=np.int32)
        return ColumnMap(place[found], texts.gather(order))


@dataclass(frozen=True, eq=False)
class LatticeCounts:
    """The counts of a lattice's values, and what is counted and looked up once for all its nodes."""

    lattice: Lattice
    over: ClassCounts
    nested: NestedClasses
    maps: Sequence[LevelMaps]

    @classmethod
    def of(cls, lattice: Lattice, counts: ClassCounts) -> LatticeCounts:
        """Take the counts of the lattice's attributes."""
        over = counts.over(lattice.attributes)
        radices = {index: len(domain) for index, domain in enumerate(over.domains)}
        nested = NestedClasses(Classes(dict(enumerate(over.codes)), over.sizes), radices)
        return cls(lattice, over, nested, [LevelMaps(one, over.domain(one.attribute)) for one in lattice.hierarchies])

    def classes(self, node: Node) -> ClassCounts:
        """Roll the counts up to a node."""
        used = [self.maps[index].at(level) for index, level in enumerate(node)]
        telling = [index for index, one in enumerate(used) if len(one.domain) > 1]
        few = self.nested.over(telling)
        # What is not told of has one label, which any code leads to.
        codes = np.stack([few.codes.get(index, np.zeros(len(few.sizes), np.int32)) for index in range(len(used))])
        counted = ClassCounts(self.over.columns, self.over.domains, codes, few.sizes)
        return counted.roll_up(dict(zip(self.lattice.attributes, used, strict=True)))
