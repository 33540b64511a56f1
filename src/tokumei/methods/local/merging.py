"""Groups that fail, each joined to the group with which it loses least, and groups cut in two around distant classes.

Min-dis and utility clustering start with classes as they are, and merge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.seeds import generator
from tokumei.measures.cell_losses import Dis, Ncp
from tokumei.measures.requirement import ROUNDING
from tokumei.methods.local.joint_labels import Extents, refuse_population
from tokumei.methods.local.task import RANGES_HELP, Bools, Floats, Ints, LocalRecoding, LocalTask, Ranges, check_ranges


def blocks_of(extents: Extents, classes: Ints, largest: int) -> list[Ints]:
    """Cut classes into halves, and these again, until none has more classes than the largest block may."""
    done, open_ = [], [classes]
    while open_:
        block = open_.pop()
        if len(block) <= largest:
            done.append(np.sort(block))
            continue
        order = np.argsort(_nearer_first(extents, block), kind="stable")
        half = len(block) // 2
        open_ += [block[order[half:]], block[order[:half]]]
    return done


def halve_groups(task: LocalTask, extents: Extents, group_of: Ints) -> Ints:
    """Cut every group in two as long as both parts hold, and give the group of each class; −1 stays −1.

    The parts are the classes nearer to one end and those nearer to the other. Where one of these fails, two parts of
    about as many rows are tried.
    """
    group_of = group_of.copy()
    open_ = _members(group_of)
    while open_:
        left = [(one, _nearer_first(extents, one)) for one in open_ if _may_be_cut(task, one)]
        open_ = []
        for cut in (_by_nearness, _by_rows):
            parts = [cut(task, classes, nearness) for classes, nearness in left]
            is_made = _make_cuts(task, group_of, parts)
            open_ += [half for halves, made in zip(parts, is_made, strict=True) if made for half in halves]
            left = [one for one, made in zip(left, is_made, strict=True) if not made]
    return group_of


def _make_cuts(task: LocalTask, group_of: Ints, parts: list[tuple[Ints, Ints]]) -> list[bool]:
    """Make the second part of each pair a group of its own where both hold, and return where."""
    n_groups = int(group_of.max(initial=-1)) + 1
    # Judged among all groups, since some requirements speak of all classes together.
    proposed = group_of.copy()
    for index, (_, second) in enumerate(parts):
        proposed[second] = n_groups + index
    holds = task.holds(proposed, n_groups + len(parts))
    is_made = []
    n_made = 0
    for index, (first, second) in enumerate(parts):
        made = bool(len(first) and len(second) and holds[group_of[first[0]]] and holds[n_groups + index])
        is_made.append(made)
        if made:
            group_of[second] = n_groups + n_made
            n_made += 1
    return is_made


def _members(group_of: Ints) -> list[Ints]:
    """Return the classes of each group."""
    order = np.argsort(group_of, kind="stable")
    order = order[np.searchsorted(group_of[order], 0) :]
    starts = np.flatnonzero(np.diff(group_of[order], prepend=-1))
    return np.split(order, starts[1:]) if len(order) else []


def _may_be_cut(task: LocalTask, classes: Ints) -> bool:
    return len(classes) > 1 and int(task.sizes[classes].sum()) >= 2 * task.least_size


def _nearer_first(extents: Extents, classes: Ints) -> Floats:
    """Return how much nearer each class is to one of the two ends than to the other, below 0 if it is.

    The ends are the class furthest from the first, and the one furthest from that.
    """
    one = _furthest(extents.joint_costs(int(classes[0]), classes))
    from_one = extents.joint_costs(int(classes[one]), classes)
    from_other = extents.joint_costs(int(classes[_furthest(from_one)]), classes)
    nearness: Floats = from_one - from_other
    nearness[np.abs(nearness) < ROUNDING] = 0
    return nearness


def _furthest(costs: Floats) -> int:
    """Return the index of the first that is as far as any, but for rounding."""
    return int(np.argmax(costs >= costs.max() - ROUNDING))


def _by_nearness(task: LocalTask, classes: Ints, nearness: Floats) -> tuple[Ints, Ints]:  # noqa: ARG001
    is_near = nearness < 0
    return classes[is_near], classes[~is_near]


def _by_rows(task: LocalTask, classes: Ints, nearness: Floats) -> tuple[Ints, Ints]:
    order = np.argsort(nearness, kind="stable")
    before = np.cumsum(task.sizes[classes[order]])
    cut = 1 + int(np.argmin(np.abs(2 * before[:-1] - before[-1])))
    return classes[order[:cut]], classes[order[cut:]]


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


@dataclass(frozen=True)
class MinDis:
    """Merge each group of rows that fails with the one that raises the distortion DIS least, until none fails.

    Every combination of values starts as a group of its own. In rounds, each group that fails joins the group with
    which the sum over all cells of steps up the value tree / height grows least; a group that others have joined waits
    for the next round. What fails when all is merged is left out, as far as that is allowed. A numeric column is
    written as a range, which has no steps: there its width counts, as a share of the whole. Large tables are first cut
    into blocks of similar combinations, halves around the two that are furthest apart, and merged inside each: one
    block that holds all is the plain method. Promises whatever is required of classes, but not that no other grouping
    has less distortion (minDIS; Muramoto, Kamidoi and Wakabayashi 2007, where the next group is drawn at random).

    Example: sex, and town with Kyoto, Osaka = west and Tokyo, Chiba = east; k = 2.

    | row | | becomes | why |
    |---|---|---|---|
    | f | Kyoto | f, * | with f Osaka: 1 of 2 steps in one of 2 columns, the least there is |
    | f | Osaka | f, * | joined by Kyoto: f, west |
    | f | Tokyo | f, * | to f west: 2 of 2 steps for three, less than 3 · ½ for another sex |
    | m | Tokyo | m, east | joined by Chiba |
    | m | Tokyo | m, east | as above |
    | m | Chiba | m, east | with m Tokyo: 1 of 2 steps |

    Each of the first three cells of town lies 2/2 up, each of the last three 1/2: DIS = (3 · 1 + 3 · ½) / 12 = 0.375.
    """

    order: Order = field(
        default="smallest",
        metadata={"help": "Which group is merged next: smallest first, or at random by the seed as in the paper."},
    )
    block: int = field(
        default=LARGEST_BLOCK, metadata={"help": "The most combinations of values that are compared with each other."}
    )

    ranges: Ranges = field(default="grid", metadata={"help": RANGES_HELP})

    def __post_init__(self) -> None:
        check_ranges(self.ranges)
        if self.order not in ("smallest", "random"):
            raise InputError.of("smallest or random", option="order", value=self.order)
        check_block(self.block)

    def recode_locally(self, task: LocalTask, *, seed: int) -> LocalRecoding:
        """Return the labels of the merged groups; CannotAnonymize if nothing holds."""
        refuse_population(task, "min-dis")
        task = task.with_ranges(self.ranges)
        extents = Extents.of(task, Dis())
        group_of = merge_failing(task, extents, block=self.block, order=self.order, seed=seed)
        return LocalRecoding.of_groups(task, without_failing(task, group_of))


@dataclass(frozen=True)
class UtilityClustering:
    """Build groups of rows that hold by the least weighted certainty penalty, from single rows up or from all down.

    - `bottom-up`: each group that fails, smallest first, joins the group with which the penalty of all rows grows
      least, in rounds until none fails. Then every group of twice the rows that k asks for is cut in two, around the
      two combinations of values that are furthest apart, as long as both parts hold.
    - `top-down`: the same cuts, starting with all rows in one group; quicker, and mostly worse.

    The penalty of a label is the share of its column's values that it covers, or of its width if it is numeric; the
    weights of the columns say which ones matter. What fails at the end is left out, as far as that is allowed. Large
    tables are first cut into blocks, halves of as many combinations around the two furthest apart, and merged inside
    each: one block that holds all is the plain method. Promises whatever is required of classes, not that the penalty
    is the least there is (after Xu, Wang, Pei, Wang, Shi and Fu 2006, where parts are grown row by row).

    Example: age, and city with Kyoto, Osaka = west and Tokyo, Chiba = east; k = 2, bottom-up.

    | row | | becomes | why |
    |---|---|---|---|
    | 31 | Kyoto | 31-35, west | with 35 Osaka: 4 of 49 years, 2 of 4 cities |
    | 35 | Osaka | 31-35, west | joined by 31 |
    | 42 | Tokyo | 42-80, east | with 44 Tokyo: 2 of 49 years, no other city |
    | 44 | Tokyo | 42-80, east | joined by 42 |
    | 80 | Chiba | 42-80, east | to 42-44 Tokyo: 38 of 49 years, 2 of 4 cities; to the others all of both |

    The penalty is ((2 · 4 + 3 · 38) / 49 / 5 + 1/2) / 2 = 0.499.
    """

    kind: Literal["bottom-up", "top-down"] = field(
        default="bottom-up", metadata={"help": "Merge from single rows up, or cut from all rows down."}
    )
    block: int = field(
        default=LARGEST_BLOCK,
        metadata={"help": "For bottom-up: the most combinations of values that are compared with each other."},
    )

    ranges: Ranges = field(default="grid", metadata={"help": RANGES_HELP})

    def __post_init__(self) -> None:
        check_ranges(self.ranges)
        if self.kind not in ("bottom-up", "top-down"):
            raise InputError.of("bottom-up or top-down", option="kind", value=self.kind)
        check_block(self.block)

    def recode_locally(self, task: LocalTask, *, seed: int) -> LocalRecoding:
        """Return the labels of the groups; CannotAnonymize if nothing holds."""
        refuse_population(task, "utility-clustering")
        task = task.with_ranges(self.ranges)
        extents = Extents.of(task, Ncp())
        group_of = without_failing(task, self._first_groups(task, extents, seed))
        return LocalRecoding.of_groups(task, halve_groups(task, extents, group_of))

    def _first_groups(self, task: LocalTask, extents: Extents, seed: int) -> Ints:
        """Return the groups that are then cut as far as they hold."""
        if self.kind == "top-down":
            return np.zeros(task.n_classes, np.int64)
        return merge_failing(task, extents, block=self.block, order="smallest", seed=seed)
