"""How much prices were changed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.measures.utility._rows import aligned


@dataclass(frozen=True)
class Price:
    """Mean relative change of prices, 1 − smaller/larger: 0 if unchanged, 1 if beyond bounds (E5 of PWSCUP 2017).

    Row by row; a deleted row adds nothing but still counts as a row. Of refunds and debits, which are below 0, sizes
    are compared; a price that changed its sign changed by 1.
    """

    def measure(self, original: History, released: History) -> Score:
        """Compare the prices row by row."""
        both = aligned(original, released, "price")
        before, after = pl.col("before").abs(), pl.col("after").abs()
        change = 1 - pl.min_horizontal(before, after) / pl.max_horizontal(before, after)
        is_same_sign = pl.col("before").sign() == pl.col("after").sign()
        changed = both.drop_nulls().filter(pl.col("before") != pl.col("after"))
        changed = changed.select(pl.when(is_same_sign).then(change).otherwise(1.0))
        # An exact sum, so that the order of rows cannot change a digit.
        return Score("price", math.fsum(changed.to_series()) / max(1, both.height), best=0, worst=1)
