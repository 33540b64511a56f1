"""Dates as people write them, however exact: a day, a month, a quarter or a year."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable

# The year before the first of each era of Japan.
ERAS = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WORDS = rf"(?:{'|'.join(MONTHS)})[a-z]*\.?"
_ERAS = "|".join(ERAS)
_TIME = r"(?:[ T][0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?Z?)?"
FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?P<y>[0-9]{{4}})(?P<mark>[-/.])(?P<m>[0-9]{{1,2}})(?P=mark)(?P<d>[0-9]{{1,2}}){_TIME}",
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
