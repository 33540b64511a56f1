"""Sample attacker S1 of PWSCUP 2017: day and quantity."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from tokumei.attack.history.exact_match import ExactMatch
from tokumei.data.history import History

FIELDS = ("date", "quantity")


@dataclass(frozen=True)
class S1:
    """Take whoever bought the same quantity on the same day for the customer.

    Knowledge: some rows of the original, items cut to their first characters. Aim: the customer's pseudonym in each
    month. Success: the pseudonym is the customer's own; of several rows that agree the last counts (see ExactMatch).
    """

    def guess(self, knowledge: History, published: History) -> pl.DataFrame:
        """Give the pseudonym of each customer and month for which a row agrees."""
        return ExactMatch(FIELDS).guess(knowledge, published)
