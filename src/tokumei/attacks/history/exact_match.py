"""Attackers who look for rows that agree exactly on a few fields: any, and those with a name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import polars as pl

from tokumei.core.errors import InputError
from tokumei.data.history import History, period_of

FIELDS = ("date", "item", "price", "quantity")


@dataclass(frozen=True)
class ExactMatch:
    """Take the pseudonym of the row that agrees with a known purchase on the named fields.

    Knowledge: some rows of the original, items cut to their first characters. Aim: the customer's pseudonym
    in each month. Where several published rows agree, the last one counts; where several known rows of a
    customer and month find someone, the last of them counts. Several customers may be given one pseudonym. With date
    and quantity this is the contest's S1, with item and price S2, item and quantity S3, date and item S4, item, price
    and quantity S5, and item, date and quantity S6.
    """

    fields: tuple[str, ...] = field(
        default=("date", "quantity"), metadata={"help": "Fields that must agree: date, item, price, quantity."}
    )

    def guess(self, knowledge: History, published: History) -> pl.DataFrame:
        """Return the pseudonym of each customer and month for which a row agrees."""
        self.check_options()
        return match_exactly(knowledge, published, self.fields)

    def check_options(self) -> None:
        """Refuse fields that nobody knows."""
        for name in self.fields:
            if name not in FIELDS:
                raise InputError.of(f"a field: {', '.join(FIELDS)}", option="fields", value=name)


def match_exactly(knowledge: History, published: History, fields: tuple[str, ...]) -> pl.DataFrame:
    """Return the pseudonym of each customer and month for which a row agrees on these fields."""
    on = list(fields)
    known = knowledge.kept.select("customer", *on, period=period_of(pl.col("date")))
    released = published.kept.select(*on, pseudonym="customer")
    if "quantity" in on:
        # Those of one side may all be whole where the other has halves.
        known, released = (side.with_columns(pl.col("quantity").cast(pl.Float64)) for side in (known, released))
    if "item" in on:
        n_characters = known.select(pl.col("item").str.len_chars().max()).item()
        released = released.with_columns(item=pl.col("item").str.slice(0, n_characters))
    found = released.unique(on, keep="last")
    matched = known.join(found, on=on, how="inner", maintain_order="left")
    cells = matched.select("customer", "period", "pseudonym")
    return cells.unique(["customer", "period"], keep="last").sort("customer", "period")


@dataclass(frozen=True)
class Named:
    """An attacker with a name of its own: fixed fields, no options."""

    FIELDS: ClassVar[tuple[str, ...]] = ()

    def guess(self, knowledge: History, published: History) -> pl.DataFrame:
        """Return the pseudonym of each customer and month for which a row agrees."""
        return match_exactly(knowledge, published, self.FIELDS)


class S1(Named):
    """Take whoever bought the same quantity on the same day for the customer (S1 of PWSCUP 2017; see exact-match)."""

    FIELDS = ("date", "quantity")


class S2(Named):
    """Take whoever bought the same kind of item at the same price (S2 of PWSCUP 2017; see exact-match)."""

    FIELDS = ("item", "price")


class S3(Named):
    """Take whoever bought the same kind of item in the same quantity (S3 of PWSCUP 2017; see exact-match)."""

    FIELDS = ("item", "quantity")


class S4(Named):
    """Take whoever bought the same kind of item on the same day (S4 of PWSCUP 2017; see exact-match)."""

    FIELDS = ("date", "item")


class S5(Named):
    """Take whoever bought the same kind, price and quantity of an item (S5 of PWSCUP 2017; see exact-match)."""

    FIELDS = ("item", "price", "quantity")


class S6(Named):
    """Take whoever bought the same kind and quantity on the same day (S6 of PWSCUP 2017; see exact-match)."""

    FIELDS = ("item", "date", "quantity")


class SameDay(Named):
    """Take whoever bought on the same day for the customer (see exact-match)."""

    FIELDS = ("date",)


class SameItem(Named):
    """Take whoever bought the same item, in whatever month, for the customer (see exact-match)."""

    FIELDS = ("item",)


class SameMonthAndItem(Named):
    """Take whoever bought the same item in the same month for the customer (see exact-match)."""

    FIELDS = ("date", "item")

    def guess(self, knowledge: History, published: History) -> pl.DataFrame:
        """Return the pseudonym of each customer and month for which a row agrees."""
        known, seen = (
            History(side.frame.with_columns(pl.col("date").dt.month_start()), side.name)
            for side in (knowledge, published)
        )
        return match_exactly(known, seen, self.FIELDS)
