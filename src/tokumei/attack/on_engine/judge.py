"""Guesses held against the truth where the published rows are: only these are counted there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import polars as pl

from tokumei.attack.judge import Verdict, judge_counting
from tokumei.counting.engine_history import EngineHistory


def judge_on_engine(
    guesses: pl.DataFrame,
    truth: pl.DataFrame,
    customers: Sequence[str],
    periods: Sequence[int],
    published: EngineHistory,
) -> Verdict:
    """Judge guesses of customer, period and pseudonym against the truth in the same form, as `judge` does."""
    return judge_counting(guesses, truth, customers, periods, partial(_count_transactions, published))


def _count_transactions(published: EngineHistory, found: pl.DataFrame) -> tuple[int, int]:
    """Count the published rows, and those whose customer was found in that month."""
    pairs = published.given("found", found.select(pl.col("period").cast(pl.Int64), "pseudonym"))
    rows = published.kept.select("period", pseudonym=published.kept.customer)
    right = rows.semi_join(pairs, ["period", "pseudonym"])
    return published.staged.n_kept, int(published.fetch(right.aggregate(n=right.count()))["n"][0])
