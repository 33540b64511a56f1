"""Numbers of chance that stand beside the rows of a history: a key and the number of a row decide them, nothing else.

They are drawn here as the rows are read, so that an engine reads a column where it would compute a digest. The
generator counts (Philox, by Salmon, Moraes, Dror and Shaw, 2011): any run of rows is drawn without those before it, and
however the rows are divided each gets the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.engines.distinct_rows import once_each
from tokumei.engines.draws import BITS, DIGITS, digests_here

# Numbers of 64 bits that the generator gives at each step of its counter; of each the halves are two draws.
A_STEP = 4
# The column of what a basket has in common.
BASKET = "drawn_basket"


def drawn_numbers(key: str, first: int, n: int) -> npt.NDArray[np.uint64]:
    """Draw 64 bits for each of n rows, from a number of a row on, by a key of 32 hexadecimal digits.

    >>> key = "00112233445566778899aabbccddeeff"
    >>> drawn_numbers(key, 0, 10).tolist()[7:] == drawn_numbers(key, 7, 3).tolist()
    True
    """
    bits = np.random.Philox(key=int(key, 16), counter=first // A_STEP)
    numbers: npt.NDArray[np.uint64] = bits.random_raw(first % A_STEP + n)[first % A_STEP :]
    return numbers


@dataclass(frozen=True)
class DrawnBeside:
    """What is drawn for the rows of a history before any of them is changed."""

    # How many numbers from 0 to 2³² − 1 of each row, one or two, by their key.
    of_rows: Mapping[str, int] = field(default_factory=dict)
    # The key of one that all that a customer bought on a day has in common; none where it is empty.
    basket_key: str = ""

    @property
    def row_columns(self) -> list[str]:
        """The columns of what is drawn for each row."""
        return [name for key in self.of_rows for name in self.columns_of(key)]

    @property
    def columns(self) -> list[str]:
        """All columns that stand beside the rows."""
        return [*self.row_columns, *([BASKET] if self.basket_key else [])]

    def columns_of(self, key: str) -> list[str]:
        """Name the columns of one key."""
        return [f"drawn_{key[:16]}_{at}" for at in range(self.of_rows[key])]

    def for_rows(self, first: int, n: int) -> pl.DataFrame:
        """Draw for a run of rows, from a number of a row on."""
        columns: dict[str, npt.NDArray[np.uint64]] = {}
        for key in self.of_rows:
            numbers = drawn_numbers(key, first, n)
            halves = (numbers >> np.uint64(BITS), numbers & np.uint64(2**BITS - 1))
            columns |= dict(zip(self.columns_of(key), halves, strict=False))
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.UInt64)).cast(pl.UInt32)

    def added_to(self, rows: pl.DataFrame, first: int) -> pl.DataFrame:
        """Add what is drawn to rows from a number on, of customers and dates as whole numbers."""
        rows = rows.hstack(self.for_rows(first, rows.height))
        if not self.basket_key:
            return rows
        return rows.hstack(once_each(rows.select("date", "customer"), self._for_baskets))

    def _for_baskets(self, baskets: pl.DataFrame) -> pl.DataFrame:
        digits = digests_here(self.basket_key, baskets["date"], baskets["customer"]).str.head(DIGITS)
        return digits.str.to_integer(base=16, dtype=pl.UInt32).alias(BASKET).to_frame()
