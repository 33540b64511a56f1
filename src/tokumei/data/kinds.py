"""Types of columns whose cells are single values, and can be written as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from tokumei.core.errors import InputError

SINGLE = "a column of text, numbers, dates or true and false"


def is_single(kind: pl.DataType) -> bool:
    """Whether a cell of the type is one value: no list or the like, and nothing without a text of its own."""
    return not kind.is_nested() and kind not in (pl.Binary, pl.Duration, pl.Object)


def check_single(schema: Mapping[str, pl.DataType], columns: Iterable[str], name: str) -> None:
    """Refuse columns whose cells are not."""
    for column in columns:
        if not is_single(schema[column]):
            raise InputError.of(SINGLE, file=name, column=column, value=schema[column])
