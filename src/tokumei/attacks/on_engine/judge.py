"""Guesses held against the truth where the published rows are: only these are counted there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import polars as pl

from tokumei.attacks.judge import Verdict, judge_counting
from tokumei.engines.engine_history import EngineHistory


def judge_on_engine(
    guesses: pl.DataFrame,
    truth: pl.DataFrame,
    customers: Sequence[str],
    periods: Sequence[int],
    published: EngineHistory,
) -> Verdict:
    """Judge guesses of customer, period and pseudonym against the truth in the same form, as `judge` does."""
    return judge_counting(guesses, truth, customers, periods, partial(_count_transactions, published))


def _count_transactions(published: EngineHistory, named: pl.DataFrame) -> tuple[int, pl.DataFrame]:
    """Count the published rows, and those of the pseudonyms named, by how many pairs of customers are right."""
    pairs = published.given("named", named.with_columns(pl.col("period").cast(pl.Int64)))
    rows = published.kept.select("period", pseudonym=published.kept.customer)
    right = rows.inner_join(pairs, ["period", "pseudonym"])
    counted = right.group_by("n_found", "n_pairs").aggregate(n_rows=lambda some: some.count())
    return published.staged.n_kept, published.fetch(counted)
