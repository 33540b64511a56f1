"""What each column says of a person and a released record, whatever was done to it: numbers, values and labels.

A label that can stand for the person's value speaks for the record, the more the fewer people it can stand for. One
that cannot speaks against it, the less the fewer people lie at least as near: for numbers those between the two in the
order of all people, for labels of a hierarchy those below their common label. What is said is a likelihood ratio, as
Fellegi and Sunter (1969) weigh it: how often so near a label is met in people's own records, to how often in anybody's.

Example: of a hundred people 20 are women, and women's records say so nine times in ten. A record that says f speaks for
a woman by log(.9 / .2) = 1.5, one that says m against her by log(.1 / .8) = −2.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.attacks.threat_model import ThreatModel, column_of
from tokumei.core.errors import InputError
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
INNER_TURNS = 3
# What is believed before anything was seen, as so many people: that a column was left alone.
BELIEVED, LEFT_ALONE = 4.0, 0.9
# How often a record says what anybody's might, at least; how far off noise puts numbers, before anything was seen, and
# how many people around it tell how dense they lie.
ANYBODY, FIRST_SPREAD, AROUND = 1e-3, 0.05, 0.025


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

    @cached_property
    def says_if_fitting(self) -> Floats:
        """What each label says of a value it can stand for."""
        return _fitting_logs(self.kept, self.shares, len(self.values))

    def says(self, values: Ints, labels: Ints) -> Floats:
        """Return what each label says of the value beside it."""
        if self.by_rank or not self._are_points:
            off = self.off(values, labels, by_rank=self.by_rank)
            otherwise = self._says_off(off, labels, by_rank=self.by_rank)
            return np.where(self.fits(values, labels), self.says_if_fitting[labels], otherwise)
        # The most frequent case, and by far the largest: numbers that were noised.
        off = np.abs(self._numbers_32[values] - self._ends_32[labels])
        is_equal = off == 0
        off /= np.float32(self.spreads[False])
        anybody = np.float32(max(ANYBODY, 1 - self.kept - self.near))
        told = np.log(self._most_near[labels] * np.exp(np.float32(-0.5) * off * off) + anybody)
        return np.where(is_equal, self.says_if_fitting.astype(np.float32)[labels], told)

    def far(self, values: Ints, labels: Ints) -> Floats:
        """Return how far each label lies off in standard deviations, 1 where either is missing: the plain distance."""
        own = self.numbers[self.values[self.values >= 0]]
        spread = float(np.std(own[np.isfinite(own)])) if np.isfinite(own).any() else 0.0
        off = self.off(values, labels, by_rank=False) / (spread or 1.0)
        both = np.isnan(self.numbers[values]) & np.isnan(self.ends[labels, 0])
        return np.where(np.isnan(off), np.where(both, 0.0, 1.0), off)

    @cached_property
    def _are_points(self) -> bool:
        """Whether every value and label is one number."""
        return bool(np.isfinite(self.numbers).all() and (self.ends[:, 0] == self.ends[:, 1]).all())

    @cached_property
    def _numbers_32(self) -> Weights:
        return self.numbers.astype(np.float32)

    @cached_property
    def _ends_32(self) -> Weights:
        return self.ends[:, 0].astype(np.float32)

    @cached_property
    def _most_near(self) -> Weights:
        """How likely each label is beside its own number if noise put it there, to anybody's."""
        most = self.near / (math.sqrt(2 * math.pi) * self.spreads[False] * self.density)
        return most.astype(np.float32)

    def _says_off(self, off: Floats, labels: Ints, *, by_rank: bool) -> Floats:
        spread = self.spreads[by_rank]
        scale = 1.0 if by_rank else self.density[labels]
        nearby = self.near * np.exp(-0.5 * (off / spread) ** 2) / (math.sqrt(2 * math.pi) * spread * scale)
        anybody = max(ANYBODY, 1 - self.kept - self.near)
        return np.where(np.isnan(off), self.off_missing, np.log(nearby + anybody))

    def bins(self, n: int, counts: Ints) -> Ints:
        """Return a bin for each label so that labels of a bin lie near one another; the last two are for odd ones.

        counts: how many records have each label, which bins share out evenly.
        """
        middle = np.where(self.is_all, np.nan, np.clip(self.ends, -1e300, 1e300).mean(axis=1))
        is_odd = np.isnan(middle)
        order, weights = np.argsort(middle, kind="stable"), np.where(is_odd, 0, counts)
        before = np.cumsum(weights[order]) - weights[order]
        out = np.empty(len(middle), np.int64)
        out[order] = np.minimum(before * n // max(1, int(weights.sum())), n - 1)
        return np.where(self.is_all, n + 1, np.where(is_odd, n, out))

    def hulls(self, order: Ints, starts: Ints) -> NumberHulls:
        """Return what all labels of each bin have at least and at most: labels in the order of their bins."""

        def least(values: Floats) -> Floats:
            return np.minimum.reduceat(values[order].astype(np.float64), starts)

        def most(values: Floats | Bools) -> Floats:
            return np.maximum.reduceat(values[order].astype(np.float64), starts)

        below = self.label_ends
        return NumberHulls(
            (least(self.ends[:, 0]), most(self.ends[:, 1])),
            (least(below[:, 0]), most(below[:, 1])),
            (least(self.places[:, 0]), most(self.places[:, 1])),
            least(below[:, 1] - below[:, 0]),
            least(self.density),
            least(self.shares),
            most(np.isnan(below[:, 0]) & ~self.is_all) > 0,
            most(self.is_all) > 0,
        )

    def most_of(self, values: Ints, hulls: NumberHulls) -> Floats:
        """Return no less than what any label of each bin says of each value: values × bins."""
        low, high = self.value_ends[values, None, 0], self.value_ends[values, None, 1]
        may_fit = (low >= hulls.below[0]) & (high <= hulls.below[1])
        may_fit |= (np.isnan(low) & hulls.has_missing) | hulls.has_all
        if self.by_rank:
            place = (low + high) / 2
            off = (high - low) / 2 + np.abs(place - np.clip(place, *hulls.places)) + hulls.narrowest
        else:
            number = self.numbers[values, None]
            off = np.abs(number - np.clip(number, *hulls.ends))
        spread = self.spreads[self.by_rank]
        scale = 1.0 if self.by_rank else hulls.density
        nearby = self.near * np.exp(-0.5 * (off / spread) ** 2) / (math.sqrt(2 * math.pi) * spread * scale)
        anybody = max(ANYBODY, 1 - self.kept - self.near)
        most: Floats = np.where(np.isnan(off), self.off_missing, np.log(nearby + anybody))
        fitting = _fitting_logs(self.kept, hulls.shares, len(self.values))
        return np.where(may_fit, np.maximum(most, fitting), most)

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

    @cached_property
    def says_if_fitting(self) -> Floats:
        """What each label says of a value it can stand for."""
        return _fitting_logs(self.kept, self.shares, len(self.values))

    def says(self, values: Ints, labels: Ints) -> Floats:
        """Return what each label says of the value beside it."""
        fits, off = self.compare(values, labels)
        return np.where(fits, self.says_if_fitting[labels], self.off[off])

    def far(self, values: Ints, labels: Ints) -> Floats:
        """Return 0 where a label can stand for the value, else 1: the plain distance."""
        return np.where(self.compare(values, labels)[0], 0.0, 1.0)

    def bins(self, n: int, counts: Ints) -> Ints:
        """Return a bin for each label: the most frequent have one of their own."""
        order = np.argsort(-counts, kind="stable")
        out = np.empty(len(counts), np.int64)
        out[order] = np.arange(len(counts)) if len(counts) <= n else np.arange(len(counts)) % n
        return out

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


@dataclass(frozen=True, eq=False)
class NumberHulls:
    """What labels of numbers that stand in one bin have at least and at most, a number each bin."""

    ends: tuple[Floats, Floats]
    below: tuple[Floats, Floats]
    places: tuple[Floats, Floats]
    narrowest: Floats
    density: Floats
    shares: Floats
    has_missing: Bools
    has_all: Bools


def _fitting_logs(kept: float, shares: Floats, n_people: int) -> Floats:
    """Return how much likelier a label is that can stand for a value than for anybody's."""
    said: Floats = math.log(kept) - np.log(np.maximum(shares, 0.5 / max(1, n_people)))
    return said


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


def read_column(threat_model: ThreatModel, name: str, theirs: pl.Series, table: Table) -> Compared:
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
