"""What follows from each group having the closest label that covers it, where labels come from one family.

A closer label that lies within a group's does not cover it, or else it would have been taken. So at least one row of
the group lies outside of each child of its label and, of ranges, outside of each narrower range that stands in the
column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tokumei.attacks.claims import MISSING, Claim, Leaves
from tokumei.attacks.label_reading import LabelReading
from tokumei.attacks.public_knowledge import PublicKnowledge
from tokumei.attacks.value_counts import Pieces, ValueCounts
from tokumei.core.wording import counted
from tokumei.hierarchies.hierarchy import SUPPRESSED
from tokumei.hierarchies.labels import NumberRange, number_label

CLOSEST_LABEL, RANGE_END = "closest label", "range end"


def closest(
    public: PublicKnowledge,
    reading: LabelReading,
    counts: ValueCounts,
    *,
    is_ranged: bool,
    is_tight: bool,
    is_complete: bool,
) -> Iterator[Claim]:
    """Bound what each group holds of the parts of its label, and claim what ranges within its own cannot hold."""
    narrower = _narrower(reading) if is_ranged else {}
    for number, (label, size) in enumerate(
        zip(public.labels_of_classes(reading.column).tolist(), public.sizes.tolist(), strict=True)
    ):
        if not reading.is_generalized[label] or size < 2:
            continue
        key = number, reading.column
        if is_ranged and reading.ranges[label] is not None:
            if is_tight and len(reading.ends[label]) == 2:
                _ends(reading, label, size, key, counts)
            elif pair := _halves(reading, label, narrower.get(label, ())):
                _narrow_two(size, key, pair, counts)
            for inner in narrower.get(label, ()):
                name = str(reading.labels[inner])
                text = f"{name} in {counted(size - 1, 'row')} or fewer"
                yield Claim(number, reading.column, CLOSEST_LABEL, "count", 0, size - 1, text, name, name)
        elif is_ranged:
            if reading.labels[label] == SUPPRESSED:
                # A method of ranges says nothing only where a missing value stands with others.
                leaves: list[Leaves] = [frozenset([MISSING]), frozenset([""])]
                _narrow_two(size, key, Pieces(0, ["(missing)", None], leaves, [1, 1]), counts)
        elif (pieces := _children(reading, label, is_complete=is_complete)) is not None:
            _narrow_two(size, key, pieces, counts)


def _narrow_two(size: int, key: tuple[int, str], pieces: Pieces, counts: ValueCounts) -> None:
    """Bound parts of which at least two must occur."""
    n = len(pieces.names)
    least = np.full(n, 1 if n == 2 else 0, np.int64)
    counts.narrow(key, pieces, least, np.full(n, size - 1, np.int64), CLOSEST_LABEL)


def _ends(reading: LabelReading, label: int, size: int, key: tuple[int, str], counts: ValueCounts) -> None:
    """Bound the ends of a tight range, both of which occur, and all between them."""
    low, high = reading.ends[label]
    n_between = max(0, round(reading.n_values[label]) - 2)
    pieces = Pieces(0, [number_label(low), number_label(high), None], [low, high, ""], [1, 1, n_between])
    least, most = np.array([1, 1, 0], np.int64), np.array([size - 1, size - 1, size - 2], np.int64)
    counts.narrow(key, pieces, least, most, RANGE_END)


def _children(reading: LabelReading, label: int, *, is_complete: bool) -> Pieces | None:
    below = reading.children(label)
    if below is None:
        return None
    names, leaves = list(below.texts), list(below.leaves)
    if reading.labels[label] == SUPPRESSED and not is_complete:
        names, leaves = [*names, "(missing)"], [*leaves, frozenset([MISSING])]
    return Pieces(0, names, leaves, [len(one) for one in leaves])


def _narrower(reading: LabelReading) -> dict[int, list[int]]:
    """For each range the widest other ranges of the column that lie within it."""
    # A node of the hierarchy may be called as a range is and hold others: which of the two was meant, nobody knows.
    levels = [] if reading.hierarchy is None else reading.hierarchy.levels[1:]
    nodes = {label for level in levels for label in level.labels}
    found = [(at, one) for at, one in enumerate(reading.ranges) if one is not None and reading.labels[at] not in nodes]
    # By where they begin, the wider first: those within a range follow it, as long as they begin in it.
    found.sort(key=lambda pair: (pair[1].low, -pair[1].high, pair[1].is_open, pair[1].is_open_below))
    out: dict[int, list[int]] = {}
    for place, (at, own) in enumerate(found):
        inside: list[tuple[int, NumberRange]] = []
        for other, one in found[place + 1 :]:
            if one.low > own.high:
                break
            if one.lies_within(own) and not any(one.lies_within(wider) for _, wider in inside):
                inside = [pair for pair in inside if not pair[1].lies_within(one)]
                inside.append((other, one))
        if inside:
            out[at] = [other for other, _ in inside]
    return out


def _halves(reading: LabelReading, label: int, narrower: Sequence[int]) -> Pieces | None:
    """Return the two ranges that make up a third, where two of the column do."""
    own = reading.ranges[label]
    for first in narrower:
        for second in narrower:
            low, high = reading.ranges[first], reading.ranges[second]
            if own is None or low is None or high is None or low.low != own.low or high.high != own.high:
                continue
            if low.is_open and low.high == high.low and not high.is_open_below and high.is_open == own.is_open:
                names = [str(reading.labels[first]), str(reading.labels[second])]
                n_values = [round(reading.n_values[first]), round(reading.n_values[second])]
                return Pieces(0, names, names, n_values)
    return None
