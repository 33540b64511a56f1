"""Hierarchies for an offer that comes without any: they are published, so they must not tell which values occur."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.data.files.reading import Reading
from tokumei.hierarchies.files import read_hierarchies
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.written_dates import read_days
from tokumei.tasks.goal import counted_on_engine
from tokumei.tasks.hierarchies import days_of, is_of_numbers, made_hierarchy

# More numbers or days than this are not written out: the offer would be megabytes.
MOST_VALUES = 40_000
WRITTEN_DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%Y/%-m/%-d", "%Y%m%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y")


def offered_hierarchies(
    source: Any, qi: Sequence[str], k: int, *, given: Path | None = None, engine: str = "local", reading: Reading
) -> tuple[list[Hierarchy], dict[str, Text]]:
    """Read the hierarchies of an offer from the folder given, or make one of each column and say what it is.

    Whole numbers and days are those that there can be, not those that occur, and end where k rows end. Of texts nobody
    knows which there can be: one that fewer than k rows have would be told to occur, and is refused.
    """
    if given is not None:
        return list(read_hierarchies(given, qi).values()), {}
    known, counts = counted_on_engine(source, qi, engine=engine, reading=reading)
    hierarchies, said = [], {}
    for column in qi:
        of_column = counts.over([column])
        values, sizes = of_column.domain(column)[of_column.codes[0]], of_column.sizes
        sizes = sizes[values.is_not_null().to_numpy()]
        values = values.drop_nulls()
        possible = _possible(values, sizes, k)
        if possible is None and (sizes < k).any():
            expected = (
                "a hierarchy (--hierarchies): one that is made here is published, and would tell of {n:,} values "
                "that occur in fewer than {k:,} rows"
            )
            raise InputError.of(Text(expected, n=int((sizes < k).sum()), k=k), file=known.name, column=column)
        made, said[column] = made_hierarchy(column, values if possible is None else possible)
        hierarchies.append(made)
    return hierarchies, said


def _possible(values: pl.Series, sizes: np.ndarray, k: int) -> pl.Series | None:
    """Return the possible whole numbers or days, as the column writes them.

    None where nobody knows, where there are too many, and where fewer than k rows would tell how far they reach.
    """
    if days_of(values):
        days = read_days(values.cast(pl.String).to_list()) or ()
        reach = _reach(np.array([day.year for day in days]), sizes, k, step=1)
        if reach is None or (reach[1] - reach[0]) * 366 > MOST_VALUES or not dt.MINYEAR <= reach[0] < reach[1] <= 9999:
            return None
        span = pl.date_range(dt.date(reach[0], 1, 1), dt.date(reach[1], 1, 1), closed="left", eager=True)
        return _holding(values, (_written_days(span, form, values.dtype) for form in WRITTEN_DAYS))
    if not is_of_numbers(values):
        return None
    numbers = values.cast(pl.Float64)
    if not (numbers.is_finite().all() and numbers.equals(numbers.round())):
        return None
    reach = _reach(numbers.to_numpy(), sizes, k)
    if reach is None or reach[1] - reach[0] > MOST_VALUES:
        return None
    # What the type of the column cannot hold cannot be in it, and is none of what there can be.
    return _holding(values, [pl.int_range(*reach, eager=True).cast(values.dtype, strict=False).drop_nulls()])


def _reach(numbers: np.ndarray, sizes: np.ndarray, k: int, *, step: int | None = None) -> tuple[int, int] | None:
    """Return round ends, the upper one excluded, of the k rows at each end; None if one lies beyond.

    A step is round and at least half of the way between them, and there is one more on either side: ages of which k
    rows reach down to 22 and k up to 88 are written from 0 to 149.
    """
    order = np.argsort(numbers)
    below, above = np.cumsum(sizes[order]), np.cumsum(sizes[order][::-1])
    if not len(below) or below[-1] < k:
        return None
    least = int(numbers[order][np.searchsorted(below, k)])
    most = int(numbers[order][::-1][np.searchsorted(above, k)])
    if step is None:
        half = max(1, (most - least) / 2)
        size = 10 ** math.floor(math.log10(half))
        step = next(size * one for one in (1, 2, 5, 10) if size * one >= half)
    start, stop = (least // step - 1) * step, (most // step + 2) * step
    # Of what is counted from nothing, such as ages, there is nothing below it.
    start = max(start, 0) if least >= 0 else start
    return (start, stop) if numbers.min() >= start and numbers.max() < stop else None


def _written_days(days: pl.Series, form: str, dtype: pl.DataType) -> pl.Series:
    return days if dtype == pl.Date else days.dt.strftime(form).cast(dtype, strict=False).drop_nulls()


def _holding(values: pl.Series, ways: Iterable[pl.Series]) -> pl.Series | None:
    """Return the first domain that holds every value; 007 is in none."""
    return next((way for way in ways if values.is_in(way.implode()).all()), None)
