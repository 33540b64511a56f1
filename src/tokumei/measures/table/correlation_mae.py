"""How far the correlations of sensitive columns moved."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import polars as pl

from tokumei.core.score import Score
from tokumei.data.table import Table
from tokumei.measures.correlation import pearson_correlation
from tokumei.measures.registry import Sees
from tokumei.measures.table_pair import Floats, TablePair


@dataclass(frozen=True)
class CorrelationMae:
    """Mean absolute error of the correlations of sensitive columns, halved: 0 if all are the same, 1 if all turn round.

    U4 corMAE of PWSCUP 2015; sees X and Y. Pearson's correlation of each two sensitive columns; one that never varies
    is correlated with nothing, 0. Halved is our choice, since correlations are up to 2 apart.

    Example: s is 0, 0, 2, 2 and t is 10, 10, 30, 30, so their correlation is 1. If t is released as 10, 30, 10, 30, it
    is 0 and the error 1/2. As 30, 30, 10, 10 it is −1 and the error 1, and as 7, 7, 7, 7 it is 0 again and the error
    1/2.
    """

    sees: ClassVar[Sees] = Sees.BOTH

    def measure(self, original: Table, released: Table, rows: pl.Series) -> Score:  # noqa: ARG002
        """Compare the correlation of each two sensitive columns."""
        pair = TablePair.of(original, released).with_sensitive(2)
        before, after = _correlations(pair.amounts), _correlations(pair.released_amounts)
        errors = [abs(one - other) / 2 for one, other in zip(before, after, strict=True)]
        return Score("correlation-mae", math.fsum(errors) / max(1, len(errors)), best=0, worst=1)


def _correlations(amounts: Floats) -> list[float]:
    if len(amounts) == 1:
        # One row never varies.
        return [0.0 for _ in combinations(amounts.T, 2)]
    return [pearson_correlation(one, other) or 0.0 for one, other in combinations(amounts.T, 2)]
