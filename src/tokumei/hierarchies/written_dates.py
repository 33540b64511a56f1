"""Dates as people write them, however exact, and days as a whole column writes them.

One value alone does not tell whether 03/04/2020 is in March or in April; a column mostly does.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence

import polars as pl

from tokumei.core.errors import InputError
from tokumei.hierarchies.leaves import CLOCK, DATES, TRIED_FIRST, leaf_texts, read_all, read_date, read_each

# The year before the first of each era of Japan.
ERAS = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WORDS = rf"(?:{'|'.join(MONTHS)})[a-z]*\.?"
_ERAS = "|".join(ERAS)
FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?P<y>[0-9]{{4}})(?P<mark>[-/.])(?P<m>[0-9]{{1,2}})(?P=mark)(?P<d>[0-9]{{1,2}}){CLOCK}",
        r"(?P<y>[0-9]{4})[-/.](?P<m>[0-9]{1,2})",
        r"(?P<y>[0-9]{4})[- ]?Q(?P<q>[1-4])",
        r"Q(?P<q>[1-4])[- ]?(?P<y>[0-9]{4})",
        rf"(?:(?P<d>[0-9]{{1,2}}) )?(?P<word>{_WORDS}) (?P<y>[0-9]{{4}})",
        rf"(?P<word>{_WORDS}) (?P<d>[0-9]{{1,2}}), (?P<y>[0-9]{{4}})",
        rf"(?:(?P<y>[0-9]{{4}})|(?P<era>{_ERAS})(?P<n>元|[0-9]{{1,2}}))年度?"
        r"(?:(?P<m>[0-9]{1,2})月(?:(?P<d>[0-9]{1,2})日)?)?",
    )
)


def read_date_label(text: str) -> tuple[dt.date, dt.time] | None:
    """Read the first moment of a date that was written in any of these ways; None for what is none."""
    for form in FORMS:
        if (found := form.fullmatch(text)) is not None:
            return _moment(found.groupdict().get, text)
    return None


def read_day_label(text: str) -> dt.date | None:
    """Read a whole day that was written in any of these ways; None for a month, a year and what is no date."""
    for form in FORMS:
        if (found := form.fullmatch(text)) is not None and found.groupdict().get("d") is not None:
            moment = _moment(found.groupdict().get, text)
            return None if moment is None else moment[0]
    return None


def _moment(part: Callable[[str], str | None], text: str) -> tuple[dt.date, dt.time] | None:
    year, number, quarter, word = part("y"), part("n"), part("q"), part("word")
    if number is not None:
        year = str(ERAS[part("era") or ""] + (1 if number == "元" else int(number)))
    month = int(part("m") or 1)
    if quarter is not None:
        month = 3 * int(quarter) - 2
    elif word is not None:
        month = MONTHS.index(word[:3].lower()) + 1
    clock = re.search(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?", text)
    try:
        hour, minute, second = (0, 0, 0) if clock is None else (int(one or 0) for one in clock.groups())
        return dt.date(int(year or 0), month, int(part("d") or 1)), dt.time(hour, minute, second)
    except ValueError:
        return None


_DAY_OR_MONTH_FIRST = re.compile(rf"([0-9]{{1,2}})([./-])([0-9]{{1,2}})\2([0-9]{{4}}|[0-9]{{2}}){CLOCK}")
# Eight digits of other years are codes.
_COMPACT = re.compile(r"((?:1[89]|20)[0-9]{2})([0-9]{2})([0-9]{2})")
MONTHS_OF_A_YEAR = 12
DAYS_OF_A_MONTH = 31
# Two digits of a year are read as spreadsheets do, whenever it is done: 30 is 1930, and 29 is 2029.
CENTURY_FROM = 1930
EXPECTED = "a real date, as 2011-03-09, 2011/3/9 or 9.3.2011, in one way in all rows (03/04/2011 alone could be two)"

ReadDate = Callable[[str], dt.date | None]


def date_reader(texts: Sequence[str]) -> ReadDate | None:
    """Return a reader for every text of a column as a day; None if they are no dates, or their order is unclear.

    >>> date_reader(["31/12/2020", "03/04/2020"])("03/04/2020"), date_reader(["12/31/2020", "03/04/2020"])("03/04/2020")
    (datetime.date(2020, 4, 3), datetime.date(2020, 3, 4))
    >>> date_reader(["03/04/2020", "01/02/2021"]) is None, date_reader(["昭和60年4月1日"])("昭和60年4月1日")
    (True, datetime.date(1985, 4, 1))
    """
    found = way_of_dates(texts)
    return None if found is None else READERS[found[0]]


def read_days(texts: Sequence[str]) -> list[dt.date] | None:
    """Return the day of every text of a column; None as for `date_reader`."""
    found = way_of_dates(texts)
    return None if found is None else found[1]


def date_leaves(attribute: str, values: pl.Series) -> list[tuple[dt.date, str]]:
    """Return the date and the text of each value, earliest first; what is no date is an InputError."""
    texts = [] if values.dtype.is_float() or values.dtype == pl.Boolean else leaf_texts(attribute, values)
    days = read_days(texts)
    if not texts or (values.dtype.is_numeric() and days is None):
        raise InputError.of("a column of dates", column=attribute, value=values.dtype)
    return read_all(attribute, texts, read_date, EXPECTED) if days is None else sorted(zip(days, texts, strict=True))


def way_of_dates(texts: Sequence[str]) -> tuple[str, list[dt.date]] | None:
    """Return the name of the reader that reads every text, and the days: each text is read once."""
    for way, reader in READERS.items():
        if way in _BY_ORDER and _order_of(texts) != way:
            continue
        if _days(reader, texts[:TRIED_FIRST]) is not None:
            days = _days(reader, texts)
            if days is not None:
                return way, days
    return None


def _days(reader: ReadDate, texts: Sequence[str]) -> list[dt.date] | None:
    if reader is read_date and len(texts) > TRIED_FIRST:
        written = pl.Series(texts, dtype=pl.String)
        if written.str.contains(f"^(?:{DATES[0].pattern})$").all():
            # All in the usual way, and read at once; what there is no day for is left to the reader.
            found = written.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False)
            if not found.null_count() and (found.dt.year() >= 1).all():
                return found.to_list()
    return read_each(reader, texts)


def _read_compact(text: str) -> dt.date | None:
    found = _COMPACT.fullmatch(text)
    try:
        return None if found is None else dt.date(*map(int, found.groups()))
    except ValueError:
        return None


def _order_of(texts: Sequence[str]) -> str | None:
    """Decide by all texts whether the day or the month comes first; with dots it is the day."""
    parts = []
    for text in texts:
        found = _DAY_OR_MONTH_FIRST.fullmatch(text)
        if found is None:
            return None
        parts.append(found)
    firsts, seconds = ({int(found[at]) for found in parts} for at in (1, 3))
    has_dots = {found[2] for found in parts} == {"."}
    years = {found[4] for found in parts}
    if any(len(year) == 2 for year in years) and max(map(int, years)) <= DAYS_OF_A_MONTH:
        # 20/04/18 may be a day of 2018 or of 2020: nothing says which end the year is at.
        return None
    if has_dots or max(firsts, default=0) > MONTHS_OF_A_YEAR:
        return "day-first"
    return "month-first" if max(seconds, default=0) > MONTHS_OF_A_YEAR else None


def _read(text: str, *, day: int, month: int) -> dt.date | None:
    found = _DAY_OR_MONTH_FIRST.fullmatch(text)
    try:
        return None if found is None else dt.date(_year(found[4]), int(found[month]), int(found[day]))
    except ValueError:
        return None


def _year(digits: str) -> int:
    """Return the year; of two digits alone, the one of the hundred years from CENTURY_FROM on.

    >>> _year("1985"), _year("85"), _year("07")
    (1985, 1985, 2007)
    """
    return int(digits) if len(digits) == 4 else CENTURY_FROM + (int(digits) - CENTURY_FROM) % 100


_BY_ORDER = ("day-first", "month-first")
READERS: Mapping[str, ReadDate] = {
    "usual": read_date,
    "written": read_day_label,
    "compact": _read_compact,
    "day-first": lambda text: _read(text, day=1, month=3),
    "month-first": lambda text: _read(text, day=3, month=1),
}
