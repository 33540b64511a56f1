"""The last number for which something holds."""

from __future__ import annotations

from collections.abc import Callable


def last_that_holds(holds: Callable[[float], bool], first: float, beyond: float) -> float:
    """Give the number nearest to `beyond` for which something holds, if it does at `first` and not at `beyond`.

    It must hold up to some number between them and not after. Found by bisection, to the last digit.
    """
    while (middle := (first + beyond) / 2) not in (first, beyond):
        if holds(middle):
            first = middle
        else:
            beyond = middle
    return first
