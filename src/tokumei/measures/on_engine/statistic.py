"""A statistic of a column from its distinct values and how many rows have each, which an engine counts."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import polars as pl

from tokumei.core.score import Score
from tokumei.engines.engine_history import EngineHistory
from tokumei.measures.utility.statistic import FIRST_DAY, Column, Name, Statistic, score_of

# Engines count days from 1970.
SINCE_1970 = (FIRST_DAY - datetime.date(1970, 1, 1)).days


def statistic(part: Statistic, before: EngineHistory, after: EngineHistory) -> Score:
    """Compare the statistic of both."""
    found = [compute_counted(part.statistic, *_counted(history, part.column)) for history in (before, after)]
    return score_of(part, found[0], found[1])


def _counted(history: EngineHistory, column: Column) -> tuple[list[float], list[int]]:
    there = history.kept
    counted = history.fetch(
        there.select(value=there[column].cast("float64")).group_by("value").aggregate(n=lambda some: some.count())
    )
    since = SINCE_1970 if column == "date" else 0
    ordered = counted.select(pl.col("value") - since, "n").sort("value")
    return ordered["value"].to_list(), ordered["n"].to_list()


def compute_counted(statistic: Name, values: Sequence[float], n_each: Sequence[int]) -> float:
    """Compute a statistic of ascending values, each with how often it stands, to the last digit of `compute`."""
    n = sum(n_each)
    if statistic == "rows" or n == 0:
        return float(n)
    if statistic == "maximum":
        return values[-1]
    if statistic == "minimum":
        return values[0]
    if statistic == "median":
        return (_value_at((n - 1) // 2, values, n_each) + _value_at(n // 2, values, n_each)) / 2
    total = _exact_sum(values, n_each)
    if statistic == "sum":
        return total
    mean = total / n
    if statistic == "mean":
        return mean
    variance = _exact_sum(((value - mean) * (value - mean) for value in values), n_each) / n
    return variance if statistic == "variance" else math.sqrt(variance)


def _exact_sum(values: Iterable[float], n_each: Sequence[int]) -> float:
    """Add up without rounding, and round once."""
    return float(sum(Fraction(value) * n for value, n in zip(values, n_each, strict=True)))


def _value_at(at: int, values: Sequence[float], n_each: Sequence[int]) -> float:
    for value, n in zip(values, n_each, strict=True):
        at -= n
        if at < 0:
            return value
    raise IndexError("fewer values than counted")
