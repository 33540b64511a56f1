"""Two-way tables that are safe to publish together, and the rows that can be drawn from them.

Every count published is 0 or at least k. The two-way tables form a tree, each sharing a column with others at levels of
which one follows from the other. Rows of such tables can be matched one table after another, so that every class that
may have rows at all may have as many as the smallest count it lies in (Dobra and Fienberg 2000): adding up and
subtracting shows no class to be smaller than k.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tokumei.engines.grouping import group_rows
from tokumei.methods.local.task import Ints
from tokumei.methods.tabulating.labeled import LabeledClasses

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TwoWayTable:
    """The counts of two columns at a level each: for the cells that have rows, their labels and their number."""

    indices: tuple[int, int]
    levels: tuple[int, int]
    labels: tuple[Ints, Ints]
    counts: Ints
    # How much one column tells of the other, in nats.
    information: float


def finest_safe_level(classes: LabeledClasses, index: int, k: int) -> int:
    """Return the level with the most labels whose counts are all 0 or at least k; the top always is."""
    n_levels = len(classes.attributes[index].hierarchy.levels)
    for level in range(n_levels):
        counts = classes.counts(index, level)
        if _is_safe(counts, k):
            return level
    return n_levels - 1


def safe_tree(classes: LabeledClasses, finest: list[int], k: int) -> list[TwoWayTable]:
    """Choose safe two-way tables that form no circle and tell the most (the tree of Chow and Liu 1968)."""
    candidates = []
    for first, second in itertools.combinations(range(len(finest)), 2):
        best = _most_telling(classes, (first, second), (finest[first], finest[second]), k)
        if best is not None:
            candidates.append(best)
    candidates.sort(key=lambda table: (-table.information, table.indices))
    tree_of = list(range(len(finest)))
    chosen = []
    for table in candidates:
        one, other = (tree_of[index] for index in table.indices)
        if one != other:
            chosen.append(table)
            tree_of = [one if tree == other else tree for tree in tree_of]
    return chosen


def draw_rows(
    classes: LabeledClasses, finest: list[int], tree: list[TwoWayTable], n_rows: int, random: np.random.Generator
) -> list[Ints]:
    """Draw rows that follow from the published counts alone: by column the label of each row at its finest level."""
    drawn: dict[int, Ints] = {}
    for index, parent in _from_the_roots(len(finest), tree):
        counts = classes.counts(index, finest[index])
        if parent is None:
            drawn[index] = random.choice(len(counts), n_rows, p=counts / counts.sum())
            continue
        is_first = parent.indices[0] == index
        mine, theirs = (0, 1) if is_first else (1, 0)
        other = parent.indices[theirs]
        coarse = _coarser(classes, other, finest[other], parent.levels[theirs])[drawn[other]]
        picked = _draw_given(parent.labels[theirs], parent.labels[mine], parent.counts, coarse, random)
        # Within a coarse label the finer ones are drawn by their own counts.
        to_coarse = _coarser(classes, index, finest[index], parent.levels[mine])
        drawn[index] = _draw_given(to_coarse, np.arange(len(counts)), counts, picked, random)
    return [drawn[index] for index in range(len(finest))]


def _most_telling(
    classes: LabeledClasses, indices: tuple[int, int], finest: tuple[int, int], k: int
) -> TwoWayTable | None:
    """Return the safe table of two columns that tells most of the one by the other, if any tells something."""
    best: TwoWayTable | None = None
    for levels in itertools.product(*(_levels_above(classes, *pair) for pair in zip(indices, finest, strict=True))):
        if min(classes.n_labels(*pair) for pair in zip(indices, levels, strict=True)) == 1:
            continue
        table = _count(classes, indices, levels)
        if _is_safe(table.counts, k) and table.information > (best.information if best else 1e-12):
            best = table
    return best


def _levels_above(classes: LabeledClasses, index: int, finest: int) -> list[int]:
    """Return a level and those that follow from it."""
    hierarchy = classes.attributes[index].hierarchy
    return [level for level in range(len(hierarchy.levels)) if level == finest or hierarchy.finer[finest, level]]


def _count(classes: LabeledClasses, indices: tuple[int, int], levels: tuple[int, ...]) -> TwoWayTable:
    labels = [classes.labels(index, level) for index, level in zip(indices, levels, strict=True)]
    radices = [classes.n_labels(index, level) for index, level in zip(indices, levels, strict=True)]
    cells = group_rows(labels, radices, len(classes.sizes))
    counts = cells.sums(classes.sizes)
    first, second = (one[cells.a_row_of].astype(np.int64) for one in labels)
    shares = counts / counts.sum()
    one, other = (np.bincount(label, shares)[label] for label in (first, second))
    information = float(np.sum(shares * np.log(shares / (one * other))))
    return TwoWayTable(indices, (levels[0], levels[1]), (first, second), counts, information)


def _is_safe(counts: Ints, k: int) -> bool:
    return bool(counts[counts > 0].min(initial=k) >= k)


def _coarser(classes: LabeledClasses, index: int, fine: int, coarse: int) -> Ints:
    """Return the label at a coarse level of each label at a fine one."""
    out = np.zeros(classes.n_labels(index, fine), np.int64)
    out[classes.label_of_leaves(index, fine)] = classes.label_of_leaves(index, coarse)
    return out


def _from_the_roots(n_indices: int, tree: list[TwoWayTable]) -> Iterator[tuple[int, TwoWayTable | None]]:
    """Yield each column after the one it hangs on, with the table between them; a root has none."""
    seen: set[int] = set()
    for root in range(n_indices):
        if root in seen:
            continue
        seen.add(root)
        yield root, None
        open_indices = [root]
        while open_indices:
            parent = open_indices.pop()
            for table in tree:
                child = sum(table.indices) - parent
                if parent in table.indices and child not in seen:
                    seen.add(child)
                    open_indices.append(child)
                    yield child, table


def _draw_given(known: Ints, wanted: Ints, weights: Ints, given: Ints, random: np.random.Generator) -> Ints:
    """Draw for each given label one of the wanted ones that stand beside it, by their weights."""
    order = np.lexsort((wanted, known))
    known, wanted, upto = known[order], wanted[order], np.cumsum(weights[order])
    start = np.concatenate(([0], upto))[np.searchsorted(known, given, side="left")]
    end = upto[np.searchsorted(known, given, side="right") - 1]
    at = start + np.floor(random.random(len(given)) * (end - start)).astype(np.int64)
    return wanted[np.searchsorted(upto, at, side="right")]
