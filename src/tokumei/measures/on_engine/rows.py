"""Measures that hold rows against each other, or count them."""

from __future__ import annotations

from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.wording import counted
from tokumei.engines.draws import number, whole_number
from tokumei.engines.engine_history import EngineHistory
from tokumei.measures.utility.date import DAYS_A_MONTH
from tokumei.measures.utility.top_items import TopItems

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
