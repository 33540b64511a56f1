"""Nodes counted for a predictor, and what that cost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tokumei.core.errors import InputError
from tokumei.counting.class_counts import ClassCounts, ColumnMap
from tokumei.counting.nested import Classes, NestedClasses
from tokumei.hierarchy.lattice import Lattice, Node
from tokumei.predict.predictor import Counter


class CountedNodes:
    """Counts nodes and adds up what that cost: the class count of each, as the thesis reckons it.

    Counts of the lattice's values are rolled up; a counter is asked.
    """

    def __init__(self, lattice: Lattice, counter: Counter | ClassCounts) -> None:
        check_single_tops(lattice)
        self.lattice = lattice
        self.n_classes_counted = 0
        self._count: Counter = roll_up_counter(lattice, counter) if isinstance(counter, ClassCounts) else counter

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


def nested_classes(counts: ClassCounts) -> NestedClasses:
    """Give what counts the classes of any of the columns, by their numbers."""
    radices = {index: len(domain) for index, domain in enumerate(counts.domains)}
    return NestedClasses(Classes(dict(enumerate(counts.codes)), counts.sizes), radices)


def roll_up_counter(
    lattice: Lattice, counts: ClassCounts, nested: NestedClasses | None = None
) -> Callable[[Node], ClassCounts]:
    """Give a counter that rolls up the counts of the lattice's values to any node.

    `nested` are those of the counts over the lattice's attributes, where others count from them too.
    """
    over = counts.over(lattice.attributes)
    few_of = nested or nested_classes(over)
    maps: dict[tuple[int, int], ColumnMap] = {}

    def map_of(index: int, level: int) -> ColumnMap:
        if (index, level) not in maps:
            hierarchy = lattice.hierarchies[index]
            maps[index, level] = over.maps([hierarchy.recoding(level)])[hierarchy.attribute]
        return maps[index, level]

    def classes(node: Node) -> ClassCounts:
        used = [map_of(index, level) for index, level in enumerate(node)]
        telling = [index for index, one in enumerate(used) if len(one.domain) > 1]
        few = few_of.over(telling)
        # What is not told of has one label, which any code leads to.
        codes = np.stack([few.codes.get(index, np.zeros(len(few.sizes), np.int32)) for index in range(len(used))])
        counted = ClassCounts(over.columns, over.domains, codes, few.sizes)
        return counted.roll_up(dict(zip(lattice.attributes, used, strict=True)))

    return classes
