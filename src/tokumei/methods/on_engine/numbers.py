"""The numbers of a column on an engine: its distinct values, how many rows have each, and what they are as numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.engines.item_sets import Ints
from tokumei.methods.perturbation import Floats, Original


@dataclass(frozen=True, eq=False)
class NumberCounts:
    """Values as they stand in a column, their numbers and how many rows have each; missing ones are left out."""

    values: pl.Series
    numbers: Floats
    n_rows: Ints

    @property
    def in_all(self) -> int:
        """How many rows have a number."""
        return int(self.n_rows.sum())


def number_counts(engine: Any, table: Any, column: str, source: str) -> NumberCounts:
    """Count the values of a column there and read them as numbers here; what is none is an InputError."""
    counted = engine.fetch(table.select(value=table[column]).group_by("value").aggregate(n=lambda some: some.count()))
    known = counted.drop_nulls("value")
    try:
        numbers = Original(known.select(pl.col("value").alias(column)), ()).numbers(column)
    except InputError as error:
        # A value of some row, and not a line: the engine has them in no order.
        raise InputError([replace(fault, line=None, file=source) for fault in error.faults], error.n_faults) from None
    order = np.argsort(numbers, kind="stable")
    return NumberCounts(known["value"].gather(order), numbers[order], known["n"].to_numpy()[order].astype(np.int64))
