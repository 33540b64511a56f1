"""The words of a level: how an interval and a run of values are written.

| what | label |
|---|---|
| whole numbers from 20 up to 24 | `20-24` |
| whole numbers from -5 up to -1 | `-5..-1` |
| the whole number 20 alone | `20` |
| all numbers from 2.5 up to, but without, 5 | `[2.5, 5)` |
| the values from apple to cherry | `apple..cherry` |
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

Span = tuple[str, str]
"""The first and the last of a run of values."""

# The least float has 324 places after the point, and sums of floats have no more.
ENOUGH_DIGITS = 700


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
    if first == last:
        return number_label(first)
    # A minus sign and a hyphen side by side are hard to tell apart.
    mark = "-" if first >= 0 else ".."
    return f"{number_label(first)}{mark}{number_label(last)}"


def span_label(span: Span) -> str:
    """Write a run of values by its first and its last."""
    first, last = span
    return first if first == last else f"{first}..{last}"


def merged_spans(spans: Sequence[Span], size: int) -> list[Span]:
    """Merge so many runs at a time, in order; the last may get fewer."""
    starts = range(0, len(spans), size)
    return [(spans[start][0], spans[min(start + size, len(spans)) - 1][1]) for start in starts]
