"""Combinations of a few columns that too few rows share, and the cells to be changed so that none is left."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError
from tokumei.methods.local.cell_levels import CellLevels
from tokumei.methods.local.task import Bools, Floats, Ints

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
