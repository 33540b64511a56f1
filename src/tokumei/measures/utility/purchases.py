"""How far the rows of a released history are from the original's: what is left of dates, prices, items and statistics.

Most compare row by row; the most popular items and a statistic of one column compare the whole.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.text import counted
from tokumei.data.history import History


def aligned(original: History, released: History, column: str) -> pl.DataFrame:
    """Return a column before and after, row by row; a row deleted in either is missing there."""
    check_aligned(original, released)
    return pl.DataFrame({"before": original.frame[column], "after": released.frame[column]})


def check_aligned(original: History, released: History) -> None:
    """Refuse a release that has not the rows of its original."""
    if original.n_rows != released.n_rows:
        expected = f"as many rows as the original, {original.n_rows:,}, deleted ones written as missing"
        raise InputError.of(expected, file=released.name, value=counted(released.n_rows, "row"))


@dataclass(frozen=True)
class Rows:
    """Share of rows that were deleted: 0 if none, 1 if all (E6 of PWSCUP 2017)."""

    def measure(self, original: History, released: History) -> Score:
        """Compare the number of rows."""
        n_rows = max(1, original.n_rows)
        return Score("rows", round(1 - released.kept.height / n_rows, 4), best=0, worst=1)


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


@dataclass(frozen=True)
class TopItems:
    """Share of the k most bought items that the release no longer shows among its own: 0 if none, 1 if all.

    Items rank by their number of buyers; of items with equally many the larger id comes first (the first value
    of E3 of PWSCUP 2017). In a release a buyer is a pseudonym.
    """

    k: int = field(default=100, metadata={"help": "How many items count as the top."})

    def measure(self, original: History, released: History) -> Score:
        """Compare the top items of both."""
        if self.k < 1:
            raise InputError.of("at least one item", option="k", value=self.k)
        lost = set(top_items(original, self.k)) - set(top_items(released, self.k))
        return Score("top-items", len(lost) / self.k, best=0, worst=1)


def top_items(history: History, k: int) -> list[str]:
    """Return the k items with the most buyers, the most bought first."""
    buyers = history.kept.group_by("item").agg(pl.col("customer").n_unique().alias("n"))
    return buyers.sort("n", "item", descending=[True, True])["item"].head(k).to_list()


Column = Literal["date", "price", "quantity"]
Name = Literal["rows", "sum", "mean", "variance", "deviation", "maximum", "minimum", "median"]

# Day 0, which matters only to the sum: the errors of sum and rows in table 8 of the PWSCUP 2018 paper fit this year.
FIRST_DAY = datetime.date(2010, 1, 1)


@dataclass(frozen=True)
class Statistic:
    """Absolute error of a statistic of a column: 0 if the same, without an upper end (PWSCUP 2018).

    In the unit of the column; a date is a number of days since 2010-01-01. Deleted rows are left out. Variance and
    standard deviation are those of the whole population, which the paper leaves open. A history without rows has the
    sum 0 and takes the other statistics to be 0 as well.
    """

    statistic: Name = field(default="mean", metadata={"help": "Which statistic; rows is their number."})
    column: Column = field(default="price", metadata={"help": "Of which column: date, price or quantity."})

    def measure(self, original: History, released: History) -> Score:
        """Compare the statistic of both."""
        before, after = (compute(self.statistic, numbers(history, self.column)) for history in (original, released))
        return score_of(self, before, after)


def score_of(part: Statistic, before: float, after: float) -> Score:
    """Return the score of a statistic that was computed before and after."""
    what = "rows" if part.statistic == "rows" else f"{part.statistic} of {part.column}"
    inputs = {"original": before, "released": after}
    return Score(f"statistic: {what}", abs(after - before), best=0, worst=math.inf, inputs=inputs)


def numbers(history: History, column: Column) -> npt.NDArray[np.float64]:
    """Return the values of the kept rows as numbers."""
    values = history.kept[column]
    days = (values - FIRST_DAY).dt.total_days() if column == "date" else values
    return days.cast(pl.Float64).to_numpy()


def compute(statistic: Name, values: npt.NDArray[np.float64]) -> float:
    """Compute a statistic; sums are exact, so that the order of rows cannot change a digit."""
    n = len(values)
    if statistic == "rows" or n == 0:
        return float(n)
    if statistic == "sum":
        return math.fsum(values)
    if statistic == "maximum":
        return float(values.max())
    if statistic == "minimum":
        return float(values.min())
    if statistic == "median":
        return float(np.median(values))
    mean = math.fsum(values) / n
    if statistic == "mean":
        return mean
    variance = math.fsum((values - mean) ** 2) / n
    return variance if statistic == "variance" else math.sqrt(variance)
