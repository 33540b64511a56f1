"""How much prices were changed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.measure.utility._rows import aligned


@dataclass(frozen=True)
class Price:
    """Mean relative change of prices, 1 − smaller/larger: 0 if unchanged, 1 if beyond bounds (E5 of PWSCUP 2017).

    Row by row; a deleted row adds nothing but still counts as a row.
    """

    def measure(self, original: History, released: History) -> Score:
        """Compare the prices row by row."""
        both = aligned(original, released, "price")
        smaller, larger = pl.min_horizontal("before", "after"), pl.max_horizontal("before", "after")
        changed = both.drop_nulls().filter(pl.col("before") != pl.col("after")).select(1 - smaller / larger)
        # An exact sum, so that the order of rows cannot change a digit.
        return Score("price", math.fsum(changed.to_series()) / max(1, both.height), best=0, worst=1)
