"""Dates and times of a column, read in the ways that they are written.

They come as text in the usual ways or a declared one, as numbers or date-times. Only ways that cannot be mistaken are
found by looking: the year comes first. `12/01/2010` is the first of December to some and the twelfth of January to
others, so that it needs a declared format.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from tokumei.core.errors import InputError

DATE_FORMATS = ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%Y年%m月%d日")


TIME_FORMATS = ("%H:%M:%S%.f", "%H:%M:%S", "%H:%M")


_DAY = "[0-9]{1,2}"


_DATE = rf"[0-9]{{4}}(?:-{_DAY}-{_DAY}|/{_DAY}/{_DAY}|\.{_DAY}\.{_DAY}|[0-9]{{4}}|年{_DAY}月{_DAY}日)"


_TIME = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"


# Z says that the clock shows universal time; the clock is kept as it was written.
MOMENT = rf"^\s*({_DATE})(?:(?:T| +)({_TIME})Z?)?\s*$"


CLOCK = rf"^\s*({_TIME})\s*$"


DATES = "a real date as 2010-12-31, 2010/12/31 or 20101231, with or without a time, or as --date-format says"


# What those usually mean who write otherwise; some fit each other's dates, so that none is taken without a word.
DAYS_USED = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y")


NAMED_DAYS_USED = ("%d %b %Y", "%d-%b-%Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y")


# Moments since the beginning of 1970, by how many of them make a second: as d3 and the shell name them.
SINCE_1970 = {"%s": 1, "%Q": 1_000}


DIGITS_SINCE_1970 = {"%s": r"[0-9]{9,10}", "%Q": r"[0-9]{12,13}"}


CLOCKS_USED = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")


FEW_TRIED = 100


TIMES = "a real time as 9:05 or 09:05:30"


FIRST_YEAR = 1000


# What of a format stands for a time of day.
CLOCK_MARKS = ("%H", "%I", "%k", "%l", "%T", "%R", "%r", "%X", "%c", "%s")


@dataclass(frozen=True)
class Moments:
    """The dates of a column, the times of day beside them (None if there are none), and the cells that are neither."""

    date: pl.Series
    time: pl.Series | None
    is_bad: pl.Series


def read_moments(cells: pl.Series, date_format: str | None = None) -> Moments:
    """Read dates, with the times of day that stand in the same cells."""
    none = pl.Series(cells.name, [False]).new_from_index(0, len(cells))
    if cells.dtype == pl.Date:
        return Moments(cells, None, none)
    if isinstance(cells.dtype, pl.Datetime):
        wall = cells.dt.replace_time_zone(None)
        return Moments(wall.dt.date(), _unless_midnight(wall.dt.time()), none)
    text = _whole_as_text(cells)
    if date_format is not None:
        return _declared(text, date_format)
    parts = text.to_frame("cell").select(
        date=pl.col("cell").str.extract(MOMENT, 1), time=pl.col("cell").str.extract(MOMENT, 2)
    )
    date = _read_each(parts["date"], pl.Date(), DATE_FORMATS)
    time = _read_each(parts["time"], pl.Time(), TIME_FORMATS)
    is_lost = (date.is_null() & text.is_not_null()) | (time.is_null() & parts["time"].is_not_null())
    return Moments(date, _unless_midnight(time), is_lost)


def dates_expected(cells: pl.Series, date_format: str | None = None) -> str:
    """Describe what a date looks like and, if all follow another usual form, which format reads them."""
    if date_format is not None:
        plain = read_moments(cells)
        also = "" if plain.is_bad.any() else "; all are read without it"
        return f"a real date as --date-format '{date_format}' says{also}"
    text = _whole_as_text(cells).drop_nulls().unique()
    ways = [day + clock for day in (*DAYS_USED, *NAMED_DAYS_USED) for clock in CLOCKS_USED]
    numbers = [form for form, digits in DIGITS_SINCE_1970.items() if text.str.contains(f"^{digits}$").all()]
    if numbers and len(text):
        what = "seconds" if SINCE_1970[numbers[0]] == 1 else "milliseconds"
        return f"{DATES}; all are read by --date-format '{numbers[0]}' as {what} since 1970"
    # Some cells rule most ways out, before all are read by those that are left.
    for tried in (text.head(FEW_TRIED), text):
        ways = [way for way in ways if not _declared(tried, way).is_bad.any()]
    if not ways:
        return DATES
    # Some differ in nothing but how they read other cells than these.
    first = _declared(text, ways[0]).date
    others = [f" or '{one}', which give other days" for one in ways[1:] if not _declared(text, one).date.equals(first)]
    return f"{DATES}; all are read by --date-format '{ways[0]}'{''.join(others[:1])}"


def read_times(cells: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Read times of day; give them and the cells that are none."""
    none = pl.Series(cells.name, [False]).new_from_index(0, len(cells))
    if cells.dtype == pl.Time:
        return cells, none
    if isinstance(cells.dtype, pl.Datetime):
        return cells.dt.time(), none
    text = _whole_as_text(cells)
    time = _read_each(text.str.extract(CLOCK, 1), pl.Time(), TIME_FORMATS)
    return time, time.is_null() & text.is_not_null()


def _declared(text: pl.Series, date_format: str) -> Moments:
    has_clock = any(mark in date_format for mark in CLOCK_MARKS)
    try:
        if date_format in SINCE_1970:
            found = pl.from_epoch(text.cast(pl.Int64, strict=False) * (1_000 // SINCE_1970[date_format]), "ms")
            date, time = found.dt.date(), _unless_midnight(found.dt.time())
        elif has_clock:
            found = text.str.to_datetime(date_format, strict=False).dt.replace_time_zone(None)
            date, time = found.dt.date(), _unless_midnight(found.dt.time())
        else:
            date, time = text.str.to_date(date_format, strict=False), None
    except pl.exceptions.PolarsError:
        expected = "a format as %m/%d/%Y, with % before each letter that stands for a part of the date"
        raise InputError.of(expected, column="date format", value=date_format) from None
    # %Y takes the 26 of 13.02.26 for a year of its own.
    is_read = date.dt.year().fill_null(0) >= FIRST_YEAR
    return Moments(date, time, ~is_read & text.is_not_null())


def _whole_as_text(cells: pl.Series) -> pl.Series:
    """Return cells as text; whole numbers without a point, so that 20101231.0 is a date."""
    if cells.dtype.is_float() and (cells == cells.round()).all():
        return cells.cast(pl.Int64, strict=False).cast(pl.String)
    return cells.cast(pl.String, strict=False)


def _read_each(text: pl.Series, kind: pl.Date | pl.Time, formats: tuple[str, ...]) -> pl.Series:
    """Read each distinct text by the first format that it fits: a year has few days however many rows."""
    distinct = text.drop_nulls().unique()
    read = pl.Series(None, [None], dtype=kind).new_from_index(0, len(distinct))
    for form in formats:
        if read.null_count():
            tried = distinct.str.strptime(kind, form, strict=False)
            read = pl.select(pl.coalesce(read, tried)).to_series()
    table = pl.DataFrame({"text": distinct, "value": read})
    return text.to_frame("text").join(table, on="text", how="left", maintain_order="left")["value"]


def _unless_midnight(time: pl.Series) -> pl.Series | None:
    """Return the times, or None if they say nothing: a date alone, or one that a program wrote as its first moment."""
    present = time.drop_nulls()
    return None if present.is_empty() or (present.cast(pl.Int64) == 0).all() else time
