"""What all that is public proves of a table, by integer programming.

Threat model. Everybody colludes, knows the offer, its rules and every release, and can solve anything. All tables that
agree with that are the whole numbers that satisfy one equation for each published count, and for each group of merged
values that not both its halves have k rows: that is what the rule by which values are merged gives away. A class *is
proven small* if in all those tables it has at least one row and fewer than k. Two desks are taken together: either
their tables are one and the same, or the later one is the earlier with newcomers, and then it is the newcomers who are
looked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, hstack, vstack

from tokumei.core.errors import InputError
from tokumei.core.seeds import generator
from tokumei.counting.class_counts import SIZE
from tokumei.exchange.offer import Offer
from tokumei.hierarchy.hierarchy import Hierarchy
from tokumei.hierarchy.lattice import Lattice, Node
from tokumei.predict.fitted_margins import FittedMargins
from tokumei.predict.margin import Ints, halving_tree, leaves_and_codes

# Beyond, a program takes minutes.
MOST_CELLS = 30_000
MOST_PROGRAMS = 2_000
MOST_SWITCHES = 400
NO_TABLE = "no table"
# Tables drawn at random first: they clear most classes at once.
N_DRAWN = 12

Bools = npt.NDArray[np.bool_]
Labels = tuple[str | None, ...]


@dataclass(frozen=True)
class Release:
    """A release that is out: its node, and the rows of each of its classes; all other classes have none."""

    node: Node
    sizes: Mapping[Labels, int]

    @classmethod
    def of_frame(cls, lattice: Lattice, node: Node, classes: pl.DataFrame) -> Release:
        """Take the classes of a release as they were read."""
        rows = classes.select(*lattice.attributes, SIZE).rows()
        return cls(node, {row[:-1]: int(row[-1]) for row in rows})


@dataclass(frozen=True)
class Told:
    """One published count: which cells it is of, and how many rows they have together."""

    cells: Bools
    rows: int


@dataclass(frozen=True)
class Proven:
    """A class that follows from what is published: its size lies between `least` and `most`, above 0 and below k."""

    node: Node
    levels: Mapping[str, int]
    labels: Labels
    least: int
    most: int

    def as_dict(self) -> dict[str, object]:
        """Give the class for JSON."""
        named = dict(zip(self.levels, self.labels, strict=True))
        return {"class": named, "levels": dict(self.levels), "least": self.least, "most": self.most}


@dataclass(frozen=True)
class Found:
    """What an attack found: the proven classes, smallest first, and how much was looked at."""

    k: int
    n_classes: int
    n_programs: int
    n_open: int
    proven: tuple[Proven, ...] = ()
    about: str = "the table"

    @property
    def is_safe(self) -> bool:
        """Whether no class was proven small, and none was left open."""
        return not self.proven and not self.n_open

    def as_dict(self) -> dict[str, object]:
        """Give what was found for JSON."""
        return {
            "k": self.k,
            "about": self.about,
            "classes": self.n_classes,
            "programs": self.n_programs,
            "open": self.n_open,
            "smallest": self.proven[0].most if self.proven else None,
            "proven": [each.as_dict() for each in self.proven],
        }


@dataclass(frozen=True, eq=False)
class Cells:
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
        """Give the class of each cell at a node, numbered by its labels."""
        sizes = [int(codes[level].max()) + 1 for codes, level in zip(self.codes, node, strict=True)]
        parts = [codes[level][leaf] for codes, level, leaf in zip(self.codes, node, self.leaves, strict=True)]
        return np.asarray(np.ravel_multi_index(parts, sizes), np.int64)

    def labels(self, node: Node, number: int) -> Labels:
        """Give the labels of a class by its number; None for a missing value."""
        sizes = [int(codes[level].max()) + 1 for codes, level in zip(self.codes, node, strict=True)]
        places = np.unravel_index(number, sizes)
        named = [
            hierarchy.levels[level].labels for hierarchy, level in zip(self.lattice.hierarchies, node, strict=True)
        ]
        return tuple(names[place] if place < len(names) else None for names, place in zip(named, places, strict=True))

    def numbered(self, node: Node, labels: Labels) -> int:
        """Give the number of a class by its labels."""
        sizes = [int(codes[level].max()) + 1 for codes, level in zip(self.codes, node, strict=True)]
        places = []
        for hierarchy, level, label, size in zip(self.lattice.hierarchies, node, labels, sizes, strict=True):
            known = hierarchy.levels[level].labels
            if label is not None and label not in known:
                raise InputError.of("a label of its level", column=hierarchy.attribute, value=label)
            places.append(min(len(known), size - 1) if label is None else known.index(label))
        return int(np.ravel_multi_index(places, sizes))


@dataclass
class Knowledge:
    """What is known of one table, cell by cell."""

    cells: Cells
    told: list[Told] = field(default_factory=list)
    # Of each pair not both have k rows.
    halves: list[tuple[Bools, Bools, int]] = field(default_factory=list)
    # Each has at least one row.
    occur: list[Bools] = field(default_factory=list)
    # Each has no row or at least k.
    hold: list[tuple[Bools, int]] = field(default_factory=list)

    def learn_release(self, release: Release) -> None:
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
                    self.halves.append((*(np.isin(leaf, half.leaves) for half in halves), offer.k_p))  # type: ignore[arg-type]
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


class Program:
    """The integer program of all tables that agree with what is known; several tables lie side by side."""

    def __init__(self, n_cells: int) -> None:
        self.n_cells = n_cells
        self._rows: list[csr_array] = []
        self._lows: list[float] = []
        self._highs: list[float] = []
        self.n_switches = 0
        self._switched: list[tuple[int, int, float]] = []
        self.n_solved = 0

    def learn(self, known: Knowledge, parts: Sequence[int], n_rows: int) -> None:
        """Add what is known of the sum of some of the tables, which have this many rows at most."""
        for told in known.told:
            self._add(told.cells, parts, told.rows, told.rows)
        for inside in known.occur:
            self._add(inside, parts, 1, np.inf)
        for one, other, k in known.halves:
            switch = self._switch()
            self._add(one, parts, -np.inf, k - 1, (switch, -float(n_rows)))
            self._add(other, parts, -np.inf, k - 1 + n_rows, (switch, float(n_rows)))
        for inside, k in known.hold:
            switch = self._switch()
            self._add(inside, parts, 0, np.inf, (switch, -float(k)))
            self._add(inside, parts, -np.inf, 0, (switch, -float(n_rows)))

    def _switch(self) -> int:
        self.n_switches += 1
        return self.n_switches - 1

    def _add(
        self, inside: Bools, parts: Sequence[int], low: float, high: float, switch: tuple[int, float] | None = None
    ) -> None:
        at = np.flatnonzero(inside)
        indices = np.concatenate([at + part * (len(inside)) for part in parts])
        ones = np.ones(len(indices))
        if switch is not None:
            self._switched.append((len(self._rows), switch[0], switch[1]))
        self._rows.append(csr_array((ones, (np.zeros(len(indices), int), indices)), shape=(1, self.n_cells)))
        self._lows.append(low)
        self._highs.append(high)

    @cached_property
    def _constraint(self) -> LinearConstraint:
        cells = vstack(self._rows, format="csr")
        rows, columns, values = zip(*self._switched, strict=True) if self._switched else ((), (), ())
        switches = csr_array((values, (rows, columns)), shape=(len(self._rows), self.n_switches))
        matrix = hstack([cells, switches], format="csr") if self.n_switches else cells
        return LinearConstraint(matrix, np.array(self._lows), np.array(self._highs))

    def solve(self, aim: npt.NDArray[np.float64]) -> Ints | None:
        """Give a table that makes the aim least; None if there is no table at all."""
        n = self.n_cells + self.n_switches
        most = np.concatenate([np.full(self.n_cells, np.inf), np.ones(self.n_switches)])
        full = np.concatenate([aim, np.zeros(self.n_switches)])
        self.n_solved += 1
        found = milp(full, constraints=self._constraint, bounds=Bounds(0, most), integrality=np.ones(n, np.int64))
        if found.x is None:
            if found.status == 2:
                return None
            # Without an end, such as the sum of cells that nothing holds back: any large number will do.
            raise ArithmeticError(found.message)
        return np.rint(found.x[: self.n_cells]).astype(np.int64)


def knowledge_of(offer: Offer, releases: Iterable[Release], cells: Cells | None = None) -> Knowledge:
    """Give what an offer and releases of it tell; a vetted offer also tells that all that it allows holds."""
    known = Knowledge(cells or Cells(offer.lattice))
    _check_size(known.cells)
    known.learn_offer(offer)
    for release in releases:
        known.learn_release(release)
    if offer.is_vetted and cells is None:
        allowed = [node for node in offer.lattice if offer.zone(offer.joint(node), offer.k_p).zone == "allowed"]
        finest = [
            node
            for node in allowed
            if not any(node != other and offer.lattice.is_coarser_or_equal(node, other) for other in allowed)
        ]
        for node in finest:
            if len(known.hold) + offer.lattice.class_count(node) <= MOST_SWITCHES:
                known.learn_holding(node, offer.k_p)
    return known


def attack(
    offer: Offer,
    releases: Sequence[Release],
    *,
    truth: Ints | None = None,
    most_programs: int = MOST_PROGRAMS,
) -> Found:
    """Look for classes that are proven small by an offer and all its releases.

    truth: the rows of each cell, for the provider alone. Only a class that is small in truth can be proven to be, so
    that fewer need be looked at.
    """
    known = knowledge_of(offer, releases)
    program = Program(len(known.cells))
    program.learn(known, [0], known.n_rows)
    found = _Search(known.cells, program, 0, offer.k_p, list(offer.lattice), truth).run(most_programs, "the table")
    if found.about == NO_TABLE:
        raise InputError.of("an offer and releases that one table can have", column="offer", value=offer.name)
    return found


class _Search:
    """Goes through the classes of some nodes; a table that was found clears all classes that are not small in it."""

    def __init__(
        self, cells: Cells, program: Program, part: int, k: int, nodes: Sequence[Node], truth: Ints | None
    ) -> None:
        self.cells, self.program, self.part, self.k, self.nodes = cells, program, part, k, nodes
        self.classes = [cells.classes(node) for node in nodes]
        self.open = [np.zeros(int(each.max()) + 1, bool) for each in self.classes]
        for classes, is_open in zip(self.classes, self.open, strict=True):
            is_open[np.unique(classes)] = True
        self.n_classes = sum(int(each.sum()) for each in self.open)
        if truth is not None:
            self._clear(truth)

    def run(self, most_programs: int, about: str) -> Found:
        proven: list[Proven] = []
        rng = generator(0, "attack")
        for _ in range(N_DRAWN):
            if any(each.any() for each in self.open) and self._solve(rng.normal(size=len(self.cells))) is None:
                return Found(self.k, self.n_classes, self.program.n_solved, 0, (), NO_TABLE)
        for node, number, inside in self._left():
            if self.program.n_solved >= most_programs:
                break
            most = self._solve(-inside.astype(float))
            if most is None or int(most[inside].sum()) >= self.k:
                continue
            least = self._solve(inside.astype(float))
            if least is not None and int(least[inside].sum()) > 0:
                sizes = int(least[inside].sum()), int(most[inside].sum())
                levels = self.cells.lattice.levels(node)
                proven.append(Proven(node, levels, self.cells.labels(node, number), *sizes))
            self.open[self.nodes.index(node)][number] = False
        n_open = sum(int(each.sum()) for each in self.open)
        proven.sort(key=lambda each: (each.most, each.least, self.cells.lattice.class_count(each.node)))
        return Found(self.k, self.n_classes, self.program.n_solved, n_open, tuple(proven), about)

    def _left(self) -> Iterator[tuple[Node, int, Bools]]:
        for node, classes, is_open in zip(self.nodes, self.classes, self.open, strict=True):
            for number in range(len(is_open)):
                if is_open[number]:
                    yield node, number, classes == number

    def _solve(self, aim: npt.NDArray[np.float64]) -> Ints | None:
        """Find a table, and clear what it clears."""
        whole = np.zeros(self.program.n_cells)
        start = self.part * len(self.cells)
        whole[start : start + len(self.cells)] = aim
        found = self.program.solve(whole)
        if found is None:
            return None
        own = found[start : start + len(self.cells)]
        self._clear(own)
        return own

    def _clear(self, table: Ints) -> None:
        for classes, is_open in zip(self.classes, self.open, strict=True):
            sizes = np.bincount(classes, table, minlength=len(is_open))
            is_open &= (sizes > 0) & (sizes < self.k)


def attack_two(
    first: tuple[Offer, Sequence[Release]],
    second: tuple[Offer, Sequence[Release]],
    *,
    most_programs: int = MOST_PROGRAMS,
) -> Found:
    """Look for classes that two offers prove small together: of one table, or of the newcomers to a table that grew."""
    cells = Cells(merged_lattice(first[0].lattice, second[0].lattice))
    _check_size(cells)
    known = [_moved(offer, releases, cells) for offer, releases in (first, second)]
    rows = [each.n_rows for each in known]
    k = min(first[0].k_p, second[0].k_p)
    nodes = list(cells.lattice)
    if rows[0] == rows[1]:
        program = Program(len(cells))
        for each in known:
            program.learn(each, [0], max(rows))
        found = _Search(cells, program, 0, k, nodes, None).run(most_programs, "one table")
        if found.about != NO_TABLE:
            return found
    earlier, later = sorted(range(2), key=lambda each: rows[each])
    program = Program(2 * len(cells))
    program.learn(known[earlier], [0], max(rows))
    program.learn(known[later], [0, 1], max(rows))
    return _Search(cells, program, 1, k, nodes, None).run(most_programs, "the newcomers")


def merged_lattice(one: Lattice, other: Lattice) -> Lattice:
    """Give the lattice with the attributes and the levels of both; attributes of one name must have the same values."""
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
            for level in range(len(hierarchy.levels)):
                labels = hierarchy.labels_at(level)
                ordered = [labels[place[leaf]] for leaf in leaves]
                index = {label: number for number, label in enumerate(dict.fromkeys(ordered))}
                columns.setdefault(tuple(index[label] for label in ordered), ordered)
        finest_first = sorted(columns.values(), key=lambda column: -len(set(column)))
        merged.append(Hierarchy.of_levels(name, finest_first))
    return Lattice.of(merged)


def _moved(offer: Offer, releases: Sequence[Release], cells: Cells) -> Knowledge:
    """Give what an offer tells in cells of a larger lattice."""
    own = Cells(offer.lattice)
    _check_size(own)
    known = knowledge_of(offer, releases)
    places = [cells.lattice.attributes.index(name) for name in offer.lattice.attributes]
    leaf_of = []
    for hierarchy, place in zip(offer.lattice.hierarchies, places, strict=True):
        order = {leaf: index for index, leaf in enumerate(hierarchy.leaves)}
        leaves = [order[leaf] for leaf in cells.lattice.hierarchies[place].leaves]
        leaf_of.append(np.array([*leaves, len(leaves)])[cells.leaves[place]])
    at = np.ravel_multi_index(leaf_of, own.shape)
    return Knowledge(
        cells,
        [Told(each.cells[at], each.rows) for each in known.told],
        [(one[at], other[at], k) for one, other, k in known.halves],
        [inside[at] for inside in known.occur],
        [(inside[at], k) for inside, k in known.hold],
    )


def cell_counts(cells: Cells, classes: pl.DataFrame) -> Ints:
    """Give the rows of each cell from the finest classes of a table."""
    counts = np.zeros(len(cells), np.int64)
    bottom = cells.lattice.bottom
    number_of = {int(number): place for place, number in enumerate(cells.classes(bottom))}
    for row in classes.select(*cells.lattice.attributes, SIZE).rows():
        labels = tuple(None if label is None else str(label) for label in row[:-1])
        counts[number_of[cells.numbered(bottom, labels)]] += row[-1]
    return counts


def _check_size(cells: Cells) -> None:
    if len(cells) > MOST_CELLS:
        raise InputError.of(f"at most {MOST_CELLS:,} combinations of values", column="attributes", value=len(cells))
