"""Naming customers on an engine: a pseudonym is a function of the customer, the life and a secret key."""

from __future__ import annotations

from typing import Any

from tokumei.anonymize.history.pseudonyms import Pseudonyms
from tokumei.core.errors import InputError
from tokumei.counting.draws import Draws, either, key_of, whole_number
from tokumei.counting.engine_history import EngineHistory

# So many that no two of a billion lives are expected to meet; that none did is counted all the same.
NAME_DIGITS = 20


def named(method: Pseudonyms | None, history: EngineHistory, rows: Any, *, seed: int) -> Any:
    """Give rows of customer and period a column `pseudonym`: for the whole time without a method, else as it says."""
    by = [rows.customer]
    if method is not None:
        method.check_options()
        if method.risk_limit is not None:
            raise InputError.of("no risk limit on an engine: halving lives needs the local one", option="risk_limit")
        there = history.kept
        first = history.fetch(there.aggregate(first=there.period.min()))["first"][0] or 0
        since = rows.period - whole_number(first)
        by = [since - since % whole_number(method.lifetime), rows.customer]
    draws = Draws.of(history.engine, key_of(seed, "pseudonyms"), *by)
    name = draws.name(_prefix(history), NAME_DIGITS)
    return rows.mutate(pseudonym=either(rows.customer.notnull(), name, None))


def with_new_invoices(history: EngineHistory, rows: Any, *, seed: int) -> Any:
    """Name each invoice anew under each pseudonym, so that none joins two of them; one number for all tells nothing."""
    there = history.kept
    found = history.fetch(there.aggregate(least=there.invoice.min(), greatest=there.invoice.max()))
    if found["least"][0] == found["greatest"][0]:
        return rows
    draws = Draws.of(history.engine, key_of(seed, "invoices"), rows.pseudonym, rows.invoice)
    name = draws.name(_prefix(history, "invoice", "B"), NAME_DIGITS)
    return rows.mutate(invoice=either(rows.invoice.notnull(), name, None))


def _prefix(history: EngineHistory, column: str = "customer", letter: str = "P") -> str:
    """Give letters that no value of a column begins with, so that no new name is an old one."""
    prefix = letter
    while True:
        there = history.kept
        if history.fetch(there.filter(there[column].startswith(prefix)).limit(1).select("row")).is_empty():
            return prefix
        prefix += letter
