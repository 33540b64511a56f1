"""Text columns of a declared form: cells that do not fit are faults with line, column and value.

`ColumnType` is what cells must be. `StrictFile` is what the files of all PWSCUP editions share: CSV, mostly without a
header, strict cells, deleted rows. Files of row numbers have one a line, counted from 1: which row of an original each
row of a release was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

import numpy as np
import polars as pl

from tokumei.core.errors import LISTED_FAULTS, FaultList, InputError
from tokumei.core.text import Text, choice_of
from tokumei.data.files.csv import TextFrame, check_has_columns, first_bytes, read_csv, write_csv
from tokumei.data.files.disk import check_is_file, read_bytes
from tokumei.data.files.layout import EMPTY, LONGEST_RECORD
from tokumei.data.files.text_bytes import LINE_FEED


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
    "a real date YYYY-MM-DD", r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$", lambda cell: cell.str.to_date("%Y-%m-%d", strict=False)
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
    for is_bad in misfits(text.frame, types, out, skipped=skipped):
        add_cell_faults(text, is_bad.name, is_bad, types[is_bad.name].expected, faults)
    if skipped is not None and skipped.any():
        out = out.with_columns(pl.when(~skipped).then(pl.all()))
    return out


def misfits(
    text: pl.DataFrame, types: Mapping[str, ColumnType], read: pl.DataFrame, *, skipped: pl.Series | None = None
) -> pl.DataFrame:
    """Mark the cells that do not fit, of all columns in one query; those of the rows `skipped` count as fitting."""
    is_checked = pl.lit(True) if skipped is None else ~pl.lit(skipped)
    return text.select(
        (_misfit(pl.col(name), types[name], pl.lit(read[name])) & is_checked).alias(name) for name in types
    )


def does_not_fit(cells: pl.Series, kind: ColumnType, read: pl.Series) -> pl.Series:
    """Mark the cells of one column that do not fit."""
    return misfits(cells.to_frame(), {cells.name: kind}, read.alias(cells.name).to_frame()).to_series()


def _misfit(cell: pl.Expr, kind: ColumnType, read: pl.Expr) -> pl.Expr:
    """Mark cells that do not look as the type wants, or that read as nothing."""
    is_bad = ~cell.str.contains(kind.pattern).fill_null(True) | (read.is_null() & cell.is_not_null())
    return is_bad if kind.is_optional else is_bad | cell.is_null()


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
    if not is_bad.any():
        return
    rows = is_bad.arg_true()
    for row in rows[:LISTED_FAULTS]:
        value = values[row]
        faults.add(expected, line=line_of(row), column=values.name, value="" if value is None else value)
    faults.count_more(max(0, len(rows) - LISTED_FAULTS))


# The organizers' files come from Windows.
LINE_END = "\r\n"
DELETED = "DEL"
# How the name of a column starts, in any script.
NAME = r"^\p{L}"


def _text(cell: pl.Expr) -> pl.Expr:
    return cell


def read_date(cell: pl.Expr) -> pl.Expr:
    """Read YYYY/M/D; a day that does not exist reads as nothing."""
    return cell.str.to_date("%Y/%m/%d", strict=False)


def read_time(cell: pl.Expr) -> pl.Expr:
    """Read h:mm."""
    return cell.str.to_time("%H:%M", strict=False)


def write_date(date: pl.Expr) -> pl.Expr:
    """Write YYYY/M/D without leading zeros."""
    return date.dt.to_string("%Y/%-m/%-d")


def write_time(time: pl.Expr) -> pl.Expr:
    """Write h:mm; seconds, which no contest file has, stay visible and are refused."""
    has_seconds = (time.dt.second() != 0) | (time.dt.nanosecond() != 0)
    return pl.when(has_seconds).then(time.dt.to_string("%-H:%M:%S%.f")).otherwise(time.dt.to_string("%-H:%M"))


def write_price(price: pl.Expr) -> pl.Expr:
    """Write a price without trailing zeros: 10.95, 8.5, 12.

    The noise of floating point is rounded away; a real third decimal stays visible and is refused.
    """
    rounded = price.round(2)
    written = pl.when((price - rounded).abs() < 1e-9).then(rounded).otherwise(price)
    return written.cast(pl.String).str.strip_suffix(".0")


def write_value(value: pl.Expr, kind: pl.DataType) -> pl.Expr:
    """Write a value as contest files have it, by its type."""
    if kind == pl.Date:
        return write_date(value)
    if kind == pl.Time:
        return write_time(value)
    return write_price(value) if kind.is_float() else value.cast(pl.String)


CUSTOMER = ColumnType("a customer id of 1 to 9 digits", r"^[0-9]{1,9}$", _text)
PSEUDONYM = ColumnType("a pseudonym of letters, digits, _ or -", r"^[A-Za-z0-9_-]+$", _text, takes_names=True)
ITEM = ColumnType("an item of 1 to 9 upper-case letters or digits", r"^[A-Z0-9]{1,9}$", _text, takes_names=True)
DATE = ColumnType("a real date YYYY/M/D without leading zeros", r"^[0-9]{4}/[1-9][0-9]?/[1-9][0-9]?$", read_date)
TIME = ColumnType("a real time h:mm, the hour without leading zeros", r"^(1?[0-9]|2[0-3]):[0-5][0-9]$", read_time)
PRICE = ColumnType(
    "a price above 0 of at most 5 digits and 2 decimals, without leading zeros",
    r"^([1-9][0-9]{0,4}(\.[0-9]{1,2})?|0\.[0-9]?[1-9]|0\.[1-9]0)$",
    lambda cell: cell.cast(pl.Float64, strict=False),
)
QUANTITY = ColumnType(
    "a quantity of 1 to 6 digits, without leading zeros",
    r"^[1-9][0-9]{0,5}$",
    lambda cell: cell.cast(pl.Int64, strict=False),
)


def one_of(*values: str) -> ColumnType:
    """Return the type of a column that holds only these values."""
    return ColumnType(choice_of(values), f"^({'|'.join(values)})$", _text)


SEX = one_of("f", "m")


@dataclass(frozen=True)
class StrictFile:
    """The form of one kind of file without quotes: its columns, and what else is allowed in it."""

    types: Mapping[str, ColumnType]
    may_delete: bool = False
    longest_line: int = LONGEST_RECORD
    has_header: bool = False
    # Whether lines may end in \\r\\n here and in \\n there.
    mixes_line_ends: bool = False
    may_be_empty: bool = False
    # Of lines that are written, where nothing else is asked for.
    line_end: str = LINE_END

    def read(self, path: Path | str) -> pl.DataFrame:
        """Read the file; a deleted row is missing in every column."""
        text = self.read_text(path)
        faults = FaultList(text.file)
        skipped = deleted_rows(text, faults) if self.may_delete else None
        frame = read_columns(text, self.types, faults, skipped=skipped)
        faults.raise_if_any()
        return frame

    def read_text(self, path: Path | str) -> TextFrame:
        """Read the cells as text, having seen that the first line is the header, or is none."""
        text = self._read_cells(path)
        if text.layout.has_quotes:
            _refuse_quotes(text)
        if not text.frame.height:
            return text
        if self.has_header:
            return take_header(text)
        check_no_header(text, self.types)
        return text

    def _read_cells(self, path: Path | str) -> TextFrame:
        names = list(self.types)
        if self.may_be_empty and not first_bytes(check_is_file(path)):
            return TextFrame(pl.DataFrame(schema=dict.fromkeys(names, pl.String)), EMPTY, str(path), has_header=False)
        return read_csv(
            path, delimiter=",", columns=names, longest_line=self.longest_line, mixes_line_ends=self.mixes_line_ends
        )

    def write(self, frame: pl.DataFrame, path: Path | str, *, line_end: str | None = None) -> None:
        """Write the columns of a frame that the file has; a deleted row is missing in every column.

        What could not be read again is refused before anything is written.
        """
        text = self._as_text(frame, path)
        first = text.columns[0]
        faults = FaultList(str(path))
        is_deleted = text[first].is_null() if self.may_delete else pl.repeat(False, text.height, eager=True)
        read = text.select(kind.read(pl.col(name)).alias(name) for name, kind in self.types.items())
        for is_bad in misfits(text, self.types, read, skipped=is_deleted):
            name = is_bad.name
            add_value_faults(text[name], is_bad, self.types[name].expected, faults)
            add_value_faults(text[name], is_deleted & text[name].is_not_null(), "nothing in a deleted row", faults)
        lengths = (
            text.select(pl.sum_horizontal(pl.all().str.len_bytes()) + len(self.types) - 1).to_series().alias(first)
        )
        expected = Text("lines of at most {n:,} bytes", n=self.longest_line)
        add_value_faults(lengths, lengths > self.longest_line, expected, faults)
        faults.raise_if_any()
        filled = text.with_columns(pl.col(first).fill_null(DELETED))
        write_csv(filled, path, has_header=self.has_header, line_end=line_end or self.line_end)

    def _as_text(self, frame: pl.DataFrame, path: Path | str) -> pl.DataFrame:
        check_has_columns(self.types, frame.columns, path)
        return frame.select(write_value(pl.col(name), frame.schema[name]) for name in self.types)


def _refuse_quotes(text: TextFrame) -> NoReturn:
    """Refuse every line with a quote, by its number."""
    faults = FaultList(text.file)
    lines = [
        (number, line) for number, line in enumerate(read_bytes(Path(text.file)).split(b"\n"), start=1) if b'"' in line
    ]
    for number, line in lines[:LISTED_FAULTS]:
        faults.add("cells without quotes", line=number, value=line.decode("utf-8", "replace").rstrip("\r"))
    faults.count_more(max(0, len(lines) - LISTED_FAULTS))
    faults.raise_if_any()
    raise AssertionError("A file with quotes has a line with a quote.")


def deleted_rows(text: TextFrame, faults: FaultList) -> pl.Series:
    """Mark the rows DEL,,,,,, and refuse those that are deleted and yet hold something."""
    first, *others = text.frame.columns
    is_deleted = (text.frame[first] == DELETED).fill_null(False)
    for name in others:
        is_bad = is_deleted & text.frame[name].is_not_null()
        add_cell_faults(text, name, is_bad, f"an empty cell after {DELETED}", faults)
    return is_deleted


def take_header(text: TextFrame) -> TextFrame:
    """Take the header off a file whose columns are known; other names, or their order, are refused."""
    names, found = text.frame.columns, ["" if cell is None else cell for cell in text.frame.row(0)]
    if found != names:
        raise InputError.of(
            Text("the header {header}", header=",".join(names)), file=text.file, line=1, value=",".join(found)
        )
    return replace(text, frame=text.frame.slice(1), has_header=True)


def check_no_header(text: TextFrame, types: Mapping[str, ColumnType]) -> None:
    """Refuse a header with one fault, where every cell of the first line would be one.

    A header is told by names where numbers, dates and the like belong.
    """
    first = text.frame.head(1)
    telling = [name for name, kind in types.items() if not kind.takes_names]
    has_names = first.select(pl.col(telling).str.contains(NAME).fill_null(False)).row(0)
    if all(has_names) and not any(first[name].str.contains(types[name].pattern).item() for name in telling):
        found = ",".join("" if cell is None else cell for cell in first.row(0))
        raise InputError.of("data in the first line, not a header", file=text.file, line=1, value=found)


ROWS_LINE_END = "\n"
ZERO, MOST_DIGITS = 48, 9
ROW = ColumnType("a row number, counted from 1", r"^[1-9][0-9]{0,8}$", lambda cell: cell.cast(pl.Int64, strict=False))
ROWS = StrictFile({"row": ROW})


def read_rows(path: Path | str) -> pl.Series:
    """Read row numbers, counted from 1."""
    data = read_bytes(check_is_file(path))
    if _are_plain(data):
        return pl.read_csv(data, has_header=False, schema={"row": pl.Int64()})["row"]
    # What else there may be, and what is wrong with it by its lines.
    return ROWS.read(path)["row"]


def _are_plain(data: bytes) -> bool:
    """Whether lines have nothing but row numbers, as millions of them do that were written here."""
    codes = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(codes == LINE_FEED)
    if not data.endswith(b"\n"):
        return False
    lengths = np.diff(ends, prepend=-1) - 1
    is_short = lengths.min() >= 1 and lengths.max() <= MOST_DIGITS
    # What comes before 0 is beyond 9 here: bytes have no sign.
    n_digits = np.count_nonzero(codes - np.uint8(ZERO) < 10)
    return bool(is_short and n_digits == len(codes) - len(ends) and (codes[ends - lengths] != ZERO).all())


def write_rows(rows: pl.Series | Sequence[int], path: Path | str, *, line_end: str = ROWS_LINE_END) -> None:
    """Write row numbers, counted from 1."""
    ROWS.write(pl.DataFrame({"row": rows}), path, line_end=line_end)
