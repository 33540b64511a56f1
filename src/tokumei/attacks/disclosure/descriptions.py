"""What a description says of one person, and whom it fits: conditions on columns of people and of records.

Who meets a condition is a row of bits, so that whom a description fits is what the rows of its conditions share.

Example: of the ages 20, 30, 30, 90 and the towns north, north, south, south "30 or more" is 0111, "in the north" 1100:
both fit the second person alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tokumei.attacks.candidates import Floats
from tokumei.attacks.compared_columns import distinct_values, ends_of_labels, values_together
from tokumei.attacks.threat_model import ThreatModel, column_of
from tokumei.hierarchies.label_semantics import Bools, Ints, LeafSets

Bits = npt.NDArray[np.uint64]
# Whom descriptions may fit: released records, people of the original, and those of the control.
RECORDS, ORIGINAL, CONTROL = 0, 1, 2
AT_LEAST, AT_MOST, EQUAL, FITS = "at least", "at most", "equal", "fits"
EVERYBODY = slice(None)
# Of so few people in 64, or of so few words of 64, each is looked at.
FEW_OF_WORD, FEW_WORDS = 1, 32
# Rows of bits are held up to so many bytes.
MOST_HELD = 1 << 27


class Condition(NamedTuple):
    """What a description says of one column: a number beside a bound, or a label."""

    column: int
    kind: str
    bound: float = math.nan
    label: int = -1


Description = tuple[Condition, ...]


@dataclass(frozen=True, eq=False)
class DescribedColumn:
    """A column as descriptions speak of it.

    labels: the label of each record. numbers: of people, those of the control last; None for values in no order. ends:
    of each label. values: index of each person's value. sets: what labels stand for.
    """

    labels: Ints
    n_people: int
    numbers: Floats | None = None
    ends: Floats | None = None
    values: Ints | None = None
    sets: LeafSets | None = None

    @classmethod
    def of(cls, threat_model: ThreatModel, name: str) -> DescribedColumn:
        """Read a column of people and records."""
        original, table = threat_model.original, threat_model.published.table
        frames = [original.frame] + ([] if threat_model.control is None else [threat_model.control])
        people = values_together(name, frames, original.name)
        released = column_of(table.frame, name, table.name)
        if threat_model.is_number(name):
            labels, label_of = distinct_values(released)
            numbers, number_of = distinct_values(people)
            own = ends_of_labels(threat_model, name, numbers)[:, 0]
            return cls(label_of, original.n_rows, own[number_of], ends_of_labels(threat_model, name, labels))
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
        middles = (ends[np.isfinite(ends).all(axis=1)] / 2).sum(axis=1)
        return float(np.median(middles)) if len(middles) else 0.0

    @cached_property
    def is_exact(self) -> bool:
        """Whether every label is one value."""
        if self.ends is not None:
            return bool((np.isfinite(self.ends).all(axis=1) & (self.ends[:, 0] == self.ends[:, 1])).all())
        return self.sets is None or bool((self.sets.sizes == 1).all())

    def meeting(self, condition: Condition, side: int, who: Ints | slice = EVERYBODY) -> Bools:
        """Return which of some people of one side meet a condition; of records, which have any chance to."""
        if side == RECORDS:
            return (self.expected(condition) > 0)[self.labels[who]]
        of_side = slice(0, self.n_people) if side == ORIGINAL else slice(self.n_people, None)
        if self.numbers is not None:
            own = self.numbers[of_side][who]
            low, high = self._bounds(condition)
            if math.isinf(low) and math.isinf(high):
                return np.ones(len(own), bool)
            met: Bools = np.isnan(own) if math.isnan(low) else (own >= low) & (own <= high)
            return met
        if self.values is None or self.sets is None:
            return np.zeros(0, bool)
        values = self.values[of_side][who]
        if self.is_exact:
            is_it: Bools = values == self._value_of(condition.label)
            return is_it
        # A value that nobody in the original has stands in no label.
        return np.append(self._stands_for(condition.label), False)[values]

    def expected(self, condition: Condition) -> Floats:
        """Return the chance that the value behind each label meets a condition, as if values lay evenly in labels."""
        if self.ends is not None:
            return self._expected_number(self.ends, condition)
        if self.sets is None:
            return np.ones(1)
        if self.is_exact:
            sure: Floats = (self._values == self._value_of(condition.label)).astype(np.float64)
            return sure
        below = np.append(0, np.cumsum(self._stands_for(condition.label)))
        shared = np.zeros(self.sets.n_labels)
        np.add.at(shared, self.sets.label, below[self.sets.end] - below[self.sets.first])
        chances: Floats = shared / np.maximum(1.0, self.sets.sizes)
        return chances

    def _expected_number(self, ends: Floats, condition: Condition) -> Floats:
        low, high = self._bounds(condition)
        if self.is_exact and condition.kind != EQUAL:
            sure: Floats = ((ends[:, 0] >= low) & (ends[:, 0] <= high)).astype(np.float64)
            return sure
        least, most, first, last, width = self._reach
        low, high = max(low, least), min(high, most)
        if math.isnan(low):
            return np.isnan(first).astype(np.float64)
        # Of whole numbers a range has one more than its length.
        if condition.kind == EQUAL:
            inside = np.where((first <= low) & (low <= last), 1 / (width + 1), 0.0)
        else:
            inside = np.clip((np.minimum(last, high) - np.maximum(first, low)) / width, 0, 1)
        out: Floats = np.where(last > first, inside, (first >= low) & (first <= high)).astype(np.float64)
        return np.where(np.isnan(first), 0.0, out)

    @cached_property
    def _reach(self) -> tuple[float, float, Floats, Floats, Floats]:
        """The least and greatest end, and the first, last and width of each label; without an end, as far as any."""
        ends = np.zeros((0, 2)) if self.ends is None else self.ends
        finite = ends[np.isfinite(ends)]
        least, most = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
        first, last = (np.clip(ends[:, side], least, most) for side in (0, 1))
        return least, most, first, last, np.where(last > first, last - first, 1.0)

    @cached_property
    def _values(self) -> Ints:
        """The index that each label stands for, where each is one value."""
        out = np.zeros(0 if self.sets is None else self.sets.n_labels, np.int64)
        if self.sets is not None:
            out[self.sets.label] = self.sets.first
        return out

    def _value_of(self, label: int) -> int:
        return int(self._values[label])

    def _stands_for(self, label: int) -> Bools:
        """Return which values, the missing one last, a label can stand for."""
        if self.sets is None:
            return np.zeros(0, bool)
        out = np.zeros(self.sets.n_indices, bool)
        for at in np.flatnonzero(self.sets.label == label):
            out[self.sets.first[at] : self.sets.end[at]] = True
        return out

    def _bounds(self, condition: Condition) -> tuple[float, float]:
        if condition.kind == FITS and self.ends is not None:
            return float(self.ends[condition.label, 0]), float(self.ends[condition.label, 1])
        low = -math.inf if condition.kind == AT_MOST else condition.bound
        return low, math.inf if condition.kind == AT_LEAST else condition.bound


@dataclass(frozen=True, eq=False)
class Described:
    """The columns that descriptions speak of, and whom descriptions fit."""

    columns: Sequence[DescribedColumn]
    _held: dict[tuple[Condition, int], Bits] = field(default_factory=dict)

    def fitting(self, description: Description, side: int) -> Ints:
        """Return the people of one side whom a description fits; of records, those that it perhaps fits."""
        # Few labels are met again and again, numbers seldom.
        others = sorted(description, key=lambda one: one.kind == FITS or (one, side) in self._held)
        found = self._bits(others.pop(), side)
        while others and (
            others[-1].kind == FITS or np.bitwise_count(found).sum() > FEW_OF_WORD * max(FEW_WORDS, len(found))
        ):
            found = found & self._bits(others.pop(), side)
        places = _places(found)
        for one in others:
            places = places[self.columns[one.column].meeting(one, side, places)]
        return places

    def n_expected(self, description: Description) -> float:
        """Return how many rows a description is expected to fit, by the release."""
        records = self.fitting(description, RECORDS)
        chances = np.ones(len(records))
        for one in description:
            column = self.columns[one.column]
            if not column.is_exact:
                chances *= column.expected(one)[column.labels[records]]
        return float(chances.sum())

    def _bits(self, condition: Condition, side: int) -> Bits:
        """Return whom of one side a condition fits."""
        key = condition, side
        if key not in self._held:
            met = self.columns[condition.column].meeting(condition, side)
            bits = np.zeros(-(-len(met) // 64), np.uint64)
            packed = np.packbits(met)
            bits.view(np.uint8)[: len(packed)] = packed
            if (len(self._held) + 1) * len(packed) > MOST_HELD:
                self._held.clear()
            self._held[key] = bits
        return self._held[key]


def _places(bits: Bits) -> Ints:
    """Return the places of the bits that are set."""
    held = bits.view(np.uint8)
    # Few bytes have any, as a rule.
    at = np.flatnonzero(held)
    place = np.flatnonzero(np.unpackbits(held[at]).view(np.bool_))
    places: Ints = at[place >> 3] * 8 + (place & 7)
    return places
