"""Naming customers on an engine: a pseudonym is a function of the customer, the life and a secret key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tokumei.anonymize.history.pseudonyms import Pseudonyms
from tokumei.core.errors import InputError
from tokumei.counting.draws import Draws, either, key_of, whole_number
from tokumei.counting.engine_history import EngineHistory

# So many that no two of a billion lives are expected to meet; that none did is counted all the same.
NAME_DIGITS = 20


@dataclass(frozen=True)
class Naming:
    """How the customers and invoices of a history are named: for the whole time without a method, else as it says."""

    method: Pseudonyms | None
    engine: Any
    seed: int
    # The first month, in which the first lives begin.
    first: int
    # Letters that no customer and no invoice begins with, so that no new name is an old one.
    prefix: str
    invoice_prefix: str
    # One number for all invoices tells nothing, and stays.
    has_invoices: bool

    @classmethod
    def of(cls, method: Pseudonyms | None, history: EngineHistory, *, seed: int) -> Naming:
        """Look in one pass at what names depend on."""
        if method is not None:
            method.check_options()
            if method.risk_limit is not None:
                expected = "no risk limit on an engine: halving lives needs the local one"
                raise InputError.of(expected, option="risk_limit")
        there = history.kept
        found = history.fetch(
            there.aggregate(
                first=there.period.min(),
                least=there.invoice.min(),
                greatest=there.invoice.max(),
                has_p=there.customer.startswith("P").ifelse(1, 0).max(),
                has_b=there.invoice.startswith("B").ifelse(1, 0).max(),
            )
        ).row(0, named=True)
        return cls(
            method,
            history.engine,
            seed,
            first=int(found["first"] or 0),
            prefix=_prefix(history, "customer", "PP") if found["has_p"] else "P",
            invoice_prefix=_prefix(history, "invoice", "BB") if found["has_b"] else "B",
            has_invoices=found["least"] != found["greatest"],
        )

    def named(self, rows: Any) -> Any:
        """Give rows of customer and period a column `pseudonym`."""
        by = [rows.customer]
        if self.method is not None:
            since = rows.period - whole_number(self.first)
            by = [since - since % whole_number(self.method.lifetime), rows.customer]
        name = Draws.of(self.engine, key_of(self.seed, "pseudonyms"), *by).name(self.prefix, NAME_DIGITS)
        return rows.mutate(pseudonym=either(rows.customer.notnull(), name, None))

    def with_new_invoices(self, rows: Any) -> Any:
        """Name each invoice anew under each pseudonym, so that none joins two of them."""
        if not self.has_invoices:
            return rows
        draws = Draws.of(self.engine, key_of(self.seed, "invoices"), rows.pseudonym, rows.invoice)
        name = draws.name(self.invoice_prefix, NAME_DIGITS)
        return rows.mutate(invoice=either(rows.invoice.notnull(), name, None))


def _prefix(history: EngineHistory, column: str, prefix: str) -> str:
    """Lengthen a prefix by its letter until no value of a column begins with it."""
    while True:
        there = history.kept
        if history.fetch(there.filter(there[column].startswith(prefix)).limit(1).select("row")).is_empty():
            return prefix
        prefix += prefix[0]
