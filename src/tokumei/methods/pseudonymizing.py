"""Pseudonyms in place of customers: the last thing that happens to every history."""

from __future__ import annotations

import numpy as np
import polars as pl

from tokumei.core.errors import PromiseBroken
from tokumei.core.seeds import generator
from tokumei.data.history import History, free_prefix, period_of
from tokumei.data.release import Recipe, Release

MAP_COLUMNS = ["customer", "period", "pseudonym"]


def customer_periods(history: History) -> pl.DataFrame:
    """List the months in which each customer bought something: columns customer and period, in order."""
    columns = ["customer", "period"]
    return history.frame.with_columns(period=history.period).select(columns).drop_nulls().unique().sort(columns)


def release_under_pseudonyms(history: History, lives: pl.DataFrame, *, recipe: Recipe, seed: int) -> Release:
    """Put one pseudonym for each life in place of the customers; rows keep their order.

    | customer | period | life |
    |----------|--------|------|
    | 12352    | 24133  | 0    |
    | 12352    | 24134  | 1    |

    `lives` names for each customer and month the life whose pseudonym stands there: numbers from 0 without a gap.
    Invoices get new names, too: whoever has a receipt, or the shop's books, would find its row by the number.
    """
    if lives.select("period", "life").is_duplicated().any():
        raise PromiseBroken("Two customers would share a pseudonym in one month.")
    names = _names(lives["life"].n_unique(), history, seed)
    named_lives = lives.with_columns(pseudonym=names.gather(lives["life"])).select(MAP_COLUMNS)
    rows = history.frame.with_columns(period=period_of(pl.col("date")))
    named = rows.join(named_lives, on=["customer", "period"], how="left", maintain_order="left")
    released = _with_new_invoices(named.with_columns(customer=pl.col("pseudonym")), seed)
    return Release(
        frame=released.select(history.frame.columns),
        recipe=recipe,
        rows=pl.Series("row", np.arange(history.n_rows)),
        pseudonyms=named.select(MAP_COLUMNS).drop_nulls().unique().sort(MAP_COLUMNS),
    )


def _with_new_invoices(named: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Name each invoice anew under each pseudonym, so that none joins two of them; one number for all tells nothing."""
    invoices = named["invoice"].drop_nulls()
    if invoices.n_unique() <= 1:
        return named
    own = named.select("customer", "invoice").drop_nulls().unique().sort("customer", "invoice")
    names = _in_random_order("B", own.height, invoices.cast(pl.String), seed, "invoices")
    renamed = named.join(own.with_columns(new=names), on=["customer", "invoice"], how="left", maintain_order="left")
    return renamed.with_columns(invoice=pl.col("new").cast(named.schema["invoice"])).drop("new")


def _names(n: int, history: History, seed: int) -> pl.Series:
    return _in_random_order("P", n, history.kept["customer"], seed, "pseudonyms").alias("pseudonym")


def _in_random_order(letter: str, n: int, taken: pl.Series, seed: int, purpose: str) -> pl.Series:
    """Draw n names in random order, all of one length so that the length reveals nothing."""
    numbers = generator(seed, purpose).permutation(n) + 1
    width = len(str(n))
    # No pseudonym may be anybody's id.
    prefix = free_prefix(letter, taken)
    return pl.Series([f"{prefix}{number:0{width}d}" for number in numbers], dtype=pl.String)
