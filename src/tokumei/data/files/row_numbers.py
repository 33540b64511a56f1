"""Files of row numbers, one a line, counted from 1: which row of an original each row of a release was."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from tokumei.data.files.columns import ColumnType
from tokumei.data.files.records import LINE_FEED
from tokumei.data.files.source import check_is_file, read_bytes
from tokumei.data.files.strict import StrictFile

LINE_END = "\n"
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


def write_rows(rows: pl.Series | Sequence[int], path: Path | str, *, line_end: str = LINE_END) -> None:
    """Write row numbers, counted from 1."""
    ROWS.write(pl.DataFrame({"row": rows}), path, line_end=line_end)
