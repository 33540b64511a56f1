"""The attacker who counts: how many rows a pseudonym has each month, whatever stands in them."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from tokumei.attacks.history.linkage import CELL_SECONDS, MATCH_SECONDS, SCHEMA, guesses_of, weigh
from tokumei.attacks.linkage.epochs import find_epochs
from tokumei.attacks.linkage.joining import match_counts
from tokumei.core.cost import Cost
from tokumei.data.history import History


@dataclass(frozen=True)
class RowCounts:
    """Match customers to pseudonyms by their numbers of rows alone, month by month, one to one.

    Knowledge: some rows of the original; unknown rows that stand in their places tell more. Aim: the customer's
    pseudonym in each month, and the months in which the customer has none. Success: all months right. This is who
    suspects that purchases were exchanged among customers: their contents then mislead, and only what was not
    exchanged is left to go by. Where numbers of rows were made equal, as by `permute-groups`, it finds nobody.
    """

    def guess(self, knowledge: History, published: History) -> pl.DataFrame:
        """Return the pseudonym of each customer and month in which absence is less likely."""
        if not knowledge.customers or not published.customers:
            return pl.DataFrame(schema=SCHEMA)
        evidence, counts = weigh(knowledge, published, has_habits=False)
        epochs = find_epochs(evidence.n_rows, len(evidence.compared.customers))
        return guesses_of(evidence.compared, match_counts(counts, epochs))

    def estimate(self, knowledge: History, published: History) -> Cost:
        """Estimate the cost of an attack: scores of all customers and pseudonyms, and matching them."""
        n_customers, n_names = len(knowledge.customers), len(published.customers)
        n_cells = float(n_customers) * n_names
        return Cost(0.5 + n_cells * (CELL_SECONDS + n_customers * MATCH_SECONDS), n_cells * 8 * 4)
