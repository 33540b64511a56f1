"""Numbers in intervals that grow with the numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.labels import interval_label
from tokumei.hierarchies.leaves import Floats, hierarchy_of, number_texts

STEPS = (1, 2, 5)
# So few intervals are not joined any more but by the top.
FEW = 3
# Larger whole numbers share floats, so that some would lie on the wrong side of an edge.
LARGEST = 2.0**53


@dataclass(frozen=True)
class Magnitudes:
    """Numbers become intervals between 1, 2, 5, 10, 20, 50 and so on, then between powers of ten.

    | value | 1, 2, 5     | tens        | hundreds  |
    |-------|-------------|-------------|-----------|
    | 1299  | 1000-1999   | 1000-9999   | 100-9999  |
    | 730   | 500-999     | 100-999     | 100-9999  |

    For incomes, prices and counts, of which most are small and few are large: intervals of one width would hold nearly
    all of them in the first. What is smaller than the greatest number by more than `decades` powers of ten is one
    interval from 0 on; negative numbers have the same edges below 0.
    """

    decades: int = field(default=5, metadata={"help": "How many powers of ten are told apart, from the greatest down."})

    def __post_init__(self) -> None:
        if self.decades < 1:
            raise InputError.of("at least 1", option="decades", value=self.decades)

    def build(self, attribute: str, values: pl.Series) -> Hierarchy:
        """Make the hierarchy of a column of numbers."""
        numbers, texts = number_texts(attribute, values)
        greatest = float(np.abs(numbers).max())
        if greatest >= LARGEST:
            raise InputError.of("numbers below 2^53", column=attribute, value=texts[int(np.abs(numbers).argmax())])
        is_whole = bool((numbers == np.floor(numbers)).all())
        top = _power_below(greatest)
        least = top - self.decades + 1
        if is_whole:
            least = max(0, least)
        columns = [texts, _labels(numbers, _edges(least, top, 1, STEPS), is_whole)]
        joined = 1
        while joined == 1 or (len(set(columns[-1])) > FEW and joined <= top - least):
            columns.append(_labels(numbers, _edges(least, top, joined), is_whole))
            joined *= 2
        return hierarchy_of(attribute, columns)


def _power_below(number: float) -> int:
    """Return the power of ten that a number reaches: 3 for 1000 and 9999; 0 for 0."""
    if not number:
        return 0
    power = math.floor(math.log10(number))
    # The logarithm may round across a power.
    return power + 1 if number >= 10.0 ** (power + 1) else power - (number < 10.0**power)


def _edges(least: int, top: int, joined: int, steps: Iterable[int] = (1,)) -> list[Fraction]:
    """Return the edges of intervals, mirrored at 0; every so many powers of ten are joined, from the least up."""
    powers = range(least, top + joined + 1, joined)
    above = [Fraction(10) ** power * step for power in powers for step in steps]
    return [*(-edge for edge in reversed(above)), Fraction(0), *above]


def _labels(numbers: Floats, edges: list[Fraction], is_whole: bool) -> list[str]:
    at = np.searchsorted(np.array([float(edge) for edge in edges]), numbers, side="right") - 1
    labels = {one: interval_label(edges[one], edges[one + 1], is_whole=is_whole) for one in set(at.tolist())}
    return [labels[one] for one in at.tolist()]
