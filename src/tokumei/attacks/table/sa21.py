"""The attacker who knows one sensitive column."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from tokumei.attacks.nearest import SharedClasses, as_guess, nearest_rows, sensitive_index
from tokumei.data.table import Table
from tokumei.measures.table_pair import TablePair

COLUMN = 21


@dataclass(frozen=True)
class Sa21:
    """Take the person who is nearest in one sensitive column, whatever the other columns say.

    E4 SA21 of PWSCUP 2015, which compared the 21st column. Knowledge: the original; sees X and Y. Aim: whose each
    released row is. Success: the row is that person's; 0 nobody, 1 all. Changed quasi-identifiers do not help against
    it. Of values as near the lower is taken, of equal ones the first row, which is our choice.

    Example: people with 10, 20, 30 and 20 are rows 0 to 3. For released rows with 12, 20, 27 and 25 the guesses are
    rows 0, 1, 2 and 1: of both with 20 the first is taken, and 25 is as near to 20 as to 30, of which 20 is the lower.
    """

    column: str = field(default="", metadata={"help": "Sensitive column; the 21st of the table if none is named."})

    def guess(self, knowledge: Table, published: Table, *, seed: int) -> pl.Series:  # noqa: ARG002
        """Return the nearest row for each published row."""
        index = sensitive_index(knowledge, self.column, COLUMN)
        pair = TablePair.of(knowledge, published)
        everyone = SharedClasses(np.zeros(pair.n_rows, np.int64), np.zeros(pair.n_released, np.int64))
        return as_guess(nearest_rows(everyone, pair.amounts[:, index], pair.released_amounts[:, index]))
