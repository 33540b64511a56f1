"""How far the rows of a released history are from the original's: what is left of dates, prices, items and statistics.

Most compare row by row; the most popular items and a statistic of one column compare the whole.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass, field
from typing import Literal

import narwhals as nw
import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.history_rows import Floats, Frame, HistoryRows, Ints, check_aligned
from tokumei.measures.registry import EngineUtility


@dataclass(frozen=True)
class Rows(EngineUtility):
    """Share of rows that were deleted: 0 if none, 1 if all (E6 of PWSCUP 2017)."""

    def compare(self, original: HistoryRows, released: HistoryRows) -> Score:
        """Compare the number of rows."""
        n_rows = max(1, original.n_rows)
        return Score("rows", round(1 - released.n_kept / n_rows, 4), best=0, worst=1)


DAYS_A_MONTH = 31


@dataclass(frozen=True)
class Date(EngineUtility):
    """Mean days that purchases were moved, as a share of a month: 0 if none, 1 if a month (E4 of PWSCUP 2017).

    Row by row; a month has 31 days, a deleted row adds nothing but still counts as a row. The contest allowed no date
    to leave its month; where a release does that, the score stops at 1.
    """

    def compare(self, original: HistoryRows, released: HistoryRows) -> Score:
        """Compare the dates row by row."""
        both = aligned(original, released, "date")
        moved = both.select((nw.col("after") - nw.col("before")).abs().sum().cast(nw.Int64))
        days = original.collect(moved).item() or 0
        return Score("date", min(1.0, days / (DAYS_A_MONTH * max(1, original.n_rows))), best=0, worst=1)


# 1 − x with x from 0 to 1 is a whole number of 2⁻⁵³, whichever double x is. Engines add floats in any order, but whole
# numbers exactly: so many parts, and of each so many again.
HIGH_PARTS, LOW_PARTS = 2**27, 2**26


@dataclass(frozen=True)
class Price(EngineUtility):
    """Mean relative change of prices, 1 − smaller/larger: 0 if unchanged, 1 if beyond bounds (E5 of PWSCUP 2017).

    Row by row; a deleted row adds nothing but still counts as a row. Of refunds and debits, which are below 0, sizes
    are compared; a price that changed its sign changed by 1.
    """

    def compare(self, original: HistoryRows, released: HistoryRows) -> Score:
        """Compare the prices row by row."""
        before, after = nw.col("before"), nw.col("after")
        is_same_sign = ((before > 0.0) & (after > 0.0)) | ((before < 0.0) & (after < 0.0))
        smaller, larger = (pick(before.abs(), after.abs()) for pick in (nw.min_horizontal, nw.max_horizontal))
        # A divisor wherever an engine may divide, since it need not leave out the rows whose signs differ.
        change = 1.0 - smaller / nw.when(is_same_sign).then(larger).otherwise(1.0)
        changed = aligned(original, released, "price").filter(before != after)
        parts = changed.select(parts=nw.when(is_same_sign).then(change).otherwise(1.0) * HIGH_PARTS)
        high = nw.col("parts").floor()
        halves = parts.select(high=high.cast(nw.Int64), low=((nw.col("parts") - high) * LOW_PARTS).cast(nw.Int64))
        sums = halves.select(*(nw.col(half).sum().cast(nw.Int64) for half in ("high", "low")))
        n_high, n_low = original.collect(sums).row(0)
        total = (n_high or 0) * LOW_PARTS + (n_low or 0)
        return Score("price", total / (HIGH_PARTS * LOW_PARTS) / max(1, original.n_rows), best=0, worst=1)


def aligned(original: HistoryRows, released: HistoryRows, column: str) -> Frame:
    """Return a column before and after, row by row, where the release keeps the row."""
    check_aligned(original, released)
    return original.beside(released, {"before": column}, {"after": column})


@dataclass(frozen=True)
class TopItems(EngineUtility):
    """Share of the k most bought items that the release no longer shows among its own: 0 if none, 1 if all.

    Items rank by their number of buyers; of items with equally many the larger id comes first (the first value
    of E3 of PWSCUP 2017). In a release a buyer is a pseudonym.
    """

    k: int = field(default=100, metadata={"help": "How many items count as the top."})

    def compare(self, original: HistoryRows, released: HistoryRows) -> Score:
        """Compare the top items of both."""
        lost = set(top_items(original, self.k)) - set(top_items(released, self.k))
        return Score("top-items", len(lost) / self.k, best=0, worst=1)

    def check_options(self) -> None:
        """Refuse to look at no item."""
        if self.k < 1:
            raise InputError.of("at least one item", option="k", value=self.k)


def top_items(history: HistoryRows, k: int) -> list[str]:
    """Return the k items with the most buyers, the most bought first."""
    buyers = history.n_distinct("customer", by="item")
    return buyers.sort("n", "item", descending=[True, True])["item"].head(k).to_list()


Column = Literal["date", "price", "quantity"]
Name = Literal["rows", "sum", "mean", "variance", "deviation", "maximum", "minimum", "median"]

# Day 0, which matters only to the sum: the errors of sum and rows in table 8 of the PWSCUP 2018 paper fit this year.
FIRST_DAY = datetime.date(2010, 1, 1)
DAYS_BEFORE = (FIRST_DAY - datetime.date(1970, 1, 1)).days


@dataclass(frozen=True)
class Statistic(EngineUtility):
    """Absolute error of a statistic of a column: 0 if the same, without an upper end (PWSCUP 2018).

    In the unit of the column; a date is a number of days since 2010-01-01. Deleted rows are left out. Variance and
    standard deviation are those of the whole population, which the paper leaves open. A history without rows has the
    sum 0 and takes the other statistics to be 0 as well.
    """

    statistic: Name = field(default="mean", metadata={"help": "Which statistic; rows is their number."})
    column: Column = field(default="price", metadata={"help": "Of which column: date, price or quantity."})

    def compare(self, original: HistoryRows, released: HistoryRows) -> Score:
        """Compare the statistic of both."""
        before, after = (compute(self.statistic, *counted_values(one, self.column)) for one in (original, released))
        what = "rows" if self.statistic == "rows" else f"{self.statistic} of {self.column}"
        inputs = {"original": before, "released": after}
        return Score(f"statistic: {what}", abs(after - before), best=0, worst=math.inf, inputs=inputs)


def counted_values(history: HistoryRows, column: Column) -> tuple[Floats, Ints]:
    """Return the distinct values of a column as ascending numbers, and how many rows have each."""
    counted = history.collect(history.rows.group_by(column).agg(n=nw.len())).sort(column).cast(pl.Float64)
    return counted[column].to_numpy() - (DAYS_BEFORE if column == "date" else 0), counted["n"].to_numpy().astype(
        np.int64
    )


def compute(statistic: Name, values: Floats, n_each: Ints) -> float:
    """Compute a statistic of ascending values, each with how often it stands."""
    n = int(n_each.sum())
    if statistic == "rows" or n == 0:
        return float(n)
    if statistic == "maximum":
        return float(values[-1])
    if statistic == "minimum":
        return float(values[0])
    if statistic == "median":
        return float(values[np.searchsorted(np.cumsum(n_each), [(n - 1) // 2, n // 2], side="right")].mean())
    total = exact_sum(values, n_each)
    if statistic == "sum":
        return total
    mean = total / n
    if statistic == "mean":
        return mean
    variance = exact_sum((values - mean) ** 2, n_each) / n
    return variance if statistic == "variance" else math.sqrt(variance)


def exact_sum(values: Floats, n_each: Ints) -> float:
    """Add up values that stand so often each, rounded once: the order of rows cannot change a digit."""
    once, many = values[n_each == 1], values[n_each > 1]
    n_many = n_each[n_each > 1]
    # Halves of a float, of 26 and 27 bits, times a number of at most 26 bits are floats again.
    high = (many.view(np.int64) & -(1 << 27)).view(np.float64)
    halves = [half * (n_many >> shift & (2**26 - 1)) * 2.0**shift for half in (high, many - high) for shift in (0, 26)]
    return math.fsum(np.concatenate([once, *halves]))
