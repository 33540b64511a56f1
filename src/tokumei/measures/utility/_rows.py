"""An original and its release, row beside row."""

from __future__ import annotations

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.wording import counted
from tokumei.data.history import History


def aligned(original: History, released: History, column: str) -> pl.DataFrame:
    """Return a column before and after, row by row; a row deleted in either is missing there."""
    check_aligned(original, released)
    return pl.DataFrame({"before": original.frame[column], "after": released.frame[column]})


def check_aligned(original: History, released: History) -> None:
    """Refuse a release that has not the rows of its original."""
    if original.n_rows != released.n_rows:
        expected = f"as many rows as the original, {original.n_rows:,}, deleted ones written as missing"
        raise InputError.of(expected, file=released.name, value=counted(released.n_rows, "row"))
