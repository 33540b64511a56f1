"""Blanks at the ends of names and cells, which belong to how a file is written and not to what it says."""

from __future__ import annotations

import polars as pl

# What is looked at to see whether a blank stands after every delimiter.
LOOKED_AT = 1 << 16
BLANK = " \t\u00a0\u3000"


def trimmed(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Strip blanks from the ends of names and texts; a text of blanks alone is missing."""
    kinds = frame.collect_schema()
    texts = [name for name, kind in kinds.items() if kind in (pl.String, pl.Categorical, pl.Enum)]
    cells = (pl.col(name).cast(pl.String).str.strip_chars(BLANK) for name in texts)
    cut = frame.with_columns(pl.when(cell != "").then(cell) for cell in cells)
    names = {name: name.strip(BLANK) for name in kinds}
    return cut.rename({name: short for name, short in names.items() if short != name})


def has_blanks_after(delimiter: str, data: bytes) -> bool:
    """Whether a blank stands after every delimiter at the start of a file, of which there must be some."""
    if delimiter.isspace():
        return False
    # The last byte may be a delimiter whose blank is cut off.
    mark, head = delimiter.encode(), data[:LOOKED_AT].removesuffix(delimiter.encode())
    unquoted = b"".join(head.split(b'"')[::2])
    n_marks = unquoted.count(mark)
    return n_marks > 0 and unquoted.count(mark + b" ") == n_marks
