"""What it takes to predict nodes by `margins`, from the numbers of kinds of labels, before any node is predicted.

Nothing is timed: calls and sizes are counted as `expected_sizes` would go through them, and each has its seconds, as
measured on a usual machine. Branches that nodes have in common are counted once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from tokumei.core.progress import Cost
from tokumei.predictors.two_way import MANY_SIZES, MOST_FOLDED, MOST_SIZES, TwoWay

# Seconds of one core, on tables of 3,000 to 30,000 rows and 100 to 100,000 nodes.
NODE_SECONDS, CALL_SECONDS, SIZE_SECONDS = 6e-4, 2.5e-5, 2e-8
# A size that is kept for other nodes is three numbers; and what a predicted node is told with.
SIZE_BYTES, NODE_BYTES = 24, 2_000


@dataclass(frozen=True)
class Work:
    """How often sizes are counted together, how many sizes in all, and how many of them are kept for other nodes."""

    calls: float = 0
    sizes: float = 0
    kept: float = 0

    def __add__(self, other: Work) -> Work:
        """Add the work of two."""
        return Work(self.calls + other.calls, self.sizes + other.sizes, self.kept + other.kept)

    def __mul__(self, times: float) -> Work:
        """Do the work so many times."""
        return Work(self.calls * times, self.sizes * times, self.kept * times)

    def cost(self, n_nodes: int) -> Cost:
        """Turn the work for so many nodes into seconds and bytes."""
        seconds = n_nodes * NODE_SECONDS + self.calls * CALL_SECONDS + self.sizes * SIZE_SECONDS
        return Cost(seconds, self.kept * SIZE_BYTES + n_nodes * NODE_BYTES)


@dataclass(frozen=True)
class Hanging:
    """An attribute, what hangs on it, and how many levels all of these have together."""

    attribute: int
    children: tuple[Hanging, ...]
    n_levels: int


def trees_of_tables(tables: Sequence[TwoWay], n_labels: Sequence[int], n_levels: Sequence[int]) -> list[Hanging]:
    """Arrange attributes into trees by the tables that join them; the attribute of fewest labels is a root."""
    left = set(range(len(n_labels)))

    def hang(attribute: int) -> Hanging:
        left.discard(attribute)
        joined = [
            other
            for table in tables
            for one, other in ((table.first, table.second), (table.second, table.first))
            if one == attribute
        ]
        children = tuple(hang(other) for other in joined if other in left)
        return Hanging(attribute, children, n_levels[attribute] * prod(child.n_levels for child in children))

    trees = []
    while left:
        trees.append(hang(min(left, key=lambda attribute: (n_labels[attribute], attribute))))
    return trees


def work_of(trees: Sequence[Hanging], sampled: Sequence[Mapping[int, int]], n_nodes: int) -> Work:
    """Estimate the work of folding up so many nodes from some of them.

    sampled: for some nodes the number of kinds of labels of each attribute that they tell of.
    """
    total = Work()
    for n_kinds in sampled:
        so_far = 1
        for tree in trees:
            size, of_branches = _branch_work(tree, n_kinds, n_nodes)
            total += of_branches
            if size > MANY_SIZES:
                total, size = total + Work(1, size) * n_nodes, MOST_SIZES
            total += Work(1, so_far * size) * n_nodes
            so_far = min(MOST_SIZES, so_far * size)
    return total * (1 / len(sampled)) if sampled else total


def _branch_work(tree: Hanging, n_kinds: Mapping[int, int], n_nodes: int) -> tuple[int, Work]:
    """Return how many sizes a branch has, and the work for all branches of which this one is typical."""
    own = n_kinds.get(tree.attribute, 1)
    of_children = [_branch_work(child, n_kinds, n_nodes) for child in tree.children]
    total = Work()
    for _, work in of_children:
        total += work
    telling = [size for size, _ in of_children if size > 1]
    if own == 1 or not telling:
        # Nothing is folded up; an attribute that is not told of is passed over.
        return own * prod(telling), total
    n_branches = min(n_nodes, tree.n_levels)
    so_far = 1
    for size in telling:
        few = min(MOST_SIZES, size)
        total += Work(own, own * size) * n_branches + Work(own, own * so_far * few) * n_branches
        total += Work(kept=own * few) * min(n_branches, MOST_FOLDED)
        so_far = min(MOST_SIZES, so_far * few)
    return own * so_far, total + Work(kept=own * so_far) * min(n_branches, MOST_FOLDED)
