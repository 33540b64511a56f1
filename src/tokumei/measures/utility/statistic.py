"""One statistic of one column, before and after."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.score import Score
from tokumei.data.history import History

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
