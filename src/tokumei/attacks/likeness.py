"""How alike a person and a released record are, whatever was done to it: generalized, perturbed, exchanged or made up.

Each column says something of its own. A label that can stand for the person's value speaks for the record, the more the
fewer people it can stand for. One that cannot speaks against it, the less the fewer people lie at least as near: for
numbers those between the two in the order of all people, for labels of a hierarchy those below their common label.
What is said is a likelihood ratio, as Fellegi and Sunter (1969) weigh it: how often so near a label is met in people's
own records, to how often in anybody's. The second is counted. The first is learned from the release itself, by turns
with whose record each might be, so that nobody has to say how it was made: a column that was noised says little by
being off, one that was left alone says nearly everything, and one that was drawn anew says nothing.

Example: of a hundred people 20 are women, and women's records say so nine times in ten. A record that says f speaks for
a woman by log(.9 / .2) = 1.5, one that says m against her by log(.1 / .8) = −2.1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import logsumexp

from tokumei.attacks.candidates import UNKNOWN, classes_of
from tokumei.attacks.threat_model import ThreatModel, column_of
from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.seeds import generator
from tokumei.core.text import Text
from tokumei.data.table import Table
from tokumei.hierarchies.hierarchy import SUPPRESSED
from tokumei.hierarchies.label_semantics import Bools, Ints, LeafSets, Vocabulary
from tokumei.hierarchies.labels import read_range
from tokumei.hierarchies.leaves import read_number

Floats = npt.NDArray[np.float64]
Weights = npt.NDArray[np.float32]
# How far off a label is: halvings of the share of people at least as near, and one more where a value is missing.
FARTHEST, NEAREST, MISSING = 0, 20, 21
N_STEPS = MISSING + 1
# What is believed of labels that do not fit before anything was learned: the nearer, the likelier.
OFF_AT_FIRST = np.append(0.35 * np.arange(MISSING), 0.0) - 2.0
# People by whose likely records the weights are learned, how often, and how many of each one's records are looked at.
LEARNED_FROM = 128
TURNS = 5
INNER_TURNS = 3
LOOKED_AT = 128
AT_RANDOM = 256
# Less likely than the likeliest by this, on the scale of logarithms, a record is nobody's.
UNLIKELY = 12.0
# What is believed before anything was seen, as so many people: that a column was left alone.
BELIEVED, LEFT_ALONE = 4.0, 0.9
# How often a record says what anybody's might, at least; how far off noise puts numbers, before anything was seen, and
# how many people around it tell how dense they lie.
ANYBODY, FIRST_SPREAD, AROUND = 1e-3, 0.05, 0.025
# Comparisons of one column that are held at once.
PIECE_CELLS = 1 << 23
N_THREADS = 2
TIED = 1e-4
# Pairs of people and records of which all are compared, in the end and at every turn.
MOST_PAIRS, PAIRS_TO_LEARN = 100_000_000, 10_000_000


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column of numbers: values and labels as stretches in the order of all people, and as numbers.

    kept: how often a person's label stands for their value. near: how often it is one that noise, or an exchange of
    ranks, would put there; the rest is anybody's. spread: how far it then lies off, in shares of people if `by_rank`.
    """

    values: Ints
    labels: Ints
    value_ends: Floats
    label_ends: Floats
    """The share of people below, and of those below or in, each; missing where the value is."""
    numbers: Floats
    ends: Floats
    """The number of each value, and the two of each label."""
    places: Floats
    """The place of both ends of each label among all people, between whom it may lie."""
    density: Floats
    """The share of people a unit around each label."""
    is_all: Bools
    """Which labels stand for everything, the missing value too."""
    missing: float
    """The share of people without a value."""
    kept: float = LEFT_ALONE
    near: float = 1 - LEFT_ALONE - ANYBODY
    spreads: tuple[float, float] = (0.0, FIRST_SPREAD)
    by_rank: bool = True
    off_missing: float = -2.0

    @cached_property
    def shares(self) -> Floats:
        """The share of people that each label can stand for."""
        within = self.label_ends[:, 1] - self.label_ends[:, 0]
        return np.where(self.is_all, 1.0, np.where(np.isnan(within), self.missing, within))

    def fits(self, values: Ints, labels: Ints) -> Bools:
        """Whether each label can stand for the value beside it."""
        low, high = self.value_ends[values, 0], self.value_ends[values, 1]
        first, last = self.label_ends[labels, 0], self.label_ends[labels, 1]
        met: Bools = (low >= first) & (high <= last) & ((high > low) | (first == low))
        met |= (np.isnan(low) & np.isnan(first)) | self.is_all[labels]
        return met

    def off(self, values: Ints, labels: Ints, *, by_rank: bool) -> Floats:
        """Return how far off each label is, in shares of people or in the column's own unit; missing if one of both is.

        By rank nearer are half of those who have the same value, all between it and the label, and those in the label.
        """
        if not by_rank:
            own = self.numbers[values]
            off: Floats = np.abs(own - np.clip(own, self.ends[labels, 0], self.ends[labels, 1]))
            return off
        low, high = self.value_ends[values, 0], self.value_ends[values, 1]
        place = (low + high) / 2
        near = np.clip(place, self.places[labels, 0], self.places[labels, 1])
        reach: Floats = (
            (high - low) / 2 + np.abs(place - near) + self.label_ends[labels, 1] - self.label_ends[labels, 0]
        )
        return reach

    def says(self, values: Ints, labels: Ints) -> Floats:
        """Return what each label says of the value beside it."""
        shares = np.maximum(self.shares, 0.5 / max(1, len(self.values)))
        if self.by_rank or not self._are_points:
            return self._says(values, labels, shares)
        # The most frequent case, and by far the largest: numbers that were noised.
        off = np.abs(self.numbers.astype(np.float32)[values] - self.ends[:, 0].astype(np.float32)[labels])
        spread = np.float32(self.spreads[False])
        anybody = np.float32(max(ANYBODY, 1 - self.kept - self.near))
        most = (self.near / (math.sqrt(2 * math.pi) * self.spreads[False] * self.density)).astype(np.float32)[labels]
        off /= spread
        told = np.log(most * np.exp(np.float32(-0.5) * off * off) + anybody)
        return np.where(off == 0, (math.log(self.kept) - np.log(shares)).astype(np.float32)[labels], told)

    @cached_property
    def _are_points(self) -> bool:
        """Whether every value and label is one number."""
        return bool(np.isfinite(self.numbers).all() and (self.ends[:, 0] == self.ends[:, 1]).all())

    def _says(self, values: Ints, labels: Ints, shares: Floats) -> Floats:
        return np.where(
            self.fits(values, labels),
            math.log(self.kept) - np.log(shares)[labels],
            self._says_off(self.off(values, labels, by_rank=self.by_rank), labels, by_rank=self.by_rank),
        )

    def _says_off(self, off: Floats, labels: Ints, *, by_rank: bool) -> Floats:
        spread = self.spreads[by_rank]
        scale = 1.0 if by_rank else self.density[labels]
        nearby = self.near * np.exp(-0.5 * (off / spread) ** 2) / (math.sqrt(2 * math.pi) * spread * scale)
        anybody = max(ANYBODY, 1 - self.kept - self.near)
        return np.where(np.isnan(off), self.off_missing, np.log(nearby + anybody))

    def learned(self, values: Ints, labels: Ints, sure: Floats, anybody: tuple[Ints, Ints]) -> Numbers:
        """Learn from pairs that are a person and their record as far as they are sure, and from pairs at random."""
        is_missing = np.isnan(self.numbers[values]) != np.isnan(self.label_ends[labels, 0])
        is_missing &= ~self.is_all[labels]
        among = np.isnan(self.numbers[anybody[0]]) != np.isnan(self.label_ends[anybody[1], 0])
        fits, total = self.fits(values, labels), sure.sum() + BELIEVED
        kept = (sure @ fits + BELIEVED * LEFT_ALONE) / total
        ways = []
        for by_rank in (False, True):
            off = self.off(values, labels, by_rank=by_rank)
            counted = ~fits & ~is_missing & ~np.isnan(off)
            here, weight, places = off[counted], sure[counted], labels[counted]
            one = replace(self, kept=kept)
            for _ in range(INNER_TURNS):
                spread = one.spreads[by_rank]
                scale = 1.0 if by_rank else one.density[places]
                nearby = one.near * np.exp(-0.5 * (here / spread) ** 2) / (math.sqrt(2 * math.pi) * spread * scale)
                share = weight * nearby / (nearby + max(ANYBODY, 1 - kept - one.near))
                found = math.sqrt(
                    max(1e-300, (share @ here**2 + BELIEVED * 0.1 * spread**2) / (share.sum() + BELIEVED * 0.1))
                )
                spreads = (found, one.spreads[1]) if not by_rank else (one.spreads[0], found)
                near = min(1 - kept - ANYBODY, (share.sum() + BELIEVED * (1 - LEFT_ALONE) / 2) / total)
                one = replace(one, spreads=spreads, near=max(near, ANYBODY))
            ways.append((float(weight @ one._says_off(here, places, by_rank=by_rank)), one.spreads[by_rank], one.near))
        by_rank = ways[1][0] >= ways[0][0]
        off_missing = math.log((sure @ is_missing + 0.01 * BELIEVED) / total) - math.log(among.mean() + 1 / len(among))
        return replace(
            self,
            kept=kept,
            near=ways[by_rank][2],
            spreads=(ways[0][1], ways[1][1]),
            by_rank=by_rank,
            off_missing=off_missing,
        )

    def unlearned(self) -> Numbers:
        """Return the same with what is believed before anything was learned."""
        near = 1 - LEFT_ALONE - ANYBODY
        return replace(self, kept=LEFT_ALONE, near=near, spreads=(self.spreads[0], FIRST_SPREAD), by_rank=True)

    def weighed_as(self, other: Compared) -> Numbers:
        """Return the same with what another column learned."""
        if not isinstance(other, Numbers):
            return self
        return replace(
            self,
            kept=other.kept,
            near=other.near,
            spreads=other.spreads,
            by_rank=other.by_rank,
            off_missing=other.off_missing,
        )

    def features(self, values: Ints, most: int) -> Floats:
        """Return the place of values among all people as so many steps, one of which each lies on: values × steps."""
        return _steps(self.value_ends[values].mean(axis=1), most)

    def features_of_labels(self, most: int) -> Floats:
        """Return the same of the middle of each label."""
        return _steps(self.label_ends.mean(axis=1), most)


@dataclass(frozen=True, eq=False)
class Categories:
    """A column of values in no order, or below labels of a hierarchy."""

    values: Ints
    labels: Ints
    sets: LeafSets
    counts: Floats
    """The share of people of each value, then of the missing one, and of values that no label can stand for."""
    groups: Sequence[tuple[Ints, Ints, Floats]]
    """For each level the group of each value, that of each label or NONE, and the share of people in each group."""
    kept: float = LEFT_ALONE
    off: Floats = field(default_factory=lambda: OFF_AT_FIRST)
    """What a label says that cannot stand for the value, by how far off it is."""

    @cached_property
    def shares(self) -> Floats:
        """The share of people that each label can stand for."""
        below = np.concatenate([[0.0], np.cumsum(self.counts)])
        out = np.zeros(self.sets.n_labels)
        np.add.at(out, self.sets.label, below[self.sets.end] - below[self.sets.first])
        return out

    def unlearned(self) -> Categories:
        """Return the same with what is believed before anything was learned."""
        return replace(self, kept=LEFT_ALONE, off=OFF_AT_FIRST)

    def weighed_as(self, other: Compared) -> Categories:
        """Return the same with what another column learned."""
        return replace(self, kept=other.kept, off=other.off) if isinstance(other, Categories) else self

    def features(self, values: Ints, most: int) -> Floats:
        """Return which of the most frequent values each is: values × so many."""
        frequent = np.argsort(-self.counts, kind="stable")[:most]
        held: Floats = (values[:, None] == frequent[None, :]).astype(np.float64)
        return held

    def features_of_labels(self, most: int) -> Floats:
        """Return the chance that each label stands for each of the most frequent values."""
        frequent = np.sort(np.argsort(-self.counts, kind="stable")[:most])
        order = np.argsort(-self.counts, kind="stable")[:most]
        held = (
            self.sets.rows(np.minimum(frequent, self.sets.n_indices - 1)).T / np.maximum(1.0, self.sets.sizes)[:, None]
        )
        kept: Floats = held[:, np.searchsorted(frequent, order)]
        return kept

    def says(self, values: Ints, labels: Ints) -> Floats:
        """Return what each label says of the value beside it."""
        shares = np.maximum(self.shares, 0.5 / max(1, len(self.values)))
        fits, off = self.compare(values, labels)
        return np.where(fits, math.log(self.kept) - np.log(shares)[labels], self.off[off])

    def learned(self, values: Ints, labels: Ints, sure: Floats, anybody: tuple[Ints, Ints]) -> Categories:
        """Learn from pairs that are a person and their record as far as they are sure, and from pairs at random."""
        (fits, off), (fits_any, off_any) = self.compare(values, labels), self.compare(*anybody)
        total, n_any = sure.sum() + BELIEVED, len(fits_any)
        share_off = np.bincount(off_any[~fits_any], minlength=N_STEPS) / n_any + 1 / n_any
        # Before anything was seen: left alone, and else as far off as anybody's.
        n_off = (
            np.bincount(off[~fits], sure[~fits], N_STEPS) + BELIEVED * (1 - LEFT_ALONE) * share_off / share_off.sum()
        )
        kept = float((sure @ fits + BELIEVED * LEFT_ALONE) / total)
        return replace(self, kept=kept, off=np.log(n_off / total) - np.log(share_off))

    def compare(self, values: Ints, labels: Ints) -> tuple[Bools, Ints]:
        """Compare by the people below the lowest label that both have."""
        values, labels = np.broadcast_arrays(values, labels)
        fits = self.sets.contain(labels.reshape(-1), values.reshape(-1)).reshape(labels.shape)
        fits |= (self.sets.sizes == self.sets.n_indices)[labels]
        reach = np.ones(labels.shape)
        for of_value, of_label, share in reversed(self.groups):
            group = of_value[values]
            reach = np.where(group == of_label[labels], share[group], reach)
        missing = self.sets.n_indices - 1
        is_missing = np.zeros(self.sets.n_labels, bool)
        is_missing[self.sets.label[self.sets.first == missing]] = True
        return fits, np.where((values == missing) | is_missing[labels], MISSING, _halvings(reach))


def _steps(places: Floats, most: int) -> Floats:
    """Return on which step each place lies, from 0 to 1; none for what is missing."""
    at = np.clip(np.nan_to_num(places, nan=-1.0) * most, -1, most - 1).astype(np.int64)
    out: Floats = (at[:, None] == np.arange(most)[None, :]).astype(np.float64)
    return out


Compared = Numbers | Categories
NONE = -1


def _halvings(shares: Floats) -> Ints:
    """Return how often everybody was halved to come to such shares of them."""
    with np.errstate(divide="ignore"):
        out: Ints = np.clip(-np.log2(np.maximum(shares, 1e-9)), FARTHEST, NEAREST).astype(np.int64)
    return out


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
        return threat_model.once(("likeness", seed), lambda: cls._of(threat_model, seed))

    @classmethod
    def _of(cls, threat_model: ThreatModel, seed: int) -> Likeness:
        people, columns = threat_model.original, threat_model.known_columns
        frames, known = [people.frame], [_known(threat_model, seed)]
        if threat_model.control is not None:
            frames.append(threat_model.control)
            known.append(threat_model.known_mask(threat_model.control.height, "control", seed))
        read = []
        for index, name in enumerate(columns):
            values = values_together(name, frames, people.name)
            one = _column(threat_model, name, values, threat_model.published.table)
            masks = [
                np.ones(len(frame), bool) if mask is None else mask[:, index]
                for frame, mask in zip(frames, known, strict=True)
            ]
            one.values[~np.concatenate(masks)] = UNKNOWN
            read.append(one)
        once, record_of = _different(read, threat_model.published.table.n_rows)
        return cls(once, record_of, threat_model.targets)._learned(seed)

    def beside(self, threat_model: ThreatModel, records: Table) -> Likeness:
        """Return how like the same people are to other records, by the same weights."""
        frames = [threat_model.original.frame] + ([] if threat_model.control is None else [threat_model.control])
        read = []
        for one, name in zip(self.columns, threat_model.known_columns, strict=True):
            other = _column(threat_model, name, values_together(name, frames, threat_model.original.name), records)
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
        told, at = _told(column, people)
        n_of_label = np.bincount(column.labels, self.sizes, len(column.shares))
        likely = np.log(np.maximum(1e-30, np.exp(told.astype(np.float64)) @ n_of_label) / n_of_label.sum())
        # Of a value that is not known nothing is said.
        return np.append(likely, 0.0)[at]

    @cached_property
    def common(self) -> Weights:
        """How like everybody together each record is; 0 where there are too many to look.

        Columns that say the same are weighed by it as one: a record of many such is like many people.
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

    def _said(self, people: Ints, words: str) -> Iterator[tuple[Ints, Weights]]:
        widest = max([len(self.sizes), *(len(one.shares) for one in self.columns)])
        size = max(1, min(256, PIECE_CELLS // widest))
        parts = [np.arange(start, min(start + size, len(people))) for start in range(0, len(people), size)]
        with step(words, len(people)) as bar, ThreadPoolExecutor(N_THREADS) as pool:
            for start in range(0, len(parts), N_THREADS):
                some = parts[start : start + N_THREADS]
                for part, told in zip(some, pool.map(lambda part: self.says(people[part]), some), strict=True):
                    yield part, told
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
        for part, told in self.pieces(people, "learning what columns say"):
            # All that are nearly as likely as the likeliest; where these are many, so many of each person.
            row, near = np.nonzero(told > told.max(axis=1, keepdims=True) - UNLIKELY)
            if len(row) > LOOKED_AT * len(part):
                most = min(LOOKED_AT, told.shape[1])
                near = np.argpartition(told, -most, axis=1)[:, -most:].reshape(-1)
                row = np.repeat(np.arange(len(part)), most)
            said = told[row, near].astype(np.float64) - told.max(axis=1)[row]
            chances = np.exp(said) * self.sizes[near]
            who.append(people[part][row])
            which.append(near)
            sure.append(chances / np.bincount(row, chances, len(part))[row])
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


def values_together(name: str, frames: Sequence[pl.DataFrame], file: str) -> pl.Series:
    """Return a column of all people, those of the control last, who are read as the others are."""
    first, *others = (column_of(frame, name, file if at == 0 else "control") for at, frame in enumerate(frames))
    for other in others:
        try:
            first = first.append(other.cast(first.dtype))
        except pl.exceptions.PolarsError:
            expected = Text("values of type {type}, as in the original", type=str(first.dtype))
            raise InputError.of(expected, file="control", column=name, value=str(other.dtype)) from None
    return first


def _different(columns: Sequence[Compared], n_records: int) -> tuple[list[Compared], Ints]:
    """Return the columns with different records alone, and which of these each record is."""
    first, record_of = classes_of([one.labels for one in columns], n_records)
    # In the order of their labels, so that the order of records changes nothing.
    order = np.lexsort([one.labels[first] for one in columns]) if columns else np.zeros(len(first), np.int64)
    place: Ints = np.empty(len(first), np.int64)
    place[order] = np.arange(len(first))
    return [replace(one, labels=one.labels[first[order]]) for one in columns], place[record_of]


def _column(threat_model: ThreatModel, name: str, theirs: pl.Series, table: Table) -> Compared:
    """Read a column of people and records."""
    released = column_of(table.frame, name, table.name)
    if threat_model.original.frame[name].dtype.is_numeric() or name in threat_model.numeric:
        return _numbers(threat_model, name, theirs, released)
    return _categories(threat_model, name, theirs, released)


def _numbers(threat_model: ThreatModel, name: str, theirs: pl.Series, released: pl.Series) -> Numbers:
    n_all = max(1, len(theirs))
    values, of_value = distinct_values(theirs)
    labels, of_label = distinct_values(released)
    points = _as_floats(values)
    sorted_numbers = np.sort(points[of_value])
    sorted_numbers = sorted_numbers[: n_all - int(np.isnan(sorted_numbers).sum())]
    ends = np.column_stack([_below(sorted_numbers, points, "left"), _below(sorted_numbers, points, "right")]) / n_all
    is_all = np.zeros(len(labels), bool)
    if labels.dtype.is_numeric():
        low = high = _as_floats(labels)
    else:
        texts = labels.to_list()
        is_all = np.array([text == SUPPRESSED for text in texts])
        both = np.array([number_ends(threat_model, name, text) for text in texts]).reshape(-1, 2)
        low, high = both[:, 0], both[:, 1]
    label_ends = np.column_stack([_below(sorted_numbers, low, "left"), _below(sorted_numbers, high, "right")]) / n_all
    missing = theirs.null_count() / n_all
    different, counts = np.unique(sorted_numbers, return_counts=True)
    middles = (np.cumsum(counts) - counts / 2) / n_all
    places, density = np.column_stack([low, high]), np.ones(len(labels))
    if len(different):
        places = np.interp(places, different, middles)
        around = np.clip(places.mean(axis=1)[:, None] + np.array([-AROUND, AROUND]), 0, 1)
        width = np.diff(np.interp(around, middles, different), axis=1)[:, 0]
        narrow = (different[-1] - different[0]) / max(1, len(different) - 1) or 1.0
        density = np.diff(around, axis=1)[:, 0] / np.maximum(width, narrow)
    spread = FIRST_SPREAD * float(np.std(sorted_numbers) if len(sorted_numbers) else 1.0)
    own_ends = np.column_stack([low, high])
    return Numbers(
        of_value,
        of_label,
        ends,
        label_ends,
        points,
        own_ends,
        places,
        density,
        is_all,
        missing,
        spreads=(spread or 1.0, FIRST_SPREAD),
    )


def _below(numbers: Floats, points: Floats, side: str) -> Floats:
    """Count the numbers below each point, or below or at it; missing where the point is."""
    found = np.searchsorted(numbers, points, side="left" if side == "left" else "right").astype(np.float64)
    return np.where(np.isnan(points), np.nan, found)


def _as_floats(values: pl.Series) -> Floats:
    if values.dtype.is_numeric():
        return values.cast(pl.Float64).to_numpy()
    read = [None if text is None else read_number(text) for text in values.cast(pl.String)]
    return np.array([np.nan if number is None else float(number) for number in read])


def distinct_values(values: pl.Series) -> tuple[pl.Series, Ints]:
    """Return the different values in their order, and the place of each among them."""
    distinct = values.unique().sort()
    places = pl.DataFrame({"value": distinct, "at": np.arange(len(distinct))})
    found = pl.DataFrame({"value": values}).join(
        places, on="value", how="left", nulls_equal=True, maintain_order="left"
    )
    return distinct, found["at"].to_numpy().astype(np.int64)


def number_ends(threat_model: ThreatModel, name: str, text: str | None) -> tuple[float, float]:
    """Return the ends of a label of numbers; missing where it has none."""
    if text is None:
        return np.nan, np.nan
    if text == SUPPRESSED:
        return -np.inf, np.inf
    number = read_number(text)
    if number is not None:
        return float(number), float(number)
    found = read_range(text)
    if found is not None:
        # An open end leaves out the end itself.
        low, high = float(found.low), float(found.high)
        return (
            float(np.nextafter(low, np.inf)) if found.is_open_below else low,
            float(np.nextafter(high, -np.inf)) if found.is_open else high,
        )
    vocabulary = threat_model.vocabulary(name)
    try:
        sets = vocabulary.leaf_sets([text])
    except InputError as error:
        raise error.within(threat_model.published.table.name) from None
    inside = sets.end > sets.first
    if not inside.any():
        return np.nan, np.nan
    last = min(int(sets.end[inside].max()), vocabulary.n_leaves) - 1
    return vocabulary.numbers[int(sets.first[inside].min())], vocabulary.numbers[last]


def _categories(threat_model: ThreatModel, name: str, theirs: pl.Series, released: pl.Series) -> Categories:
    vocabulary = threat_model.vocabulary(name)
    # Values that nobody here has are made up, or other people's.
    labels, sets = vocabulary.read(released, are_known=False)
    values = vocabulary.indices(theirs, are_known=False)
    counts = np.bincount(values, minlength=vocabulary.n_leaves + 2) / max(1, len(theirs))
    return Categories(values, labels, sets, counts, _groups(vocabulary, sets, counts))


def _groups(vocabulary: Vocabulary, sets: LeafSets, counts: Floats) -> list[tuple[Ints, Ints, Floats]]:
    """Return for each level above the leaves and below the top the group of each value and label, and their shares."""
    out: list[tuple[Ints, Ints, Floats]] = []
    for level in vocabulary.hierarchy.levels[1:]:
        if len(level) < 2:
            continue
        of_value = np.full(vocabulary.n_leaves + 2, len(level), np.int64)
        of_value[vocabulary.index_of_leaf] = level.codes
        lowest, highest = np.full(sets.n_labels, len(level) + 1), np.full(sets.n_labels, NONE)
        for label, first, end in zip(sets.label, sets.first, sets.end, strict=True):
            own = of_value[first:end]
            lowest[label], highest[label] = min(lowest[label], own.min()), max(highest[label], own.max())
        of_label = np.where(lowest == highest, lowest, NONE)
        out.append(
            (of_value, of_label.astype(np.int64), np.bincount(of_value, counts, len(level) + 1).astype(np.float64))
        )
    return out
