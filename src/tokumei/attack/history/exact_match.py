"""The attacker who looks for rows that agree exactly on a few fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from tokumei.core.errors import InputError
from tokumei.data.history import History, period_of

Field = Literal["date", "item", "price", "quantity"]
FIELDS = ("date", "item", "price", "quantity")


@dataclass(frozen=True)
class ExactMatch:
    """Take the pseudonym of the row that agrees with a known purchase on the named fields.

    Knowledge: some rows of the original, items cut to their first characters. Aim: the customer's pseudonym
    in each month. Where several published rows agree, the last one counts; where several known rows of a
    customer and month find someone, the last of them counts. With date and quantity this is the contest's S1,
    with item and price S2, item and quantity S3, date and item S4, item, price and quantity S5, and item, date
    and quantity S6.
    """

    fields: tuple[str, ...] = field(
        default=("date", "quantity"), metadata={"help": "Fields that must agree: date, item, price, quantity."}
    )

    def guess(self, knowledge: History, published: History) -> pl.DataFrame:
        """Give the pseudonym of each customer and month for which a row agrees."""
        for name in self.fields:
            if name not in FIELDS:
                raise InputError.of(f"a field: {', '.join(FIELDS)}", column="fields", value=name)
        on = list(self.fields)
        known = knowledge.kept.select("customer", *on, period=period_of(pl.col("date")))
        released = published.kept.select(*on, pseudonym="customer")
        if "item" in on:
            n_characters = known.select(pl.col("item").str.len_chars().max()).item()
            released = released.with_columns(item=pl.col("item").str.slice(0, n_characters))
        found = released.unique(on, keep="last")
        matched = known.join(found, on=on, how="inner", maintain_order="left")
        cells = matched.select("customer", "period", "pseudonym")
        return cells.unique(["customer", "period"], keep="last").sort("customer", "period")
