"""One attribute's counts, with small ones merged along its hierarchy so that they may be published.

| age   | 0s | 10s | 20s | 30s |      | age   | 0s, 10s | 20s | 30s |
|-------|----|-----|-----|-----|  →   |-------|---------|-----|-----|
| rows  | 3  | 41  | 250 | 198 |      | rows  | 44      | 250 | 198 |

Which values are merged follows from the hierarchy and from whether both halves of a group are large enough, and from
nothing else: whoever knows the rule cannot tell which value of a group is the small one, nor that it has any row. Large
enough are k rows and one more for each further value: so even one who knows that all values occur proves none small.

The halves follow from the hierarchy alone. The leaves stand in one order, labels of every level side by side; so
whatever is parted is a run of places in that order, and each half is one too. A tree of 38,000 leaves is made only
where it is looked at.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError
from tokumei.hierarchies.hierarchy import Hierarchy

Ints = npt.NDArray[np.int64]
Group = tuple[int, ...]
# The places from one to before another, and the level whose labels stay whole in it, counted from the coarsest.
Run = tuple[int, int, int]

# How far from the middle a cut may be made for the sake of levels that cross.
MOST_ASIDE = 30


@dataclass(frozen=True, eq=False)
class Halves:
    """The order of the leaves, and where in it the labels of each level begin, coarsest level first."""

    order: Sequence[int]
    beginnings: Sequence[Sequence[int]]
    # For each level that crosses the others the label at each place.
    aside: Sequence[Sequence[int]]

    @classmethod
    def of(cls, codes: Ints, *, has_missing: bool) -> Halves:
        """Arrange leaves by the labels of each at each level; a missing value, if there is one, beside the last."""
        n_leaves = codes.shape[1] - (not has_missing)
        placed = codes[:, :n_leaves].copy()
        if has_missing:
            placed[1:, -1] = placed[1:, -2]
        nested = _nested(codes[:, :-1])
        telling = [level for level in range(len(codes)) if codes[level, :-1].max() > 0]
        # A label stands where its first leaf does; the last key counts most.
        keys = [_first_of_label(placed[level]) for level in telling if level in nested]
        order = np.lexsort([np.arange(n_leaves), *keys])
        starts = [np.flatnonzero(np.diff(key[order], prepend=-1)).tolist() for key in reversed(keys)]
        aside = [placed[level][order].tolist() for level in telling if level not in nested]
        return cls(order.tolist(), [*starts, range(n_leaves)], aside)

    @property
    def whole(self) -> Run:
        """All leaves."""
        return 0, len(self.order), 0

    def parted(self, run: Run) -> tuple[Run, Run] | None:
        """Part the labels of a run in the middle, but where fewest labels aside are cut; None for a single leaf."""
        start, end, depth = run
        if end - start == 1:
            return None
        while True:
            cuts = self.beginnings[depth]
            first, last = bisect_right(cuts, start), bisect_left(cuts, end)
            if first < last:
                break
            depth += 1
        # As many labels before the cut as its number.
        n_labels = last - first + 1
        at = n_labels // 2
        if self.aside:
            near = range(max(1, at - MOST_ASIDE), min(n_labels, at + MOST_ASIDE + 1))
            at = min(
                near, key=lambda each: (self._n_cut(start, cuts[first + each - 1], end), abs(2 * each - n_labels), each)
            )
        cut = cuts[first + at - 1]
        return (start, cut, depth), (cut, end, depth)

    def leaves(self, run: Run) -> Group:
        """Return the leaves of a run in their own order."""
        return tuple(sorted(self.order[run[0] : run[1]]))

    def _n_cut(self, start: int, cut: int, end: int) -> int:
        """Return how many levels aside have a label on both sides of a cut."""
        return sum(not set(labels[start:cut]).isdisjoint(labels[cut:end]) for labels in self.aside)


@dataclass(frozen=True, eq=False)
class Halving:
    """Some leaves and the two halves that they are parted into; no halves for a single leaf."""

    of_all: Halves
    run: Run

    @cached_property
    def leaves(self) -> Group:
        """The leaves in their own order."""
        return self.of_all.leaves(self.run)

    @cached_property
    def halves(self) -> tuple[Halving, ...]:
        """The two halves."""
        return tuple(Halving(self.of_all, half) for half in self.of_all.parted(self.run) or ())

    def of(self, leaves: Group) -> Halving:
        """Find the place of some leaves in the tree."""
        wanted, here = set(leaves), self
        while set(here.leaves) != wanted:
            inside = [half for half in here.halves if wanted <= set(half.leaves)]
            if not inside:
                raise InputError.of("groups of values as they are parted", value=len(leaves))
            here = inside[0]
        return here


def halving_tree(codes: Ints, *, has_missing: bool) -> Halving:
    """Return how leaves are parted into halves, from the hierarchy alone: by its coarsest labels, then by finer.

    Levels that do not follow from each other cannot all be followed: those that do not are spared where a cut can be
    made beside their labels. The missing value, if there is one, stands beside the last leaf.
    """
    halves = Halves.of(codes, has_missing=has_missing)
    return Halving(halves, halves.whole)


def _first_of_label(labels: Ints) -> Ints:
    """Return for each leaf the first that has its label."""
    _, first, label_of = np.unique(labels, return_index=True, return_inverse=True)
    return first[label_of.reshape(-1)]


def _nested(codes: Ints) -> list[int]:
    """Return levels of which each follows from the one before, finest first."""
    chain = [0]
    for level in range(1, len(codes)):
        finer, coarser = codes[chain[-1]], codes[level]
        if len(np.unique(finer * (int(coarser.max()) + 1) + coarser)) == len(np.unique(finer)):
            chain.append(level)
    return chain


Floats = npt.NDArray[np.float64]
Leaf = str | None


@dataclass(frozen=True, eq=False)
class Margin:
    """The groups of an attribute's leaves with the rows of each; a leaf of a group of several may have no row.

    A missing value is a leaf of its own behind the others, with a label of its own at every level that says anything
    (`Hierarchy.codes_with_missing`). `codes[level, leaf]` is the index of the leaf's label at the level.
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
        group_of = _group_of(groups, len(leaves))
        occurs = group_of >= 0
        n_of_group = np.zeros(len(groups), np.int64)
        np.add.at(n_of_group, group_of[occurs], sizes[occurs])
        return cls(hierarchy.attribute, leaves, codes, groups, n_of_group)

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
        return _group_of(self.groups, len(self.leaves))

    def n_labels(self, level: int) -> int:
        """Return the number of labels of a level, that of missing values included."""
        return int(self.codes[level].max()) + 1

    def joined(self, level: int) -> Ints:
        """Return for each group its part when groups that share a label of the level are joined."""
        occurs = self.group_of >= 0
        parts = common_coarsening(self.group_of[occurs], self.codes[level][occurs])
        out = np.empty(len(self.groups), np.int64)
        out[self.group_of[occurs]] = parts
        return out

    def part_of_label(self, level: int, parts: Ints) -> Ints:
        """Return for each label of a level its part, where no part splits a label; −1 for a label without rows."""
        out = np.full(self.n_labels(level), -1)
        occurs = self.group_of >= 0
        out[self.codes[level][occurs]] = parts[self.group_of[occurs]]
        return out

    def at(self, level: int, small: float) -> MarginAtLevel:
        """Return what the groups say of the labels of a level, where a label may have as few as `small` rows."""
        occurs = self.group_of >= 0
        n_labels = self.n_labels(level)
        groups, labels = np.divmod(np.unique(self.group_of[occurs] * n_labels + self.codes[level][occurs]), n_labels)
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
        """Return the rows of each label in each part, from the rows and the part of each group."""
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

    def kinds(self, tables: Sequence[Ints]) -> Kinds:
        """Count labels once that have the same rows and lie in the same part of each table; see `Kinds`.

        tables: for each table that the attribute is in the part of each group.
        """
        n_labels, of = len(self.rows), self.shares
        keys = [np.round(self.rows, 9)]
        for parts in tables:
            least, most = np.full(n_labels, len(parts)), np.zeros(n_labels, np.int64)
            np.minimum.at(least, of.labels, parts[of.groups])
            np.maximum.at(most, of.labels, parts[of.groups])
            # A label in several parts is like no other.
            keys.append(np.where(least == most, least, -1 - np.arange(n_labels)).astype(np.float64))
        kind_of = np.unique(np.stack(keys, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
        return Kinds(
            rows=np.bincount(kind_of, self.rows).astype(np.float64),
            n_labels=np.bincount(kind_of),
            shares=LabelShares(kind_of[of.labels], of.groups, of.shares),
        )


@dataclass(frozen=True, eq=False)
class Kinds:
    """Labels of a level of which each is expected to have the same rows, with any label of the other attributes.

    Of 17,503 incomes in 412 groups, most have one of a few numbers of rows: what is computed for labels is computed for
    kinds. `rows` are those of all labels of a kind together, and `shares` tells of kinds what it tells of labels.
    """

    rows: Floats
    n_labels: Ints
    shares: LabelShares


def _group_of(groups: Sequence[Group], n_leaves: int) -> Ints:
    """Return the group of each leaf, −1 for a leaf of none."""
    out = np.full(n_leaves, -1)
    n_inside = np.array([len(group) for group in groups], np.int64)
    out[np.fromiter(itertools.chain.from_iterable(groups), np.int64, int(n_inside.sum()))] = np.repeat(
        np.arange(len(groups)), n_inside
    )
    return out


def leaves_and_codes(hierarchy: Hierarchy) -> tuple[tuple[Leaf, ...], Ints]:
    """List the leaves, a missing value last, and the label of each at each level."""
    codes = [hierarchy.codes_with_missing(level) for level in range(len(hierarchy.levels))]
    return (*hierarchy.leaves, None), np.array(codes)


def merge_small(codes: Ints, sizes: Ints, k_p: int) -> tuple[Group, ...]:
    """Put all leaves into groups of at least k_p rows: what has fewer, or none, stays with what it was split from.

    The leaves are halved, and halved again, along a tree that is made from the hierarchy alone; two halves are parted
    only where each has `enough` rows. So all that a group of several leaves tells, beside its rows, is that not both
    its halves have enough: any of its leaves may have all of its rows, and any may have none. A missing value is among
    the leaves only where there is one.
    """
    halves = Halves.of(codes, has_missing=bool(sizes[-1]))
    # How many rows stand before each place.
    before = [0, *np.cumsum(sizes[halves.order]).tolist()]
    groups: list[Group] = []
    waiting = [halves.whole]
    while waiting:
        run = waiting.pop()
        both = halves.parted(run)
        if both is not None and _holds(both[0], before, k_p) and _holds(both[1], before, k_p):
            waiting += both
        else:
            groups.append(halves.leaves(run))
    return tuple(sorted(groups))


def enough(n_leaves: int, k_p: int) -> int:
    """Return how many rows so many leaves need to be parted from others: k_p, and one more for each further leaf.

    Whoever knows that a value occurs, as a missing one does, or all of a hierarchy that was made of the data, knows
    that its neighbors have all rows but one at most: those must still be k_p.
    """
    return k_p + n_leaves - 1


def _holds(run: Run, before: Sequence[int], k_p: int) -> bool:
    start, end, _ = run
    return before[end] - before[start] >= enough(end - start, k_p)


def common_coarsening(first: Ints, second: Ints) -> Ints:
    """Return the finest parts that split neither the parts of the first nor those of the second, numbered from 0.

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
