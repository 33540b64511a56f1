"""A hierarchy for a column nobody made one for: neighbors are joined level by level."""

from __future__ import annotations

import bisect
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Literal

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.labels import (
    finer_round,
    interval_label,
    merged_spans,
    nearest_round,
    number_label,
    open_span_labels,
    round_up,
    roundest,
    scale_of,
    span_label,
    whole_label,
)
from tokumei.hierarchies.leaves import are_numbers, hierarchy_of, leaf_texts, number_leaves
from tokumei.hierarchies.ordered_labels import OrderedLabels, order_labels

# More digits than this in the bound of an interval tell a reader nothing.
SIGNIFICANT_DIGITS = 3
# By how much of a group a cut may lie beside where it should, so that it is a round number.
NEAR = Fraction(1, 4)
# The outermost bounds are multiples of so many units of the numbers at least.
OUTERMOST = 5


@dataclass(frozen=True)
class FromData:
    """Numbers become intervals that are joined in pairs, labels in order runs of neighbors; text stays as it is.

    | value | 4 groups | 2 groups |     | value    | fan-out 2 |
    |-------|----------|----------|     |----------|-----------|
    | 17    | 15-24    | 15-39    |     | 15-24K   | ..25-49K  |
    | 31    | 25-39    | 15-39    |     | 100-124K | 100-124K.. |

    Equal frequency counts how often each value stands in the column. With `read_as` auto, text that consists of
    numbers without leading zeros is read as numbers: 0120 is a code, 120 a number. Labels are in order if numbers,
    ranges, amounts in one unit or dates can be read out of all of them. All other text has no order: the value or
    nothing. With `read_as` text, neighbors in the alphabet are joined, whatever they mean.

    The least and the greatest value of a column may each be one person's. So intervals begin and end at round numbers:
    of equal frequency each ends at the roundest number within a quarter of a group of where it should; of equal width
    all are as wide as a round step. Runs of labels are open at both ends of the column. With `ranges=tight` intervals
    and runs end with the outermost values themselves, and give them away.
    """

    kind: Literal["equal-frequency", "equal-width"] = field(
        default="equal-frequency", metadata={"help": "Whether intervals hold as many rows or are as wide each."}
    )
    groups: int = field(default=8, metadata={"help": "How many intervals the first level of numbers has."})
    fan_out: int = field(default=4, metadata={"help": "How many neighbors of labels become one at each level."})
    read_as: Literal["auto", "numbers", "text"] = field(
        default="auto", metadata={"help": "Whether the values are numbers, or text in its alphabet."}
    )

    ranges: Literal["grid", "tight"] = field(
        default="grid", metadata={"help": "Whether ranges end at round numbers, or with values of the column (tight)."}
    )

    def __post_init__(self) -> None:
        if self.ranges not in ("grid", "tight"):
            raise InputError.of("grid or tight", option="ranges", value=self.ranges)
        for name, number in (("groups", self.groups), ("fan_out", self.fan_out)):
            if number < 2:
                raise InputError.of("at least 2", option=name, value=number)

    def build(self, attribute: str, values: pl.Series) -> Hierarchy:
        """Make the hierarchy of a column."""
        if not self._is_of_numbers(attribute, values):
            return hierarchy_of(attribute, self._runs(self._in_order(leaf_texts(attribute, values))))
        leaves = number_leaves(attribute, values)
        numbers = [number for number, _ in leaves]
        is_wide, is_tight = self.kind == "equal-width", self.ranges == "tight"
        if is_wide:
            columns = self._tightly_wide(numbers) if is_tight else self._equally_wide(numbers)
        else:
            make = self._tightly_frequent if is_tight else self._equally_frequent
            columns = make(numbers, _counts(leaves, values))
        return hierarchy_of(attribute, [[text for _, text in leaves], *columns])

    def _is_of_numbers(self, attribute: str, values: pl.Series) -> bool:
        if self.read_as != "auto":
            return self.read_as == "numbers"
        if values.dtype.is_numeric():
            return True
        texts = leaf_texts(attribute, values)
        has_codes = any(len(text) > 1 and text[0] == "0" and text[1].isdigit() for text in texts)
        return not has_codes and are_numbers(texts)

    def told(self, attribute: str, values: pl.Series) -> str:
        """Describe what the values of a column are read as."""
        if self._is_of_numbers(attribute, values):
            return f"numbers, in {self.groups} intervals that are joined in pairs"
        texts = leaf_texts(attribute, values)
        if self.read_as == "text":
            return f"text in its alphabet, {self.fan_out} neighbors joined at each level"
        return told_of_labels(order_labels(texts), self.fan_out)

    def _in_order(self, texts: list[str]) -> OrderedLabels:
        """Return labels in their order; those that have none are all apart."""
        if self.read_as == "text":
            return OrderedLabels(texts, [], "letters")
        return order_labels(texts) or OrderedLabels([], texts, "nothing")

    def _runs(self, ordered: OrderedLabels) -> list[list[str]]:
        """Join so many neighbors at each level until one run is left, which is the top; what is apart stays so."""
        columns = [[*ordered.labels, *ordered.apart]]
        spans = [(text, text) for text in ordered.labels]
        size = 1
        while len(spans) > self.fan_out:
            spans = merged_spans(spans, self.fan_out)
            size *= self.fan_out
            labels = [span_label(span) for span in spans] if self.ranges == "tight" else open_span_labels(spans)
            columns.append([*(labels[index // size] for index in range(len(ordered.labels))), *ordered.apart])
        return columns

    def _equally_frequent(self, numbers: list[Fraction], counts: Counter[Fraction]) -> list[list[str]]:
        """Cut at round numbers near to where a share of the rows is reached, then join the intervals in pairs."""
        shares = self._shares(numbers, counts)
        scale = scale_of(shares)
        points = [int(number * scale) for number in shares]
        cuts = _distinct(points, (self._round_cut(points, list(shares.values()), at) for at in range(1, self.groups)))
        if not cuts:
            return []
        unit = 10 ** min(len(str(one)) - len(str(one).rstrip("0")) for one in points if one)
        low, high = (max(OUTERMOST * unit, nearest_round(one)) for one in (cuts[0] - points[0], points[-1] - cuts[-1]))
        bounds = [points[0] // low * low, *cuts, (points[-1] // high + 1) * high]
        indices = [bisect.bisect_right(cuts, number * scale) for number in numbers]
        columns = []
        while indices[-1] > 0:
            columns.append(_labels_between(bounds, indices, scale))
            bounds = [*bounds[:-1:2], bounds[-1]]
            indices = [index // 2 for index in indices]
        return columns

    def _shares(self, numbers: list[Fraction], counts: Counter[Fraction]) -> dict[Fraction, Fraction]:
        """Return where each number lies, in groups from the start: where the middle one of its rows does."""
        n_rows, n_before = counts.total(), 0
        shares: dict[Fraction, Fraction] = {}
        for number in dict.fromkeys(numbers):
            shares[number] = Fraction((2 * n_before + counts[number]) * self.groups, 2 * n_rows)
            n_before += counts[number]
        return shares

    def _round_cut(self, points: list[int], shares: list[Fraction], at: int) -> int | None:
        """Return the roundest number that leaves so many groups below it, give or take NEAR; None if all lie aside."""
        below = max(bisect.bisect_left(shares, at - NEAR) - 1, 0)
        above = min(bisect.bisect_left(shares, at + NEAR), len(points) - 1)
        return roundest(points[below] + 1, points[above]) if below < above else None

    def _equally_wide(self, numbers: list[Fraction]) -> list[list[str]]:
        """Cut at the multiples of a round width, then double the width until one interval holds all."""
        scale = scale_of(numbers)
        points = [int(number * scale) for number in numbers]
        if points[0] == points[-1]:
            return []
        width = round_up(-((points[0] - points[-1]) // self.groups))
        while points[0] // width == points[-1] // width:
            width = finer_round(width)
        first, last = points[0] // width, points[-1] // width
        bounds = [index * width for index in range(first, last + 2)]
        indices = [number // width - first for number in points]
        columns = []
        while indices[-1] > 0:
            columns.append(_labels_between(bounds, indices, scale))
            bounds = [bounds[0] + width * index for index in range(0, len(bounds) + 1, 2)]
            indices, width = [index // 2 for index in indices], width * 2
        return columns

    def _tightly_frequent(self, numbers: list[Fraction], counts: Counter[Fraction]) -> list[list[str]]:
        """Cut where a share of the rows is reached, and end each interval with its outermost numbers."""
        share_of = {number: int(share) for number, share in self._shares(numbers, counts).items()}
        # A frequent number can leave groups empty; those left are numbered anew so that pairs are neighbors.
        index_of = {share: index for index, share in enumerate(dict.fromkeys(share_of.values()))}
        indices = [index_of[share_of[number]] for number in numbers]
        columns = []
        while indices[-1] > 0:
            columns.append(_labels_of_indices(numbers, indices))
            indices = [index // 2 for index in indices]
        return columns

    def _tightly_wide(self, numbers: list[Fraction]) -> list[list[str]]:
        """Cut the range into intervals of one width, then double the width until one interval holds all."""
        low, high = numbers[0], numbers[-1]
        if low == high:
            return []
        is_whole = all(number.denominator == 1 for number in numbers)
        end = high + 1 if is_whole else high
        width = Fraction(math.ceil((end - low) / self.groups)) if is_whole else _rounded_up((end - low) / self.groups)
        # Rounding may have left fewer. The largest number, if it ends the last interval, belongs to it.
        n_groups = math.ceil((end - low) / width)
        indices = [min((number - low) // width, n_groups - 1) for number in numbers]
        columns = []
        while indices[-1] > 0:
            labels = {index: _bounded_label(low + index * width, width, end, is_whole) for index in set(indices)}
            columns.append([labels[index] for index in indices])
            indices, width = [index // 2 for index in indices], width * 2
        return columns


def told_of_labels(ordered: OrderedLabels | None, fan_out: int) -> Text:
    """Describe the order of labels, and how they are joined."""
    if ordered is None:
        return Text("unordered: the value or nothing")
    joined = Text("pairs") if fan_out == 2 else Text("groups of {n}", n=fan_out)
    form, what = "labels in the order of the {what} in them, joined in {how}", Text(ordered.read_as)
    if ordered.apart:
        return Text(form + "; {apart} apart", what=what, how=joined, apart=", ".join(ordered.apart))
    return Text(form, what=what, how=joined)


def _counts(leaves: list[tuple[Fraction, str]], values: pl.Series) -> Counter[Fraction]:
    """How often each number stands in the column, however it is written there."""
    is_category = isinstance(values.dtype, (pl.Categorical, pl.Enum))
    given = (values.cast(pl.String) if is_category else values).alias("value")
    table = given.drop_nulls().value_counts(name="n").cast({"value": pl.String})
    rows = dict(table.iter_rows())
    counts: Counter[Fraction] = Counter()
    for number, text in leaves:
        counts[number] += rows[text]
    return counts


def _labels_of_indices(numbers: list[Fraction], indices: list[int]) -> list[str]:
    """Name each group by its smallest and its largest number."""
    lowest: dict[int, Fraction] = {}
    highest: dict[int, Fraction] = {}
    for number, index in zip(numbers, indices, strict=True):
        lowest.setdefault(index, number)
        highest[index] = number
    is_whole = all(number.denominator == 1 for number in numbers)
    labels = {index: _closed_label(lowest[index], highest[index], is_whole) for index in lowest}
    return [labels[index] for index in indices]


def _distinct(points: list[int], cuts: Iterable[int | None]) -> list[int]:
    """Return cuts in ascending order, one of those between which no number lies."""
    found = {bisect.bisect_left(points, cut): cut for cut in cuts if cut is not None}
    return sorted(found.values())


def _labels_between(bounds: list[int], indices: list[int], scale: int) -> list[str]:
    """Name each interval by its bounds, which are so many times as large as the numbers."""
    exact = [Fraction(bound, scale) for bound in bounds]
    labels = {at: interval_label(exact[at], exact[at + 1], is_whole=scale == 1) for at in set(indices)}
    return [labels[index] for index in indices]


def _closed_label(first: Fraction, last: Fraction, is_whole: bool) -> str:
    if is_whole or first == last:
        return whole_label(first, last)
    return f"[{number_label(first)}, {number_label(last)}]"


def _bounded_label(low: Fraction, width: Fraction, end: Fraction, is_whole: bool) -> str:
    """Name an interval of the grid; the last ends with the largest number, which belongs to it."""
    if not is_whole and low + width >= end:
        return f"[{number_label(low)}, {number_label(end)}]"
    return interval_label(low, min(low + width, end), is_whole=is_whole)


def _rounded_up(width: Fraction) -> Fraction:
    """Round a width up to a few digits, so that the bounds of the intervals can be read."""
    magnitude = (Decimal(width.numerator) / Decimal(width.denominator)).adjusted()
    unit = Fraction(10) ** (magnitude - SIGNIFICANT_DIGITS + 1)
    return math.ceil(width / unit) * unit
