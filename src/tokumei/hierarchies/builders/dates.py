"""Dates by month, quarter and year, and years by decade and century."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import polars as pl

from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.leaves import hierarchy_of, leaf_texts, number_leaves, read_date, unreadable
from tokumei.hierarchies.written_dates import date_leaves, date_reader


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


YEAR = re.compile(r"[0-9]{1,4}")


@dataclass(frozen=True)
class Decades:
    """Years become decades and centuries; dates become years first.

    | value      | year | decade | century   |
    |------------|------|--------|-----------|
    | 1963-05-02 | 1963 | 1960s  | 1900-1999 |

    Centuries are written by their years, since most people count 1900 to the twentieth and calendars do not.
    """

    half_centuries: bool = field(default=False, metadata={"help": "Whether 1950-1999 stands before 1900-1999."})

    def build(self, attribute: str, values: pl.Series) -> Hierarchy:
        """Make the hierarchy of a column of years or of dates."""
        if values.dtype.is_numeric():
            leaves = _number_years(attribute, values)
            is_date = False
        else:
            texts = [] if values.dtype in (pl.Date, pl.Boolean) else leaf_texts(attribute, values)
            is_date = not texts or any(read_date(text) for text in texts) or date_reader(texts) is not None
            leaves = _date_years(attribute, values) if is_date else _text_years(attribute, texts)
        years = [year for year, _ in leaves]
        columns = [[text for _, text in leaves]]
        if is_date:
            columns.append([str(year) for year in years])
        columns.append([f"{year // 10 * 10}s" for year in years])
        for length in (50, 100) if self.half_centuries else (100,):
            firsts = [year // length * length for year in years]
            columns.append([f"{first}-{first + length - 1}" for first in firsts])
        return hierarchy_of(attribute, columns)


def _number_years(attribute: str, values: pl.Series) -> list[tuple[int, str]]:
    leaves = number_leaves(attribute, values)
    refused = [text for number, text in leaves if number.denominator != 1 or not 0 <= number <= 9999]
    if refused:
        raise unreadable(attribute, refused, "a year from 0 to 9999")
    return [(int(number), text) for number, text in leaves]


def _text_years(attribute: str, texts: list[str]) -> list[tuple[int, str]]:
    refused = [text for text in texts if not YEAR.fullmatch(text)]
    if refused:
        raise unreadable(attribute, refused, "a year such as 1963, or a date YYYY-MM-DD")
    return sorted((int(text), text) for text in texts)


def _date_years(attribute: str, values: pl.Series) -> list[tuple[int, str]]:
    return [(date.year, text) for date, text in date_leaves(attribute, values)]
