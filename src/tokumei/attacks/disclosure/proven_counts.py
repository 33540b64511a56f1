"""Which groups of people published counts prove: how many there are at least and at most, and what they all have.

A table that fits is worth many programs: a group that is empty in it, or large, is not proven to be small. Only what
all tables found have in common is asked of the programs, whose bounds are checked in whole numbers.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tokumei.attacks.disclosure.count_programs import CountProgram, rows_of
from tokumei.attacks.disclosure.count_tables import OPEN, CountedCells
from tokumei.core.progress import step
from tokumei.hierarchies.label_semantics import Ints

Floats = npt.NDArray[np.float64]

# Groups of more columns are left out where all of them would be more than this.
MOST_GROUPS = 300_000
# Rounds in which lines bound cells; the program finds what they leave.
MOST_NARROWING = 100
# So often a table is looked for that clears many groups; until so many in a row cleared none.
MOST_CLEARING, IN_VAIN = 60, 5
SECONDS_OF_CLEARING = 2.0


class FittingTables:
    """All tables of people that have the published counts: what each cell holds at least and at most, and a program.

    Lines first bound each cell by what the others of the line can hold. The program has the cells that this leaves
    open, and how many rows each has above the least.
    """

    def __init__(self, cells: CountedCells, *, deadline: float) -> None:
        high = np.minimum(cells.high, cells.n_most).astype(np.int64)
        lines, self._of_line = _different(cells.lines, cells.low.astype(np.int64), high)
        self.low, self.high = _narrowed(lines, *self._of_line, cells.n_most)
        self._open = np.flatnonzero(self.low < self.high)
        least, most = (one - lines @ self.low for one in self._of_line)
        inner = lines[:, self._open]
        is_left = np.diff(inner.indptr) > 0
        # A line whose cells are all known contradicts them or says nothing more.
        self.is_empty = bool((self.low > self.high).any() or ((least > 0) | (most < 0))[~is_left].any())
        inner, least, most = inner[is_left], least[is_left], most[is_left]
        is_equal = least == most
        room = inner @ (self.high - self.low)[self._open]
        is_capped, is_least = ~is_equal & (most < room), ~is_equal & (least > 0)
        self._program = CountProgram(
            inner[is_equal],
            least[is_equal],
            sparse.vstack([inner[is_capped], -inner[is_least]], format="csr"),
            np.concatenate([most[is_capped], -least[is_least]]),
            (self.high - self.low)[self._open],
            deadline=deadline,
        )

    @property
    def is_contradicted(self) -> bool:
        """Whether it is proven that no table has the counts."""
        return self.is_empty or (len(self._open) > 0 and self._program.is_contradicted)

    @property
    def is_late(self) -> bool:
        """Whether the time to solve is up."""
        return self._program.is_late()

    @property
    def solutions(self) -> list[Ints]:
        """The tables that were found last, each checked in whole numbers."""
        if self.is_empty or not len(self._open):
            return [] if self.is_empty else [self.low]
        return [self._whole(one) for one in self._program.solutions]

    def most(self, cells: Ints, *, in_integers: bool = True) -> int | None:
        """Prove how many rows some cells have at most; None if nothing is found."""
        inside = self._inside(cells)
        found = self._program.most(inside, int(self._program.upper[inside].sum()), in_integers=in_integers)
        return None if found is None else int(self.low[cells].sum()) + found

    def least(self, cells: Ints, *, in_integers: bool = True) -> int | None:
        """Prove how many rows some cells have at least; None if nothing is found."""
        found = self._program.least(self._inside(cells), in_integers=in_integers)
        return None if found is None else int(self.low[cells].sum()) + found

    def find(self, gains: Floats, seconds: float, near: Ints | None = None) -> Ints | None:
        """Return a table that fits and gains much; near: no cell of it differs by more than a row from these."""
        if self.is_empty or not len(self._open):
            return None if self.is_empty else self.low
        # What is wanted may lie beyond what is proven.
        wanted = None if near is None else np.clip(near, self.low, self.high)[self._open] - self.low[self._open]
        box = None if wanted is None else (np.maximum(wanted - 1, 0), wanted + 1)
        found = self._program.solve(gains[self._open], seconds, box)
        return None if found is None else self._whole(found)

    def nearest(self, wanted: Ints, seconds: float, *, is_whole: bool) -> Floats | None:
        """Return a table that fits and differs in few rows from one; by fractions of rows unless it is to be whole."""
        if self.is_empty or not len(self._open):
            return None if self.is_empty else self.low.astype(float)
        near = (np.clip(wanted, self.low, self.high) - self.low)[self._open]
        found = self._program.nearest(near, seconds, is_whole=is_whole)
        if found is None:
            return None
        out = self.low.astype(float)
        out[self._open] += found
        return out

    def _inside(self, cells: Ints) -> Ints:
        """Return the variables of some cells."""
        return np.flatnonzero(np.isin(self._open, cells))

    def _whole(self, counts: Ints) -> Ints:
        out = self.low.copy()
        out[self._open] += counts
        return out


def _different(lines: sparse.csr_array, low: Ints, high: Ints) -> tuple[sparse.csr_array, tuple[Ints, Ints]]:
    """Take lines of the same cells for one, which has the bounds of all."""
    first: dict[bytes, int] = {}
    of_line = [
        first.setdefault(one.tobytes(), at) for at, one in enumerate(np.split(lines.indices, lines.indptr[1:-1]))
    ]
    places = np.array(sorted(first.values()), np.int64)
    own = np.searchsorted(places, of_line)
    least, most = np.zeros(len(places), np.int64), np.full(len(places), OPEN, np.int64)
    np.maximum.at(least, own, low)
    np.minimum.at(most, own, high)
    return lines[places], (least, most)


def _narrowed(lines: sparse.csr_array, least: Ints, most: Ints, n_most: int) -> tuple[Ints, Ints]:
    """Bound each cell by what the other cells of each of its lines can hold, until nothing changes."""
    n_cells = lines.shape[1]
    low, high = np.zeros(n_cells, np.int64), np.full(n_cells, n_most, np.int64)
    own = np.diff(lines.indptr)
    for _ in range(MOST_NARROWING):
        before = low.sum(), high.sum()
        room = np.repeat(most - lines @ low, own) + low[lines.indices]
        need = np.repeat(least - lines @ high, own) + high[lines.indices]
        np.minimum.at(high, lines.indices, room)
        np.maximum.at(low, lines.indices, need)
        if (low.sum(), high.sum()) == before or (low > high).any():
            break
    return low, high


@dataclass(frozen=True, eq=False)
class Group:
    """The people with some values: a set of columns, how their values are named, and the cells."""

    columns: tuple[int, ...]
    codings: tuple[int, ...]
    cells: Ints


@dataclass(frozen=True, eq=False)
class ProvenGroup:
    """A group and how many people it has at least and at most in every table that fits."""

    group: Group
    least: int
    most: int
    # What all of them have, where that is what was proven: the column, and a cell with the value.
    shared: tuple[int, int] | None = None


@dataclass
class Groups:
    """All groups by up to `most` columns, and how many people each has in the tables found so far."""

    every: list[Group]
    most_columns: int
    fewest: Ints = field(init=False)
    greatest: Ints = field(init=False)
    n_seen: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        n_cells = max((int(one.cells[-1]) + 1 for one in self.every if len(one.cells)), default=0)
        self.matrix = rows_of([one.cells for one in self.every], n_cells)
        self.fewest = np.full(len(self.every), OPEN, np.int64)
        self.greatest = np.zeros(len(self.every), np.int64)

    @classmethod
    def of(cls, cells: CountedCells, ways: int, among: Sequence[int]) -> Groups:
        """List the groups by up to so many of some columns, by all if 0, and by all these columns together.

        The same people by more columns are one group: the longer description says more of them.
        """
        found: dict[bytes, Group] = {}
        most = 0
        for most in range(1, min(ways or len(among), len(among)) + 1):
            for columns in itertools.combinations(among, most):
                # By published labels first, so that the same people are named by values where they can be.
                for codings in sorted(cells.codings(columns), reverse=True):
                    inner = cells.groups(columns, codings)
                    found |= {inside.tobytes(): Group(columns, codings, inside) for inside in inner}
            if len(found) > MOST_GROUPS:
                break
        whole = tuple(among)
        plain = (0,) * len(whole)
        found |= {inside.tobytes(): Group(whole, plain, inside) for inside in cells.groups(whole, plain)}
        every = sorted(found.values(), key=lambda one: (len(one.columns), one.columns, one.cells.tolist()))
        return cls(every, most)

    def see(self, tables: Iterable[Ints]) -> None:
        """Take tables that fit into account."""
        for one in tables:
            sizes = self.matrix @ one[: self.matrix.shape[1]]
            np.minimum(self.fewest, sizes, out=self.fewest)
            np.maximum(self.greatest, sizes, out=self.greatest)
            self.n_seen += 1

    def open(self, k: int) -> Ints:
        """Return the groups that may be proven to have people, and fewer than k of them."""
        return np.flatnonzero((self.fewest >= 1) & (self.greatest < k))


def clear(groups: Groups, tables: FittingTables, k: int, rng: np.random.Generator, *, ends: float) -> None:
    """Look for tables in which many open groups are empty or have k people, until a time."""
    in_vain = 0
    for _ in range(MOST_CLEARING):
        left = groups.open(k)
        if not len(left) or in_vain >= IN_VAIN or time.perf_counter() > ends:
            return
        signs = np.zeros(len(groups.every))
        # Some are left alone, since all of them cannot go at once.
        signs[left] = rng.choice([-1.0, 0.0, 1.0], len(left))
        gains = rng.normal(scale=1e-3, size=len(tables.low))
        gains[: groups.matrix.shape[1]] += groups.matrix.T @ signs
        found = tables.find(gains, SECONDS_OF_CLEARING)
        if found is not None:
            groups.see([found])
        in_vain = in_vain + 1 if len(groups.open(k)) == len(left) else 0


@dataclass
class Proofs:
    """What was proven, and what was left open."""

    small: list[ProvenGroup] = field(default_factory=list)
    rows: list[ProvenGroup] = field(default_factory=list)
    shared: list[ProvenGroup] = field(default_factory=list)
    n_programs: int = 0
    # Groups that no table found clears, and no program settled: for lack of time, or since its bound is not exact.
    n_out_of_time: int = 0
    n_inexact: int = 0
    # Rows that all tables found have, and that time did not allow to prove.
    n_rows_left: int = 0


def prove_small(groups: Groups, tables: FittingTables, k: int, proofs: Proofs) -> None:
    """Prove which groups have people, and fewer than k of them, as far as time allows.

    First by linear programs alone; what these leave open or wider than the tables seen by integer programs, which take
    longer.
    """
    left = groups.open(k)
    found: dict[int, ProvenGroup] = {}
    for in_integers in (False, True):
        with step("proving groups", float(len(left))) as bar:
            for at in left.tolist():
                bar.advance()
                if not 1 <= groups.fewest[at] <= groups.greatest[at] < k:
                    continue
                seen, own = (int(groups.fewest[at]), int(groups.greatest[at])), found.get(at)
                if own is not None and (own.least, own.most) == seen:
                    continue
                proven = _bounds(groups.every[at], tables, proofs, in_integers=in_integers, under=k)
                groups.see(tables.solutions[-4:])
                if proven is not None and proven.least >= 1 and proven.most < k:
                    found[at] = proven
    proofs.small = list(found.values())
    n_open = sum(1 for at in groups.open(k).tolist() if at not in found)
    proofs.n_out_of_time += n_open if tables.is_late else 0
    proofs.n_inexact += 0 if tables.is_late else n_open


def prove_rows(cells: CountedCells, groups: Groups, tables: FittingTables, proofs: Proofs) -> None:
    """Prove which rows there must be, by all columns: those of small groups are known to be there already."""
    known = {one.group.cells.tobytes() for one in proofs.small}
    n_columns = len(cells.columns)
    whole = [at for at, one in enumerate(groups.every) if len(one.columns) == n_columns and not any(one.codings)]
    for at in whole:
        if groups.fewest[at] < 1 or groups.every[at].cells.tobytes() in known:
            continue
        if tables.is_late:
            proofs.n_rows_left += 1
            continue
        proven = _bounds(groups.every[at], tables, proofs, in_integers=False)
        groups.see(tables.solutions[-4:])
        if proven is not None and proven.least >= 1:
            proofs.rows.append(proven)


def prove_shared(
    cells: CountedCells, groups: Groups, tables: FittingTables, sensitive: Sequence[int], proofs: Proofs
) -> None:
    """Prove of which groups all people have one value of a sensitive column, those by few columns first.

    A group within one of which that is proven already is not told again.
    """
    for column in sensitive:
        told = np.zeros(len(cells), bool)
        own_values = cells.codes[:, column]
        for at in np.flatnonzero(groups.fewest >= 1).tolist():
            group = groups.every[at]
            if told[group.cells].all():
                continue
            own = own_values[group.cells]
            values = {int(value) for one in tables.solutions for value in own[one[group.cells] > 0]}
            if len(values) != 1:
                continue
            (value,) = values
            others, with_it = group.cells[own != value], group.cells[own == value]
            proofs.n_programs += 1
            if tables.most(others) != 0:
                continue
            proven = _bounds(group, tables, proofs, in_integers=True)
            if proven is not None and proven.least >= 1:
                told[group.cells] = True
                shared = column, int(with_it[0])
                proofs.shared.append(ProvenGroup(group, proven.least, proven.most, shared))


def least_within(tables: FittingTables, proven: Sequence[ProvenGroup]) -> int:
    """Return how many people at least lie in some of these groups in every table."""
    if not proven:
        return 0
    inside = np.unique(np.concatenate([one.group.cells for one in proven]))
    # Of groups by the same columns nobody is in two.
    by_columns: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
    for one in proven:
        key = one.group.columns, one.group.codings
        by_columns[key] = by_columns.get(key, 0) + one.least
    return max(max(by_columns.values()), tables.least(inside) or 0)


def _bounds(
    group: Group, tables: FittingTables, proofs: Proofs, *, in_integers: bool, under: int = OPEN
) -> ProvenGroup | None:
    """Bound a group from above and, if that is less than `under`, from below; None if it is not or time is up."""
    if tables.is_late:
        return None
    proofs.n_programs += 1
    most = tables.most(group.cells, in_integers=in_integers)
    if most is None or most >= under:
        return None
    least = tables.least(group.cells, in_integers=in_integers)
    return None if least is None else ProvenGroup(group, least, most)
