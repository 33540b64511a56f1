"""Years, or dates by their year, in decades and centuries."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import polars as pl

from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.leaves import hierarchy_of, leaf_texts, number_leaves, read_date, unreadable
from tokumei.hierarchies.written_dates import date_leaves, date_reader

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
