"""Hierarchies for an offer that comes without any: they are published, so they must not tell which values occur."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.counting.count import count_relation
from tokumei.counting.engine import connect
from tokumei.data.files.reading import Reading
from tokumei.data.table import check_column
from tokumei.hierarchy.hierarchy import Hierarchy
from tokumei.job.hierarchies import days_of, is_of_numbers, made_hierarchy

# More numbers or days than this are not written out: the offer would be megabytes.
MOST_VALUES = 40_000
LONGEST = dt.timedelta(days=MOST_VALUES)


def offered_hierarchies(
    source: Any, qi: Sequence[str], k: int, *, engine: str = "local", reading: Reading
) -> tuple[list[Hierarchy], dict[str, Text]]:
    """Make a hierarchy of each column, and say what it is.

    Whole numbers and days are those that there can be, not those that occur. Of texts nobody knows which there can be:
    one that fewer than k rows have would be told to occur, and is refused.
    """
    hierarchies, said = [], {}
    with connect(engine) as opened:
        relation = opened.open(source, reading)
        for column in qi:
            check_column(column, list(relation.schema), "a quasi-identifier", relation.name)
            counts = count_relation(relation, [column])
            values = counts.domain(column)
            possible = _possible(values)
            is_rare = (counts.sizes < k) & values.is_not_null().to_numpy()[counts.codes[0]]
            if possible is None and is_rare.any():
                expected = (
                    "a hierarchy (--hierarchies): one that is made here is published, and would tell of {n:,} values "
                    "that occur in fewer than {k:,} rows"
                )
                raise InputError.of(Text(expected, n=int(is_rare.sum()), k=k), file=relation.name, column=column)
            made, said[column] = made_hierarchy(column, values if possible is None else possible)
            hierarchies.append(made)
    return hierarchies, said


def _possible(values: pl.Series) -> pl.Series | None:
    """Give the whole numbers or days that there can be; None where nobody knows, or there are too many."""
    days = days_of(values)
    if days:
        first, last = dt.date(min(days).year, 1, 1), dt.date(max(days).year, 12, 31)
        return _written(pl.date_range(first, last, eager=True), values) if last - first < LONGEST else None
    if not is_of_numbers(values):
        return None
    numbers = values.cast(pl.Float64).drop_nulls()
    if not numbers.equals(numbers.round()):
        return None
    # To the next round number, and one more step: ages up to 97 are written up to 109.
    least, most = int(numbers.min()), int(numbers.max())  # type: ignore[arg-type]
    step = 10 ** max(0, math.floor(math.log10(max(1, most - least))))
    ends = least // step * step, (most // step + 2) * step
    if ends[1] - ends[0] > MOST_VALUES:
        return None
    return _written(pl.int_range(*ends, eager=True), values)


def _written(possible: pl.Series, values: pl.Series) -> pl.Series | None:
    """Give what there can be as the column writes it; None where the column writes it in another way, such as 007."""
    if values.dtype != pl.String:
        return possible
    texts = possible.cast(pl.String)
    return texts if values.drop_nulls().is_in(texts.implode()).all() else None
