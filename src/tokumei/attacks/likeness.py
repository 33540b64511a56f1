"""How alike a person and a released record are, whatever was done to it: generalized, perturbed, exchanged or made up.

Each column says something of its own (`tokumei.attacks.compared_columns`), and what all say is added up. How near own
records are to people is learned from the release itself, by turns with whose record each might be, so that nobody has
to say how it was made: a column that was noised says little by being off, one that was left alone says nearly
everything, and one that was drawn anew says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from tokumei.attacks.candidates import UNKNOWN, classes_of
from tokumei.attacks.compared_columns import Compared, read_column, values_together
from tokumei.attacks.compared_numbers import Floats, Weights
from tokumei.attacks.likeness_search import RecordIndex, Search, n_at_once
from tokumei.attacks.threat_model import ThreatModel
from tokumei.core.progress import step
from tokumei.core.seeds import generator
from tokumei.data.table import Table
from tokumei.hierarchies.label_semantics import Bools, Ints

T = TypeVar("T")
# People by whose likely records the weights are learned, how often, and how many of each one's records are looked at.
LEARNED_FROM = 128
TURNS = 5
LOOKED_AT = 128
AT_RANDOM = 256
# Less likely than the likeliest by this, on the scale of logarithms, a record is nobody's.
UNLIKELY = 12.0
# All records that are left out are together less likely than the likeliest by this.
LEFT_OUT = 7.0
# Pairs of which all that is said is held at once; of fewer records all are compared.
PIECE_CELLS = 1 << 22
FEW_RECORDS = 2_048
# Values times labels of a column that are held at once.
MOST_CELLS = 1 << 24
N_THREADS = 2
TIED = 1e-4
# Pairs of people and records of which all are compared, in the end and at every turn.
MOST_PAIRS, PAIRS_TO_LEARN = 100_000_000, 10_000_000


@dataclass(frozen=True, eq=False)
class Near:
    """Some people, by their places, and the records likeliest to be theirs: pairs by person, then by record.

    who: the place of the person of each pair among these. records: the different record. told: how likely it is theirs.
    """

    part: Ints
    who: Ints
    records: Ints
    told: Weights

    @cached_property
    def best(self) -> Weights:
        """How likely the likeliest record of each person is."""
        most: Weights = np.maximum.reduceat(self.told, np.searchsorted(self.who, np.arange(len(self.part))))
        return most

    @cached_property
    def is_nearest(self) -> Bools:
        """Which of the records are as likely as the likeliest."""
        found: Bools = self.told >= (self.best - np.float32(TIED))[self.who]
        return found

    def sums(self, of_pairs: npt.NDArray[Any]) -> Floats:
        """Add up what is said of each person's pairs."""
        return np.bincount(self.who, of_pairs, len(self.part)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Likeness:
    """People and the different records of a release, column by column.

    record_of: the different one each record is. everybody: the people who may have a record. most_pairs: of how many
    pairs of people and records at most it is looked at which records are like many people.
    """

    columns: Sequence[Compared]
    record_of: Ints
    everybody: Ints
    most_pairs: int = MOST_PAIRS

    @classmethod
    def of(cls, threat_model: ThreatModel, *, seed: int) -> Likeness:
        """Compare everybody who is known, and the people of the control after them, with the records, once for all."""
        return threat_model.once(("likeness", seed), lambda: cls._made(threat_model, seed))

    @classmethod
    def _made(cls, threat_model: ThreatModel, seed: int) -> Likeness:
        wider = threat_model.wider
        # What was learned of one release says nothing of the records of another.
        if wider is None or wider.published is not threat_model.published:
            return cls._of(threat_model, seed)
        return cls.of(wider, seed=seed).over([wider.known_columns.index(name) for name in threat_model.known_columns])

    @classmethod
    def _of(cls, threat_model: ThreatModel, seed: int) -> Likeness:
        people, columns = threat_model.original, threat_model.known_columns
        frames, known = [threat_model.as_known(people.frame, "original", seed)], [_known(threat_model, seed)]
        if threat_model.control is not None:
            frames.append(threat_model.as_known(threat_model.control, "control", seed))
            known.append(threat_model.known_mask(threat_model.control.height, "control", seed))
        read = []
        for index, name in enumerate(columns):
            values = values_together(name, frames, people.name)
            one = read_column(threat_model, name, values, threat_model.published.table)
            masks = [
                np.ones(len(frame), bool) if mask is None else mask[:, index]
                for frame, mask in zip(frames, known, strict=True)
            ]
            one.values[~np.concatenate(masks)] = UNKNOWN
            read.append(one)
        once, record_of = _different(read, threat_model.published.table.n_rows)
        return cls(once, record_of, threat_model.released)._learned(seed)

    def beside(self, threat_model: ThreatModel, records: Table) -> Likeness:
        """Return how like the same people are to other records, by the same weights."""
        frames = [threat_model.original.frame] + ([] if threat_model.control is None else [threat_model.control])
        read = []
        for one, name in zip(self.columns, threat_model.known_columns, strict=True):
            other = read_column(threat_model, name, values_together(name, frames, threat_model.original.name), records)
            other.values[one.values == UNKNOWN] = UNKNOWN
            read.append(other.weighed_as(one))
        return Likeness(*_different(read, records.n_rows), self.everybody)

    @cached_property
    def sizes(self) -> Ints:
        """How often each different record was released."""
        return np.bincount(self.record_of)

    def unlearned(self) -> Likeness:
        """Return the same as if records had been left alone, which finds the few that were among many that were not."""
        return replace(self, columns=[one.unlearned() for one in self.columns], most_pairs=0)

    def drawn_records(self, most: int, rng: np.random.Generator) -> Ints:
        """Draw some of the released records, as different ones."""
        every = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return every[rng.choice(len(every), min(len(every), most), replace=False)]

    def over(self, columns: Sequence[int]) -> Likeness:
        """Return the same by some of the columns."""
        return Likeness([self.columns[index] for index in columns], self.record_of, self.everybody)

    def says(self, people: Ints) -> Weights:
        """Return what all columns say together: people × different records."""
        out = np.zeros((len(people), len(self.sizes)), np.float32)
        for column in self.columns:
            told, at = _told(column, people)
            for row, value in enumerate(at):
                if value != UNKNOWN:
                    out[row] += np.take(told[value], column.labels)
        return out

    def says_of_column(self, index: int, people: Ints) -> Floats:
        """Return how likely one column's labels are beside each person's value, to anybody's, over all records."""
        column = self.columns[index]
        n_of_label = np.bincount(column.labels, self.sizes, len(column.shares))
        # Numbers of which most stand once have as many labels as there are rows: so many people at once as fit.
        each = max(1, MOST_CELLS // len(column.shares))
        likely = np.zeros(len(people))
        for first in range(0, len(people), each):
            told, at = _told(column, people[first : first + each])
            some = np.log(np.maximum(1e-30, np.exp(told.astype(np.float64)) @ n_of_label) / n_of_label.sum())
            # Of a value that is not known nothing is said.
            likely[first : first + each] = np.append(some, 0.0)[at]
        return likely

    @cached_property
    def common(self) -> Weights:
        """How like everybody together each record is.

        Columns that say the same are weighed by it as one: a record of many such is like many people. Of too many pairs
        it is 0.
        """
        n = len(self.everybody)
        if n * len(self.sizes) > self.most_pairs:
            return np.zeros(len(self.sizes), np.float32)
        out = np.full(len(self.sizes), -np.inf)
        for _, told in self._said(self.everybody, "looking which records are like many"):
            out = np.logaddexp(out, logsumexp(told, axis=0))
        common: Weights = (out - math.log(n)).astype(np.float32)
        return common

    def pieces(self, people: Ints, words: str) -> Iterator[tuple[Ints, Weights]]:
        """Yield some people at a time, by their places among these, with how likely each record is theirs."""
        common = self.common
        for part, told in self._said(people, words):
            yield part, told - common

    def near(self, people: Ints, words: str, within: float | None = None) -> Iterator[Near]:
        """Yield some people at a time with the records that are not less likely theirs by this than the likeliest.

        within: or else so much that all others together matter to nobody.
        """
        reach = math.log(len(self.sizes)) + LEFT_OUT if within is None else within
        if not self.columns or len(self.sizes) <= FEW_RECORDS:
            for part, told in self.pieces(people, words):
                who, records = np.nonzero(told >= told.max(axis=1, keepdims=True) - np.float32(reach))
                yield Near(part, who, records, told[who, records])
            return
        search = Search(self.columns, RecordIndex.of(self.columns, self.sizes), self.common)

        def found(part: Ints) -> Near:
            return Near(part, *search.near(people[part], reach))

        yield from self._in_parts(len(people), n_at_once(len(self.sizes)), found, words)

    def _said(self, people: Ints, words: str) -> Iterator[tuple[Ints, Weights]]:
        widest = max([len(self.sizes), *(len(one.shares) for one in self.columns)])

        def said(part: Ints) -> tuple[Ints, Weights]:
            return part, self.says(people[part])

        yield from self._in_parts(len(people), max(1, min(256, PIECE_CELLS // widest)), said, words)

    def _in_parts(self, n_people: int, size: int, work: Callable[[Ints], T], words: str) -> Iterator[T]:
        """Yield what is found of some people at a time, so many that all their pairs fit into memory."""
        parts = [np.arange(start, min(start + size, n_people)) for start in range(0, n_people, size)]
        with step(words, n_people) as bar, ThreadPoolExecutor(N_THREADS) as pool:
            for start in range(0, len(parts), N_THREADS):
                some = parts[start : start + N_THREADS]
                for part, found in zip(some, pool.map(work, some), strict=True):
                    yield found
                    bar.advance(len(part))

    def _learned(self, seed: int) -> Likeness:
        """Learn what columns say, by turns with whose record each might be."""
        rng = generator(seed, "likeness")
        people = rng.choice(self.everybody, min(len(self.everybody), LEARNED_FROM), replace=False)
        some = self.drawn_records(AT_RANDOM, rng)
        anybody = np.repeat(people, len(some)), np.tile(some, len(people))
        now = replace(self, most_pairs=PAIRS_TO_LEARN)
        for _ in range(TURNS):
            now = now._turn(people, anybody)
        return replace(now, most_pairs=self.most_pairs)

    def _turn(self, people: Ints, anybody: tuple[Ints, Ints]) -> Likeness:
        """Ask whose record each might be, and learn from that how near own records are."""
        who, which, sure = [], [], []
        for some in self.near(people, "learning what columns say", UNLIKELY):
            # Nearly as likely as the likeliest, of each person no more than so many.
            order = np.lexsort((-some.told, some.who))
            rank = np.arange(len(order)) - np.searchsorted(some.who, np.arange(len(some.part)))[some.who[order]]
            kept = np.sort(order[rank < LOOKED_AT])
            row, near = some.who[kept], some.records[kept]
            chances = np.exp(some.told[kept].astype(np.float64) - some.best[row]) * self.sizes[near]
            who.append(people[some.part][row])
            which.append(near)
            sure.append(chances / np.bincount(row, chances, len(some.part))[row])
        pairs, weights = (np.concatenate(who), np.concatenate(which)), np.concatenate(sure)
        return replace(self, columns=[_learned(one, *pairs, weights, anybody) for one in self.columns])


def _told(column: Compared, people: Ints) -> tuple[Weights, Ints]:
    """Return what each label says of the values of some people, and the place of each person's; UNKNOWN has none."""
    values, at = np.unique(column.values[people], return_inverse=True)
    is_known = values != UNKNOWN
    told = column.says(values[is_known, None], np.arange(len(column.shares))[None, :])
    return told.astype(np.float32), np.where(is_known[at], at - int(not is_known.all()), UNKNOWN)


def _learned(column: Compared, people: Ints, records: Ints, sure: Floats, anybody: tuple[Ints, Ints]) -> Compared:
    """Let a column learn from pairs of which the value is known."""
    is_known = column.values[people] != UNKNOWN
    if not is_known.any():
        return column
    among = column.values[anybody[0]] != UNKNOWN
    at_random = column.values[anybody[0][among]], column.labels[anybody[1][among]]
    return column.learned(column.values[people[is_known]], column.labels[records[is_known]], sure[is_known], at_random)


def _known(threat_model: ThreatModel, seed: int) -> Bools | None:
    if threat_model.known_cells is not None:
        return threat_model.known_cells
    return threat_model.known_mask(threat_model.original.n_rows, "original", seed)


def _different(columns: Sequence[Compared], n_records: int) -> tuple[list[Compared], Ints]:
    """Return the columns with different records alone, and which of these each record is."""
    first, record_of = classes_of([one.labels for one in columns], n_records)
    # In the order of their labels, so that the order of records changes nothing.
    order = np.lexsort([one.labels[first] for one in columns]) if columns else np.zeros(len(first), np.int64)
    place: Ints = np.empty(len(first), np.int64)
    place[order] = np.arange(len(first))
    return [replace(one, labels=one.labels[first[order]]) for one in columns], place[record_of]
