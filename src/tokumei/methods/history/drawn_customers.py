"""What methods have in common that draw purchases of nobody: who is kept out of fitting, and the baskets they count."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.registry import part_name
from tokumei.core.seeds import generator, key_of
from tokumei.data.history import History, free_prefix, period_of
from tokumei.data.release import Release
from tokumei.engines.item_sets import Floats
from tokumei.methods.history.basket_model import BasketModel, as_history
from tokumei.methods.history.steps import MAP_COLUMNS, recipe_of

# What attacks may find of people beyond what they find of others.
USUAL_BOUND = 0.02
WORD_BITS = 64
PREFIX = "P"


@dataclass(frozen=True, eq=False)
class Baskets:
    """The purchases of some customers as baskets: all that one bought on a day.

    rows: one for each purchase, with numbers for customer and basket. each: one for each basket, in the order of the
    customers and days, with how many the customer had before (`number`). items: each item of each basket once, with
    whether the customer had bought it before.
    """

    rows: pl.DataFrame
    each: pl.DataFrame
    items: pl.DataFrame
    n_customers: int

    @classmethod
    def of(cls, history: History) -> Baskets:
        """Return the baskets of a history; rows without an item or a date are left out."""
        kept = history.kept.filter(pl.col("item").is_not_null() & pl.col("date").is_not_null())
        rows = kept.sort("customer", "date", maintain_order=True).with_columns(
            customer=pl.col("customer").rank("dense").cast(pl.Int64) - 1,
            basket=pl.struct("customer", "date").rle_id().cast(pl.Int64),
            month=period_of(pl.col("date")).cast(pl.Int64),
        )
        each = (
            rows.group_by("basket", maintain_order=True)
            .agg(
                pl.col("customer", "date", "month", "time").first(),
                size=pl.col("item").n_unique().cast(pl.Int64),
            )
            .with_columns(
                number=pl.int_range(pl.len()).over("customer").cast(pl.Int64),
                weekday=pl.col("date").dt.weekday().cast(pl.Int64) - 1,
                hour=pl.col("time").dt.hour().cast(pl.Int64),
            )
        )
        items = rows.select("customer", "basket", "month", "item").unique(maintain_order=True)
        items = items.with_columns(is_back=pl.col("basket") > pl.col("basket").min().over("customer", "item"))
        return cls(rows, each, items, rows["customer"].n_unique())

    @cached_property
    def n_baskets(self) -> pl.DataFrame:
        """How many baskets each customer has."""
        return self.each.group_by("customer").agg(n=pl.len().cast(pl.Int64)).sort("customer")


@dataclass(frozen=True, kw_only=True)
class CustomerSynthesizer(ABC):
    """A method that fits a model to what customers buy over time, and draws customers who are nobody."""

    hold_out: float | None = field(
        default=None,
        metadata={"help": "Share of the customers kept out of fitting, beside whom drawn purchases are attacked."},
    )
    bound: float = field(
        default=USUAL_BOUND,
        metadata={"help": "The share of customers that an attack may find beyond what it finds of those kept out."},
    )
    anyway: bool = field(
        default=False, metadata={"help": "Release purchases that attacks find customers by all the same."}
    )
    n_customers: int = field(default=0, metadata={"help": "Customers to draw; 0 draws as many as there are."})

    # No row is anybody's, so that no pseudonym leads to a customer.
    draws_all_rows: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("item",)

    def __post_init__(self) -> None:
        if self.hold_out is not None and not 0 <= self.hold_out < 1:
            raise InputError.of("a share from 0 to less than 1", option="hold_out", value=self.hold_out)
        if not 0 < self.bound <= 1:
            raise InputError.of("a share above 0, of at most 1", option="bound", value=self.bound)
        if self.n_customers < 0:
            raise InputError.of("0 or a number of customers", option="n_customers", value=self.n_customers)

    @abstractmethod
    def fit(self, history: History, share: float, *, seed: int) -> tuple[BasketModel, int | None, Mapping[str, Any]]:
        """Return a model of the customers, how many to draw if not as many as there are, and what is in the recipe.

        share: the chance of each customer to be in the history.
        """

    @abstractmethod
    def share_outside(self, n_customers: int) -> float:
        """Return the share of the customers that is kept out."""

    def outside(self, history: History, *, seed: int) -> list[str]:
        """Return the customers who are kept out of fitting, in order: each by a coin of their own."""
        coins = self.coins(history, seed=seed)
        return [who for who, coin in coins.items() if coin < self.share_outside(len(coins))]

    def coins(self, history: History, *, seed: int) -> dict[str, float]:
        """Draw a number from 0 to 1 for each customer, in order; no other customer decides on it."""
        key = bytes.fromhex(key_of(seed, part_name(self), "outside"))
        return {who: _coin(key, who) for who in history.customers}

    def prefix(self, original: History) -> str:
        """Return what every pseudonym begins with, and no customer."""
        return free_prefix(PREFIX, original.frame["customer"])

    def anonymize(self, original: History, *, seed: int) -> Release:
        """Fit the model to all customers but those kept out, and draw the release."""
        outside = self.outside(original, seed=seed)
        told = original
        if outside:
            told = History(original.kept.filter(~pl.col("customer").is_in(outside)), original.name)
        if not told.kept["item"].is_not_null().any():
            raise CannotAnonymize("No customer is left to fit: keep fewer out (hold_out).")
        model, n_customers, facts = self.fit(told, 1 - self.share_outside(len(original.customers)), seed=seed)
        random = generator(seed, part_name(self), "draw")
        columns = [name for name in original.frame.columns if name not in original.absent]
        drawn = model.draw(self.n_customers or n_customers or len(original.customers), random, columns)
        frame = as_history(drawn, original, self.prefix(original))
        found = {**facts, "held_out": len(outside)}
        return Release(
            frame,
            recipe=replace(recipe_of(self, seed), found=found),
            rows=pl.Series("row", [None] * frame.height, pl.Int64),
            pseudonyms=pl.DataFrame(schema=dict(zip(MAP_COLUMNS, (pl.String, pl.Int32, pl.String), strict=True))),
        )


def _coin(key: bytes, who: str) -> float:
    """Return a number from 0 to 1 that a key draws for a customer, whoever else there is."""
    digest = hashlib.blake2b(who.encode(), key=key, digest_size=8).digest()
    return int.from_bytes(digest, "little") / float(2**WORD_BITS)


def shares_of(weights: Floats) -> Floats:
    """Return weights as shares of their sum; all alike where they are 0."""
    total = math.fsum(weights)
    return weights / total if total > 0 else np.full(len(weights), 1 / max(1, len(weights)))
