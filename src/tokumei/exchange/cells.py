"""All combinations of values that a table can have rows of: what an attacker counts in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.engines.class_counts import SIZE
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.predictors.margin import Ints, leaves_and_codes

# Beyond, a program takes minutes.
MOST_CELLS = 30_000

Labels = tuple[str | None, ...]


@dataclass(frozen=True, eq=False)
class CellSpace:
    """All combinations of values, the missing one included: what a table has so many rows of."""

    lattice: Lattice

    @cached_property
    def codes(self) -> tuple[Ints, ...]:
        """For each attribute the label of each leaf at each level, a missing value last."""
        return tuple(leaves_and_codes(hierarchy)[1] for hierarchy in self.lattice.hierarchies)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many leaves each attribute has."""
        return tuple(each.shape[1] for each in self.codes)

    @cached_property
    def leaves(self) -> tuple[Ints, ...]:
        """For each attribute the leaf of each cell."""
        return tuple(each.reshape(-1) for each in np.indices(self.shape))

    def __len__(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    def classes(self, node: Node) -> Ints:
        """Return the class of each cell at a node, numbered by its labels."""
        sizes = [int(codes[level].max()) + 1 for codes, level in zip(self.codes, node, strict=True)]
        parts = [codes[level][leaf] for codes, level, leaf in zip(self.codes, node, self.leaves, strict=True)]
        return np.asarray(np.ravel_multi_index(parts, sizes), np.int64)

    def labels(self, node: Node, number: int) -> Labels:
        """Return the labels of a class by its number; None for a missing value."""
        sizes = [int(codes[level].max()) + 1 for codes, level in zip(self.codes, node, strict=True)]
        places = np.unravel_index(number, sizes)
        named = [
            hierarchy.levels[level].labels for hierarchy, level in zip(self.lattice.hierarchies, node, strict=True)
        ]
        return tuple(names[place] if place < len(names) else None for names, place in zip(named, places, strict=True))

    def numbered(self, node: Node, labels: Labels) -> int:
        """Return the number of a class by its labels."""
        sizes = [int(codes[level].max()) + 1 for codes, level in zip(self.codes, node, strict=True)]
        places = []
        for hierarchy, level, label, size in zip(self.lattice.hierarchies, node, labels, sizes, strict=True):
            known = hierarchy.levels[level].labels
            if label is not None and label not in known:
                raise InputError.of("a label of its level", column=hierarchy.attribute, value=label)
            places.append(min(len(known), size - 1) if label is None else known.index(label))
        return int(np.ravel_multi_index(places, sizes))


def cell_counts(cells: CellSpace, classes: pl.DataFrame) -> Ints:
    """Return the rows of each cell from the finest classes of a table."""
    counts = np.zeros(len(cells), np.int64)
    bottom = cells.lattice.bottom
    number_of = {int(number): place for place, number in enumerate(cells.classes(bottom))}
    for row in classes.select(*cells.lattice.attributes, SIZE).rows():
        labels = tuple(None if label is None else str(label) for label in row[:-1])
        counts[number_of[cells.numbered(bottom, labels)]] += row[-1]
    return counts


def merged_lattice(one: Lattice, other: Lattice) -> Lattice:
    """Make the lattice with the attributes and levels of both; attributes of one name must have the same values."""
    merged = []
    for name in dict.fromkeys([*one.attributes, *other.attributes]):
        both = [
            lattice.hierarchies[lattice.attributes.index(name)]
            for lattice in (one, other)
            if name in lattice.attributes
        ]
        leaves = both[0].leaves
        if set(both[-1].leaves) != set(leaves):
            raise InputError.of("columns of one name with the same values", column=name)
        columns: dict[tuple[int, ...], list[str]] = {}
        for hierarchy in both:
            place = {leaf: index for index, leaf in enumerate(hierarchy.leaves)}
            order = [*(place[leaf] for leaf in leaves), len(leaves)]
            for level in range(len(hierarchy.levels)):
                labels, codes = hierarchy.labels_at(level), hierarchy.codes_with_missing(level)[order]
                # Two levels of one label differ where only one of them tells missing values apart.
                first = np.unique(codes, return_index=True, return_inverse=True)
                columns.setdefault(tuple(first[1][first[2]].tolist()), [labels[place[leaf]] for leaf in leaves])
        finest_first = sorted(columns, key=lambda codes: -len(set(codes)))
        merged.append(Hierarchy.of_levels(name, [columns[codes] for codes in finest_first]))
    return Lattice.of(merged)


def check_size(cells: CellSpace) -> None:
    """Refuse more cells than programs can be made of."""
    if len(cells) > MOST_CELLS:
        raise InputError.of(
            Text("at most {n:,} combinations of values", n=MOST_CELLS), column="attributes", value=len(cells)
        )
