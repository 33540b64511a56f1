"""Groups that fail, each joined to the group with which it loses least, until none fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.seeds import generator
from tokumei.measures.requirement import ROUNDING
from tokumei.methods.local.halving import blocks_of
from tokumei.methods.local.joining import Extents
from tokumei.methods.local.task import Bools, Floats, Ints, LocalTask

Order = Literal["smallest", "random"]

# Merging takes the square of a block's classes; in larger ones the loss falls little more.
LARGEST_BLOCK = 2_000


@dataclass(eq=False)
class Block:
    """Some groups that are merged among each other: their labels, rows and costs, and their numbers in the table."""

    extents: Extents
    sizes: Ints
    costs: Floats
    numbers: Ints

    def merge(self, groups: Sequence[int]) -> list[tuple[int, int]]:
        """Join each of these groups to the one with which the total loss grows least; give who went to whom.

        Of equally good ones it is the first. A group that others have joined meanwhile waits for the next round.
        """
        is_gone, has_grown = np.zeros(len(self.sizes), np.bool_), set()
        # Of one that is gone no joint label may be the cheapest.
        barred = np.zeros(len(self.sizes))
        merged = []
        for group in groups:
            if group in has_grown:
                continue
            costs = self.extents.joint_costs(group)
            growth = (self.sizes + self.sizes[group]) * costs
            growth -= self.sizes * self.costs
            growth += barred
            growth[group] = np.inf
            least = growth.min()
            if least == np.inf:
                break
            into = int(np.argmax(growth <= least + ROUNDING))
            self._join(into, group, float(costs[into]))
            is_gone[group], barred[group] = True, np.inf
            has_grown.add(into)
            merged.append((int(self.numbers[group]), int(self.numbers[into])))
        self._keep(np.flatnonzero(~is_gone))
        return merged

    def _join(self, into: int, group: int, cost: float) -> None:
        self.extents.join(into, group)
        self.sizes[into] += self.sizes[group]
        self.costs[into] = cost

    def _keep(self, groups: Ints) -> None:
        self.extents = self.extents.take(groups)
        self.sizes, self.costs, self.numbers = self.sizes[groups], self.costs[groups], self.numbers[groups]


def check_block(block: int) -> None:
    """Refuse blocks in which nothing can be merged."""
    if block < 2:
        raise InputError.of("at least 2", option="block", value=block)


def merge_failing(task: LocalTask, extents: Extents, *, block: int, order: Order, seed: int) -> Ints:
    """Start with every class alone and merge the groups that fail; give the group of each class.

    Classes are first cut into blocks and merged inside these. What fails as a whole block is merged across blocks.
    """
    rng = generator(seed, "merging")
    kept = last = np.arange(task.n_classes)
    is_kept = False
    with step("merging groups"):
        for group_of, n_failing in _stages(task, extents, block, order, rng):
            last = group_of
            # Merging may spoil groups that held: then what failed before can be left out.
            if n_failing <= task.n_may_suppress:
                kept, is_kept = group_of, True
    return kept if is_kept else last


def without_failing(task: LocalTask, group_of: Ints) -> Ints:
    """Leave the groups that fail out, numbering the others from 0; CannotAnonymize if too many rows would go."""
    groups, index = np.unique(group_of, return_inverse=True)
    holds = task.holds(index.reshape(-1), len(groups))
    number = np.where(holds, np.cumsum(holds) - 1, -1)
    out: Ints = number[index.reshape(-1)]
    n_out = int(task.sizes[out < 0].sum())
    if n_out > task.n_may_suppress:
        raise task.too_many_out(n_out)
    return out


def _stages(
    task: LocalTask, extents: Extents, block: int, order: Order, rng: np.random.Generator
) -> Iterator[tuple[Ints, int]]:
    """Merge inside blocks, then across; give the groups after each round and how many rows are in failing ones."""
    group_of = np.arange(task.n_classes)
    blocks = [_block_of(extents, task.sizes, classes) for classes in blocks_of(extents, group_of, block)]
    for inside, n_failing in _rounds(task, blocks, group_of, order, rng):
        yield inside, n_failing
        group_of = inside
    if len(blocks) > 1:
        yield from _rounds(task, [_as_one(extents, blocks, task.n_classes)], group_of, order, rng)


def _rounds(
    task: LocalTask, blocks: list[Block], group_of: Ints, order: Order, rng: np.random.Generator
) -> Iterator[tuple[Ints, int]]:
    """Join every group that fails with another, all blocks at once, until no block can do more."""
    while True:
        fails = _failing(task, group_of)
        yield group_of, int(task.sizes[fails[group_of]].sum())
        went_to = np.arange(task.n_classes)
        for block in blocks:
            failing = np.flatnonzero(fails[block.numbers])
            for group, into in block.merge(_in_order(block, failing, order, rng)):
                went_to[group] = into
        moved = went_to[group_of]
        if np.array_equal(moved, group_of):
            return
        group_of = moved


def _failing(task: LocalTask, group_of: Ints) -> Bools:
    """Return for each group, by its number, whether it fails."""
    groups, index = np.unique(group_of, return_inverse=True)
    fails = np.zeros(task.n_classes, np.bool_)
    fails[groups] = ~task.holds(index.reshape(-1), len(groups))
    return fails


def _in_order(block: Block, failing: Ints, order: Order, rng: np.random.Generator) -> list[int]:
    if order == "random":
        return [int(one) for one in rng.permutation(failing)]
    by_size: list[int] = failing[np.argsort(block.sizes[failing], kind="stable")].tolist()
    return by_size


def _block_of(extents: Extents, sizes: Ints, groups: Ints) -> Block:
    own = extents.take(groups)
    return Block(own, sizes[groups], own.own_costs(), groups.copy())


def _as_one(extents: Extents, blocks: list[Block], n_classes: int) -> Block:
    """Put all blocks together, in the order of their groups' numbers."""
    everything, sizes = extents.take(np.arange(n_classes)), np.zeros(n_classes, np.int64)
    for block in blocks:
        sizes[block.numbers] = block.sizes
        everything.put(block.numbers, block.extents)
    return _block_of(everything, sizes, np.sort(np.concatenate([block.numbers for block in blocks])))
