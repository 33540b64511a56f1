"""Numbers in intervals of one width, and of widths several times as large."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.hierarchy.hierarchy import Hierarchy
from tokumei.hierarchy.labels import interval_label, number_label
from tokumei.hierarchy.leaves import exactly, hierarchy_of, number_leaves


@dataclass(frozen=True)
class Intervals:
    """Numbers become intervals of one width, then intervals of several times that width.

    | value | width 5 | × 2   | × 2   |
    |-------|---------|-------|-------|
    | 23    | 20-24   | 20-29 | 20-39 |
    | 31    | 30-34   | 30-39 | 20-39 |

    What lies below `bottom` or from `top` on stays one label at every level, and intervals end there.
    """

    width: float = field(default=10.0, metadata={"help": "Width of the intervals of the first level."})
    factors: tuple[int, ...] = field(
        default=(2, 2), metadata={"help": "For each further level, how many intervals of the one before make one."}
    )
    start: float | None = field(
        default=0.0, metadata={"help": "Where an interval starts; none starts one at the smallest value."}
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
        leaves = number_leaves(attribute, values)
        numbers = [number for number, _ in leaves]
        grid = Grid(
            start=numbers[0] if self.start is None else exactly(self.start),
            width=exactly(self.width),
            bottom=None if self.bottom is None else exactly(self.bottom),
            top=None if self.top is None else exactly(self.top),
        )
        is_whole = grid.is_whole and all(number.denominator == 1 for number in numbers)
        indices = [grid.index(number) for number in numbers]
        columns = [[text for _, text in leaves]]
        n_joined = 1
        for factor in (1, *self.factors):
            n_joined *= factor
            indices = [index // factor if isinstance(index, int) else index for index in indices]
            labels = {index: grid.label(index, n_joined, is_whole) for index in set(indices)}
            columns.append([labels[index] for index in indices])
        return hierarchy_of(attribute, columns)


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

    def index(self, number: Fraction) -> int | str:
        """Give the interval of a number, counted from the start, or the label of the end it lies beyond."""
        if self.bottom is not None and number < self.bottom:
            return f"<{number_label(self.bottom)}"
        if self.top is not None and number >= self.top:
            return f"≥{number_label(self.top)}"
        return (number - self.start) // self.width

    def label(self, index: int | str, n_joined: int, is_whole: bool) -> str:
        """Give the label of so many intervals joined to one, cut at the ends."""
        if isinstance(index, str):
            return index
        low = self.start + index * n_joined * self.width
        end = low + n_joined * self.width
        if self.bottom is not None:
            low = max(low, self.bottom)
        if self.top is not None:
            end = min(end, self.top)
        return interval_label(low, end, is_whole=is_whole)
