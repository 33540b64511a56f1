"""What a column of numbers says of a person and a released record: by rank or by how far off the label lies."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tokumei.hierarchies.label_semantics import Bools, Ints

Floats = npt.NDArray[np.float64]
Weights = npt.NDArray[np.float32]
INNER_TURNS = 3
# What is believed before anything was seen, as so many people: that a column was left alone.
BELIEVED, LEFT_ALONE = 4.0, 0.9
# How often a record says what anybody's might, at least; and how far off noise puts numbers, before anything was seen.
ANYBODY, FIRST_SPREAD = 1e-3, 0.05
# So many spreads off nothing is near any more.
FAR = 1e3


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
        return fitting_logs(self.kept, self.shares, len(self.values))

    def says(self, values: Ints, labels: Ints) -> Floats:
        """Return what each label says of the value beside it."""
        if self.by_rank or not self._are_points:
            off = self.off(values, labels, by_rank=self.by_rank)
            otherwise = self._says_off(off, labels, by_rank=self.by_rank)
            return np.where(self.fits(values, labels), self.says_if_fitting[labels], otherwise)
        # The most frequent case, and by far the largest: numbers that were noised.
        apart = np.abs(self.numbers[values] - self.ends[labels, 0])
        is_equal = apart == 0
        off = np.minimum(apart / self.spreads[False], FAR).astype(np.float32)
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
        fitting = fitting_logs(self.kept, hulls.shares, len(self.values))
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

    def weighed_as(self, other: object) -> Numbers:
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


def fitting_logs(kept: float, shares: Floats, n_people: int) -> Floats:
    """Return how much likelier a label is that can stand for a value than for anybody's."""
    said: Floats = math.log(kept) - np.log(np.maximum(shares, 0.5 / max(1, n_people)))
    return said


def _steps(places: Floats, most: int) -> Floats:
    """Return on which step each place lies, from 0 to 1; none for what is missing."""
    at = np.clip(np.nan_to_num(places, nan=-1.0) * most, -1, most - 1).astype(np.int64)
    out: Floats = (at[:, None] == np.arange(most)[None, :]).astype(np.float64)
    return out
