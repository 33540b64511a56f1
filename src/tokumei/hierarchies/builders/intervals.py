"""Numbers in intervals: of one width and of widths several times as large, or growing with the numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.labels import interval_label, number_label, round_down, scale_of
from tokumei.hierarchies.leaves import Floats, exactly, hierarchy_of, number_texts, read_number

# How far from an edge floats are trusted, in parts of a number.
NEAR = 1e-12


@dataclass(frozen=True)
class Intervals:
    """Numbers become intervals of one width, then intervals of several times that width.

    | value | width 5 | × 2   | × 2   |
    |-------|---------|-------|-------|
    | 23    | 20-24   | 20-29 | 20-39 |
    | 31    | 30-34   | 30-39 | 20-39 |

    The ends of intervals say nothing of who has which value: they lie where `start` and the width put them, and without
    a start at multiples of the greatest round step that is no wider than an interval.

    What lies below `bottom` or from `top` on stays one label at every level, and intervals end there.
    """

    width: float = field(default=10.0, metadata={"help": "Width of the intervals of the first level."})
    factors: tuple[int, ...] = field(
        default=(2, 2), metadata={"help": "For each further level, how many intervals of the one before make one."}
    )
    start: float | None = field(
        default=0.0,
        metadata={"help": "Where an interval starts; none starts one at a round number below the smallest value."},
    )
    bottom: float | None = field(default=None, metadata={"help": "Values below it get one label."})
    top: float | None = field(default=None, metadata={"help": "This value and all above it get one label."})

    def __post_init__(self) -> None:
        if not (math.isfinite(self.width) and self.width > 0):
            raise InputError.of("a width above 0", option="width", value=self.width)
        for factor in self.factors:
            if factor < 2:
                raise InputError.of("factors of at least 2", option="factors", value=factor)
        for name, bound in (("start", self.start), ("bottom", self.bottom), ("top", self.top)):
            if bound is not None and not math.isfinite(bound):
                raise InputError.of("a finite number", option=name, value=bound)
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            raise InputError.of(Text("a top above the bottom {n}", n=self.bottom), option="top", value=self.top)

    def build(self, attribute: str, values: pl.Series) -> Hierarchy:
        """Make the hierarchy of a column of numbers."""
        numbers, texts = number_texts(attribute, values)
        grid = Grid(
            start=_round_start(_number(texts[0]), exactly(self.width)) if self.start is None else exactly(self.start),
            width=exactly(self.width),
            bottom=None if self.bottom is None else exactly(self.bottom),
            top=None if self.top is None else exactly(self.top),
        )
        is_whole = grid.is_whole and bool((numbers == np.floor(numbers)).all())
        indices = grid.indices(numbers, texts)
        columns = [texts]
        n_joined = 1
        for factor in (1, *self.factors):
            n_joined *= factor
            indices = [index // factor if isinstance(index, int) else index for index in indices]
            labels = {index: grid.label(index, n_joined, is_whole) for index in set(indices)}
            columns.append([labels[index] for index in indices])
        return hierarchy_of(attribute, columns)


def _round_start(least: Fraction, width: Fraction) -> Fraction:
    """Return the last multiple, up to the least number, of the greatest round step that is no wider than an interval.

    The least number itself is somebody's.

    >>> _round_start(Fraction(17), Fraction(7)), _round_start(Fraction(-3), Fraction(10))
    (Fraction(15, 1), Fraction(-10, 1))
    """
    scale = scale_of([width])
    step = Fraction(round_down(int(width * scale)), scale)
    return least // step * step


def _number(text: str) -> Fraction:
    number = read_number(text)
    assert number is not None  # noqa: S101 - the texts of a column of numbers were read before.
    return number


@dataclass(frozen=True)
class Grid:
    """Where intervals start and how wide they are, with the ends beyond which there are none."""

    start: Fraction
    width: Fraction
    bottom: Fraction | None
    top: Fraction | None

    @property
    def is_whole(self) -> bool:
        """Whether every interval starts and ends with a whole number."""
        return all(edge is None or edge.denominator == 1 for edge in (self.start, self.width, self.bottom, self.top))

    @property
    def below(self) -> str:
        """The label of what lies below the bottom; empty if there is none."""
        return "" if self.bottom is None else f"<{number_label(self.bottom)}"

    @property
    def above(self) -> str:
        """The label of the top and of what lies above it; empty if there is none."""
        return "" if self.top is None else f"≥{number_label(self.top)}"

    def index(self, number: Fraction) -> int | str:
        """Return the interval of a number, counted from the start, or the label of the end it lies beyond."""
        if self.bottom is not None and number < self.bottom:
            return self.below
        if self.top is not None and number >= self.top:
            return self.above
        return (number - self.start) // self.width

    def indices(self, numbers: Floats, texts: Sequence[str]) -> list[int | str]:
        """Return the intervals of many numbers; only those near an edge, where floats may err, are computed exactly."""
        start, width = float(self.start), float(self.width)
        with np.errstate(over="ignore", invalid="ignore"):
            steps = (numbers - start) / width
            # Far more than the few units in the last place by which start, width, number and quotient are off.
            error = NEAR * (1 + (np.abs(numbers) + abs(start)) / width)
            is_sure = (np.abs(steps - np.rint(steps)) > error) & (error < 0.5)
            for end in (self.bottom, self.top):
                if end is not None:
                    is_sure &= np.abs(numbers - float(end)) > NEAR * (np.abs(numbers) + abs(float(end)))
        indices: list[int | str] = np.floor(np.where(is_sure, steps, 0)).astype(np.int64).tolist()
        for at in np.flatnonzero(~is_sure).tolist():
            indices[at] = self.index(_number(texts[at]))
        if self.bottom is not None:
            for at in np.flatnonzero(is_sure & (numbers < float(self.bottom))).tolist():
                indices[at] = self.below
        if self.top is not None:
            for at in np.flatnonzero(is_sure & (numbers > float(self.top))).tolist():
                indices[at] = self.above
        return indices

    def label(self, index: int | str, n_joined: int, is_whole: bool) -> str:
        """Return the label of so many intervals joined to one, cut at the ends."""
        if isinstance(index, str):
            return index
        low = self.start + index * n_joined * self.width
        end = low + n_joined * self.width
        if self.bottom is not None:
            low = max(low, self.bottom)
        if self.top is not None:
            end = min(end, self.top)
        return interval_label(low, end, is_whole=is_whole)


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
