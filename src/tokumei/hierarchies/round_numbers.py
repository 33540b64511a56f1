"""Round numbers: 1, 2 and 5 times a power of ten, and their multiples, at which public ranges begin and end."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction


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
