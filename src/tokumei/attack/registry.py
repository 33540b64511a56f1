"""The attacks by name."""

from __future__ import annotations

from typing import Protocol

import polars as pl

from tokumei.core.registry import Registry
from tokumei.data.history import History


class HistoryAttack(Protocol):
    """Finds customers in a release from knowledge of some purchases; its fields are its options."""

    def guess(self, knowledge: History, published: History) -> pl.DataFrame:
        """Give the pseudonym believed to be each customer's in each month: customer, period, pseudonym.

        A customer and month without a guess is left out.
        """


HISTORY_ATTACKS: Registry[HistoryAttack] = Registry("history attack", "tokumei.attack.history")
