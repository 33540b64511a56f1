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

from tokumei.anonymize.search.packed import PackedLattice
from tokumei.anonymize.search.tags import Tags

Floats = npt.NDArray[np.float64]
# A table larger than this costs more than it proves.
MOST_CELLS = 200_000


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
    joins = [[_Joining.of(indices) for indices in labels.of_leaf] for labels in packed.indices]
    n_leaves = [len(labels.of_leaf[0]) for labels in packed.indices]
    for subset in _affordable(n_leaves, n_way):
        # The attribute with the most leaves first: joining those makes the table small for the others.
        indices = sorted(subset, key=lambda index: -n_leaves[index])
        shape = [n_leaves[index] for index in indices]
        keys = np.ravel_multi_index([columns[index] for index in indices], shape)
        table = np.bincount(keys, sizes, math.prod(shape)).astype(np.float64).reshape(shape)
        alone = _n_alone(table, [joins[index] for index in indices], k)
        axes = [len(joins[index]) if index in subset else 1 for index in range(len(joins))]
        np.maximum(out, alone.transpose(np.argsort(indices)).reshape(axes), out=out)
        n_nodes += alone.size
        # The sum over all choices of levels of a product is the product of the sums.
        n_classes += math.prod(sum(level.n_labels for level in joins[index]) for index in indices)
    return Proof(out, n_nodes, n_classes)


def _affordable(n_leaves: Sequence[int], n_way: int) -> list[tuple[int, ...]]:
    """Give the sets of attributes to count: all of one size, and where such a table is too large, what is within it.

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
class _Joining:
    """How the leaves of an attribute are joined into the labels of a level: in which order, and where each starts."""

    order: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    # For few leaves the table of which label each has; multiplying by it is faster than adding up runs.
    membership: Floats | None

    @classmethod
    def of(cls, indices: npt.NDArray[np.int64]) -> _Joining:
        order = np.argsort(indices, kind="stable")
        is_first = np.diff(indices[order], prepend=-1) > 0
        n_labels = int(is_first.sum())
        membership = None
        if n_labels * len(indices) <= MOST_CELLS:
            membership = np.zeros((n_labels, len(indices)))
            membership[np.cumsum(is_first) - 1, order] = 1
        return cls(order, np.flatnonzero(is_first), membership)

    @property
    def n_labels(self) -> int:
        """Number of labels that some leaf has."""
        return len(self.starts)

    def join(self, table: Floats) -> Floats:
        """Add up the middle one of three axes."""
        if self.membership is not None:
            return np.asarray(np.matmul(self.membership, table))
        return np.asarray(np.add.reduceat(table[:, self.order], self.starts, axis=1))


def _n_alone(table: Floats, joins: Sequence[Sequence[_Joining]], k: int, axis: int = 0) -> Floats:
    """Count the records in cells smaller than k, for every choice of levels of the axes from one on."""
    if axis == table.ndim:
        return np.asarray(table[table < k].sum())
    shape = table.shape
    # As three axes, the middle one being joined: the others need not move.
    flat = table.reshape(math.prod(shape[:axis]), shape[axis], -1)
    counts = []
    for level, joining in enumerate(joins[axis]):
        joined = flat if level == 0 else joining.join(flat)
        labeled = joined.reshape(*shape[:axis], -1, *shape[axis + 1 :])
        counts.append(_n_alone(labeled, joins, k, axis + 1))
    return np.stack(counts)
