"""Files of row numbers, one a line, counted from 1: which row of an original each row of a release was."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from tokumei.data.files.columns import ColumnType
from tokumei.data.files.strict import StrictFile

LINE_END = "\n"
ROW = ColumnType("a row number, counted from 1", r"^[1-9][0-9]{0,8}$", lambda cell: cell.cast(pl.Int64, strict=False))
ROWS = StrictFile({"row": ROW})


def read_rows(path: Path | str) -> pl.Series:
    """Read row numbers, counted from 1."""
    return ROWS.read(path)["row"]


def write_rows(rows: pl.Series | Sequence[int], path: Path | str, *, line_end: str = LINE_END) -> None:
    """Write row numbers, counted from 1."""
    ROWS.write(pl.DataFrame({"row": rows}), path, line_end=line_end)
