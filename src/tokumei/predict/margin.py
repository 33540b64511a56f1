"""One attribute's counts, with small ones merged so that they may be published.

| age   | 0s | 10s | 20s | 30s |      | age   | 0s, 10s | 20s | 30s |
|-------|----|-----|-----|-----|  →   |-------|---------|-----|-----|
| rows  | 3  | 41  | 250 | 198 |      | rows  | 44      | 250 | 198 |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError
from tokumei.hierarchy.hierarchy import Hierarchy

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Leaf = str | None
Group = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Margin:
    """The groups of an attribute's leaves with the rows of each; a leaf of no group has no row.

    A missing value is a leaf of its own behind the others, with a label of its own at every level but those of one
    label. `codes[level, leaf]` is the index of the leaf's label at the level.
    """

    attribute: str
    leaves: tuple[Leaf, ...]
    codes: Ints
    groups: tuple[Group, ...]
    sizes: Ints

    @classmethod
    def of_rows(cls, hierarchy: Hierarchy, n_rows: dict[Leaf, int], k_p: int) -> Margin:
        """Merge leaves until no group has fewer than k_p rows."""
        leaves, codes = leaves_and_codes(hierarchy)
        sizes = np.array([n_rows.get(leaf, 0) for leaf in leaves])
        groups = merge_small(codes, sizes, k_p)
        return cls(hierarchy.attribute, leaves, codes, groups, np.array([sizes[list(group)].sum() for group in groups]))

    @classmethod
    def of_groups(cls, hierarchy: Hierarchy, named: Iterable[tuple[Sequence[Leaf], int]]) -> Margin:
        """Make the margin of groups given by the names of their leaves, as they are published."""
        leaves, codes = leaves_and_codes(hierarchy)
        indices = {leaf: index for index, leaf in enumerate(leaves)}
        groups, sizes = [], []
        for names, n_rows in named:
            for name in names:
                if name not in indices:
                    raise InputError.of("a leaf, in one group only", column=hierarchy.attribute, value=name)
            groups.append(tuple(indices.pop(name) for name in names))
            sizes.append(int(n_rows))
        return cls(hierarchy.attribute, leaves, codes, tuple(groups), np.array(sizes))

    @property
    def named_groups(self) -> list[tuple[list[Leaf], int]]:
        """The groups by the names of their leaves."""
        names = [[self.leaves[leaf] for leaf in group] for group in self.groups]
        return list(zip(names, self.sizes.tolist(), strict=True))

    @cached_property
    def group_of(self) -> Ints:
        """The group of each leaf, −1 for a leaf without rows."""
        out = np.full(len(self.leaves), -1)
        for index, group in enumerate(self.groups):
            out[list(group)] = index
        return out

    def n_labels(self, level: int) -> int:
        """Give the number of labels of a level, that of missing values included."""
        return int(self.codes[level].max()) + 1

    def joined(self, level: int) -> Ints:
        """Give for each group its part when groups that share a label of the level are joined."""
        occurs = self.group_of >= 0
        parts = common_coarsening(self.group_of[occurs], self.codes[level][occurs])
        out = np.empty(len(self.groups), np.int64)
        out[self.group_of[occurs]] = parts
        return out

    def part_of_label(self, level: int, parts: Ints) -> Ints:
        """Give for each label of a level its part, where no part splits a label; −1 for a label without rows."""
        out = np.full(self.n_labels(level), -1)
        occurs = self.group_of >= 0
        out[self.codes[level][occurs]] = parts[self.group_of[occurs]]
        return out

    def at(self, level: int, small: float) -> MarginAtLevel:
        """Give what the groups say of the labels of a level, where a label may have as few as `small` rows."""
        occurs = self.group_of >= 0
        groups, labels = np.unique([self.group_of[occurs], self.codes[level][occurs]], axis=1)
        labels = np.unique(labels, return_inverse=True)[1].reshape(-1)
        is_split = np.bincount(groups)[groups] > 1
        own = np.zeros(int(labels.max()) + 1)
        np.add.at(own, labels[~is_split], self.sizes[groups[~is_split]])
        shares = np.ones(len(groups))
        for group in np.unique(groups[is_split]):
            inside = np.flatnonzero(groups == group)
            size = self.sizes[group]
            shares[inside] = min(small, size / len(inside)) / size
            shares[inside[np.argmax(own[labels[inside]])]] += 1 - shares[inside].sum()
        return MarginAtLevel(
            parts=self.joined(level),
            shares=LabelShares(labels, groups, shares),
            rows=np.bincount(labels, shares * self.sizes[groups]).astype(np.float64),
            is_split=bool(is_split.any()),
            hides_labels=bool((own == 0).any()),
        )


@dataclass(frozen=True, eq=False)
class LabelShares:
    """The labels that have rows of each group: `shares[i]` of those of group `groups[i]` are of label `labels[i]`."""

    labels: Ints
    groups: Ints
    shares: Floats

    @classmethod
    def of_parts(cls, parts: Ints) -> LabelShares:
        """Take the parts of all groups for labels."""
        return cls(parts, np.arange(len(parts)), np.ones(len(parts)))

    def by_part(self, sizes: Ints, parts: Ints) -> Floats:
        """Give the rows of each label in each part, from the rows and the part of each group."""
        out = np.zeros((int(self.labels.max()) + 1, int(parts.max()) + 1))
        np.add.at(out, (self.labels, parts[self.groups]), self.shares * sizes[self.groups])
        return out


@dataclass(frozen=True, eq=False)
class MarginAtLevel:
    """What the groups of an attribute say of the labels of one level that have rows.

    The shares of the labels and their `rows` are guesses where a group `is_split`, with leaves of several labels. Its
    leaves were merged since they are few under their label, with one of a label that has more: so the label that has
    most without them gets the rest, when each other was given a small number. A level `hides_labels` if a label has
    rows only in such groups, and so perhaps very few. `parts` holds for each group its part when groups that share a
    label are joined.
    """

    parts: Ints
    shares: LabelShares
    rows: Floats
    is_split: bool
    hides_labels: bool


def leaves_and_codes(hierarchy: Hierarchy) -> tuple[tuple[Leaf, ...], Ints]:
    """Give the leaves, missing last, and the label of each at each level."""
    codes = [np.append(level.codes, len(level) if len(level) > 1 else 0).astype(np.int64) for level in hierarchy.levels]
    return (*hierarchy.leaves, None), np.array(codes)


def merge_small(codes: Ints, sizes: Ints, k_p: int) -> tuple[Group, ...]:
    """Put leaves into groups of at least k_p rows each, leaves with many rows alone; leaves without rows are left out.

    Small ones are merged under the finest label that holds them and a leaf that is not small: since that one is
    merged too, nobody can tell which of the group is small. They do without only where they are k_p together and
    their sum leaves open what each has. All rows together must be k_p or more.
    """
    groups: list[Group] = [(int(leaf),) for leaf in np.flatnonzero(sizes)]
    for level_codes in codes[1:]:
        by_label: dict[int, list[Group]] = {}
        rest: list[Group] = []
        for group in groups:
            labels = {int(level_codes[leaf]) for leaf in group}
            (by_label.setdefault(labels.pop(), []) if len(labels) == 1 else rest).append(group)
        groups = rest + [group for inside in by_label.values() for group in _merge_inside(inside, codes, sizes, k_p)]
    small = [group for group in groups if sizes[list(group)].sum() < k_p]
    if small:
        # Only where the whole table has no leaf that is not small.
        groups = [group for group in groups if sizes[list(group)].sum() >= k_p] + [_union(small)]
    return tuple(sorted(groups))


def _merge_inside(groups: list[Group], codes: Ints, sizes: Ints, k_p: int) -> list[Group]:
    """Merge the small groups of one label with one that is not small."""
    n_rows = {group: int(sizes[list(group)].sum()) for group in groups}
    small = [group for group in groups if n_rows[group] < k_p]
    large = [group for group in groups if n_rows[group] >= k_p]
    if not small:
        return groups
    if large:
        # Levels may cross: what shares more of them with the small ones leaves more of them whole.
        inside = codes[:, list(_union(small))]
        is_one = (inside == inside[:, :1]).all(axis=1)

        def n_shared(group: Group) -> int:
            return int((is_one & (codes[:, list(group)] == inside[:, :1]).all(axis=1)).sum())

        filler = min(large, key=lambda group: (-n_shared(group), n_rows[group], group))
        return [group for group in large if group != filler] + [_union([*small, filler])]
    n_small, n_together = len(small), sum(n_rows[group] for group in small)
    if n_together >= k_p and n_small < n_together < n_small * (k_p - 1):
        return [_union(small)]
    return groups


def _union(groups: Iterable[Group]) -> Group:
    return tuple(sorted(leaf for group in groups for leaf in group))


def common_coarsening(first: Ints, second: Ints) -> Ints:
    """Give the finest parts that split neither the parts of the first nor those of the second, numbered from 0.

    All three hold for each thing the number of its part.
    """
    parts = first.copy()
    while True:
        # The smallest number spreads over all that hangs together.
        spread = parts
        for by in (second, first):
            smallest = np.full(int(by.max(initial=-1)) + 1, np.iinfo(np.int64).max)
            np.minimum.at(smallest, by, spread)
            spread = smallest[by]
        if np.array_equal(spread, parts):
            return np.unique(parts, return_inverse=True)[1].reshape(-1)
        parts = spread
