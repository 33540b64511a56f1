"""Texts that stand for a missing value, besides the empty cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation

import polars as pl

# More digits than any column of integers holds.
LONGEST = 40


def with_missing(frame: pl.LazyFrame, null_values: Sequence[str]) -> pl.LazyFrame:
    """Replace cells that stand for a missing value, whatever the type of their column.

    Numbers are compared as numbers of their column's own kind, so that -9 stands for -9.0 too and a long integer for
    no other; dates and the like by their text. NaN, however it is written, stands for what is no number.
    """
    if not null_values:
        return frame
    texts = pl.Series(list(null_values), dtype=pl.String)
    kinds = frame.collect_schema()
    numbers = {kind: _numbers_of_kind(null_values, kind) for kind in set(kinds.values()) if kind.is_numeric()}
    has_nan = any(text.casefold() == "nan" for text in null_values)
    changed = []
    for name, kind in kinds.items():
        if kind.is_numeric():
            is_missing = pl.col(name).is_in(numbers[kind].implode())
            if kind.is_float() and has_nan:
                is_missing |= pl.col(name).is_nan()
        elif kind.is_nested() or kind == pl.Binary:
            continue
        else:
            is_missing = pl.col(name).cast(pl.String).is_in(texts.implode())
        changed.append(pl.when(~is_missing).then(pl.col(name)).alias(name))
    return frame.with_columns(changed)


def _numbers_of_kind(texts: Iterable[str], kind: pl.DataType) -> pl.Series:
    """Return the texts that are numbers of a column's type; one that it cannot hold exactly is left out."""
    numbers = [number for text in texts if (number := _read_decimal(text)) is not None]
    if kind.is_float():
        return pl.Series([float(number) for number in numbers], dtype=kind)
    if isinstance(kind, pl.Decimal):
        held = [number for number in numbers if -int(number.normalize().as_tuple().exponent) <= kind.scale]
        return pl.Series(held, dtype=pl.Decimal(38, kind.scale)).cast(kind, strict=False).drop_nulls()
    whole = [int(number) for number in numbers if number == number.to_integral_value()]
    least, most = (pl.select(getattr(kind, end)()).item() for end in ("min", "max"))
    return pl.Series([number for number in whole if least <= number <= most], dtype=kind)


def _read_decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    # Python reads 1_000 as a number, which no file means; one of a thousand digits is none of any column.
    return number if number.is_finite() and "_" not in text and number.adjusted() < LONGEST else None
