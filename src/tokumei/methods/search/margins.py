"""What a few attributes prove about nodes: whoever is alone with two of them is alone with all.

A record whose class over two or three attributes is smaller than k has an even smaller class over all of them. So the
two-way and three-way tables, which are small, give every node a number of records it must suppress at least, before
any node is counted.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tokumei.methods.search.packed import PackedLattice
from tokumei.methods.search.tags import Tags

Floats = npt.NDArray[np.float64]
# A table larger than this costs more than it proves.
MOST_CELLS = 200_000
# Cells of a table at all levels of its attributes that are counted at once.
MOST_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class Proof:
    """For each node a number of records that must be suppressed at least, and what it took to know it."""

    least_suppressed: Floats
    n_nodes: int
    n_classes: int


def prove_by_margins(packed: PackedLattice, tags: Tags, k: int, n_way: int) -> Proof:
    """Count tables of so many attributes at all their levels: each is a node with the other attributes at the top."""
    out = np.zeros(tags.shape)
    n_nodes = n_classes = 0
    columns, sizes = packed.leaf_columns()
    weights = sizes.astype(np.float64)
    attributes, n_leaves = [], []
    for index, (labels, leaf_sizes) in enumerate(zip(packed.indices, packed.leaf_sizes, strict=True)):
        # Leaves that no record has, and often there is none missing, would only make tables larger. The others stand
        # by their coarsest labels first, so that what a label joins stands together at every level that nests.
        occurring = np.flatnonzero(leaf_sizes)
        occurring = occurring[np.lexsort([codes[occurring] for codes in labels.of_leaf])]
        place = np.zeros(len(leaf_sizes), np.int64)
        place[occurring] = np.arange(len(occurring))
        columns[index] = place[columns[index]]
        attributes.append(_AllLevels.of([codes[occurring] for codes in labels.of_leaf]))
        n_leaves.append(len(occurring))
    for subset in _affordable(n_leaves, n_way):
        # The attribute with the most leaves first: joining those makes the table small for the others.
        indices = sorted(subset, key=lambda index: -n_leaves[index])
        shape = [n_leaves[index] for index in indices]
        keys = columns[indices[0]]
        for index in indices[1:]:
            keys = keys * n_leaves[index] + columns[index]
        table = np.asarray(np.bincount(keys, weights, math.prod(shape)), np.float64).reshape(shape)
        alone = _n_alone(table, [attributes[index] for index in indices], k)
        axes = [len(one.starts) if index in subset else 1 for index, one in enumerate(attributes)]
        np.maximum(out, alone.transpose(np.argsort(indices)).reshape(axes), out=out)
        n_nodes += alone.size
        # The sum over all choices of levels of a product is the product of the sums.
        n_classes += math.prod(attributes[index].n_labels for index in indices)
    return Proof(out, n_nodes, n_classes)


def _affordable(n_leaves: Sequence[int], n_way: int) -> list[tuple[int, ...]]:
    """Choose the sets of attributes to count: all of one size, and where such a table is too large, its subsets.

    A birth date beside a postal code has more cells than a proof is worth, but either alone rules out much.
    """
    found: list[tuple[int, ...]] = []
    left = list(itertools.combinations(range(len(n_leaves)), min(n_way, len(n_leaves))))
    while left:
        is_small = [math.prod(n_leaves[index] for index in subset) <= MOST_CELLS for subset in left]
        found += [subset for subset, fits in zip(left, is_small, strict=True) if fits]
        parts = {
            part
            for subset, fits in zip(left, is_small, strict=True)
            if not fits and len(subset) > 1
            for part in itertools.combinations(subset, len(subset) - 1)
        }
        left = sorted(part for part in parts if not any(set(part) <= set(one) for one in found))
    return found


@dataclass(frozen=True, eq=False)
class _AllLevels:
    """The labels of all levels of an attribute, one level after the other; the first are its leaves."""

    # Where the labels of each level start.
    starts: npt.NDArray[np.int64]
    n_labels: int
    # For each level above the leaves what is added up: the labels of the level below, or leaves in another order; and
    # where each label starts in it.
    runs: Sequence[tuple[npt.NDArray[np.int64] | None, npt.NDArray[np.int64]]]

    @classmethod
    def of(cls, levels: Sequence[npt.NDArray[np.int64]]) -> _AllLevels:
        runs: list[tuple[npt.NDArray[np.int64] | None, npt.NDArray[np.int64]]] = []
        below = np.arange(len(levels[0]))
        for indices in levels[1:]:
            firsts = _starts(indices)
            if len(firsts) == len(np.unique(indices)) and np.isin(firsts, below).all():
                runs.append((None, np.searchsorted(below, firsts)))
                below = firsts
            else:
                order = np.argsort(indices, kind="stable")
                runs.append((order, _starts(indices[order])))
                # Nothing can be added up from labels whose leaves do not stand together.
                below = np.zeros(0, np.int64)
        starts = np.cumsum([0, len(levels[0]), *(len(firsts) for _, firsts in runs)])
        return cls(starts[:-1], int(starts[-1]), runs)

    def join(self, table: Floats, axis: int) -> Floats:
        """Replace the leaves along an axis by the labels of all levels, with the sum under each."""
        shape = table.shape
        levels = [table.reshape(math.prod(shape[:axis]), shape[axis], -1)]
        for order, firsts in self.runs:
            below = levels[-1] if order is None else levels[0][:, order]
            levels.append(np.add.reduceat(below, firsts, axis=1))
        joined: Floats = np.concatenate(levels, axis=1)
        return joined.reshape(*shape[:axis], self.n_labels, *shape[axis + 1 :])


def _starts(indices: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return where runs of equal indices start."""
    return np.flatnonzero(np.diff(indices, prepend=-1))


def _n_alone(table: Floats, attributes: Sequence[_AllLevels], k: int) -> Floats:
    """Count the records in cells smaller than k, for every choice of levels of the attributes."""
    first, *others = attributes
    joined = first.join(table, 0)
    n_at_once = max(1, MOST_AT_ONCE // max(1, math.prod(one.n_labels for one in others)))
    parts = []
    for start in range(0, len(joined), n_at_once):
        cells = joined[start : start + n_at_once]
        for axis, one in enumerate(others, 1):
            cells = one.join(cells, axis)
        alone = np.where(cells < k, cells, 0.0)
        for axis, one in enumerate(others, 1):
            alone = np.add.reduceat(alone, one.starts, axis=axis)
        parts.append(alone)
    return np.asarray(np.add.reduceat(np.concatenate(parts), first.starts, axis=0))
