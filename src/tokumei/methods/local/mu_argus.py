"""Recode and suppress the values in combinations of a few columns that too few rows share.

Branches of value trees are recoded where that pays, and other cells suppressed.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.methods.local.cell_levels import CellLevels, settle
from tokumei.methods.local.joint_labels import refuse_population
from tokumei.methods.local.task import Bools, Floats, Ints, LocalRecoding, LocalTask

# The most marks of rare combinations, one for each and every class: 500 megabytes.
MOST_MARKS = 500_000_000
# Looked at together, so that memory does not grow with the table.
N_TOGETHER = 8_192
# So that a column without weight can be divided by; it is the first to go.
LEAST_LOSS = 1e-9


@dataclass(eq=False)
class RareCombinations:
    """Which combinations of up to `n_way` columns are rare in which class: fail what a class must hold.

    A combination with a suppressed cell tells nobody apart any more and is not rare.
    """

    cells: CellLevels
    n_way: int

    def __post_init__(self) -> None:
        # Counted before they are listed, since they may be too many for that.
        n_columns = len(self.cells.columns)
        n_combinations = sum(math.comb(n_columns, size) for size in range(1, min(self.n_way, n_columns) + 1))
        if n_combinations * max(self.cells.task.n_classes, n_columns) > MOST_MARKS:
            expected = f"combinations of fewer columns: {n_combinations:,} of them are too many to look at"
            raise InputError.of(expected, option="n_way", value=self.n_way)
        self.is_rare = np.zeros((len(self.combinations), self.cells.task.n_classes), np.bool_)

    @cached_property
    def combinations(self) -> list[tuple[int, ...]]:
        """The columns of each combination, single ones first.

        What is rare in one column is rare with any other too: so a cell that is rare by itself ends the most.
        """
        columns = self.cells.columns
        sizes = range(1, min(self.n_way, len(columns)) + 1)
        return [one for size in sizes for one in itertools.combinations(columns, size)]

    @cached_property
    def has_column(self) -> Bools:
        """For each column and combination whether the column is in it."""
        return np.array([[index in one for one in self.combinations] for index in self.cells.columns], np.bool_)

    def count(self, column: int | None = None) -> None:
        """Count again all combinations, or those with a column that changed."""
        task = self.cells.task
        is_lost = [self.cells.is_lost(index) for index in self.cells.columns]
        for row, indices in enumerate(self.combinations):
            if column is None or column in indices:
                group_of = self.cells.groups(indices)
                is_told = ~np.any([is_lost[index] for index in indices], axis=0)
                group_of = np.where(is_told, group_of, -1)
                holds = task.holds(group_of, int(group_of.max(initial=-1)) + 1)
                self.is_rare[row] = is_told & ~np.append(holds, True)[group_of]

    def plan(self) -> Bools:
        """Choose for each column and class whether the cell is to be suppressed, so that no rare combination is left.

        Class by class the cell goes first that ends the most rare combinations for what it loses.
        """
        rest = np.array([self.cells.rest(index) for index in self.cells.columns])
        out = np.zeros(rest.shape, np.bool_)
        classes = np.flatnonzero(self.is_rare.any(axis=0))
        for start in range(0, len(classes), N_TOGETHER):
            some = classes[start : start + N_TOGETHER]
            out[:, some] = _chosen(self.is_rare[:, some], self.has_column, rest[:, some])
        return out


def _chosen(is_rare: Bools, has_column: Bools, rest: Floats) -> Bools:
    """Choose cells for some classes, one for each class at a time, until every rare combination has lost one."""
    left: npt.NDArray[np.float32] = is_rare.astype(np.float32)
    members = has_column.astype(np.float32)
    chosen = np.zeros(rest.shape, np.bool_)
    open_: Ints = np.arange(is_rare.shape[1])
    while len(open_):
        n_ended = members @ left[:, open_]
        column = np.argmax(n_ended / np.maximum(rest[:, open_], LEAST_LOSS), axis=0)
        chosen[column, open_] = True
        left[:, open_] *= ~has_column[column].T
        open_ = open_[left[:, open_].any(axis=0)]
    return chosen


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


@dataclass(frozen=True)
class MuArgus:
    """Look at combinations of a few columns, recode the values in rare ones, and suppress cells where that is dearer.

    First every combination of up to `n_way` columns is counted. To end those that fail, each row would have cells
    suppressed (written `*`), chosen one by one as ending the most for what they lose. A branch of a value tree is
    written one step up instead, in all rows, where that costs less certainty penalty than the cells it saves; a step
    that does not save what it costs is taken back. Then cells are suppressed until no combination fails. Rows that
    share every few of their values with others can still be alone in all of them: the original leaves these to whoever
    looks at the result. Here rows that still fail go up step by step, at last to `*`, in the column in which most of
    them come to hold for what is lost. Rows without any cell left that fail are left out as far as that is allowed,
    else the rows with the least to lose join them. So it promises whatever is required of classes, in which `*` is a
    label of its own. Numeric columns are written by the labels of their hierarchy; without one they can only be
    suppressed (μ-ARGUS; Hundepool and Willenborg 1997).

    Example: age with 31, 35 = 30s and 42, 44 = 40s, city with Kyoto, Osaka = west and Tokyo, Chiba = east; k = 2.

    | row | | becomes | why |
    |---|---|---|---|
    | 31 | Tokyo | 30s, Tokyo | alone; 30s costs 2 rows · 2/4, less than two suppressed ages |
    | 35 | Tokyo | 30s, Tokyo | as above |
    | 42 | Tokyo | 42, Tokyo | three alike |
    | 42 | Tokyo | 42, Tokyo | as above |
    | 42 | Tokyo | 42, Tokyo | as above |
    | 42 | Kyoto | *, Kyoto | alone; 40s would cost 5 rows · 2/4, more than two suppressed ages |
    | 44 | Kyoto | *, Kyoto | as above |

    The penalty is (2 · 2/4 + 2 · 1) / 7 rows / 2 columns = 0.214.
    """

    n_way: int = field(default=3, metadata={"help": "The most columns in the combinations that are looked at first."})

    def __post_init__(self) -> None:
        if self.n_way < 1:
            raise InputError.of("at least 1", option="n_way", value=self.n_way)

    def recode_locally(self, task: LocalTask, *, seed: int) -> LocalRecoding:  # noqa: ARG002 - nothing is drawn.
        """Return the labels of every cell; CannotAnonymize if nothing holds."""
        refuse_population(task, "mu-argus")
        cells = CellLevels.of(task)
        rare = RareCombinations(cells, self.n_way)
        with step("recoding rare values"):
            recode_branches(rare)
        with step("suppressing rare values"):
            suppress_rare(rare)
        with step("settling what is left"):
            return cells.recoding(settle(cells))
