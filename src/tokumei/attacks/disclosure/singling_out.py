"""An attacker who looks for words that describe one person alone, and knows nobody."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
import polars as pl
from scipy.special import gammaln

from tokumei.attacks.candidates import Floats, share_score
from tokumei.attacks.compared_columns import distinct_values, number_ends, values_together
from tokumei.attacks.threat_model import ThreatModel, column_of
from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.core.text import Text
from tokumei.hierarchies.label_semantics import Bools, Ints, LeafSets

# Descriptions that are tried for each that is kept.
TRIES = 5
N_RISKIEST = 10
# So many rows a description is expected to fit, by the release, to be kept.
FEWEST, MOST = 0.5, 1.5
# Sides of people whom descriptions may fit.
ORIGINAL, CONTROL = 0, 1
AT_LEAST, AT_MOST, EQUAL, FITS = "at least", "at most", "equal", "fits"


@dataclass(frozen=True)
class SinglingOut:
    """Describe one person alone, from the release, without knowing anybody.

    Knowledge: the release. Aim: descriptions that fit one row of the original, of however many columns. Tried are
    values that one record has, ends of ranges, and records by some of their columns: a number at least or at most
    theirs, from the middle outwards. Kept are those that the release lets expect to fit one row. Success: `success` is
    the share of descriptions of two columns or more that fit exactly one row of the original (of people, where these
    have several), `one-column` that of one column. Baseline: descriptions of values drawn column by column. Control:
    how many would fit one row of as many people who are not in the release; what lies above it is the `risk` (Giomi et
    al. 2022).

    Example: of people of 20, 30, 30 and 90 in the north, north, south and south all is released. Of one column "20" and
    "90" fit one row. "30 or more, in the north" fits one row, "30 or more, in the south" two.
    """

    descriptions: int = field(default=2_000, metadata={"help": "Descriptions that are kept, at most, of each kind."})

    asks_whose: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.descriptions < 1:
            raise InputError.of(
                Text("a whole number of {n} or more", n=1), option="descriptions", value=self.descriptions
            )

    def measure(self, threat_model: ThreatModel, *, seed: int) -> Mapping[str, Score]:
        """Make descriptions from the release, and count whom they fit."""
        columns = [_Described.of(threat_model, name) for name in threat_model.known_columns]
        rng = generator(seed, "singling-out")
        out = {}
        kinds = {"one-column": _of_one_column(columns), "success": _of_records(columns, rng)}
        for name in ("success", "one-column"):
            kept = _kept(columns, kinds[name], self.descriptions, rng, words=f"descriptions ({name})")
            blind = list(_drawn_blindly(columns, kept, rng))
            out[name] = _score(name, threat_model, columns, kept, blind)
        return out


@dataclass(frozen=True)
class Condition:
    """What a description says of one column: a number beside a bound, or a label."""

    column: int
    kind: str
    bound: float = math.nan
    label: int = -1


Description = tuple[Condition, ...]


@dataclass(frozen=True, eq=False)
class _Described:
    """A column as descriptions speak of it.

    numbers: of people, those of the control last; None for values in no order. ends: of each label. values: index of
    each person's value. sets: what labels stand for. labels: the label of each record.
    """

    labels: Ints
    n_people: int
    numbers: Floats | None = None
    ends: Floats | None = None
    values: Ints | None = None
    sets: LeafSets | None = None

    @classmethod
    def of(cls, threat_model: ThreatModel, name: str) -> _Described:
        """Read a column of people and records."""
        original, table = threat_model.original, threat_model.published.table
        frames = [original.frame] + ([] if threat_model.control is None else [threat_model.control])
        people = values_together(name, frames, original.name)
        released = column_of(table.frame, name, table.name)
        if original.frame[name].dtype.is_numeric() or name in threat_model.numeric:
            labels, label_of = distinct_values(released)
            numbers, number_of = distinct_values(people)
            own = np.array([number_ends(threat_model, name, text)[0] for text in numbers.cast(pl.String)])
            ends = np.array([number_ends(threat_model, name, text) for text in labels.cast(pl.String)])
            return cls(label_of, original.n_rows, own[number_of], ends.reshape(-1, 2))
        vocabulary = threat_model.vocabulary(name)
        label_of, sets = vocabulary.read(released, are_known=False)
        values = vocabulary.indices(people, are_known=False)
        return cls(label_of, original.n_rows, values=values, sets=sets)

    @property
    def middle(self) -> float:
        """The number in the middle of the release."""
        if self.ends is None:
            return math.nan
        ends = self.ends[self.labels]
        middles = ends[np.isfinite(ends).all(axis=1)].mean(axis=1)
        return float(np.median(middles)) if len(middles) else 0.0

    def is_met(self, condition: Condition, people: Ints) -> Bools:
        """Whether these people meet a condition."""
        if self.numbers is not None and self.ends is not None:
            own = self.numbers[people]
            low, high = self._bounds(condition)
            if math.isinf(low) and math.isinf(high):
                return np.ones(len(people), bool)
            met: Bools = np.isnan(own) if math.isnan(low) else (own >= low) & (own <= high)
            return met
        if self.values is None or self.sets is None:
            return np.ones(len(people), bool)
        # A value that nobody in the original has stands in no label.
        return np.append(self._holds[:, condition.label], False)[self.values[people]]

    def n_meeting(self, condition: Condition, side: int) -> int:
        """Count the people of one side who meet a condition."""
        return sum(last - first for first, last in self._runs(condition, side))

    def meeting(self, condition: Condition, side: int) -> Ints:
        """Return the people of one side who meet a condition."""
        _, people = self._in_order[side]
        runs = [people[first:last] for first, last in self._runs(condition, side)]
        return np.concatenate(runs) if runs else np.zeros(0, np.int64)

    @cached_property
    def _in_order(self) -> list[tuple[Floats, Ints]]:
        """The numbers of the people of each side in order, or the indices of their values, and who these people are."""
        numbers = self.numbers if self.numbers is not None else self.values
        if numbers is None:
            return [(np.zeros(0), np.zeros(0, np.int64))] * 2
        own = numbers.astype(np.float64)
        sides = ((0, self.n_people), (self.n_people, len(own)))
        orders = [np.argsort(own[first:last], kind="stable").astype(np.int64) + first for first, last in sides]
        return [(own[order], order) for order in orders]

    def _runs(self, condition: Condition, side: int) -> list[tuple[int, int]]:
        """Return from where to where in their order people meet a condition."""
        if (condition, side) not in self._runs_of:
            self._runs_of[condition, side] = self._find_runs(condition, side)
        return self._runs_of[condition, side]

    @cached_property
    def _runs_of(self) -> dict[tuple[Condition, int], list[tuple[int, int]]]:
        return {}

    def _find_runs(self, condition: Condition, side: int) -> list[tuple[int, int]]:
        own, _ = self._in_order[side]
        if self.numbers is not None and self.ends is not None:
            low, high = self._bounds(condition)
            # Missing numbers come last.
            n_numbers = int(own.searchsorted(np.nan))
            if math.isinf(low) and math.isinf(high):
                return [(0, len(own))]
            if math.isnan(low):
                return [(n_numbers, len(own))]
            first, last = int(own.searchsorted(low)), int(own.searchsorted(high, side="right"))
            return [(first, max(first, min(n_numbers, last)))]
        if self.sets is None:
            return [(0, len(own))]
        of_label = self.sets.label == condition.label
        firsts, lasts = (own.searchsorted(ends[of_label]).tolist() for ends in (self.sets.first, self.sets.end))
        return list(zip(firsts, lasts, strict=True))

    @cached_property
    def _holds(self) -> Bools:
        """Which values, the missing one last, each label can stand for."""
        return np.zeros((0, 0), bool) if self.sets is None else self.sets.rows(np.arange(self.sets.n_indices))

    @cached_property
    def _expected_of(self) -> dict[Condition, Floats]:
        return {}

    def expected(self, condition: Condition) -> Floats:
        """Return the chance that the value behind each label meets a condition, as if values lay evenly in labels."""
        if condition not in self._expected_of:
            self._expected_of[condition] = self._expect(condition)
        return self._expected_of[condition]

    def n_expected(self, condition: Condition) -> float:
        """Return how many rows are expected to meet a condition, by the release."""
        if condition not in self._n_expected_of:
            self._n_expected_of[condition] = float(self.expected(condition) @ self._n_of_label)
        return self._n_expected_of[condition]

    def with_labels(self, labels: Ints) -> Ints:
        """Return the records that have one of these labels."""
        order, starts = self._records_of_label
        first, counts = starts[labels], starts[labels + 1] - starts[labels]
        return order[np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(int(counts.sum()))]

    @cached_property
    def _records_of_label(self) -> tuple[Ints, Ints]:
        """The records in the order of their labels, and where each label begins."""
        ends = np.append(0, np.cumsum(self._n_of_label))
        return np.argsort(self.labels, kind="stable"), ends

    @cached_property
    def _n_expected_of(self) -> dict[Condition, float]:
        return {}

    @cached_property
    def _n_of_label(self) -> Ints:
        n_labels = len(self.ends) if self.ends is not None else 0 if self.sets is None else self.sets.n_labels
        return np.bincount(self.labels, minlength=n_labels)

    def _expect(self, condition: Condition) -> Floats:
        if self.ends is not None:
            low, high = self._bounds(condition)
            # Without an end a label reaches as far as any other.
            finite = self.ends[np.isfinite(self.ends)]
            least, most = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
            first, last = (np.clip(self.ends[:, side], least, most) for side in (0, 1))
            low, high = max(low, least), min(high, most)
            if math.isnan(low):
                return np.isnan(first).astype(np.float64)
            width = np.where(last > first, last - first, 1.0)
            inside = np.clip((np.minimum(last, high) - np.maximum(first, low)) / width, 0, 1)
            # Of whole numbers a range has one more than its length.
            if condition.kind == EQUAL:
                inside = np.where((first <= low) & (low <= last), 1 / (width + 1), 0.0)
            out: Floats = np.where(last > first, inside, (first >= low) & (first <= high)).astype(np.float64)
            return np.where(np.isnan(first), 0.0, out)
        if self.sets is None:
            return np.ones(1)
        wanted = self._holds[:, condition.label]
        shared: Floats = self._holds[wanted].sum(axis=0) / np.maximum(1.0, self.sets.sizes)
        return shared

    def _bounds(self, condition: Condition) -> tuple[float, float]:
        if condition.kind == FITS and self.ends is not None:
            return float(self.ends[condition.label, 0]), float(self.ends[condition.label, 1])
        low = -math.inf if condition.kind == AT_MOST else condition.bound
        return low, math.inf if condition.kind == AT_LEAST else condition.bound


def _of_one_column(columns: Sequence[_Described]) -> Iterator[Description]:
    """Yield what may describe one person by one column: rare values, the least and the largest, ends of ranges."""
    for index, column in enumerate(columns):
        if column.ends is not None:
            finite = column.ends[np.isfinite(column.ends).all(axis=1)]
            if len(finite):
                yield (Condition(index, AT_MOST, float(finite[:, 0].min())),)
                yield (Condition(index, AT_LEAST, float(finite[:, 1].max())),)
            for low, high in finite[finite[:, 1] > finite[:, 0]]:
                yield (Condition(index, EQUAL, float(low)),)
                yield (Condition(index, EQUAL, float(high)),)
        for label in np.flatnonzero(np.bincount(column.labels) == 1):
            yield (Condition(index, FITS, label=int(label)),)


def _of_records(columns: Sequence[_Described], rng: np.random.Generator) -> Iterator[Description]:
    """Yield descriptions of records drawn at random, by some of their columns."""
    if len(columns) < 2:
        return
    middles = [column.middle for column in columns]
    # In the order of their labels, so that the order of records changes nothing.
    records = np.lexsort([column.labels for column in columns])
    while True:
        record, n = int(rng.choice(records)), int(rng.integers(2, len(columns) + 1))
        chosen = rng.choice(len(columns), n, replace=False)
        yield tuple(
            _said_of(columns[index], int(index), int(columns[index].labels[record]), middles[index], rng)
            for index in np.sort(chosen)
        )


def _said_of(column: _Described, index: int, label: int, middle: float, rng: np.random.Generator) -> Condition:
    """Say something of a record: its label or, of numbers, an end of its range, or on which side of its number."""
    if column.ends is None or not np.isfinite(column.ends[label]).all():
        return Condition(index, FITS, label=label)
    low, high = column.ends[label]
    if low == high:
        return Condition(index, AT_LEAST if low >= middle else AT_MOST, float(low))
    kind = int(rng.integers(3))
    return (
        Condition(index, FITS, label=label) if not kind else Condition(index, EQUAL, float(low if kind == 1 else high))
    )


def _kept(
    columns: Sequence[_Described], tried: Iterator[Description], most: int, rng: np.random.Generator, words: str
) -> list[Description]:
    """Keep descriptions that the release lets expect to fit one row, or that name an end that some row must have."""
    out: dict[Description, None] = {}
    candidates = list(tried) if words.endswith("(one-column)") else tried
    if isinstance(candidates, list):
        candidates = [candidates[index] for index in rng.permutation(len(candidates))]
    with step(words, most) as bar:
        for n_tried, one in enumerate(candidates):
            if len(out) >= most or n_tried >= TRIES * most:
                break
            names_end = any(condition.kind == EQUAL for condition in one)
            fitting = _expected(columns, one)
            if fitting < MOST and (names_end or fitting >= FEWEST) and one not in out:
                out[one] = None
                bar.advance(1)
    return list(out)


def _expected(columns: Sequence[_Described], description: Description) -> float:
    """Return how many rows a description is expected to fit, by the release."""
    records, chances = None, None
    # What few rows meet comes first, so that little is left to look at.
    for condition in sorted(description, key=lambda one: columns[one.column].n_expected(one)):
        column = columns[condition.column]
        by_label = column.expected(condition)
        if records is None or chances is None:
            records = column.with_labels(np.flatnonzero(by_label > 0))
            chances = by_label[column.labels[records]]
            continue
        chances = chances * by_label[column.labels[records]]
        is_left = chances > 0
        records, chances = records[is_left], chances[is_left]
    return 0.0 if chances is None else float(chances.sum())


def _drawn_blindly(
    columns: Sequence[_Described], like: Sequence[Description], rng: np.random.Generator
) -> Iterator[Description]:
    """Yield descriptions by as many columns, each of a label drawn on its own."""
    middles = [column.middle for column in columns]
    labels = [np.sort(column.labels) for column in columns]
    for one in like:
        chosen = rng.choice(len(columns), len(one), replace=False)
        yield tuple(
            _said_of(columns[index], int(index), int(rng.choice(labels[index])), middles[index], rng)
            for index in chosen
        )


def _fitting(columns: Sequence[_Described], description: Description, side: int) -> Ints:
    """Return the people of one side, the original or the control, whom a description fits."""
    # Whoever meets what fewest meet is looked up, and only these are compared with the rest.
    each = sorted(description, key=lambda one: columns[one.column].n_meeting(one, side))
    people = columns[each[0].column].meeting(each[0], side)
    for condition in each[1:]:
        people = people[columns[condition.column].is_met(condition, people)]
    return people


def _score(
    name: str,
    threat_model: ThreatModel,
    columns: Sequence[_Described],
    kept: Sequence[Description],
    blind: Sequence[Description],
) -> Score:
    """Count the descriptions that fit one row, or one person."""
    n = threat_model.original.n_rows
    person_of = threat_model.person_of
    alone: dict[int, None] = {}

    def is_alone(fitting: Ints) -> bool:
        return len(fitting) == 1 or (person_of is not None and len(np.unique(person_of[fitting])) == 1)

    n_alone = 0
    for one in kept:
        fitting = _fitting(columns, one, ORIGINAL)
        if is_alone(fitting):
            n_alone += 1
            alone[int(fitting[0])] = None
    n_blind = sum(is_alone(_fitting(columns, one, ORIGINAL)) for one in blind)
    outside = None
    if threat_model.control is not None and threat_model.control.height and kept:
        counts = np.array([len(_fitting(columns, one, CONTROL)) for one in kept])
        outside = (alone_among(counts, threat_model.control.height, n) * len(kept), len(kept))
    inputs = {"predicates": len(kept), "riskiest": [row + 1 for row in list(alone)[:N_RISKIEST]]}
    made = share_score(name, n_alone, len(kept), n_blind / max(1, len(blind)), inputs=inputs, outside=outside)
    # What was tried are descriptions, not people.
    return replace(made, inputs={key: value for key, value in made.inputs.items() if key != "people"})


def alone_among(counts: Ints, n_seen: int, n: int) -> float:
    """Return the share of descriptions that would fit exactly one of n people, by how many of those seen each fits.

    Of fewer people than were seen any n may be drawn: a description that fits c of N fits exactly one of them with the
    chance c C(N − c, n − 1) / C(N, n). For more people than were seen the weight w of a description, the share of all
    people it fits, is taken to vary as a gamma distribution that the counts have the mean and the variance of, and
    n w (1 − w)^(n − 1) is averaged over it.

    Example: of four people seen a description fits two. Two of the four hold exactly one of them in 4 of 6 draws.
    """
    if n <= n_seen:
        c = counts[(counts > 0) & (n_seen - counts >= n - 1)].astype(np.float64)
        logs = np.log(c) + _log_choose(n_seen - c, n - 1) - _log_choose(np.full(len(c), float(n_seen)), n)
        return float(np.exp(logs).sum() / max(1, len(counts)))
    mean, spread = float(counts.mean()) / n_seen, float(counts.var())
    if mean == 0:
        return 0.0
    excess = (spread - counts.mean()) / n_seen**2
    expected = mean * n
    if excess <= 0:
        # All have the same weight.
        return expected * (1 - mean) ** (n - 1)
    shape = mean**2 / excess
    return float(expected * (1 + expected / shape) ** (-shape - 1))


def _log_choose(n: Floats, k: int) -> Floats:
    chosen: Floats = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return chosen
