"""Rare combinations cleared: branches of value trees recoded where that pays, other cells suppressed."""

from __future__ import annotations

import numpy as np

from tokumei.methods.local.cell_levels import CellLevels
from tokumei.methods.local.rare import RareCombinations
from tokumei.methods.local.task import Bools, Floats, Ints


def recode_branches(rare: RareCombinations) -> None:
    """Write branches of a column one step up while that loses less than the suppressed cells it saves.

    The column comes first in which most seems to be gained. A step that turns out to lose more than it saves is taken
    back, and its column is left as it is.
    """
    cells = rare.cells
    closed: set[int] = set()
    rare.count()
    plan = rare.plan()
    total = cells.loss + _planned_loss(cells, plan)
    while True:
        steps = {index: _step(cells, index, plan) for index in cells.columns if index not in closed}
        column = max(steps, key=lambda index: steps[index][0], default=None)
        if column is None or steps[column][0] <= 0:
            return
        before = cells.levels[column], rare.is_rare.copy()
        cells.put(column, steps[column][1])
        rare.count(column)
        new_plan = rare.plan()
        new_total = cells.loss + _planned_loss(cells, new_plan)
        if new_total < total:
            plan, total = new_plan, new_total
        else:
            cells.put(column, before[0])
            rare.is_rare = before[1]
            closed.add(column)


def suppress_rare(rare: RareCombinations) -> None:
    """Suppress cells until no combination is rare; those of others may become so when some are gone."""
    rare.count()
    while rare.is_rare.any():
        for index, classes in enumerate(rare.plan()):
            rare.cells.lose(index, classes)
        rare.count()


def _planned_loss(cells: CellLevels, plan: Bools) -> float:
    """Return what suppressing the cells of a plan would lose."""
    return float(sum((cells.rest(index) * cells.task.sizes)[classes].sum() for index, classes in enumerate(plan)))


def _step(cells: CellLevels, index: int, plan: Bools) -> tuple[float, Ints]:
    """Return what writing branches of a column one step up seems to gain, and the levels after that.

    A branch goes up if writing all its cells by its label loses less than suppressing those that the plan names.
    """
    tree, leaf_of, sizes = cells.trees[index], cells.trees[index].attribute.leaf_of, cells.task.sizes
    costs, rest = cells.costs(index), cells.rest(index)
    levels, raised, is_lost = cells.levels[index].copy(), cells.raised(index), cells.is_lost(index)
    planned = plan[index] & ~is_lost
    gained = 0.0
    for level in np.unique(raised[planned]).tolist():
        if level == len(tree.node_at) - 1:
            continue
        nodes = tree.node_at[level][leaf_of]
        rise = np.where(is_lost, 0.0, np.maximum(cells.node_costs[index][nodes] - costs, 0.0))
        saved = _by_node(nodes, np.where(planned, rest, 0.0) * sizes, tree.n_nodes)
        saved -= _by_node(nodes, rise * sizes, tree.n_nodes)
        is_asked = np.zeros(tree.n_nodes, np.bool_)
        is_asked[nodes[planned & (raised == level)]] = True
        goes_up = is_asked & (saved > 0)
        gained += float(saved[goes_up].sum())
        moved = goes_up[nodes] & ~is_lost
        levels[moved] = np.maximum(levels[moved], level)
    return gained, levels


def _by_node(nodes: Ints, values: Floats, n_nodes: int) -> Floats:
    sums: Floats = np.bincount(nodes, values, n_nodes).astype(np.float64)
    return sums
