"""Texts that stand for a missing value: those that were named, and NA and the like where all else is numbers."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path

import polars as pl

log = logging.getLogger("tokumei.notes")
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


# How programs and people write that there is no number: R, SQL, pandas, Excel, SAS, UCI.
NOT_A_NUMBER = ("NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None", ".", "-", "?")
# Whether any may be in a file at all is asked of its bytes: most have none.
MARKS_OF_NONE = tuple(text.encode() for text in ("NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None"))
OVERLAP = 8
NUMBER = r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*"
# Numbers, or intervals of them as R's cut() writes them: (20,40].
NUMBERS_ALONE = rf"^({NUMBER}|[\[(]{NUMBER},{NUMBER}[\])])$"


def missing_beside_numbers(frame: pl.LazyFrame, file: str | Path) -> dict[str, list[str]]:
    """Return the texts as NA that stand beside numbers alone, by column, and note them: they are read as missing."""
    texts = [name for name, kind in frame.collect_schema().items() if kind == pl.String]
    words = pl.Series(NOT_A_NUMBER, dtype=pl.String).implode()
    cells = [pl.col(name) for name in texts]
    has_any = frame.select(cell.is_in(words).any() for cell in cells).collect(engine="streaming")
    found: dict[str, list[str]] = {}
    for name in [name for name in texts if has_any[name].item()]:
        distinct = frame.select(pl.col(name).unique()).collect(engine="streaming")[name].drop_nulls()
        others = distinct.filter(~distinct.is_in(words))
        if len(others) and others.str.contains(NUMBERS_ALONE).all():
            found[name] = sorted(distinct.filter(distinct.is_in(words)).to_list())
    if found:
        said = "; ".join(f"{name}: {', '.join(map(repr, texts))}" for name, texts in found.items())
        log.info("%s: read as missing, since all else there is numbers: %s (not so with --null-values)", file, said)
    return found


def with_found_missing(frame: pl.LazyFrame, found: Mapping[str, Sequence[str]]) -> pl.LazyFrame:
    """Replace the texts that were found to stand for a missing value."""
    return frame.with_columns(
        pl.when(~pl.col(name).is_in(pl.Series(texts, dtype=pl.String).implode())).then(pl.col(name))
        for name, texts in found.items()
    )


class Seen:
    """Blocks that are handed on, and whether any of them may hold a text as NA."""

    def __init__(self, blocks: Iterable[bytes], delimiter: str) -> None:
        self._blocks = blocks
        mark = delimiter.encode()
        ends = (mark, b"\n", b"\r")
        alone = (before + one + after for one in (b".", b"-", b"?") for before in (mark, b"\n") for after in ends)
        self._marks = (*MARKS_OF_NONE, *alone)
        self.may_have = False

    def __iter__(self) -> Iterator[bytes]:
        tail = b""
        for block in self._blocks:
            # One may begin in a block and end in the next.
            tail += block[:OVERLAP]
            self.may_have = self.may_have or any(one in tail for one in self._marks)
            tail = block[-OVERLAP:]
            self.may_have = self.may_have or any(one in block for one in self._marks)
            yield block
