"""How many rows were deleted."""

from __future__ import annotations

from dataclasses import dataclass

from tokumei.core.score import Score
from tokumei.data.history import History


@dataclass(frozen=True)
class Rows:
    """Share of rows that were deleted: 0 if none, 1 if all (E6 of PWSCUP 2017)."""

    def measure(self, original: History, released: History) -> Score:
        """Compare the number of rows."""
        n_rows = max(1, original.n_rows)
        return Score("rows", round(1 - released.kept.height / n_rows, 4), best=0, worst=1)
