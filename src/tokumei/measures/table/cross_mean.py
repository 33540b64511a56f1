"""How far the means of sensitive columns moved in cross tables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from tokumei.core.score import Score
from tokumei.data.table import Table
from tokumei.measures.registry import Sees
from tokumei.measures.table_pair import Floats, Ints, TablePair


@dataclass(frozen=True)
class CrossMean:
    """Mean absolute error of cross-tabulated means: 0 if every cell keeps its means, 1 if all are off or empty.

    U2 crossMean of PWSCUP 2015; sees X and Y. Each two quasi-identifiers make a table whose cells hold the mean of
    every sensitive column. The contest left open which tables and which unit: here all pairs, and the mean is over all
    cells that the original fills, each error in standard deviations of the original's column and at most 1. A cell that
    the release leaves empty is off by 1.

    Example: the standard deviations of s and t are 1 and 10. Four cells have two means each. The first s moved by half
    a standard deviation, and the last cell is empty, where both means are off by 1: (0.5 + 1 + 1) / 8 = 5/16.

    | q | r | s | t  | released s | released t |
    |---|---|---|----|------------|------------|
    | a | x | 0 | 10 | 0.5        | 10         |
    | a | y | 0 | 30 | 0          | 30         |
    | b | x | 2 | 10 | 2          | 10         |
    | b | y | 2 | 30 | gone       | gone       |
    """

    sees: ClassVar[Sees] = Sees.BOTH

    def measure(self, original: Table, released: Table, rows: pl.Series) -> Score:  # noqa: ARG002
        """Compare the means in all cells of all tables."""
        pair = TablePair.of(original, released).with_sensitive(1)
        # Rows in the order of their amounts: then the order they came in cannot change a digit of a sum.
        order, released_order = _by_amounts(pair.amounts), _by_amounts(pair.released_amounts)
        errors: list[float] = []
        for cells, released_cells in pair.cross_tables():
            n_cells = int(max(cells.max(), released_cells.max())) + 1
            counts, means = _cell_means(cells[order], pair.amounts[order], n_cells)
            released_counts, released_means = _cell_means(
                released_cells[released_order], pair.released_amounts[released_order], n_cells
            )
            off = pair.in_spreads(means - released_means)
            off[released_counts == 0] = 1
            errors.extend(off[counts > 0].ravel().tolist())
        return Score("cross-mean", math.fsum(errors) / max(1, len(errors)), best=0, worst=1)


def _by_amounts(amounts: Floats) -> Ints:
    return np.lexsort(amounts.T) if amounts.shape[1] else np.arange(len(amounts))


def _cell_means(cells: Ints, amounts: Floats, n_cells: int) -> tuple[Ints, Floats]:
    """Return how many rows each cell has and the mean of each column there, 0 where there is none."""
    counts = np.bincount(cells, minlength=n_cells)
    means = np.zeros((n_cells, amounts.shape[1]))
    for index, column in enumerate(amounts.T):
        means[:, index] = np.bincount(cells, column, n_cells) / np.maximum(counts, 1)
    return counts, means
