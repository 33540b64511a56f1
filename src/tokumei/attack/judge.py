"""How right an attacker was: guesses held against the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from tokumei.core.score import Score


@dataclass(frozen=True)
class Verdict:
    """The two measures of a guess, both from 0 (nobody found, best for the people in the data) to 1."""

    row: Score
    cell: Score


def judge(guesses: pl.DataFrame, truth: pl.DataFrame, customers: Sequence[str], periods: Sequence[int]) -> Verdict:
    """Judge guesses of customer, period and pseudonym against the truth in the same form.

    A customer and month missing from the truth has no pseudonym there, and is right where the guess says so too.
    `row` is the share of customers who are right in every month, as the contests counted; `cell` is the share of
    all cells that hold a pseudonym and are right.
    """
    cells = pl.DataFrame({"customer": customers}, schema={"customer": pl.String}).join(
        pl.DataFrame({"period": periods}, schema={"period": pl.Int32}), how="cross"
    )
    keys = ["customer", "period"]
    both = cells.join(truth.select(*keys, "pseudonym"), on=keys, how="left").join(
        guesses.select(*keys, guess="pseudonym"), on=keys, how="left"
    )
    n_cells, n_customers = max(1, cells.height), max(1, len(customers))
    is_right = pl.col("guess").eq_missing(pl.col("pseudonym"))
    by_customer = both.group_by("customer").agg(is_right.all().alias("all_right"))
    found = both.select((is_right & pl.col("pseudonym").is_not_null()).sum()).item()
    return Verdict(
        row=Score("row success", int(by_customer["all_right"].sum()) / n_customers, best=0, worst=1),
        cell=Score("cell success", found / n_cells, best=0, worst=1),
    )
