"""Chance that every engine draws alike: numbers and names that a key and a row decide, and nothing else.

A seed gives each purpose a key of 128 bits; the MD5 of the key and of what names a row are four numbers below 2³². As a
function of a secret key nobody has told it from chance, all engines have it, and one block of it costs a quarter of a
microsecond. Neither the order of rows, nor how they are divided, nor the engine changes a draw.

Whole numbers stay below 2⁶³ and floats are computed in one order, so that results agree to the last bit.

What steps draw for the rows of a history is drawn here, in memory and for engines alike: as rows are changed piece by
piece, or beforehand, so that an engine reads a column where it would compute a digest. The generator counts (Philox, by
Salmon, Moraes, Dror and Shaw, 2011): any run of rows is drawn without those before it, and however the rows are divided
each gets the same numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

if TYPE_CHECKING:
    from tokumei.engines.engine import EngineValue
    from tokumei.engines.remote import RemoteEngine

# Of one draw, in bits and in hexadecimal digits.
BITS, DIGITS = 32, 8


@dataclass(frozen=True)
class Draws:
    """Independent draws for each row, as expressions of an engine."""

    words: tuple[EngineValue, ...]

    @classmethod
    def of(cls, engine: RemoteEngine, key: str, *named_by: EngineValue) -> Draws:
        """Draw four numbers by a key and the columns that name a row; text and whole numbers."""
        drawn = digest(key, *named_by)
        return cls(tuple(engine.number_of_digits(drawn.substr(at, DIGITS)) for at in range(0, 4 * DIGITS, DIGITS)))

    def whole(self, at: int = 0) -> EngineValue:
        """Return a draw from 0 to 2³² − 1."""
        return self.words[at]

    def below(self, n: int | EngineValue, at: int = 0) -> EngineValue:
        """Return a draw from 0 to n − 1, for n up to 2³¹."""
        return (self.whole(at) * n) >> BITS

    def share(self, at: int = 0) -> EngineValue:
        """Return a draw from 0 to 1, without 1."""
        return self.whole(at).cast("float64") / number(2.0**BITS)


def digests_here(key: str, *named_by: pl.Series) -> pl.Series:
    """Return the digits that `digest` computes of columns, in this process; missing where one of them is.

    >>> digests_here("", pl.Series(["abc", None])).to_list()
    ['900150983cd24fb0d6963f7d28e17f72', None]
    """
    texts = pl.select(pl.lit(key) + pl.concat_str(list(named_by), separator=" ")).to_series()
    drawn = [None if text is None else hashlib.md5(text.encode(), usedforsecurity=False).hexdigest() for text in texts]
    return pl.Series(drawn, dtype=pl.String)


@cache
def _md5() -> Callable[[EngineValue], EngineValue]:
    """Return the engine's own function that computes the MD5 of a text in hexadecimal digits."""
    import ibis

    @ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
    def md5(text: str) -> str:  # type: ignore[empty-body]
        ...

    return md5  # type: ignore[no-any-return]


def digest(key: str, *named_by: EngineValue) -> EngineValue:
    """Return the hexadecimal digits of a key and the columns that name a row; text and whole numbers."""
    import ibis

    text = ibis.literal(key)
    for at, one in enumerate(named_by):
        # A blank after a number cannot be part of it, so that no two lists of columns read alike; text comes last.
        text = text + one.cast("string") + (" " if at + 1 < len(named_by) else "")
    return _md5()(text)


def number(value: float) -> EngineValue:
    """Return a float that no engine takes for a decimal."""
    import ibis

    return ibis.literal(float(value), "float64")


def whole_number(value: int) -> EngineValue:
    """Return a whole number of 64 bits."""
    import ibis

    return ibis.literal(int(value), "int64")


def either(condition: EngineValue, then: EngineValue, otherwise: EngineValue) -> EngineValue:
    """Return one value where a condition holds, and else another."""
    import ibis

    return ibis.ifelse(condition, then, otherwise)


def place(group: EngineValue | Sequence[str] | str | None, order: Sequence[EngineValue | str]) -> EngineValue:
    """Count up the rows of each group, or all rows for None, in an order that leaves no two alike, from 0."""
    import ibis

    return ibis.row_number().over(ibis.window(group_by=group, order_by=list(order))).cast("int64")


NUMBER = "tokumei_number"


def once_each(rows: pl.DataFrame, compute: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.DataFrame:
    """Compute on the distinct rows, and return the result for each row.

    >>> rows = pl.DataFrame({"customer": ["a", "a", None, "a"]})
    >>> once_each(rows, lambda some: some.select(n=pl.col("customer").str.len_chars()))["n"].to_list()
    [1, 1, None, 1]
    """
    if rows.is_empty():
        return compute(rows)
    run = rows.to_struct().rle_id()
    heads = rows.filter(run != run.shift(1, fill_value=run[-1] + 1))
    distinct = heads.unique(maintain_order=True)
    numbered = distinct.with_row_index(NUMBER)
    number = heads.join(numbered, on=rows.columns, how="left", nulls_equal=True, maintain_order="left")[NUMBER]
    return compute(distinct).select(pl.all().gather(number.gather(run)))


# Numbers of 64 bits that the generator gives at each step of its counter; of each the halves are two draws.
A_STEP = 4


def drawn_numbers(key: str, first: int, n: int) -> npt.NDArray[np.uint64]:
    """Draw 64 bits for each of n rows, from a number of a row on, by a key of 32 hexadecimal digits.

    >>> key = "00112233445566778899aabbccddeeff"
    >>> drawn_numbers(key, 0, 10).tolist()[7:] == drawn_numbers(key, 7, 3).tolist()
    True
    """
    bits = np.random.Philox(key=int(key, 16), counter=first // A_STEP)
    numbers: npt.NDArray[np.uint64] = bits.random_raw(first % A_STEP + n)[first % A_STEP :]
    return numbers


def drawn_alike(key: str, *columns: pl.Series) -> pl.Series:
    """Draw a number below 2³² for each row, the same for rows that agree on the columns; text and whole numbers.

    >>> drawn_alike("", pl.Series(["abc", None, "abc"])).to_list() == [0x90015098, None, 0x90015098]
    True
    """

    def draw(distinct: pl.DataFrame) -> pl.DataFrame:
        return digests_here(key, *distinct).str.head(DIGITS).str.to_integer(base=16, dtype=pl.Int64).to_frame("drawn")

    return once_each(pl.DataFrame([one.rename(f"{at}") for at, one in enumerate(columns)]), draw)["drawn"]


# How the columns of numbers that stand beside rows begin.
CHANCE = "drawn_"


def chance_beside(keys: Sequence[str], first: int, n: int) -> pl.DataFrame:
    """Draw a number below 2³² by each key for a run of rows, in columns named by `chance_column`."""
    drawn = {chance_column(key): drawn_numbers(key, first, n) >> np.uint64(BITS) for key in keys}
    return pl.DataFrame(drawn, schema=dict.fromkeys(drawn, pl.UInt64)).cast(pl.UInt32)


def chance_column(key: str) -> str:
    """Name the column of what is drawn by a key."""
    return CHANCE + key[:16]
