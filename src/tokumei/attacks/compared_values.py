"""What a column of values says of a person and a released record: whether it fits, and by how few people it is off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from tokumei.attacks.compared_numbers import BELIEVED, LEFT_ALONE, Floats, fitting_logs
from tokumei.hierarchies.label_semantics import Bools, Ints, LeafSets, Vocabulary

# How far off a label is: halvings of the share of people at least as near, and one more where a value is missing.
FARTHEST, NEAREST, MISSING = 0, 20, 21
N_STEPS = MISSING + 1
# What is believed of labels that do not fit before anything was learned: the nearer, the likelier.
OFF_AT_FIRST = np.append(0.35 * np.arange(MISSING), 0.0) - 2.0
# No label of a level.
NONE = -1


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

    def weighed_as(self, other: object) -> Categories:
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
        return fitting_logs(self.kept, self.shares, len(self.values))

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


def _halvings(shares: Floats) -> Ints:
    """Return how often everybody was halved to come to such shares of them."""
    with np.errstate(divide="ignore"):
        out: Ints = np.clip(-np.log2(np.maximum(shares, 1e-9)), FARTHEST, NEAREST).astype(np.int64)
    return out


def groups_of_levels(vocabulary: Vocabulary, sets: LeafSets, counts: Floats) -> list[tuple[Ints, Ints, Floats]]:
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
