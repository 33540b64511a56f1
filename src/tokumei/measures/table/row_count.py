"""How many rows are gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.text import Text
from tokumei.data.table import Table
from tokumei.measures.registry import Sees


@dataclass(frozen=True)
class RowCount:
    """Share of rows that are gone: 0 if all are released, 1 if none is.

    U6 nrow of PWSCUP 2015; sees Y, since how many rows X has is announced. The contest took the number itself.

    Example: of four rows three are released, so 1/4 is gone. More rows than the original has are refused.
    """

    sees: ClassVar[Sees] = Sees.RELEASE

    def measure(self, original: Table, released: Table, rows: pl.Series) -> Score:  # noqa: ARG002
        """Compare the numbers of rows."""
        if released.n_rows > original.n_rows:
            expected = Text("at most the original's {n:,} rows", n=original.n_rows)
            raise InputError.of(expected, file=released.name, value=f"{released.n_rows:,}")
        return Score("row-count", 1 - released.n_rows / max(1, original.n_rows), best=0, worst=1)
