"""How a second file is read beside the one that the reading options were given for.

An original may be a table of a ministry, in Shift-JIS under five lines of title, and its release the plain file that
Tokumei wrote. The options are one set, so that each file is read by them if it then has the columns that it must
have, else as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import polars as pl

from tokumei.core.errors import InputError
from tokumei.data.files.formats import check_applies, format_of, read_frame, scan_frame
from tokumei.data.files.reading import AS_IT_IS, Reading


def reading_beside(path: Path | str, reading: Reading, columns: Iterable[str]) -> Reading:
    """Return the options for reading a file: those given if it then has any of the columns, else none."""
    wanted = set(columns)
    if reading == AS_IT_IS:
        return reading
    plain = replace(AS_IT_IS, null_values=reading.null_values, trim=reading.trim)
    return reading if _has(path, reading, wanted) or not _has(path, plain, wanted) else plain


def read_beside(path: Path | str, reading: Reading, columns: Iterable[str]) -> pl.DataFrame:
    """Read a file beside another."""
    return read_frame(path, reading_beside(path, reading, columns))


def _has(path: Path | str, reading: Reading, columns: set[str]) -> bool:
    try:
        check_applies(reading, format_of(path), path)
        return bool(columns & set(scan_frame(path, reading).collect_schema().names()))
    except InputError:
        return False
