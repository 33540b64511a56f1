"""The attacker who sorts by the sum of all sensitive values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from tokumei.attacks.nearest import as_guess
from tokumei.data.table import Table
from tokumei.measures.table_pair import TablePair


@dataclass(frozen=True)
class Sort:
    """Sort both tables by the sum of sensitive values and match them by rank (E3 Sort of PWSCUP 2015).

    Knowledge: the original; sees X and Y. Aim: whose each released row is. Success: the row is that person's; 0 nobody,
    1 all. Noise that leaves the order alone does not help against it. Where rows are gone the ranks are stretched
    evenly, and equal sums stay in the order of rows; both are our choice.

    Example: the sums of four people are 4, 1, 3 and 2, those of four released rows 30, 10, 20 and 40. By rank these are
    the third, the first, the second and the last, so the guesses are rows 2, 1, 3 and 0.
    """

    def guess(self, knowledge: Table, published: Table, *, seed: int) -> pl.Series:  # noqa: ARG002
        """Return the row of the same rank for each published row."""
        pair = TablePair.of(knowledge, published)
        order = np.argsort(pair.amounts.sum(axis=1), kind="stable")
        published_order = np.argsort(pair.released_amounts.sum(axis=1), kind="stable")
        # The middle of each rank, so that neither end is favored.
        ranks = (2 * np.arange(pair.n_released) + 1) * pair.n_rows // (2 * pair.n_released)
        rows = np.empty(pair.n_released, np.int64)
        rows[published_order] = order[ranks]
        return as_guess(rows)
