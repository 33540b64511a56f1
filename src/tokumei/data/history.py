"""A purchase history: who bought what, when, for how much."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from tokumei.core.errors import FaultList
from tokumei.data.frames import as_frame

SCHEMA: dict[str, pl.DataType] = {
    "customer": pl.String(),
    "invoice": pl.String(),
    "date": pl.Date(),
    "time": pl.Time(),
    "item": pl.String(),
    "price": pl.Float64(),
    "quantity": pl.Int64(),
}
# The 2018 contest has neither; every other history has both.
OPTIONAL = ("invoice", "time")


@dataclass(frozen=True)
class History:
    """Purchases in a frame with the columns of SCHEMA, in the order they were given.

    In a release that keeps the rows of its original, a deleted row is missing in every column.
    """

    frame: pl.DataFrame
    name: str = "history"

    @classmethod
    def of(cls, data: Any, *, name: str = "history") -> History:
        """Make a history of any frame: columns by name, types cast where nothing is lost."""
        frame = as_frame(data)
        faults = FaultList(name)
        for column in SCHEMA:
            if column not in frame.columns and column not in OPTIONAL:
                faults.add(f"the columns {', '.join(SCHEMA)}", column=column)
        faults.raise_if_any()
        kept = [column for column in SCHEMA if column in frame.columns]
        cast = frame.select(pl.col(column).cast(SCHEMA[column], strict=False) for column in kept)
        for column in kept:
            lost = _is_lost(frame[column], cast[column]).arg_true()
            for row in lost[:1]:
                faults.add(f"{SCHEMA[column]}", line=row + 1, column=column, value=frame[column][row])
                faults.count_more(len(lost) - 1)
        faults.raise_if_any()
        missing = [pl.lit(None, SCHEMA[column]).alias(column) for column in SCHEMA if column not in kept]
        return cls(cast.with_columns(missing).select(list(SCHEMA)), name)

    @property
    def n_rows(self) -> int:
        """Number of rows, deleted ones included."""
        return self.frame.height

    @cached_property
    def kept(self) -> pl.DataFrame:
        """The rows that are not deleted."""
        return self.frame.filter(pl.col("customer").is_not_null())

    @cached_property
    def customers(self) -> list[str]:
        """All customer ids or pseudonyms, in alphabetical order."""
        return self.kept["customer"].unique().sort().to_list()

    @cached_property
    def period(self) -> pl.Series:
        """The month of each row as a count of months (12·year + month − 1), so that neighbors differ by one."""
        return self.frame.select(period_of(pl.col("date")).alias("period")).to_series()

    @cached_property
    def periods(self) -> list[int]:
        """All months from the first purchase to the last, those without any included."""
        present = self.period.drop_nulls()
        if present.is_empty():
            return []
        first, last = present.to_numpy().min(), present.to_numpy().max()
        return list(range(int(first), int(last) + 1))


def _is_lost(before: pl.Series, after: pl.Series) -> pl.Series:
    """Mark what a cast could not keep: what became missing, and the fractions of numbers that became whole."""
    is_lost = after.is_null() & before.is_not_null()
    return is_lost | (before != after).fill_null(False) if before.dtype.is_float() else is_lost


def period_of(date: pl.Expr) -> pl.Expr:
    """Give the month of a date as a count of months."""
    return date.dt.year().cast(pl.Int32) * 12 + date.dt.month().cast(pl.Int32) - 1


def period_name(period: int) -> str:
    """Write a period as year and month: 24131 → 2010-12."""
    return f"{period // 12:04d}-{period % 12 + 1:02d}"
