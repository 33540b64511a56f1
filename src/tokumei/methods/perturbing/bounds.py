"""The least and the greatest number that a column may hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tokumei.core.errors import LISTED_FAULTS, Fault, InputError
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.leaves import LARGEST_NUMBER, read_number
from tokumei.methods.perturbation import Floats, Original

# None where an end is not known.
Bounds = tuple[float | None, float | None]


def check_bounds(columns: Sequence[str], low: Sequence[float], high: Sequence[float]) -> None:
    """Refuse options that do not give one finite number for each column, the lower one below the higher."""
    for name, bounds in (("low", low), ("high", high)):
        if bounds and len(bounds) != len(columns):
            expected = f"a number for each of {', '.join(columns)}"
            raise InputError.of(expected, option=name, value=",".join(str(one) for one in bounds))
        for bound in bounds:
            # Not a number fails too.
            if not abs(bound) <= LARGEST_NUMBER:
                raise InputError.of(f"a finite number of at most {LARGEST_NUMBER:g}", option=name, value=bound)
    if low and high:
        for least, greatest in zip(low, high, strict=True):
            if least >= greatest:
                raise InputError.of(f"more than {least:g}, which is low", option="high", value=greatest)


def given_bounds(columns: Sequence[str], low: Sequence[float], high: Sequence[float]) -> dict[str, Bounds]:
    """Return the bounds of each column that options give; `check_bounds` was asked before."""
    none = [None] * len(columns)
    return dict(zip(columns, zip(low or none, high or none, strict=True), strict=True))


def known_bounds(
    original: Original, columns: Sequence[str], low: Sequence[float], high: Sequence[float]
) -> dict[str, Bounds]:
    """Return the bounds of each column: an option's, else that of its hierarchy."""
    out = {}
    for name, (least, greatest) in given_bounds(columns, low, high).items():
        lowest, highest = _leaf_bounds(original.hierarchies.get(name))
        one = lowest if least is None else least, highest if greatest is None else greatest
        if one[0] is not None and one[1] is not None and one[0] > one[1]:
            expected = f"bounds of {name} that fit its hierarchy, {lowest:g} to {highest:g}"
            option, value = ("high", greatest) if least is None else ("low", least)
            raise InputError.of(expected, option=option, value=value)
        out[name] = one
    return out


def check_inside(column: str, numbers: Floats, low: float | None, high: float | None) -> None:
    """Refuse numbers that lie beyond the bounds of their column."""
    is_beyond = np.zeros(len(numbers), bool)
    if low is not None:
        is_beyond |= numbers < low
    if high is not None:
        is_beyond |= numbers > high
    rows = np.flatnonzero(is_beyond)
    if len(rows):
        ends = " and ".join(
            f"{word} {end:g}" for word, end in (("at least", low), ("at most", high)) if end is not None
        )
        faults = [
            Fault(f"a number of {ends}", column=column, line=int(row) + 1, value=f"{numbers[row]:g}")
            for row in rows[:LISTED_FAULTS]
        ]
        raise InputError(faults, len(rows))


def _leaf_bounds(hierarchy: Hierarchy | None) -> Bounds:
    """Return the least and the greatest leaf; none if not all are numbers."""
    numbers = [] if hierarchy is None else [read_number(leaf) for leaf in hierarchy.leaves]
    known = [float(number) for number in numbers if number is not None]
    if not known or len(known) < len(numbers):
        return None, None
    return min(known), max(known)
