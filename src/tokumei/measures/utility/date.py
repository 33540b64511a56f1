"""How far purchases moved in time."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.measures.utility._rows import aligned

DAYS_A_MONTH = 31


@dataclass(frozen=True)
class Date:
    """Mean days that purchases were moved, as a share of a month: 0 if none, 1 if a month (E4 of PWSCUP 2017).

    Row by row; a month has 31 days, a deleted row adds nothing but still counts as a row. The contest allowed no date
    to leave its month; where a release does that, the score stops at 1.
    """

    def measure(self, original: History, released: History) -> Score:
        """Compare the dates row by row."""
        both = aligned(original, released, "date")
        days = both.select((pl.col("after") - pl.col("before")).dt.total_days().abs().sum()).item()
        return Score("date", min(1.0, days / (DAYS_A_MONTH * max(1, both.height))), best=0, worst=1)
