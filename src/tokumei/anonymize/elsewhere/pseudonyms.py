"""Naming customers on an engine: a pseudonym is a function of the customer, the life and a secret key."""

from __future__ import annotations

from typing import Any

from tokumei.anonymize.history.pseudonyms import Pseudonyms
from tokumei.core.errors import InputError
from tokumei.counting.draws import either, whole_number
from tokumei.counting.engine_history import EngineHistory

# So many that no two of a billion lives are expected to meet; that none did is counted all the same.
NAME_DIGITS = 20


def named(method: Pseudonyms | None, history: EngineHistory, *, seed: int) -> Any:
    """Give the rows with a column `pseudonym`: for the whole time without a method, else as long as it says."""
    rows = history.table
    by: tuple[str, ...] = ("customer",)
    if method is not None:
        method.check_options()
        if method.risk_limit is not None:
            raise InputError.of("no risk limit on an engine: halving lives needs the local one", option="risk_limit")
        there = history.kept
        first = history.fetch(there.aggregate(first=there.period.min()))["first"][0] or 0
        lived = (rows.period - whole_number(first)) % whole_number(method.lifetime)
        history = history.with_cells({"life": rows.period - whole_number(first) - lived})
        by = ("life", "customer")
    draws = history.draws(seed, "pseudonyms", by=by)
    name = draws.name(_prefix(history), NAME_DIGITS)
    pseudonym = either(history.table.customer.notnull(), name, None)
    return history.table.mutate(pseudonym=pseudonym)


def _prefix(history: EngineHistory) -> str:
    """Give letters that no customer begins with, so that no pseudonym is anybody's id."""
    prefix = "P"
    while True:
        taken = history.kept.filter(history.kept.customer.startswith(prefix)).limit(1).select("row")
        if history.fetch(taken).is_empty():
            return prefix
        prefix += "P"
