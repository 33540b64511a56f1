"""Naming customers on an engine: a pseudonym is a function of the customer, the life and a secret key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.seeds import key_of
from tokumei.engines.distinct_rows import once_each
from tokumei.engines.draws import digests_here, drawn_name, either, whole_number
from tokumei.engines.engine_history import EngineHistory
from tokumei.methods.history.pseudonyms import Pseudonyms

# So many that no two of a billion lives are expected to meet; that none did is counted all the same.
NAME_DIGITS = 20


@dataclass(frozen=True)
class Naming:
    """How the customers and invoices of a history are named: for the whole time without a method, else as it says."""

    method: Pseudonyms | None
    seed: int
    # The first month, in which the first lives begin.
    first: int
    # Letters that no customer and no invoice of the file begins with, so that no new name is an old one.
    prefix: str
    invoice_prefix: str
    # One number for all invoices tells nothing, and stays.
    has_invoices: bool

    @classmethod
    def of(cls, method: Pseudonyms | None, history: EngineHistory, lives: Any, *, seed: int) -> Naming:
        """Look at what names depend on, given the customers and periods of all rows that are not deleted."""
        if method is not None:
            method.check_options()
            if method.risk_limit is not None:
                expected = "no risk limit on an engine: halving lives needs the local one"
                raise InputError.of(expected, option="risk_limit")
        return cls(
            method,
            seed,
            first=int(history.fetch(lives.aggregate(first=lives.period.min()))["first"][0] or 0),
            prefix=history.staged.free_prefixes["customer"],
            invoice_prefix=history.staged.free_prefixes["invoice"],
            has_invoices=not history.staged.is_one_invoice,
        )

    def named(self, rows: Any) -> Any:
        """Add a column `pseudonym` to rows of customer and period."""
        by = [rows.customer]
        if self.method is not None:
            since = rows.period - whole_number(self.first)
            by = [since - since % whole_number(self.method.lifetime), rows.customer]
        name = drawn_name(self.prefix, NAME_DIGITS, key_of(self.seed, "pseudonyms"), *by)
        return rows.mutate(pseudonym=either(rows.customer.notnull(), name, None))

    def named_here(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Name fetched rows as the engine does, with a new name for each invoice under each pseudonym.

        So no invoice joins two pseudonyms. An engine would draw the names of every row, here those of a basket are
        drawn once.
        """
        # A deleted row is named with the one before it, so that it does not part a basket, and stays deleted.
        baskets = rows.select(pl.col("customer", "period", "invoice").forward_fill())
        names = once_each(baskets, self._names)
        is_there = rows["customer"].is_not_null()
        return rows.with_columns(pl.when(is_there).then(names[column]).alias(column) for column in names.columns)

    def _names(self, baskets: pl.DataFrame) -> pl.DataFrame:
        customer, since = baskets["customer"], baskets["period"] - self.first
        by = [customer] if self.method is None else [since - since % self.method.lifetime, customer]
        names = self.prefix + digests_here(key_of(self.seed, "pseudonyms"), *by).str.head(NAME_DIGITS)
        invoices = baskets["invoice"]
        if self.has_invoices:
            drawn = digests_here(key_of(self.seed, "invoices"), names, invoices)
            invoices = self.invoice_prefix + drawn.str.head(NAME_DIGITS)
        return pl.DataFrame({"customer": names, "invoice": invoices})
