"""The attacker who knows quasi-identifiers, and then one sensitive column."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from tokumei.attacks.nearest import SharedClasses, as_guess, nearest_rows, sensitive_index
from tokumei.data.table import Table
from tokumei.measures.table_pair import TablePair

COLUMN = 15


@dataclass(frozen=True)
class IdSa:
    """Of the people with the quasi-identifiers of a released row, take the nearest in one sensitive column.

    E2 IdSA of PWSCUP 2015, which compared the 15th column. Knowledge: the original; sees X and Y. Aim: whose each
    released row is. Success: the row is that person's; 0 nobody, 1 all. Where nobody has these values there is no
    guess; of values as near the lower is taken, of equal ones the first row, which is our choice.

    Example: to 5 in class b both 1 and 9 are as near, so the lower is taken; nobody has c. The guess is the row of a
    person who is known.

    | row | known  | released | guess |
    |-----|--------|----------|-------|
    | 0   | (a, 1) | (a, 4)   | 1     |
    | 1   | (a, 5) | (b, 4)   | 2     |
    | 2   | (b, 1) | (b, 5)   | 2     |
    | 3   | (b, 9) | (c, 1)   | none  |
    """

    column: str = field(default="", metadata={"help": "Sensitive column; the 15th of the table if none is named."})

    def guess(self, knowledge: Table, published: Table, *, seed: int) -> pl.Series:  # noqa: ARG002
        """Return the nearest row of the class of each published row."""
        index = sensitive_index(knowledge, self.column, COLUMN)
        pair = TablePair.of(knowledge, published)
        return as_guess(nearest_rows(SharedClasses.of(pair), pair.amounts[:, index], pair.released_amounts[:, index]))
