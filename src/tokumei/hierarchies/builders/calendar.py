"""Dates by month, quarter and year."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.leaves import hierarchy_of
from tokumei.hierarchies.written_dates import date_leaves


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
        has_times = any(":" in text for _, text in leaves)
        # Days and times of day are many, their months few.
        months = {(day.year, day.month) for day, _ in leaves}
        labels = {month: self._labels(*month) for month in months}
        above = zip(*(labels[day.year, day.month] for day, _ in leaves), strict=True)
        days = [[f"{day.year:04}-{day.month:02}-{day.day:02}" for day, _ in leaves]] if has_times else []
        return hierarchy_of(attribute, [[text for _, text in leaves], *days, *above])

    def _labels(self, year: int, month: int) -> list[str]:
        """Return the labels of a month: itself, its quarter, year and decade."""
        decade = year // 10 * 10
        labels = [f"{year:04}-{month:02}", f"{year:04}-Q{(month + 2) // 3}", f"{year:04}"]
        return [*labels, f"{decade:04}-{decade + 9:04}"] if self.decades else labels
