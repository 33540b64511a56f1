"""How the leaves of a hierarchy are parted into halves, and those again, from the hierarchy alone.

The leaves stand in one order, labels of every level side by side; so whatever is parted is a run of places in that
order, and each half is one too. A tree of 38,000 leaves is made only where it is looked at.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError

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
                near,
                key=lambda each: (self._n_cut(start, cuts[first + each - 1], end), abs(2 * each - n_labels), each),
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
