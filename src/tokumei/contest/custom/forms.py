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

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from tokumei.contest.checks import RowFaults
from tokumei.contest.custom.kinds import ROW
from tokumei.core.errors import Fault, FaultList, InputError
from tokumei.data.files.columns import ColumnType, read_columns
from tokumei.data.files.csv import TextFrame, read_csv, write_csv
from tokumei.data.files.strict import DELETED

FORM = "file-form"
# Beyond any price or amount, and small enough that sums and squares stay numbers.
LARGEST_NUMBER = 1e12


def bounded(kind: ColumnType, expected: str, least: float, most: float) -> ColumnType:
    """Return a type of numbers within bounds; any other number reads as nothing, which is a fault."""

    def read(cell: pl.Expr) -> pl.Expr:
        number = kind.read(cell)
        return pl.when(number.is_between(least, most)).then(number)

    return replace(kind, expected=expected, read=read)


NAME = ColumnType("a text of 1 to 60 characters", r"^[^\p{C}]{1,60}$", lambda cell: cell)
ROW_NUMBER = ColumnType("a row number, counted from 1", r"^[1-9][0-9]{0,8}$", lambda cell: cell.cast(pl.Int64))


def read_original(path: Path, types_of: Callable[[list[str]], Mapping[str, ColumnType]]) -> pl.DataFrame:
    """Read T with the types of its columns."""
    text = read_csv(path, delimiter=",")
    types = types_of(text.frame.columns)
    faults = FaultList(text.file)
    frame = read_columns(text, types, faults).select(list(types))
    faults.raise_if_any()
    return frame


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


def read_release(path: Path, types: Mapping[str, ColumnType]) -> pl.DataFrame:
    """Read a release that passed the check, or S; deleted rows are missing in every column."""
    text = read_form(path, list(types))
    faults = FaultList(text.file)
    frame = read_columns(text, types, faults, skipped=deleted_rows(text))
    faults.raise_if_any()
    return frame


def read_known(path: Path, types: Mapping[str, ColumnType]) -> pl.DataFrame:
    """Read what attackers know: some rows of T, each with its number."""
    text = read_form(path, [ROW, *types])
    faults = FaultList(text.file)
    frame = read_columns(text, {ROW: ROW_NUMBER, **types}, faults)
    faults.raise_if_any()
    return frame


def kept_mask(released: pl.DataFrame) -> pl.Series:
    """Mark the rows that are not deleted."""
    return released.select(pl.any_horizontal(pl.all().is_not_null())).to_series()


def kept_rows(released: pl.DataFrame) -> pl.Series:
    """Return the rows that are not deleted, counted from 0."""
    return kept_mask(released).arg_true().cast(pl.Int64).alias(ROW)


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


def faults_of(text: TextFrame) -> RowFaults:
    """Start collecting the faults of a submitted file."""
    return RowFaults(text)
