"""Sample attacker S4 of PWSCUP 2017: day and kind of item."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from tokumei.attack.history.exact_match import ExactMatch
from tokumei.data.history import History

FIELDS = ("date", "item")


@dataclass(frozen=True)
class S4:
    """Take whoever bought an item of the same kind on the same day for the customer.

    Knowledge: some rows of the original, items cut to their first characters. Aim: the customer's pseudonym in each
    month. Success: the pseudonym is the customer's own; of several rows that agree the last counts (see ExactMatch).
    """

    def guess(self, knowledge: History, published: History) -> pl.DataFrame:
        """Give the pseudonym of each customer and month for which a row agrees."""
        return ExactMatch(FIELDS).guess(knowledge, published)
