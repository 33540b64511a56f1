"""Declared types of text columns: cells that do not fit are faults with line, column and value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import polars as pl

from tokumei.core.errors import LISTED_FAULTS, FaultList
from tokumei.data.files.csv import TextFrame, check_has_columns


@dataclass(frozen=True)
class ColumnType:
    """How the text of a column must look and what it is read as.

    `pattern` is checked first; what fits it and still reads as nothing (30 February) is a fault as well.
    """

    expected: str
    pattern: str
    read: Callable[[pl.Expr], pl.Expr]
    is_optional: bool = False
    # Whether a name such as a header holds could be a value, too.
    takes_names: bool = False

    def optional(self) -> ColumnType:
        """Return the same type with missing cells allowed."""
        return replace(self, is_optional=True)


def _finite(cell: pl.Expr) -> pl.Expr:
    """Read a number; one too large for a float reads as nothing."""
    number = cell.cast(pl.Float64, strict=False)
    return pl.when(number.is_finite()).then(number)


TEXT = ColumnType("text", r"(?s)^.*$", lambda cell: cell, takes_names=True)
INTEGER = ColumnType(
    "a whole number", r"^[+-]?[0-9]+$", lambda cell: cell.str.strip_prefix("+").cast(pl.Int64, strict=False)
)
NUMBER = ColumnType("a finite number", r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$", _finite)
ISO_DATE = ColumnType(
    "a real date YYYY-MM-DD",
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    lambda cell: cell.str.to_date("%Y-%m-%d", strict=False),
)
BOOLEAN = ColumnType("true or false", r"^(true|false)$", lambda cell: cell == "true")

TYPES: Mapping[str, ColumnType] = {
    "text": TEXT,
    "integer": INTEGER,
    "number": NUMBER,
    "date": ISO_DATE,
    "boolean": BOOLEAN,
}


def read_columns(
    text: TextFrame, types: Mapping[str, ColumnType], faults: FaultList, *, skipped: pl.Series | None = None
) -> pl.DataFrame:
    """Read the declared columns of a text frame; what does not fit is added to the faults.

    Columns without a declared type stay text. The rows marked in `skipped` are not checked and come out missing.
    """
    check_has_columns(types, text.frame.columns, text.file)
    out = text.frame.with_columns(**{name: kind.read(pl.col(name)) for name, kind in types.items()})
    for name, kind in types.items():
        is_bad = does_not_fit(text.frame[name], kind, out[name])
        if skipped is not None:
            is_bad &= ~skipped
        add_cell_faults(text, name, is_bad, kind.expected, faults)
    if skipped is not None and skipped.any():
        out = out.with_columns(pl.when(~skipped).then(pl.all()))
    return out


def does_not_fit(cells: pl.Series, kind: ColumnType, read: pl.Series) -> pl.Series:
    """Mark the cells that do not look as the type wants, or that read as nothing."""
    is_bad = ~cells.str.contains(kind.pattern).fill_null(True) | (read.is_null() & cells.is_not_null())
    return is_bad if kind.is_optional else is_bad | cells.is_null()


def add_cell_faults(text: TextFrame, column: str, is_bad: pl.Series, expected: str, faults: FaultList) -> None:
    """Add a fault for each marked cell of a column: the first ones listed, the rest counted."""
    add_value_faults(text.frame[column], is_bad, expected, faults, line_of=text.line_of)


def add_value_faults(
    values: pl.Series,
    is_bad: pl.Series,
    expected: str,
    faults: FaultList,
    *,
    line_of: Callable[[int], int] = lambda row: row + 1,
) -> None:
    """Add a fault for each marked value, by its row counted from 1 unless its line is known."""
    rows = is_bad.arg_true()
    for row in rows[:LISTED_FAULTS]:
        value = values[row]
        faults.add(expected, line=line_of(row), column=values.name, value="" if value is None else value)
    faults.count_more(max(0, len(rows) - LISTED_FAULTS))
