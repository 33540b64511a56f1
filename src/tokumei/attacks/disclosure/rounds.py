"""What follows from knowing that a release was made in rounds of levels, each for the rows that were left before.

A round takes a level for each column. Of the rows that are left, those that then stand with k − 1 others or more are
released, and the rest go on to the next round; so ARX recodes locally. Hence no cell of a round holds k rows or more of
all that were released later or never, and a cell that was released holds none of them. Of two rounds the one with the
finer levels came first: after the coarser one, no cell of the finer one could have held k rows.

Where each round is known to have taken levels below which no class holds, no cell one level below a class has k of its
rows either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tokumei.attacks.disclosure.value_counts import ColumnLevels, Pieces, Place, ValueCounts
from tokumei.attacks.label_reading import LabelReading
from tokumei.attacks.public_knowledge import PublicKnowledge
from tokumei.core.text import Text
from tokumei.hierarchies.hierarchy import SUPPRESSED
from tokumei.hierarchies.label_semantics import Bools, Ints

Floats = npt.NDArray[np.float64]
COUNTING = "counting"


@dataclass(frozen=True, eq=False)
class Rounds:
    """The classes of a release by levels: for each class and column its levels and codes, the finest and the coarsest.

    is_leftover: rows that say nothing, which no round may have released. group_of: classes of the same levels.
    is_finest: whether no class held one level below those that a round took.
    """

    public: PublicKnowledge
    columns: Sequence[ColumnLevels]
    low: Ints
    high: Ints
    low_codes: Ints
    high_codes: Ints
    is_leftover: Bools
    k: int
    is_finest: bool

    @classmethod
    def of(
        cls,
        public: PublicKnowledge,
        readings: Sequence[LabelReading],
        k: int | None,
        *,
        is_finest: bool,
        is_complete: bool,
    ) -> Rounds | Text:
        """Find the levels of all classes, or say why the release was not made by levels."""
        columns: list[ColumnLevels] = []
        places: list[list[Place]] = []
        for reading in readings:
            made = ColumnLevels.of(reading, is_complete=is_complete)
            if made is None:
                return Text("the levels of {column} cross", column=reading.column)
            unknown = [label for label, place in zip(reading.labels, made.places, strict=True) if place is None]
            if unknown:
                return Text("'{label}' is of no one level of {column}", label=unknown[0] or "", column=reading.column)
            columns.append(made)
            places.append([place for place in made.places if place is not None])
        at = [public.labels_of_classes(reading.column) for reading in readings]
        # By column and class: the finest level, the coarsest, and the codes at both.
        found = np.array(
            [
                np.array([(one.low, one.high, one.low_code, one.high_code) for one in own], np.int64)[codes]
                for own, codes in zip(places, at, strict=True)
            ]
        )
        low, high, low_codes, high_codes = np.ascontiguousarray(found.transpose(2, 1, 0))
        silent = [
            np.array([label == SUPPRESSED for label in one.labels])[codes]
            for one, codes in zip(readings, at, strict=True)
        ]
        is_leftover = np.logical_and.reduce(silent)
        if is_leftover.all():
            return Text("all rows say nothing")
        least = int(public.sizes[~is_leftover].min())
        if k is not None and k > least:
            return Text("rows of the smallest class: {n:,}, fewer than k", n=least)
        k = least if k is None else k
        return cls(public, columns, low, high, low_codes, high_codes, is_leftover, k, is_finest)

    @cached_property
    def group_of(self) -> Ints:
        """The number of the levels of each class."""
        return np.unique(np.hstack([self.low, self.high]), axis=0, return_inverse=True)[1].reshape(-1)

    @cached_property
    def members(self) -> list[Ints]:
        """The classes of each group."""
        return [np.flatnonzero(self.group_of == at) for at in range(int(self.group_of.max()) + 1)]

    @cached_property
    def earlier(self) -> list[list[int]]:
        """For each group those that came before it for certain."""
        firsts = [own[0] for own in self.members]
        return [
            [
                at
                for at, other in enumerate(firsts)
                if not self.is_leftover[other]
                and (self.high[other] <= self.low[own]).all()
                and (self.high[other] != self.low[own]).any()
            ]
            for own in firsts
        ]

    @property
    def cap(self) -> int:
        """The most rows of a cell that was not released."""
        return self.k - 1

    def pieces(self, column: int, level: int, coarser: int, code: int) -> Pieces:
        """Return the parts of a label at a level below its own."""
        key = column, level, coarser, code
        if key not in self._pieces:
            own = self.columns[column]
            codes = own.below(level, coarser, code)
            is_unlisted = own.is_unlisted(level, codes)
            names = [
                None if unlisted else own.names[level][at]
                for at, unlisted in zip(codes.tolist(), is_unlisted.tolist(), strict=True)
            ]
            leaves = [own.leaves_of(level, at) for at in codes.tolist()]
            self._pieces[key] = Pieces(level, names, leaves, [len(one) for one in leaves])
        return self._pieces[key]

    @cached_property
    def _pieces(self) -> dict[tuple[int, int, int, int], Pieces]:
        return {}

    @property
    def n_unlisted(self) -> int:
        """How many values are reckoned with where nobody lists them: so many that no cap is reached."""
        return self.public.release.n_rows + 1

    def cells_below(self, earlier: int, classes: Ints) -> Floats:
        """Count the cells of an earlier group within the label of each class."""
        low = self.low[self.members[earlier][0]]
        out = np.ones(len(classes))
        for at, column in enumerate(self.columns):
            coarser = int(self.high[classes[0], at])
            out *= column.n_below(int(low[at]), coarser, self.n_unlisted)[self.high_codes[classes, at]]
        return out

    def released_within(self, earlier: int, own: int) -> Ints:
        """For each class of an earlier group, find which class of a group it lies in, by its place there, or −1."""
        if (earlier, own) not in self._within:
            self._within[earlier, own] = self._find_within(earlier, self.members[own])
        return self._within[earlier, own]

    @cached_property
    def _within(self) -> dict[tuple[int, int], Ints]:
        return {}

    def _find_within(self, earlier: int, classes: Ints) -> Ints:
        inner = self.members[earlier]
        low, coarser = self.low[inner[0]], self.high[classes[0]]
        codes = np.column_stack(
            [
                column.up(int(low[at]), int(coarser[at]))[self.low_codes[inner, at]]
                for at, column in enumerate(self.columns)
            ]
        )
        place = {code.tobytes(): at for at, code in enumerate(np.ascontiguousarray(self.high_codes[classes]))}
        return np.array([place.get(code.tobytes(), -1) for code in np.ascontiguousarray(codes)], np.int64)


class Contradiction(Exception):
    """What is assumed of the release cannot be."""


def count(rounds: Rounds, counts: ValueCounts) -> None:
    """Bound what each class holds by each earlier round alone: how many cells are left, and what each may hold."""
    for own, earlier in enumerate(rounds.earlier):
        for other in earlier:
            _count_by(rounds, counts, own, other)
    if rounds.is_finest:
        for number in range(len(rounds.public.sizes)):
            for at, pieces in finest_parts(rounds, number):
                n_open = np.array([1 if name is not None else rounds.n_unlisted for name in pieces.names])
                _narrow(rounds, counts, number, at, pieces, n_open)


def finest_parts(rounds: Rounds, number: int) -> Iterator[tuple[int, Pieces]]:
    """For each column of a class, its parts one level below, none of which holds k of its rows if levels are finest."""
    if rounds.is_leftover[number] or (rounds.low[number] != rounds.high[number]).any():
        # No round may have released it, or which levels the round had is not told.
        return
    for at, level in enumerate(rounds.high[number].tolist()):
        if level:
            yield at, rounds.pieces(at, level - 1, level, int(rounds.high_codes[number, at]))


def _count_by(rounds: Rounds, counts: ValueCounts, group: int, earlier: int) -> None:
    classes, within = rounds.members[group], rounds.released_within(earlier, group)
    sizes, n_cells = rounds.public.sizes[classes], rounds.cells_below(earlier, classes)
    n_released = np.bincount(within[within >= 0], minlength=len(classes))
    if (rounds.cap * (n_cells - n_released) < sizes).any():
        raise Contradiction
    order = np.argsort(within, kind="stable")
    starts = np.searchsorted(within[order], np.arange(len(classes) + 1))
    inner = rounds.members[earlier]
    low, high = rounds.low[inner[0]].tolist(), rounds.high[classes[0]].tolist()
    for at, column in enumerate(rounds.columns):
        if low[at] == high[at]:
            continue
        widths = column.n_below(low[at], high[at], rounds.n_unlisted)[rounds.high_codes[classes, at]]
        share = n_cells / widths
        is_narrow = rounds.cap * np.minimum(share - n_released, n_cells - share - n_released) < sizes
        is_narrow &= widths > 1
        for own in np.flatnonzero(is_narrow).tolist():
            number, code = int(classes[own]), int(rounds.high_codes[classes[own], at])
            codes = column.below(low[at], high[at], code)
            weights = column.weights(low[at], rounds.n_unlisted)[codes]
            gone = inner[order[starts[own] : starts[own + 1]]]
            taken = np.bincount(np.searchsorted(codes, rounds.low_codes[gone, at]), minlength=len(codes))
            # Whole numbers of Python, since cells may be more than a machine word counts.
            one_piece = round(n_cells[own]) // int(widths[own])
            n_open = [
                min(one_piece * weight, rounds.n_unlisted + t) - t
                for weight, t in zip(weights.tolist(), taken.tolist(), strict=True)
            ]
            for level in range(low[at], high[at]):
                pieces = rounds.pieces(at, level, high[at], code)
                up = column.up(low[at], level)[codes]
                summed = np.bincount(np.unique(up, return_inverse=True)[1], n_open).astype(np.int64)
                _narrow(rounds, counts, number, at, pieces, summed)


def _narrow(rounds: Rounds, counts: ValueCounts, number: int, at: int, pieces: Pieces, n_open: Ints) -> None:
    """Bound the rows of each piece by the cells that are open in it, and by those that are open elsewhere."""
    size = int(rounds.public.sizes[number])
    room = rounds.cap * n_open
    if room.sum() < size:
        raise Contradiction
    least, most = np.maximum(0, size - (room.sum() - room)), np.minimum(size, room)
    counts.narrow((number, rounds.columns[at].column), pieces, least, most, COUNTING)
