"""How far the means of sensitive columns moved."""

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
class MeanMae:
    """Mean absolute error of the means of sensitive columns: 0 if none moved, 1 if all moved by a standard deviation.

    U1 meanMAE of PWSCUP 2015; sees X and Y. The contest left the unit open: here each column's error is in standard
    deviations of the original's column and at most 1, so that large amounts do not drown small ones.

    Example: s is 0, 0, 2, 2 with a standard deviation of 1, t is 10, 30, 10, 30. If s is released as 0, 0, 2, 4, its
    mean moves from 1 to 1.5. If t is released as 30, 30, 10, 10, its mean stays. The error is (0.5 + 0) / 2 = 1/4.
    """

    sees: ClassVar[Sees] = Sees.BOTH

    def measure(self, original: Table, released: Table, rows: pl.Series) -> Score:  # noqa: ARG002
        """Compare the mean of each sensitive column."""
        pair = TablePair.of(original, released).with_sensitive(1)
        # Exact sums, so that the order of rows cannot change a digit.
        means, released_means = (
            np.array([math.fsum(column) / len(column) for column in amounts.T])
            for amounts in (pair.amounts, pair.released_amounts)
        )
        errors = pair.in_spreads(means - released_means)
        return Score("mean-mae", math.fsum(errors) / max(1, len(errors)), best=0, worst=1)
