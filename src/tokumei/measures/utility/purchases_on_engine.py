"""The measures of single rows and columns of a history, counted where the rows are."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.text import counted
from tokumei.engines.draws import number, whole_number
from tokumei.engines.engine_history import EngineHistory
from tokumei.measures.utility.purchases import DAYS_A_MONTH, FIRST_DAY, Column, Name, Statistic, TopItems, score_of

# 1 − x with x from 0 to 1 is a whole number of these parts, whichever double x is.
PARTS, LOW_BITS = 2**53, 26


def rows(_: Any, before: EngineHistory, after: EngineHistory) -> Score:
    """Return the share of rows that were deleted."""
    n_rows = max(1, before.staged.n_rows)
    return Score("rows", round(1 - after.staged.n_kept / n_rows, 4), best=0, worst=1)


def date(_: Any, before: EngineHistory, after: EngineHistory) -> Score:
    """Return the mean days that purchases were moved."""
    both = beside(before, after, "date")
    days = before.fetch(both.aggregate(n=(both.after - both.before).abs().sum().cast("int64")))["n"][0] or 0
    n_rows = max(1, before.staged.n_rows)
    return Score("date", min(1.0, days / (DAYS_A_MONTH * n_rows)), best=0, worst=1)


def price(_: Any, before: EngineHistory, after: EngineHistory) -> Score:
    """Return the mean relative change of prices, summed exactly in whole parts: engines add floats in any order."""
    both = beside(before, after, "price")
    changed = both.filter(both.before != both.after)
    # Of refunds and debits sizes are compared, and a price that changed its sign, or was 0, changed by 1.
    is_same_sign = (changed.before > number(0)) & (changed.after > number(0))
    is_same_sign |= (changed.before < number(0)) & (changed.after < number(0))
    one, other = changed.before.abs(), changed.after.abs()
    smaller, larger = (one < other).ifelse(one, other), (one < other).ifelse(other, one)
    change = is_same_sign.ifelse(number(1) - smaller / is_same_sign.ifelse(larger, number(1)), number(1))
    parts = changed.select(n=(change * number(PARTS)).cast("int64"))
    low = parts.n & whole_number((1 << LOW_BITS) - 1)
    sums = before.fetch(
        parts.aggregate(high=(parts.n >> LOW_BITS).sum().cast("int64"), low=low.sum().cast("int64"))
    ).row(0)
    total = ((sums[0] or 0) << LOW_BITS) + (sums[1] or 0)
    return Score("price", total / PARTS / max(1, before.staged.n_rows), best=0, worst=1)


def top_items(part: TopItems, before: EngineHistory, after: EngineHistory) -> Score:
    """Return the share of the most bought items that are not among the release's most bought."""
    lost = set(most_bought(before, part.k)) - set(most_bought(after, part.k))
    return Score("top-items", len(lost) / part.k, best=0, worst=1)


def most_bought(history: EngineHistory, k: int) -> list[str]:
    """Return the k items with the most buyers, the most bought first."""
    bought = history.kept.select("item", "customer").distinct()
    buyers = history.fetch(bought.group_by("item").aggregate(n=lambda some: some.count()))
    return buyers.sort(pl.col("n"), "item", descending=[True, True])["item"].head(k).to_list()


def beside(before: EngineHistory, after: EngineHistory, column: str) -> Any:
    """Return a column before and after, of the rows that both have."""
    check_aligned(before, after)
    left = before.kept.select("row", before=before.kept[column])
    right = after.kept.select(row_after=after.kept.row, after=after.kept[column])
    return left.inner_join(right, left.row == right.row_after).select("before", "after")


def check_aligned(before: EngineHistory, after: EngineHistory) -> None:
    """Refuse a release that has not the rows of its original."""
    if before.staged.n_rows != after.staged.n_rows:
        expected = f"as many rows as the original, {before.staged.n_rows:,}, deleted ones written as missing"
        raise InputError.of(expected, file=after.staged.name, value=counted(after.staged.n_rows, "row"))


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
