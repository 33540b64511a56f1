"""The attacker who takes buyers of one item in one month for one."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from tokumei.attack.history.exact_match import ExactMatch
from tokumei.data.history import History


@dataclass(frozen=True)
class SameMonthAndItem:
    """Take whoever bought the same item in the same month for the customer.

    Knowledge: some rows of the original, items cut to their first characters. Aim: the customer's pseudonym in each
    month. Success: the pseudonym is the customer's own; of several rows that agree the last counts (see ExactMatch).
    """

    def guess(self, knowledge: History, published: History) -> pl.DataFrame:
        """Give the pseudonym of each customer and month for which a row agrees."""
        return ExactMatch(("date", "item")).guess(_by_month(knowledge), _by_month(published))


def _by_month(history: History) -> History:
    """Put every purchase on the first of its month."""
    return History(history.frame.with_columns(pl.col("date").dt.month_start()), history.name)
