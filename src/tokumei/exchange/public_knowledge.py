"""What is known of a table from all that is public: counts, what merging tells, and which nodes must have held.

An attacker counts in cells: all combinations of values that a table can have rows of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.engines.class_counts import SIZE
from tokumei.exchange.offer import Offer
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.methods.perturbing.marginals import MISSING, ROWS
from tokumei.predictors.fitted_margins import FittedMargins
from tokumei.predictors.one_way import Ints, enough, halving_tree, leaves_and_codes

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


MOST_SWITCHES = 400

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class PublishedCounts:
    """A release that is out: its node, and the rows of each of its classes; all other classes have none.

    `k` is that of the criterion it was given by, and so of those who know it; None for everybody. `held` are nodes that
    were counted before it was given, with the k that each had to hold: whoever knows what is out can work them out.
    """

    node: Node
    sizes: Mapping[Labels, int]
    k: int | None = None
    held: tuple[tuple[Node, int], ...] = ()

    @classmethod
    def of_frame(
        cls,
        lattice: Lattice,
        node: Node,
        classes: pl.DataFrame,
        *,
        k: int | None = None,
        held: Iterable[tuple[Node, int]] = (),
    ) -> PublishedCounts:
        """Take the classes of a release as they were read."""
        rows = classes.select(*lattice.attributes, SIZE).rows()
        return cls(node, {row[:-1]: int(row[-1]) for row in rows}, k, tuple(held))

    def is_known_to(self, k: int) -> bool:
        """Whether those know it who are served by a criterion of k: what a wider circle got, they know too."""
        return self.k is None or self.k >= k


@dataclass(frozen=True)
class Told:
    """One published count: which cells it is of, and how many rows they have together."""

    cells: Bools
    rows: int


@dataclass
class CellKnowledge:
    """What is known of one table, cell by cell."""

    cells: CellSpace
    told: list[Told] = field(default_factory=list)
    # Of each pair of some cells and how many rows would be enough to part them, not both have enough.
    halves: list[tuple[tuple[Bools, int], tuple[Bools, int]]] = field(default_factory=list)
    # Each has at least one row.
    occur: list[Bools] = field(default_factory=list)
    # Each has no row or at least k.
    hold: list[tuple[Bools, int]] = field(default_factory=list)

    def learn_release(self, release: PublishedCounts) -> None:
        """Add the counts of a release; what it lacks has no row."""
        classes = self.cells.classes(release.node)
        absent = np.ones(len(classes), bool)
        for labels, rows in release.sizes.items():
            inside = classes == self.cells.numbered(release.node, labels)
            self.told.append(Told(inside, rows))
            absent &= ~inside
        if absent.any():
            self.told.append(Told(absent, 0))
        self.told.append(Told(np.ones(len(classes), bool), sum(release.sizes.values())))

    def learn_offer(self, offer: Offer) -> None:
        """Add what an offer's margins publish, and what it says that they were merged."""
        fitted = offer.fitted
        if not isinstance(fitted, FittedMargins):
            # A law is made of noisy numbers, which any table could have given.
            return
        for place, margin in zip(self._places(offer), fitted.margins, strict=True):
            leaf = self.cells.leaves[place]
            has_missing = bool(margin.group_of[-1] >= 0)
            tree = halving_tree(margin.codes, has_missing=has_missing)
            for group, rows in zip(margin.groups, margin.sizes.tolist(), strict=True):
                self.told.append(Told(np.isin(leaf, group), rows))
                if halves := tree.of(group).halves:
                    one, other = ((np.isin(leaf, half.leaves), enough(len(half.leaves), offer.k_p)) for half in halves)
                    self.halves.append((one, other))
            missing = leaf == len(margin.leaves) - 1
            self.occur.append(missing) if has_missing else self.told.append(Told(missing, 0))
        for table in fitted.tables:
            places = self._places(offer)
            rows, columns = (
                np.append(parts, -1)[fitted.margins[index].group_of][self.cells.leaves[places[index]]]
                for index, parts in ((table.first, table.first_parts), (table.second, table.second_parts))
            )
            for (row, column), n_rows in np.ndenumerate(table.counts):
                self.told.append(Told((rows == row) & (columns == column), int(n_rows)))

    @property
    def n_rows(self) -> int:
        """The rows of the whole table; 0 if nothing tells."""
        return max([told.rows for told in self.told if told.cells.all()], default=0)

    def learn_holding(self, node: Node, k: int) -> None:
        """Add that every class of a node has no row or at least k."""
        classes = self.cells.classes(node)
        self.hold += [(classes == number, k) for number in np.unique(classes)]

    def _places(self, offer: Offer) -> list[int]:
        return [self.cells.lattice.attributes.index(name) for name in offer.lattice.attributes]


def knowledge_of(
    offer: Offer, releases: Iterable[PublishedCounts], k: int | None = None, *, earlier: Iterable[Offer] = ()
) -> CellKnowledge:
    """Collect what an offer and releases of it tell those who are served by a criterion of k; the strictest if none.

    earlier: the revisions before, since what a formula allowed when it was vetted holds for good.
    """
    k = offer.k_p if k is None else k
    known = CellKnowledge(CellSpace(offer.lattice))
    check_size(known.cells)
    known.learn_offer(offer)
    held: set[tuple[Node, int]] = set()
    for release in releases:
        if release.is_known_to(k):
            known.learn_release(release)
            held |= {each for each in release.held if each[1] >= k}
    for revision in (*earlier, offer):
        if revision.is_vetted:
            held |= set(vetted_nodes(revision))
    for node, bound in _finest(offer.lattice, held):
        if len(known.hold) + offer.lattice.class_count(node) <= MOST_SWITCHES:
            known.learn_holding(node, bound)
    return known


def vetted_nodes(offer: Offer) -> Iterator[tuple[Node, int]]:
    """Yield the nodes that a vetted offer tells to hold: all that it allows, by each of its criteria."""
    for k in {one.k for one in offer.criteria}:
        yield from ((node, k) for node in offer.lattice if offer.zone(offer.joint(node), k).zone == "allowed")


def _finest(lattice: Lattice, held: Iterable[tuple[Node, int]]) -> list[tuple[Node, int]]:
    """Leave out nodes that hold because a finer one does, for no smaller k."""
    listed = sorted(held, key=lambda each: (lattice.class_count(each[0]), each))
    return [
        (node, k)
        for node, k in listed
        if not any(
            (node, k) != (other, bound) and bound >= k and lattice.is_coarser_or_equal(node, other)
            for other, bound in listed
        )
    ]


def knowledge_in(cells: CellSpace, offer: Offer, releases: Sequence[PublishedCounts], k: int) -> CellKnowledge:
    """Return what an offer and its releases tell, in cells of a larger lattice."""
    known = knowledge_of(offer, releases, k)
    own = known.cells
    places = [cells.lattice.attributes.index(name) for name in offer.lattice.attributes]
    leaf_of = []
    for hierarchy, place in zip(offer.lattice.hierarchies, places, strict=True):
        order = {leaf: index for index, leaf in enumerate(hierarchy.leaves)}
        leaves = [order[leaf] for leaf in cells.lattice.hierarchies[place].leaves]
        leaf_of.append(np.array([*leaves, len(leaves)])[cells.leaves[place]])
    at = np.ravel_multi_index(leaf_of, own.shape)
    return CellKnowledge(
        cells,
        [Told(each.cells[at], each.rows) for each in known.told],
        [((one[at], k), (other[at], bound)) for (one, k), (other, bound) in known.halves],
        [inside[at] for inside in known.occur],
        [(inside[at], k) for inside, k in known.hold],
    )


def count_table(known: CellKnowledge) -> pl.DataFrame:
    """Write published counts as one table, a line each, as attacks on tables of counts read them.

    A label is a value, the members of a group as {Kyoto;Nara}, or missing where all values are meant.

    | town         | sex | rows |
    |--------------|-----|------|
    | {Kyoto;Nara} |     | 27   |
    | Osaka        | f   | 14   |
    """
    cells, lines = known.cells, []
    names = [[*hierarchy.leaves, MISSING] for hierarchy in cells.lattice.hierarchies]
    for told in known.told:
        own = [np.unique(leaf[told.cells]) for leaf in cells.leaves]
        # What a release lacks is no block, and follows from what it lists.
        if not told.cells.any() or int(told.cells.sum()) != int(np.prod([len(one) for one in own])):
            continue
        labels = [
            None if len(one) == len(name) else _label([name[at] for at in one.tolist()])
            for one, name in zip(own, names, strict=True)
        ]
        lines.append((*labels, told.rows))
    schema = {**dict.fromkeys(cells.lattice.attributes, pl.String), ROWS: pl.Int64}
    return pl.DataFrame(lines, schema=schema, orient="row").unique(maintain_order=True)


def _label(members: Sequence[str]) -> str:
    return members[0] if len(members) == 1 else "{" + ";".join(members) + "}"
