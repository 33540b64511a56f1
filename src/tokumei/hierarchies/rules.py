"""What becomes of values that no table had before: the rule that the labels of a level follow.

| rule        | level                    | covers                                     |
|-------------|--------------------------|--------------------------------------------|
| `hidden`    | `*` for everything       | every value                                |
| `as-is`     | numbers or dates as such | every number, every date written alike     |
| `calendar`  | 2020-08, 2020-Q3, 2020s  | every date written alike                   |
| `intervals` | 20-24, [2.5, 5), ≥90     | numbers in these, and on their grid        |
| `prefix`    | `123**`                 | every text that is no longer than the mask |

A rule is read off a level and taken only if it gives every value the label that it has there, so that it does not
matter who made the hierarchy: a builder, a file, a function.
"""

from __future__ import annotations

import bisect
import datetime as dt
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar, Protocol, cast

from tokumei.core.errors import InputError
from tokumei.engines.class_counts import Recoding
from tokumei.hierarchies.hierarchy import SUPPRESSED, Hierarchy
from tokumei.hierarchies.labels import ENDLESS, LONGEST_LABEL, NumberRange, interval_label, read_range
from tokumei.hierarchies.leaves import TRIED_FIRST, read_number
from tokumei.hierarchies.written_dates import READERS, way_of_dates

# Fewer numbers are codes, of which a new one means something else.
FEWEST_NUMBERS = 4
NUMBERS, YEARS = "numbers", "years"


class Rule(Protocol):
    """Labels of values; its fields are what a recipe holds of it."""

    name: ClassVar[str]

    def labels(self, texts: Sequence[str]) -> list[str | None]:
        """Return the label of each value, None where the rule says nothing of it."""
        ...


@dataclass(frozen=True)
class Hidden:
    """Every value has the one label that says nothing."""

    name: ClassVar[str] = "hidden"
    label: str = SUPPRESSED

    def labels(self, texts: Sequence[str]) -> list[str | None]:
        """Return the one label."""
        return [self.label] * len(texts)


@dataclass(frozen=True)
class AsIs:
    """Numbers, or dates written in one way, are released as they are."""

    name: ClassVar[str] = "as-is"
    read: str = NUMBERS

    def labels(self, texts: Sequence[str]) -> list[str | None]:
        """Return each value that can be read."""
        reader = read_number if self.read == NUMBERS else READERS[self.read]
        return [text if reader(text) is not None else None for text in texts]


UNITS: Mapping[str, Callable[[int, int, int], str]] = {
    "day": lambda year, month, day: f"{year:04}-{month:02}-{day:02}",
    "month": lambda year, month, _: f"{year:04}-{month:02}",
    "quarter": lambda year, month, _: f"{year:04}-Q{(month + 2) // 3}",
    "year": lambda year, *_: f"{year:04}",
    "ten years": lambda year, *_: f"{year // 10 * 10:04}-{year // 10 * 10 + 9:04}",
    "decade": lambda year, *_: f"{year // 10 * 10}s",
    "half century": lambda year, *_: f"{year // 50 * 50}-{year // 50 * 50 + 49}",
    "century": lambda year, *_: f"{year // 100 * 100}-{year // 100 * 100 + 99}",
}
UNITS_OF_YEARS = ("ten years", "decade", "half century", "century")


@dataclass(frozen=True)
class CalendarRule:
    """Dates, all written in one way, become days, months, quarters, years or decades."""

    name: ClassVar[str] = "calendar"
    to: str = "month"
    read: str = "usual"

    def labels(self, texts: Sequence[str]) -> list[str | None]:
        """Return the label of the day that each text is."""
        days = (_year_of(text) if self.read == YEARS else READERS[self.read](text) for text in texts)
        return [None if day is None else UNITS[self.to](day.year, day.month, day.day) for day in days]


@dataclass(frozen=True)
class IntervalRule:
    """Numbers become the interval that they lie in: one of `known`, or else one of a grid, or between 1, 2, 5, 10, ….

    width: of the grid, which has an edge at `start`; without one there are only the known intervals.
    steps: of the edges 1, 2, 5, 10, …, where numbers that lie in none of `known` lie in a further one.
    """

    name: ClassVar[str] = "intervals"
    known: tuple[str, ...] = ()
    start: str = "0"
    width: str = ""
    steps: tuple[int, ...] = ()
    # Powers of ten that are joined to one interval, and one at which such an interval begins.
    joined: int = 1
    first: int = 0
    is_whole: bool = True

    def labels(self, texts: Sequence[str]) -> list[str | None]:
        """Return the interval of each number."""
        known = sorted(((_range_of(label), label) for label in self.known), key=lambda one: _begin(one[0]))
        lows = [one.low for one, _ in known]
        least = next((low for low in lows if low >= 1), None)
        on_grid = self._grid([one for one, _ in known]) if self.width else lambda _: None
        made: list[str | None] = []
        for text in texts:
            number = read_number(text)
            if number is None or (self.is_whole and number.denominator != 1):
                made.append(None)
                continue
            at = bisect.bisect_right(lows, number)
            # Two may begin at the same number, one of them without it.
            near = known[max(0, at - 2) : at]
            found = next((label for one, label in near if NumberRange(number, number).lies_within(one)), None)
            if found is None and self.width:
                found = on_grid(number)
            elif found is None and self.steps and least is not None and number >= least:
                found = self._beyond(number)
            made.append(found)
        return made

    def _grid(self, known: Sequence[NumberRange]) -> Callable[[Fraction], str | None]:
        """Return what says the interval of a number on the grid, cut where the known ones begin and end."""
        bottom = max((one.high for one in known if one.low <= -ENDLESS), default=-ENDLESS)
        top = min((one.low for one in known if one.high >= ENDLESS), default=ENDLESS)
        start, width = Fraction(self.start), Fraction(self.width)
        scale = math.lcm(start.denominator, width.denominator)
        first, step = int(start * scale), int(width * scale)

        @cache
        def label(at: int) -> str | None:
            low, end = Fraction(first + at * step, scale), Fraction(first + (at + 1) * step, scale)
            low, end = max(low, bottom), min(end, top)
            return interval_label(low, end, is_whole=self.is_whole) if low < end else None

        return lambda number: label(
            (number.numerator * scale - first * number.denominator) // (step * number.denominator)
        )

    def _beyond(self, number: Fraction) -> str:
        """Return the interval between two of 1, 2, 5, 10, … or powers of ten that a large number lies in."""
        power = len(str(int(number))) - 1
        power -= (power - self.first) % self.joined
        edges = [10**power * step for step in self.steps] + [10 ** (power + self.joined)]
        at = bisect.bisect_right(edges, number) - 1
        return interval_label(Fraction(edges[at]), Fraction(edges[at + 1]), is_whole=self.is_whole)


@dataclass(frozen=True)
class PrefixRule:
    """Texts keep so many characters and are masked up to a length; without a mask they are cut."""

    name: ClassVar[str] = "prefix"
    kept: int = 1
    length: int = 1
    mask: str = "*"

    def labels(self, texts: Sequence[str]) -> list[str | None]:
        """Return each text masked from the right."""
        return [self._label(text) for text in texts]

    def _label(self, text: str) -> str | None:
        if not self.mask:
            return text[: self.kept] if len(text) >= self.kept else None
        return text[: self.kept].ljust(self.length, self.mask) if len(text) <= self.length else None


KINDS: Mapping[str, type[Rule]] = {one.name: one for one in (Hidden, AsIs, CalendarRule, IntervalRule, PrefixRule)}
READ_AS: Mapping[str, tuple[str, ...]] = {AsIs.name: (NUMBERS, *READERS), CalendarRule.name: (YEARS, *READERS)}


def rule_of(recoding: Recoding) -> Rule | None:
    """Return the rule that the labels of a level follow; None if they follow none of those known here."""
    texts, labels = recoding.values.to_list(), recoding.labels.to_list()
    if recoding.label_of_missing == SUPPRESSED:
        return Hidden()
    some = slice(TRIED_FIRST)
    for guess in (_as_is, _calendar, _intervals, _prefix):
        for rule in guess(texts, labels):
            if rule.labels(texts[some]) == labels[some] and rule.labels(texts) == labels:
                return rule
    # A label of everything that is no interval and no date, as `anyone`.
    return None if recoding.label_of_missing is None else Hidden(recoding.label_of_missing)


def extended(hierarchy: Hierarchy, texts: Sequence[str], *, is_open: bool = False) -> Hierarchy:
    """Return a hierarchy with those of these values as leaves, too, that a rule covers at every level.

    is_open: all others are leaves, too; no label stands for them but themselves and one that says nothing.
    """
    known = set(hierarchy.leaves)
    new = [text for text in dict.fromkeys(texts) if text not in known]
    if not new:
        return hierarchy
    rules = [rule_of(hierarchy.recoding(level)) for level in range(len(hierarchy.levels))]
    if any(one is not None and not isinstance(one, Hidden) for one in rules[1:]):
        # What a level above says something of is a value as such.
        added = [list[str | None](new)]
    else:
        added = [[None] * len(new) if rules[0] is None else rules[0].labels(new)]
    added += [[None] * len(new) if one is None else one.labels(new) for one in rules[1:]]
    is_covered = [all(label is not None for label in row) for row in zip(*added, strict=True)]
    if is_open:
        for level, row in enumerate(added):
            label = hierarchy.labels_at(level)[0] if level and hierarchy.says_nothing(level) else None
            outside = new if label is None else [label] * len(new)
            row[:] = [own if is_own else text for own, is_own, text in zip(row, is_covered, outside, strict=True)]
        is_covered = [True] * len(new)
    columns = [[*hierarchy.labels_at(level), *itertools.compress(one, is_covered)] for level, one in enumerate(added)]
    order = _order(columns[0])
    return Hierarchy.of_levels(hierarchy.attribute, [[str(column[at]) for at in order] for column in columns])


def rule_as_dict(rule: Rule) -> dict[str, object]:
    """Return a rule for JSON."""
    found: dict[str, object] = asdict(cast("Any", rule))
    listed = {name: list(one) if isinstance(one, tuple) else one for name, one in found.items()}
    return {"rule": rule.name, **listed}


def rule_from(described: Mapping[str, object], column: str) -> Rule:
    """Make the rule that a recipe describes; what cannot be read is an InputError."""
    options: dict[str, Any] = {
        name: tuple(one) if isinstance(one, list) else one for name, one in described.items() if name != "rule"
    }
    name = str(described.get("rule"))
    try:
        rule = KINDS[name](**options)
        if options.get("length", 1) > LONGEST_LABEL:
            raise ValueError(name)
        is_known = options.get("read") in READ_AS.get(name, (options.get("read"),))
        is_known &= options.get("to") in (None, *UNITS)
        # A rule whose fields are of other types fails on the first value.
        rule.labels(["1", "2020-01-01", "a"])
    except (ArithmeticError, KeyError, TypeError, ValueError, AttributeError):
        is_known = False
    if not is_known:
        known = ", ".join(KINDS)
        raise InputError.of(f"a rule of this version of Tokumei: {known}", column=column, value=dict(described))
    return rule


def _as_is(texts: Sequence[str], labels: Sequence[str]) -> Iterator[Rule]:
    if labels == texts:
        if len(texts) >= FEWEST_NUMBERS and all(read_number(text) is not None and not _is_code(text) for text in texts):
            yield AsIs(NUMBERS)
        found = way_of_dates(texts) if texts else None
        if found is not None:
            yield AsIs(found[0])


def _calendar(texts: Sequence[str], labels: Sequence[str]) -> Iterator[Rule]:
    found = way_of_dates(texts) if texts and labels != texts else None
    if found is not None:
        yield from (CalendarRule(unit, found[0]) for unit in UNITS)
    elif all(_year_of(text) is not None for text in texts):
        yield from (CalendarRule(unit, YEARS) for unit in UNITS_OF_YEARS)


def _intervals(texts: Sequence[str], labels: Sequence[str]) -> Iterator[Rule]:
    if texts == labels:
        return
    try:
        found = sorted(((_range_of(label), label) for label in dict.fromkeys(labels)), key=lambda one: _begin(one[0]))
    except ValueError:
        return
    for (one, _), (two, _) in itertools.pairwise(found):
        if one.high > two.low or (one.high == two.low and not one.is_open and not two.is_open_below):
            return
    known = tuple(label for _, label in found)
    is_whole = not any(label.startswith(("[", "(", "]")) for label in known)
    bounded = [one for one, _ in found if one.low > -ENDLESS and one.high < ENDLESS]
    # One interval alone does not show where the next one would end.
    if len(bounded) > 1:
        open_ended = tuple(label for one, label in found if one not in bounded)
        width = max(one.high - one.low for one in bounded)
        start = next(one.low for one in bounded if one.high - one.low == width) % width
        yield IntervalRule(open_ended, str(start), str(width), is_whole=is_whole)
        yield from _of_magnitudes(known, bounded, is_whole=is_whole)
    yield IntervalRule(known, is_whole=is_whole)


def _of_magnitudes(known: tuple[str, ...], bounded: Sequence[NumberRange], *, is_whole: bool) -> Iterator[IntervalRule]:
    """Yield the rules of intervals that end at 1, 2, 5, 10, … or at powers of ten, if these do."""
    edges = [one for one in bounded if one.low >= 1]
    if len(edges) < 2 or len(edges) < len(known) - 1:
        return
    for steps, joined in (((1, 2, 5), 1), ((1,), round(math.log10(edges[-1].high / edges[-1].low)))):
        first = len(str(int(edges[-1].low))) - 1
        rule = IntervalRule(known, steps=steps, joined=max(1, joined), first=first, is_whole=is_whole)
        if all(rule._beyond(one.low) == interval_label(one.low, one.high, is_whole=is_whole) for one in edges):
            yield rule


def _prefix(texts: Sequence[str], labels: Sequence[str]) -> Iterator[Rule]:
    lengths = {len(label) for label in labels}
    if len(lengths) != 1 or labels == texts:
        return
    length = lengths.pop()
    masks = {label[-1:] for label in labels}
    mask = masks.pop() if len(masks) == 1 else ""
    if mask and not mask.isalnum() and not mask.isspace():
        kept = max(len(label.rstrip(mask)) for label in labels)
        yield from [PrefixRule(kept, length, mask)] if kept else []
    elif all(any(map(str.isdigit, label)) for label in labels):
        # Words are no codes: of a new one, the first letters mean nothing.
        yield PrefixRule(length, length, "")


def _range_of(label: str) -> NumberRange:
    """Return the numbers of an interval's label; a run of whole numbers ends before the next one."""
    number = read_number(label)
    found = read_range(label) if number is None else NumberRange(number, number)
    if found is None:
        raise ValueError(label)
    if label.startswith(("[", "(", "]", "<", ">", "≤", "≥")):
        return found
    if found.low.denominator != 1 or found.high.denominator != 1:
        raise ValueError(label)
    return NumberRange(found.low, found.high + 1, is_open=True)


def _begin(one: NumberRange) -> tuple[Fraction, bool]:
    return one.low, one.is_open_below


def _is_code(text: str) -> bool:
    return len(text) > 1 and text[0] == "0" and text[1].isdigit()


def _year_of(text: str) -> dt.date | None:
    return dt.date(int(text), 1, 1) if text.isascii() and text.isdigit() and len(text) <= 4 and int(text) else None


def _order(texts: Sequence[str | None]) -> list[int]:
    """Return the order of leaves: that of numbers or of days where all are such, else as they stand."""
    written = [str(text) for text in texts]
    numbers = [read_number(text) for text in written]
    if all(number is not None for number in numbers):
        return sorted(range(len(written)), key=lambda at: numbers[at] or Fraction(0))
    found = way_of_dates(written)
    return list(range(len(written))) if found is None else sorted(range(len(written)), key=lambda at: found[1][at])
