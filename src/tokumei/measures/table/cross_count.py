"""How far the counts in cross tables moved."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from tokumei.core.score import Score
from tokumei.data.table import Table
from tokumei.measures.registry import Sees
from tokumei.measures.table_pair import TablePair


@dataclass(frozen=True)
class CrossCount:
    """Absolute error of cross-tabulated counts per row: 0 if every count is the same, 1 if no cell has rows in both.

    U3 crossCnt of PWSCUP 2015; sees X and Y. Each two quasi-identifiers make a table of counts. The contest left open
    which tables and which unit: here the error of a table is the sum of |count − released count| over its cells divided
    by the rows of both, and the mean is over the tables of all pairs. A row that is gone is missed in every table.

    Example: rows (a, x), (a, y), (b, x) and (b, y) are released as (a, y), (a, y) and (b, x). The counts 1, 1, 1, 1
    became 0, 2, 1, 0, and with four and three rows the error is (1 + 1 + 0 + 1) / 7 = 3/7.
    """

    sees: ClassVar[Sees] = Sees.BOTH

    def measure(self, original: Table, released: Table, rows: pl.Series) -> Score:  # noqa: ARG002
        """Compare the counts in all cells of all tables."""
        pair = TablePair.of(original, released)
        errors = []
        for cells, released_cells in pair.cross_tables():
            n_cells = int(max(cells.max(), released_cells.max())) + 1
            gaps = np.bincount(cells, minlength=n_cells) - np.bincount(released_cells, minlength=n_cells)
            errors.append(int(np.abs(gaps).sum()) / (pair.n_rows + pair.n_released))
        return Score("cross-count", math.fsum(errors) / max(1, len(errors)), best=0, worst=1)
