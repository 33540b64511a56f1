"""Plain tables of contests: typed columns with or without a header, numbers of rows, and the faults in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.contest.checks import FILE_FORM, RowFaults, read_submitted_rows
from tokumei.contest.edition import Rule
from tokumei.core.errors import InputError
from tokumei.core.seeds import generator
from tokumei.core.text import Text
from tokumei.data.files.strict import INTEGER, NUMBER, ColumnType, StrictFile

Ints = npt.NDArray[np.int64]
SAME_NUMBER = Rule("same-number", "There are as many rows as in B, in its order.", "行数と行の順序は B と同じとする。")
CELLS = Rule(
    "cells",
    "A cell is one of the values of its column, or a number between its ends.",
    "セルは列ごとに定められた値、または範囲内の数値とする。",
)
ROW_NUMBERS = Rule(
    "row-numbers",
    "A guess has one line for each row that is asked for, with whole numbers of rows, counted from 0.",
    "推定は問われた行ごとに1行とし、0 から数えた行番号を整数で書く。",
)


def number_in(low: float, high: float, *, whole: bool = False, above: bool = False) -> ColumnType:
    """Return the type of numbers within ends; `above` leaves the lower end out."""
    form = "a number above {low} and up to {high}" if above else "a number from {low} to {high}"
    expected = Text("a whole number from {low} to {high}" if whole else form, low=f"{low:g}", high=f"{high:g}")

    def read(cell: pl.Expr) -> pl.Expr:
        number = NUMBER.read(cell)
        is_in = (number > low if above else number >= low) & (number <= high)
        return pl.when(is_in & (number == number.floor()) if whole else is_in).then(number)

    return ColumnType(expected, NUMBER.pattern, read)


def read_table(
    path: Path, types: Mapping[str, ColumnType], n_rows: int | None = None, *, has_header: bool = False
) -> pl.DataFrame:
    """Read a table of typed columns; what breaks a rule is a fault with its line and column."""
    faults = RowFaults(read_submitted_rows(StrictFile(types, has_header=has_header), path))
    frame = faults.read({name: (CELLS.name, kind) for name, kind in types.items()})
    if n_rows is not None:
        faults.check_n_rows(n_rows, SAME_NUMBER.name, "{n_rows:,} rows, as many as B")
    faults.raise_if_any()
    if not frame.height:
        raise InputError.of("at least one row", file=path).under(FILE_FORM.name)
    return frame


def write_table(frame: pl.DataFrame, path: Path, *, has_header: bool = False) -> None:
    """Write a table, whole numbers without a point."""
    whole = [
        name for name, kind in frame.schema.items() if kind.is_float() and (frame[name] == frame[name].floor()).all()
    ]
    frame.with_columns(pl.col(whole).cast(pl.Int64)).write_csv(path, include_header=has_header)


def read_numbers(
    path: Path, n_columns: int = 1, n_rows: int | None = None, *, least: int = 0, most: int | None = None
) -> Ints:
    """Read a file of whole numbers, rows × columns, such as guesses of rows; what lies beyond the ends is a fault."""
    names = [str(place + 1) for place in range(n_columns)]
    form = StrictFile(dict.fromkeys(names, INTEGER), may_be_empty=n_rows is None)
    faults = RowFaults(read_submitted_rows(form, path))
    frame = faults.read(dict.fromkeys(names, (ROW_NUMBERS.name, INTEGER)))
    top = np.iinfo(np.int64).max if most is None else most
    for name in names:
        is_out = (~frame[name].is_between(least, top)).fill_null(False)
        known = {"low": f"{least:,}", "high": f"{top:,}"}
        faults.add_cells(ROW_NUMBERS.name, name, is_out, "a whole number from {low} to {high}", known)
    if n_rows is not None:
        faults.check_n_rows(n_rows, ROW_NUMBERS.name, "{n_rows:,} lines", "line")
    faults.raise_if_any()
    return frame.to_numpy().astype(np.int64)


def write_numbers(numbers: npt.NDArray[np.integer], path: Path) -> None:
    """Write whole numbers, a line each row."""
    lines = (",".join(map(str, row)) for row in np.atleast_2d(numbers.T).T.tolist())
    path.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")


def sampled_rows(frame: pl.DataFrame, n: int, seed: int, source: Path | None) -> pl.DataFrame:
    """Draw some rows of a table, in a random order; too few are an error."""
    if frame.height < n:
        raise InputError.of(Text("at least {n:,} rows", n=n), file=source, value=f"{frame.height:,}")
    return frame[generator(seed, "sample").permutation(frame.height)[:n]]


def exchanged(cells: pl.Series, share: float, rng: np.random.Generator) -> pl.Series:
    """Put any of the column's values, all equally likely, in place of a share of its cells: randomized response."""
    values = cells.unique().sort()
    drawn = values.gather(rng.integers(0, len(values), len(cells)))
    is_drawn = pl.Series(rng.random(len(cells)) < share)
    return pl.select(pl.when(is_drawn).then(drawn).otherwise(cells).alias(cells.name)).to_series()
