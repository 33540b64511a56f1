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
    members = [[_membership(indices) for indices in labels.of_leaf] for labels in packed.indices]
    n_leaves = [len(of_level[0]) for of_level in members]
    for subset in itertools.combinations(range(len(members)), min(n_way, len(members))):
        # The attribute with the most leaves first: joining those makes the table small for the others.
        indices = sorted(subset, key=lambda index: -n_leaves[index])
        shape = [n_leaves[index] for index in indices]
        if math.prod(shape) > MOST_CELLS:
            continue
        keys = np.ravel_multi_index([columns[index] for index in indices], shape)
        table = np.bincount(keys, sizes, math.prod(shape)).astype(np.float64).reshape(shape)
        alone = _n_alone(table, [members[index] for index in indices], k)
        axes = [len(members[index]) if index in subset else 1 for index in range(len(members))]
        np.maximum(out, alone.transpose(np.argsort(indices)).reshape(axes), out=out)
        n_nodes += alone.size
        # The sum over all choices of levels of a product is the product of the sums.
        n_classes += math.prod(sum(len(level.T) for level in members[index]) for index in indices)
    return Proof(out, n_nodes, n_classes)


def _n_alone(table: Floats, members: Sequence[Sequence[Floats]], k: int, axis: int = 0) -> Floats:
    """Count the records in cells smaller than k, for every choice of levels of the axes from one on."""
    if axis == table.ndim:
        return np.asarray(table[table < k].sum())
    shape = table.shape
    # As three axes, the middle one being joined: the others need not move.
    flat = table.reshape(math.prod(shape[:axis]), shape[axis], -1)
    counts = []
    for level, of_leaf in enumerate(members[axis]):
        joined = flat if level == 0 else np.matmul(of_leaf.T, flat)
        labeled = joined.reshape(*shape[:axis], -1, *shape[axis + 1 :])
        counts.append(_n_alone(labeled, members, k, axis + 1))
    return np.stack(counts)


def _membership(indices: npt.NDArray[np.int64]) -> Floats:
    """Give the table that says for each leaf which label it has: 1 there and 0 elsewhere."""
    out = np.zeros((len(indices), int(indices.max()) + 1))
    out[np.arange(len(indices)), indices] = 1
    return out
