"""The words of a level: how intervals and runs of values are written, and the round numbers where they end.

| what | label |
|---|---|
| whole numbers from 20 up to 24 | `20-24` |
| whole numbers from -5 up to -1 | `-5..-1` |
| the whole number 20 alone | `20` |
| all numbers from 2.5 up to, but without, 5 | `[2.5, 5)` |
| all numbers from 2.5 up to 5 | `[2.5, 5]` |
| the values from apple to cherry | `apple..cherry` |
| all values up to cherry | `..cherry` |

Labels that others write are read as well: `[2.5, 5[`, `]2.5, 5]`, `(2.5, 5]`, `<18`, `>=80`, and sets as `{a;b}` or
`{a, b}`; `parsed_labels.py` reads any of them for others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

from tokumei.hierarchies.leaves import LARGEST_NUMBER, NUMBER, read_number


def nearest_round(number: float) -> int:
    """Return 1, 2 or 5 times a power of ten, whichever is nearest by its ratio.

    >>> [nearest_round(number) for number in (0.2, 3.1, 3.3, 80)]
    [1, 2, 5, 100]
    """
    power = 10 ** math.floor(math.log10(max(1.0, number)))
    return int(min((power * n for n in (1, 2, 5, 10)), key=lambda one: abs(math.log(one / max(1.0, number)))))


def finer_round(step: int) -> int:
    """Return the next smaller round step: 50 → 20 → 10 → 5."""
    return step * 2 // 5 if str(step)[0] == "5" else step // 2


def round_down(number: int) -> int:
    """Return the greatest round step up to a number, which is at least 1.

    >>> [round_down(number) for number in (1, 9, 20, 4999)]
    [1, 5, 20, 2000]
    """
    step = int(10 ** len(str(number)))
    while step > number:
        step = finer_round(step)
    return step


def round_up(number: int) -> int:
    """Return the least round step from a number on, which is at least 1.

    >>> [round_up(number) for number in (1, 9, 20, 4999)]
    [1, 10, 20, 5000]
    """
    step = int(10 ** len(str(number)))
    while step > 1 and finer_round(step) >= number:
        step = finer_round(step)
    return step


def scale_of(numbers: Iterable[Fraction]) -> int:
    """Return the least power of ten that makes decimal fractions whole.

    >>> scale_of([Fraction(1, 4), Fraction(3)])
    100
    """
    parts, scale = math.lcm(*(one.denominator for one in numbers)), 1
    while scale % parts:
        scale *= 10
    return scale


def round_middle(low: int, end: int) -> int:
    """Return the roundest number in the middle third between two, the nearest to the middle if there are several.

    >>> [round_middle(low, end) for low, end in ((0, 1000), (200, 250), (200, 500))]
    [500, 220, 400]
    """
    third = (end - low) // 6
    return roundest(low + 2 * third, end - 2 * third)


def roundest(least: int, most: int) -> int:
    """Return the number that is a multiple of the greatest round step, the nearest to the middle if there are several.

    >>> roundest(37, 61), roundest(2999, 3004), roundest(-7, 8)
    (50, 3000, 0)
    """
    step = 10 ** len(str(most - least))
    while True:
        below = (least + most) // 2 // step * step
        near = [one for one in (below, below + step) if least <= one <= most]
        if near:
            return int(min(near, key=lambda one: abs(2 * one - least - most)))
        step = finer_round(step)


Span = tuple[str, str]
"""The first and the last of a run of values."""

# The least float has 324 places after the point, and sums of floats have no more.
ENOUGH_DIGITS = 700

# Nobody writes longer numbers, and reading them costs the square of their length.
LONGEST_LABEL = 2 * ENOUGH_DIGITS + 10

# A hyphen joins numbers without a sign; two dots join any.
WHOLE_RANGES = (
    re.compile(r"(?P<low>[0-9]{1,30})-(?P<high>[0-9]{1,30})"),
    re.compile(r"(?P<low>-?[0-9]{1,30})\.\.(?P<high>-?[0-9]{1,30})"),
)
# An end belongs to the range if its bracket is turned towards it.
RANGES = (
    *WHOLE_RANGES,
    re.compile(rf"(?P<left>[\[(\]])(?P<low>{NUMBER.pattern}), ?(?P<high>{NUMBER.pattern})(?P<right>[\])\[])"),
)
BOUNDS = re.compile(rf"(?P<mark><=|<|>=|>|≤|≥) ?(?P<number>{NUMBER.pattern})")
# Beyond every number that a column may hold.
ENDLESS = Fraction(10 * int(LARGEST_NUMBER))


def number_label(number: Fraction) -> str:
    """Write a decimal fraction with all its digits and no more."""
    if number.denominator == 1:
        return str(number.numerator)
    with localcontext(prec=ENOUGH_DIGITS):
        return f"{(Decimal(number.numerator) / Decimal(number.denominator)).normalize():f}"


def interval_label(low: Fraction, end: Fraction, *, is_whole: bool) -> str:
    """Write the interval from `low` up to, but without, `end`; whole numbers are written with the last one in it."""
    if not is_whole:
        return f"[{number_label(low)}, {number_label(end)})"
    return whole_label(low, end - 1)


def whole_label(first: Fraction, last: Fraction) -> str:
    """Write the whole numbers from first to last, both included."""
    return joined_whole(number_label(first), number_label(last))


def joined_whole(first: str, last: str) -> str:
    """Write a range of whole numbers that are written already."""
    if first == last:
        return first
    # A minus sign and a hyphen side by side are hard to tell apart.
    mark = ".." if first.startswith("-") else "-"
    return f"{first}{mark}{last}"


def span_label(span: Span) -> str:
    """Write a run of values by its first and its last."""
    first, last = span
    return first if first == last else f"{first}..{last}"


def open_span_labels(spans: Sequence[Span]) -> list[str]:
    """Write runs of values without the first and the last value of all, which may each be one person's.

    >>> open_span_labels([("a", "b"), ("c", "d"), ("e", "f")]), open_span_labels([("a", "b"), ("c", "c")])
    (['..b', 'c..d', 'e..'], ['..b', 'c'])
    """
    labels = [span_label(span) for span in spans]
    if spans[-1][0] != spans[-1][1]:
        labels[-1] = f"{spans[-1][0]}.."
    if spans[0][0] != spans[0][1]:
        labels[0] = f"..{spans[0][1]}" if len(spans) > 1 else ".."
    return labels


def merged_spans(spans: Sequence[Span], size: int) -> list[Span]:
    """Merge so many runs at a time, in order; the last may get fewer."""
    starts = range(0, len(spans), size)
    return [(spans[start][0], spans[min(start + size, len(spans)) - 1][1]) for start in starts]


@dataclass(frozen=True)
class NumberRange:
    """The numbers that a label covers, from `low` up to `high`, each of which belongs to them unless it is open."""

    low: Fraction
    high: Fraction
    is_open: bool = False
    is_open_below: bool = False

    def lies_within(self, outer: NumberRange) -> bool:
        """Whether another range holds all numbers of this one."""
        is_above = self.low > outer.low or (self.low == outer.low and self.is_open_below >= outer.is_open_below)
        is_below = self.high < outer.high or (self.high == outer.high and self.is_open >= outer.is_open)
        return is_above and is_below


def read_range(label: str) -> NumberRange | None:
    """Read the label of an interval or of a run of whole numbers; None for any other label."""
    if len(label) > LONGEST_LABEL:
        return None
    if bound := BOUNDS.fullmatch(label):
        return _read_bound(bound["mark"], bound["number"])
    found = next((found for form in RANGES if (found := form.fullmatch(label))), None)
    if found is None:
        return None
    low, high = read_number(found["low"]), read_number(found["high"])
    if low is None or high is None:
        return None
    is_open, is_open_below = label.endswith((")", "[")), label.startswith(("(", "]"))
    # A range that is upside down, or open and of one point, covers nothing: nobody means that.
    is_some = low < high or (low == high and not is_open and not is_open_below)
    return NumberRange(low, high, is_open, is_open_below) if is_some else None


def _read_bound(mark: str, text: str) -> NumberRange | None:
    number = read_number(text)
    if number is None or abs(number) > LARGEST_NUMBER:
        return None
    if mark in ("<", "<=", "≤"):
        return NumberRange(-ENDLESS, number, is_open=mark == "<")
    return NumberRange(number, ENDLESS, is_open_below=mark == ">")


def set_members(label: str) -> list[str] | None:
    """Return the members of a set, as `{a;b}` or `{a, b}`; None for any other label.

    >>> set_members("{a;b}"), set_members("{a, b}"), set_members("a")
    (['a', 'b'], ['a', 'b'], None)
    """
    if not (len(label) > 1 and label.startswith("{") and label.endswith("}")):
        return None
    return label[1:-1].split(";") if ";" in label else [member.strip() for member in label[1:-1].split(",")]
