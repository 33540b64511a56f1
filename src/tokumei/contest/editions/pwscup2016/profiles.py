"""What a customer is like: attributes and habits in one row, so that a released one can be held against an original."""

from __future__ import annotations

import polars as pl


def profiles_of(master: pl.DataFrame, history: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each customer of M, in its order: attributes, and sums over the purchases.

    The names of customers are left out, since they are others in a release. Who has no purchase has no habits.
    """
    spent = pl.col("price") * pl.col("quantity")
    habits = history.group_by("customer").agg(
        n_rows=pl.len(),
        n_invoices=pl.col("invoice").n_unique(),
        n_items=pl.col("item").n_unique(),
        spent=spent.sum(),
        mean_price=pl.col("price").mean(),
        mean_quantity=pl.col("quantity").mean(),
        first=pl.col("date").min(),
        last=pl.col("date").max(),
        # The items of all cells in one order, the most frequent first and equals by name.
        favorite=pl.col("item").sort().mode().min(),
    )
    joined = master.join(habits, on="customer", how="left", maintain_order="left").drop("customer")
    numbers = [name for name, kind in joined.schema.items() if kind.is_numeric()]
    return joined.with_columns(pl.col(numbers).fill_null(0))
