"""Dates by month, quarter and year."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from tokumei.hierarchy.hierarchy import Hierarchy
from tokumei.hierarchy.leaves import hierarchy_of
from tokumei.hierarchy.written_dates import date_leaves


@dataclass(frozen=True)
class Calendar:
    """Days become months, quarters and years.

    | day        | month   | quarter | year |
    |------------|---------|---------|------|
    | 2011-03-09 | 2011-03 | 2011-Q1 | 2011 |

    Text and whole numbers are read as dates too, written 2011-03-09, 2011/3/9, 20110309, 9.3.2011, 9.3.11 or
    平成23年3月9日; with slashes and the year last, the column must show which number is the day. Two digits of a year
    are those from 1930 to 2029. Where there are times of day, the day comes first.
    """

    decades: bool = field(default=False, metadata={"help": "Whether years become decades, as 2010-2019."})

    def build(self, attribute: str, values: pl.Series) -> Hierarchy:
        """Make the hierarchy of a column of dates."""
        leaves = date_leaves(attribute, values)
        days = [day for day, _ in leaves]
        has_times = any(":" in text for _, text in leaves)
        columns = [
            [text for _, text in leaves],
            *([[f"{day.year:04}-{day.month:02}-{day.day:02}" for day in days]] if has_times else []),
            [f"{day.year:04}-{day.month:02}" for day in days],
            [f"{day.year:04}-Q{(day.month + 2) // 3}" for day in days],
            [f"{day.year:04}" for day in days],
            *([[f"{day.year // 10 * 10:04}-{day.year // 10 * 10 + 9:04}" for day in days]] if self.decades else []),
        ]
        return hierarchy_of(attribute, columns)
