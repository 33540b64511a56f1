"""Whether the declared row numbers agree with the data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.data.table import Table
from tokumei.measures.registry import Sees
from tokumei.measures.table_pair import TablePair

# Declared rows are far if a larger share of the others is nearer.
FAR = 0.75


@dataclass(frozen=True)
class Aya:
    """About the share of declared row numbers that are false: 0 if all declared rows are near, 1 if chance is as near.

    E5 AYA of PWSCUP 2015, made to find releases after Yamaoka, in which nothing but the row numbers is shuffled; sees
    X, Y and I. Its formula was not published; this one is ours. Each released row is held against its declared row and
    against others of the original, by the mean error of its cells (see information-loss). The declared row is far
    where more than three quarters of the others are nearer, ties by half: so is any row in one case of four. The index
    is four times the share of rows declared far, at most 1. Honest noise, however strong, seldom moves a row that far.

    Example: eight amounts, 0 to 6 and 1000, are released with 0 changed to 0.1 and the others as they are. That row is
    declared to be the one with 1000, while all seven others of the original are nearer to it, so it is far. The others
    are declared truly: 1 of 8 is far, and the index is 4/8.
    """

    n_compared: int = field(
        default=100, metadata={"help": "How many other rows each is held against; all if there are fewer."}
    )

    sees: ClassVar[Sees] = Sees.ROWS

    def __post_init__(self) -> None:
        if self.n_compared < 1:
            raise InputError.of("at least 1", option="n_compared", value=self.n_compared)

    def measure(self, original: Table, released: Table, rows: pl.Series) -> Score:
        """Hold each released row against its declared row and against others."""
        pair = TablePair.of(original, released)
        declared = pair.checked_rows(rows)
        to_declared = pair.distances(declared)
        # Others stand at the same steps after each declared row. A team sets neither the steps nor the order of X.
        n_others = min(self.n_compared, pair.n_rows - 1)
        steps = np.unique(1 + np.arange(n_others) * (pair.n_rows - 1) // max(1, n_others))
        n_nearer = np.zeros(pair.n_released)
        for step in steps:
            to_other = pair.distances((declared + step) % pair.n_rows)
            # Equal sums of rounded parts must count as equal.
            n_nearer += np.where(np.abs(to_other - to_declared) < 1e-12, 0.5, to_other < to_declared)
        # A row of which no cell was changed is near, though many may be like it.
        is_far = (n_nearer > FAR * len(steps)) & (to_declared > 0)
        share = int(is_far.sum()) / pair.n_released
        return Score("aya", min(1.0, share / (1 - FAR)), best=0, worst=1, inputs={"n_compared": len(steps)})
