"""The files of a contest of one's own: CSV with a header, UTF-8, cells separated by commas.

| file   | holds                                                                                   |
|--------|-----------------------------------------------------------------------------------------|
| T      | the original: a history's columns by name, or the columns of a table that have a role     |
| A      | the release, row by row as T; a deleted row is DEL in its first cell and nothing else     |
| S      | what is published of it: the rows that are kept, shuffled                               |
| F, Fh  | truth and guess. History: a line a customer, a column a month. Table: a row number a line |
| T25, … | what attackers know of T, by how many per cent of the rows                              |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from tokumei.contest.checks import RowFaults
from tokumei.contest.custom.settings import ROW, Settings
from tokumei.core.errors import Fault, FaultList, InputError
from tokumei.data.files.columns import ISO_DATE, NUMBER, TYPES, ColumnType, read_columns
from tokumei.data.files.csv import TextFrame, read_csv, write_csv
from tokumei.data.files.strict import DELETED
from tokumei.data.history import History
from tokumei.data.history_columns import SCHEMA

FORM = "file-form"
# Beyond any price or amount, and small enough that sums and squares stay numbers.
LARGEST_NUMBER = 1e12
LARGEST_PRICE = 1e7
LARGEST_QUANTITY = 1_000_000


def _bounded(kind: ColumnType, expected: str, least: float, most: float) -> ColumnType:
    """Give a type of numbers within bounds; any other reads as nothing, which is a fault."""

    def read(cell: pl.Expr) -> pl.Expr:
        number = kind.read(cell)
        return pl.when(number.is_between(least, most)).then(number)

    return replace(kind, expected=expected, read=read)


PSEUDONYM = ColumnType(
    f"a pseudonym of 1 to 20 letters, digits, _ or -, other than {DELETED}",
    r"^[A-Za-z0-9_-]{1,20}$",
    lambda cell: pl.when(cell != DELETED).then(cell),
)
NAME = ColumnType("a text of 1 to 60 characters", r"^[^\p{C}]{1,60}$", lambda cell: cell)
CLOCK = ColumnType(
    "a real time HH:MM:SS", r"^[0-9]{2}:[0-9]{2}:[0-9]{2}$", lambda cell: cell.str.to_time("%H:%M:%S", strict=False)
)
HISTORY_TYPES: Mapping[str, ColumnType] = {
    "customer": PSEUDONYM,
    "invoice": NAME,
    "date": ISO_DATE,
    "time": CLOCK,
    "item": NAME,
    "price": _bounded(NUMBER, f"a price from 0 to {LARGEST_PRICE:,.0f}", 0, LARGEST_PRICE),
    "quantity": _bounded(TYPES["integer"], f"a whole number from 0 to {LARGEST_QUANTITY:,}", 0, LARGEST_QUANTITY),
}
# Whoever is in the original has whatever name he has.
ORIGINAL_HISTORY_TYPES = {**HISTORY_TYPES, "customer": NAME}
ROW_NUMBER = ColumnType("a row number, counted from 1", r"^[1-9][0-9]{0,8}$", lambda cell: cell.cast(pl.Int64))


def original_types(settings: Settings, columns: list[str]) -> dict[str, ColumnType]:
    """Give the types of the original's columns; a cell of a table may be missing unless it is sensitive."""
    if settings.is_history:
        return {name: ORIGINAL_HISTORY_TYPES[name] for name in columns if name in ORIGINAL_HISTORY_TYPES}
    return {name: table_type(settings, name) for name in settings.roles.kept}


def table_type(settings: Settings, name: str) -> ColumnType:
    """Give the declared type of a table's column: a number where it is sensitive, text where nothing is said."""
    if name in settings.roles.sensitive:
        kind = TYPES[settings.data.types.get(name, "number")]
        return _bounded(kind, f"{kind.expected} of at most {LARGEST_NUMBER:,.0f}", -LARGEST_NUMBER, LARGEST_NUMBER)
    declared = settings.data.types.get(name, "text")
    return (NAME if declared == "text" else TYPES[declared]).optional()


def read_original(settings: Settings, path: Path) -> pl.DataFrame:
    """Read T with the types of its columns."""
    text = read_csv(path, delimiter=",")
    types = original_types(settings, text.frame.columns)
    faults = FaultList(text.file)
    frame = read_columns(text, types, faults).select(list(types))
    faults.raise_if_any()
    return frame


def release_types(settings: Settings, original: pl.DataFrame) -> dict[str, ColumnType]:
    """Give the types of the release's columns: those of the original, a cell missing only where some are there."""
    if settings.is_history:
        return {name: HISTORY_TYPES[name] for name in original.columns}
    types = {name: table_type(settings, name) for name in original.columns}
    return {name: replace(kind, is_optional=original[name].has_nulls()) for name, kind in types.items()}


def read_form(path: Path, columns: list[str]) -> TextFrame:
    """Read a submitted file as text; what is wrong with its form, its header included, is told under that rule."""
    try:
        text = read_csv(path, delimiter=",")
    except InputError as error:
        raise error.under(FORM) from None
    if text.frame.columns != columns:
        found = ",".join(text.frame.columns)
        fault = Fault("the header {header}", str(path), 1, None, found, FORM, {"header": ",".join(columns)})
        raise InputError(fault)
    return text


def deleted_rows(text: TextFrame) -> pl.Series:
    """Mark the rows that are deleted: DEL or nothing in the first cell, and nothing in all others."""
    first, *others = text.frame.columns
    is_empty = pl.all_horizontal(pl.col(others).is_null()) if others else pl.lit(value=True)
    is_gone = pl.col(first).is_null() | (pl.col(first) == DELETED)
    return text.frame.select((is_gone & is_empty).alias("is_deleted")).to_series()


def read_release(settings: Settings, original: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Read a release that passed the check; deleted rows are missing in every column."""
    text = read_form(path, original.columns)
    faults = FaultList(text.file)
    frame = read_columns(text, release_types(settings, original), faults, skipped=deleted_rows(text))
    faults.raise_if_any()
    return frame


def read_published(settings: Settings, original: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Read S."""
    return read_release(settings, original, path)


def read_known(settings: Settings, original: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Read what attackers know: some rows of T, each with its number."""
    text = read_form(path, [ROW, *original.columns])
    faults = FaultList(text.file)
    types = {ROW: ROW_NUMBER, **original_types(settings, original.columns)}
    frame = read_columns(text, types, faults)
    faults.raise_if_any()
    return frame


def write_form(frame: pl.DataFrame, path: Path, *, is_deleted: pl.Series | None = None) -> None:
    """Write a file of the contest; the rows marked as deleted get DEL in their first cell."""
    written = frame.select(
        pl.col(name).dt.to_string("%H:%M:%S") if kind == pl.Time else pl.col(name).cast(pl.String)
        for name, kind in frame.schema.items()
    )
    if is_deleted is not None:
        first = pl.col(frame.columns[0])
        written = written.with_columns(pl.when(~is_deleted).then(pl.all()))
        written = written.with_columns(
            pl.when(is_deleted).then(pl.lit(DELETED)).otherwise(first).alias(first.meta.output_name())
        )
    write_csv(written, path)


def as_history(frame: pl.DataFrame, name: str) -> History:
    """Make a history of a frame of the contest's files."""
    missing = [pl.lit(None, kind).alias(column) for column, kind in SCHEMA.items() if column not in frame.columns]
    return History(frame.with_columns(missing).select(list(SCHEMA)), name)


def faults_of(text: TextFrame) -> RowFaults:
    """Start collecting the faults of a submitted file."""
    return RowFaults(text)
