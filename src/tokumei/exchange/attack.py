"""What all that is public proves of a table, by integer programming.

Threat model. Everybody colludes, knows the offer, its rules and every release, and can solve anything. All tables that
agree with that are the whole numbers that satisfy one equation for each published count, and for each group of merged
values that not both its halves have k rows: that is what the rule by which values are merged gives away. A class *is
proven small* if in all those tables it has at least one row and fewer than k. Two desks are taken together: either
their tables are one and the same, or the later one is the earlier with newcomers, and then it is the newcomers who are
looked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError, TokumeiError
from tokumei.core.seeds import generator
from tokumei.exchange.offer import Offer
from tokumei.exchange.public_knowledge import (
    Bools,
    CellKnowledge,
    CellSpace,
    Labels,
    PublishedCounts,
    check_size,
    knowledge_in,
    knowledge_of,
    merged_lattice,
)
from tokumei.hierarchies.lattice import Node
from tokumei.predictors.one_way import Ints

if TYPE_CHECKING:
    from scipy.optimize import LinearConstraint
    from scipy.sparse import csr_array


class Unsolved(TokumeiError):
    """A program that has no end, such as the sum of cells that nothing holds back, or that took too long."""


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

    def learn(self, known: CellKnowledge, parts: Sequence[int], n_rows: int) -> None:
        """Add what is known of the sum of some of the tables, which have this many rows at most."""
        for told in known.told:
            self._add(told.cells, parts, told.rows, told.rows)
        for inside in known.occur:
            self._add(inside, parts, 1, np.inf)
        for (one, enough), (other, bound) in known.halves:
            switch = self._switch()
            self._add(one, parts, -np.inf, enough - 1, (switch, -float(n_rows)))
            self._add(other, parts, -np.inf, bound - 1 + n_rows, (switch, float(n_rows)))
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
        from scipy.sparse import csr_array

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
        from scipy.optimize import LinearConstraint
        from scipy.sparse import csr_array, hstack, vstack

        cells = vstack(self._rows, format="csr")
        rows, columns, values = zip(*self._switched, strict=True) if self._switched else ((), (), ())
        switches = csr_array((values, (rows, columns)), shape=(len(self._rows), self.n_switches))
        matrix = hstack([cells, switches], format="csr") if self.n_switches else cells
        return LinearConstraint(matrix, np.array(self._lows), np.array(self._highs))

    def solve(self, aim: npt.NDArray[np.float64]) -> Ints | None:
        """Return a table that minimizes the aim; None if there is no table at all."""
        from scipy.optimize import Bounds, milp

        n = self.n_cells + self.n_switches
        most = np.concatenate([np.full(self.n_cells, np.inf), np.ones(self.n_switches)])
        full = np.concatenate([aim, np.zeros(self.n_switches)])
        self.n_solved += 1
        found = milp(full, constraints=self._constraint, bounds=Bounds(0, most), integrality=np.ones(n, np.int64))
        if found.x is None:
            if found.status == 2:
                return None
            raise Unsolved(f"An integer program was not solved: {found.message}")
        return np.rint(found.x[: self.n_cells]).astype(np.int64)


MOST_PROGRAMS = 2_000
NO_TABLE = "no table"
# Tables drawn at random first: they clear most classes at once.
N_DRAWN = 12


@dataclass(frozen=True)
class Proven:
    """A class that follows from what is published: its size lies between `least` and `most`, above 0 and below k."""

    node: Node
    levels: Mapping[str, int]
    labels: Labels
    least: int
    most: int
    k: int

    def as_dict(self) -> dict[str, object]:
        """Return the class for JSON."""
        named = dict(zip(self.levels, self.labels, strict=True))
        return {"class": named, "levels": dict(self.levels), "least": self.least, "most": self.most, "k": self.k}


@dataclass(frozen=True)
class Found:
    """What an attack found: the proven classes, smallest first, and how much was looked at.

    `k` is that of the widest circle, everybody; narrower ones are attacked with what they know, by their own k.
    """

    k: int
    n_classes: int
    n_programs: int
    n_open: int
    proven: tuple[Proven, ...] = ()
    about: str = "the table"

    @property
    def is_safe(self) -> bool:
        """Whether no class was proven small, none was left open, and there was something to look at."""
        return not self.proven and not self.n_open and self.about != NO_TABLE

    def joined(self, other: Found) -> Found:
        """Return what two attacks found, of two circles."""
        proven = tuple(sorted((*self.proven, *other.proven), key=lambda each: (each.most, each.least)))
        return Found(
            max(self.k, other.k),
            self.n_classes + other.n_classes,
            self.n_programs + other.n_programs,
            self.n_open + other.n_open,
            proven,
            NO_TABLE if NO_TABLE in (self.about, other.about) else self.about,
        )

    def as_dict(self) -> dict[str, object]:
        """Return what was found for JSON."""
        return {
            "k": self.k,
            "about": self.about,
            "classes": self.n_classes,
            "programs": self.n_programs,
            "open": self.n_open,
            "smallest": self.proven[0].most if self.proven else None,
            "proven": [each.as_dict() for each in self.proven],
        }


def attack(
    offer: Offer,
    releases: Sequence[PublishedCounts],
    *,
    truth: Ints | None = None,
    most_programs: int = MOST_PROGRAMS,
    earlier: Sequence[Offer] = (),
) -> Found:
    """Look for classes that are proven small by an offer and all its releases, to each circle of recipients.

    truth: the rows of each cell, for the provider alone. Only a class that is small in truth can be proven to be, so
    that fewer need be looked at. earlier: the revisions of the offer before.
    """
    nodes = list(offer.lattice)
    found: Found | None = None
    for k in sorted({one.k for one in offer.criteria}, reverse=True):
        known = knowledge_of(offer, releases, k, earlier=earlier)
        program = Program(len(known.cells))
        program.learn(known, [0], known.n_rows)
        one = _Search(known.cells, program, 0, k, nodes, truth).run(most_programs, "the table")
        if one.about == NO_TABLE:
            raise InputError.of("an offer and releases that one table can have", column="offer", value=offer.name)
        found = one if found is None else found.joined(one)
    if found is None:
        raise InputError.of("at least one criterion", column="criteria")
    return found


class _Search:
    """Goes through the classes of some nodes; a table that was found clears all classes that are not small in it."""

    def __init__(
        self, cells: CellSpace, program: Program, part: int, k: int, nodes: Sequence[Node], truth: Ints | None
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
                proven.append(Proven(node, levels, self.cells.labels(node, number), *sizes, self.k))
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
    first: tuple[Offer, Sequence[PublishedCounts]],
    second: tuple[Offer, Sequence[PublishedCounts]],
    *,
    most_programs: int = MOST_PROGRAMS,
) -> Found:
    """Look for classes that two offers prove small together: of one table, or of the newcomers to a table that grew."""
    cells = CellSpace(merged_lattice(first[0].lattice, second[0].lattice))
    check_size(cells)
    widest = min(first[0].k_p, second[0].k_p)
    narrower = {one.k for offer, _ in (first, second) for one in offer.criteria if one.k < widest}
    found = _attack_two(cells, first, second, widest, most_programs)
    for k in sorted(narrower, reverse=True):
        found = found.joined(_attack_two(cells, first, second, k, most_programs))
    return found


def _attack_two(
    cells: CellSpace,
    first: tuple[Offer, Sequence[PublishedCounts]],
    second: tuple[Offer, Sequence[PublishedCounts]],
    k: int,
    most_programs: int,
) -> Found:
    known = [knowledge_in(cells, offer, releases, k) for offer, releases in (first, second)]
    rows = [each.n_rows for each in known]
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
