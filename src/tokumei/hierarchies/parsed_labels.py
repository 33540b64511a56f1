"""What one label of a release stands for, read without the hierarchy that it was made by.

| label | stands for |
|---|---|
| `20-24`, `[2.5, 5)`, `<18` | numbers from one end to the other |
| `2011-03-09`, `2011-03`, `2011-Q1`, `2011`, `2010-2019`, `1960s` | moments, of which the last three are numbers, too |
| `apple..cherry`, `..cherry` | values in order |
| `{a;b}` | one of these |
| `130**` | what agrees wherever there is no mask |
| `*` | anything |
| (missing) | a missing value |
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from fractions import Fraction

from tokumei.hierarchies.labels import ENDLESS, LONGEST_LABEL, NumberRange, read_range, set_members
from tokumei.hierarchies.leaves import read_number
from tokumei.hierarchies.ordered_labels import order_labels
from tokumei.hierarchies.written_dates import MONTHS_OF_A_YEAR

Moments = tuple[dt.datetime, dt.datetime]
"""The first moment and that after the last."""

DECADE = re.compile(r"(?P<first>[0-9]{3}0)s")
YEARS = re.compile(r"(?P<first>[0-9]{4})(?:-(?P<last>[0-9]{4})|s)?")
MONTH = re.compile(r"(?P<year>[0-9]{4})-(?:Q(?P<quarter>[1-4])|(?P<month>[0-9]{2}))")


@dataclass(frozen=True)
class Label:
    """What one released label stands for.

    text: the label; None for a missing value.
    low, high: the ends of a range of numbers, both the number itself for a single one; None where it has no end.
    has_low, has_high: whether an end belongs to the range.
    members: the values of a set; the text itself where it is one value, a mask such as `130**` or a run of texts.
    is_anything: whether it says nothing, as `*` does.

    `str(label)` is the label as it was written.
    """

    text: str | None
    low: float | None = None
    high: float | None = None
    has_low: bool = True
    has_high: bool = True
    members: tuple[str, ...] = ()
    is_anything: bool = False

    def __str__(self) -> str:
        """Return the label as it was written; nothing for a missing value."""
        return "" if self.text is None else self.text

    @property
    def middle(self) -> float | None:
        """The middle of a range, its one end where the other is open, the mean of a set of numbers; else None."""
        if self.low is not None and self.high is not None:
            return (self.low + self.high) / 2
        if self.low is not None or self.high is not None:
            return self.low if self.high is None else self.high
        numbers = [read_number(one) for one in self.members]
        found = [float(one) for one in numbers if one is not None]
        return sum(found) / len(found) if found and len(found) == len(numbers) else None

    @property
    def span(self) -> Moments | None:
        """The first moment of a day, month, quarter, year, decade or run of them, and that after the last; or None.

        >>> [str(one.date()) for one in parse_label("2011-Q1").span]
        ['2011-01-01', '2011-04-01']
        """
        return None if self.text is None else _moments(self.text)

    @property
    def moment(self) -> dt.datetime | None:
        """The middle of a label of the calendar; None for others, and for runs without an end."""
        found = self.span
        return None if found is None else found[0] + (found[1] - found[0]) / 2

    def covers(self, value: object) -> bool:
        """Whether the label may stand for a value: a number, a text, a date or time, or None for a missing one.

        Runs of texts are in the order of the numbers in them, or of what they say (`5 to 9`); what else a label of a
        hierarchy of your own stands for only that hierarchy tells.

        >>> parse_label("20-24").covers(23), parse_label("2011-Q1").covers("2011-04-01"), parse_label("*").covers(None)
        (True, False, True)
        """
        if self.is_anything:
            return True
        if self.text is None or is_missing(value):
            return self.text is None and is_missing(value)
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if text == self.text:
            return True
        number = read_number(text) if len(text) <= LONGEST_LABEL else None
        if number is not None and self._reaches(number):
            return True
        return _in_moments(self.span, value) or _agrees(self.text, text) or self._has_member(text)

    def _reaches(self, number: Fraction) -> bool:
        """Whether a number lies between the ends as they are written: -0.3 is not the float nearest to it."""
        if self.low is None and self.high is None:
            return False
        if self.low == self.high:
            return number == read_number(str(self))
        found = read_range(str(self))
        if found is None:
            # A decade.
            return Fraction(self.low or 0) <= number <= Fraction(self.high or 0)
        return NumberRange(number, number).lies_within(found)

    def _has_member(self, text: str) -> bool:
        if self.members and self.members != (self.text,):
            return any(parse_label(member).covers(text) for member in self.members)
        first, mark, last = (self.text or "").partition("..")
        return bool(mark) and _is_between(text, first, last)


def parse_label(label: object) -> Label:
    """Read a label of a release: a number, a range, a set, `*`, or a value as it is.

    >>> import tokumei as tk
    >>> tk.parse_label("20-24").middle, tk.parse_label("[2.5, 5)").high, tk.parse_label("{a;b}").members
    (22.0, 5.0, ('a', 'b'))
    """
    if is_missing(label):
        return Label(None)
    text = str(label)
    if text == "*":
        return Label(text, is_anything=True)
    number = read_number(text) if len(text) <= LONGEST_LABEL else None
    if number is not None:
        return Label(text, float(number), float(number), members=(text,))
    if decade := DECADE.fullmatch(text):
        first = float(decade["first"])
        return Label(text, first, first + 9)
    found = read_range(text)
    if found is not None:
        low, high = (None if abs(end) >= ENDLESS else float(end) for end in (found.low, found.high))
        has_low, has_high = low is not None and not found.is_open_below, high is not None and not found.is_open
        return Label(text, low, high, has_low, has_high)
    members = set_members(text)
    return Label(text, members=(text,) if members is None else tuple(members))


def is_missing(value: object) -> bool:
    """Whether a value is missing: None, or that of pandas or floats, which is not equal to itself."""
    return value is None or value != value or str(value) == "<NA>"


def _moments(text: str) -> Moments | None:
    """Read a label of the calendar, or a run of two."""
    if ".." in text:
        first, last = (_moments(part) for part in text.split("..", 1))
        return None if first is None or last is None or first[0] > last[0] else (first[0], last[1])
    try:
        if found := YEARS.fullmatch(text):
            year = int(found["first"])
            last_year = int(found["last"] or (year + 9 if text.endswith("s") else year))
            return (_start(year, 1), _start(last_year + 1, 1)) if year <= last_year else None
        if found := MONTH.fullmatch(text):
            month = 3 * int(found["quarter"]) - 2 if found["quarter"] else int(found["month"])
            return _start(int(found["year"]), month), _start(int(found["year"]), month + (3 if found["quarter"] else 1))
        moment = _clock_there(dt.datetime.fromisoformat(text)) if text[4:5] == "-" else None
    except ValueError:
        return None
    if moment is None:
        return None
    return moment, moment + (dt.timedelta(days=1) if len(text) == len("2011-03-09") else dt.timedelta())


def _start(year: int, month: int) -> dt.datetime:
    """Return the first moment of a month, of the next year's for a thirteenth one, and no later than there is."""
    if month == MONTHS_OF_A_YEAR + 1:
        year, month = year + 1, 1
    day = dt.date(year, month, 1) if year <= dt.MAXYEAR else dt.date.max
    return dt.datetime.combine(day, dt.time())


def _clock_there(moment: dt.datetime) -> dt.datetime:
    """Return what the clock shows: labels of moments in a time zone are by the clock there."""
    return moment.replace(tzinfo=None)


def _in_moments(span: Moments | None, value: object) -> bool:
    """Whether a date or moment, or the text of one, lies in a span."""
    if span is None:
        return False
    if isinstance(value, dt.datetime):
        own: Moments | None = (_clock_there(value), _clock_there(value))
    elif isinstance(value, dt.date):
        own = (dt.datetime.combine(value, dt.time()), dt.datetime.combine(value, dt.time()) + dt.timedelta(days=1))
    else:
        own = _moments(str(value))
    return own is not None and span[0] <= own[0] and own[1] <= span[1] and own[0] < span[1]


def _agrees(mask: str, text: str) -> bool:
    """Whether a text has the length of a mask such as 130** and agrees wherever it is not masked."""
    is_mask = "*" in mask and len(mask) == len(text)
    return is_mask and all(own in ("*", other) for own, other in zip(mask, text, strict=True))


def _is_between(text: str, first: str, last: str) -> bool:
    """Whether a text stands from the first to the last of a run, either of which may be open."""
    ends = [end for end in (first, last) if end]
    if text in ends:
        return True
    ordered = order_labels(list(dict.fromkeys([*ends, text])))
    if ordered is not None and not ordered.apart:
        at = ordered.labels.index(text)
        return (not first or ordered.labels.index(first) < at) and (not last or at < ordered.labels.index(last))
    return (not first or _natural(first) <= _natural(text)) and (not last or _natural(text) <= _natural(last))


def _natural(text: str) -> list[tuple[int, int, str]]:
    """Return a key by which T9 stands before T10."""
    parts = re.split("([0-9]+)", text)
    return [(0, int(part), "") if at % 2 else (1, 0, part) for at, part in enumerate(parts) if part]
