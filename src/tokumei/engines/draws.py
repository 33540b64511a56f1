"""Chance that every engine draws alike: numbers and names that a key and a row decide, and nothing else.

A seed gives each purpose a key of 128 bits; the MD5 of the key and of what names a row are four numbers below 2³². As
a function of a secret key nobody has told it from chance, all engines have it, and one block of it costs a quarter of a
microsecond. Neither the order of rows, nor how they are divided, nor the engine changes a draw.

Whole numbers stay below 2⁶³ and floats are computed in one order, so that results agree to the last bit.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import ibis
import polars as pl

# Of one draw, in bits and in hexadecimal digits.
BITS, DIGITS = 32, 8


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def md5(text: str) -> str:  # type: ignore[empty-body]
    """Return the MD5 of a text in hexadecimal digits, by the engine's own function."""


@dataclass(frozen=True)
class Draws:
    """Independent draws for each row, as expressions of an engine."""

    words: tuple[Any, ...]

    @classmethod
    def of(cls, engine: Any, key: str, *named_by: Any) -> Draws:
        """Draw four numbers by a key and the columns that name a row; text and whole numbers."""
        drawn = digest(key, *named_by)
        return cls(tuple(engine.number_of_digits(drawn.substr(at, DIGITS)) for at in range(0, 4 * DIGITS, DIGITS)))

    def whole(self, at: int = 0) -> Any:
        """Return a draw from 0 to 2³² − 1."""
        return self.words[at]

    def below(self, n: Any, at: int = 0) -> Any:
        """Return a draw from 0 to n − 1, for n up to 2³¹."""
        return (self.whole(at) * n) >> BITS

    def share(self, at: int = 0) -> Any:
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


def digest(key: str, *named_by: Any) -> Any:
    """Return the hexadecimal digits of a key and the columns that name a row; text and whole numbers."""
    text = ibis.literal(key)
    for at, one in enumerate(named_by):
        # A blank after a number cannot be part of it, so that no two lists of columns read alike; text comes last.
        text = text + one.cast("string") + (" " if at + 1 < len(named_by) else "")
    return md5(text)


def drawn_name(prefix: str, n_digits: int, key: str, *named_by: Any) -> Any:
    """Return a name of so many hexadecimal digits after a prefix."""
    return ibis.literal(prefix) + digest(key, *named_by).substr(0, n_digits)


def number(value: float) -> Any:
    """Return a float that no engine takes for a decimal."""
    return ibis.literal(float(value), "float64")


def whole_number(value: int) -> Any:
    """Return a whole number of 64 bits."""
    return ibis.literal(int(value), "int64")


def either(condition: Any, then: Any, otherwise: Any) -> Any:
    """Return one value where a condition holds, and else another."""
    return ibis.ifelse(condition, then, otherwise)


def rounded(value: Any, per_unit: int = 1) -> Any:
    """Round a float to so many parts of a unit, halves up: engines disagree on what `round` does with halves."""
    whole = (value * number(per_unit) + number(0.5)).floor().cast("float64")
    return whole if per_unit == 1 else whole / number(per_unit)


def at_least(value: Any, least: Any) -> Any:
    """Cut a value at its lower end."""
    return ibis.greatest(value, least)


def between(value: Any, least: Any, most: Any) -> Any:
    """Cut a value at two ends."""
    return ibis.least(at_least(value, least), most)
