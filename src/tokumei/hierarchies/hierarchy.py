"""How the values of one attribute are generalized, level by level, and the builders of hierarchies by name.

| level 0 | level 1 | level 2 |
|---------|---------|---------|
| 23      | 20–29   | *       |
| 27      | 20–29   | *       |
| 31      | 30–39   | *       |

Level 0 holds the values themselves. Levels usually nest, each coarser than the one before; where they do not (age in
three bands and in five), the two levels are simply not comparable.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import FaultList, InputError
from tokumei.core.registry import Registry
from tokumei.core.text import Text, counted
from tokumei.engines.class_counts import Recoding

SUPPRESSED = "*"


@dataclass(frozen=True, eq=False)
class Level:
    """One level: its labels, and for each leaf the index of its label among them."""

    labels: tuple[str, ...]
    codes: npt.NDArray[np.int32]

    @classmethod
    def of(cls, labels: Sequence[str]) -> Level:
        """Make the level of one label for each leaf; labels keep the order in which they first stand."""
        index = {label: number for number, label in enumerate(dict.fromkeys(labels))}
        return cls(tuple(index), np.fromiter(map(index.__getitem__, labels), np.int32, len(labels)))

    def __len__(self) -> int:
        return len(self.labels)

    # Written out, since arrays compare cell by cell and have no hash.
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Level):
            return NotImplemented
        return self.labels == other.labels and np.array_equal(self.codes, other.codes)

    def __hash__(self) -> int:
        return hash((self.labels, self.codes.tobytes()))


@dataclass(frozen=True)
class Hierarchy:
    """The levels of one attribute over the same leaves, finest first.

    >>> import tokumei as tk
    >>> tk.Hierarchy.of_levels("age", [["31", "35", "52"], ["30-39", "30-39", "50-59"], ["*", "*", "*"]]).height
    2
    """

    attribute: str
    levels: tuple[Level, ...]

    def __repr__(self) -> str:
        return f"Hierarchy({self.attribute}, labels by level: {', '.join(f'{len(one):,}' for one in self.levels)})"

    @classmethod
    def of_levels(cls, attribute: str, columns: Sequence[Sequence[str]], *, file: str | None = None) -> Hierarchy:
        """Make a hierarchy of columns of labels, the first being the values themselves."""
        faults = FaultList(file)
        if not columns or not columns[0]:
            faults.add("at least one value", column=attribute)
            faults.raise_if_any()
        if len(set(columns[0])) < len(columns[0]):
            _tell_repeated(columns[0], faults)
        levels = tuple(Level.of(column) for column in columns)
        for index in range(1, len(levels)):
            if len(levels[index]) > len(levels[index - 1]):
                expected = f"at most {len(levels[index - 1])} labels, as many as the level before"
                faults.add(expected, column=str(index + 1), value=counted(len(levels[index]), "label"))
        faults.raise_if_any()
        return cls(attribute, levels)

    @classmethod
    def intervals(
        cls,
        attribute: str,
        values: Any,
        width: float = 10.0,
        *,
        factors: Sequence[int] = (2, 2),
        start: float | None = 0.0,
        bottom: float | None = None,
        top: float | None = None,
    ) -> Hierarchy:
        """Make intervals of one width for a column of numbers, and for each factor wider ones of so many.

        What lies below `bottom` or from `top` on has one label; intervals start at `start`.

        >>> import tokumei as tk
        >>> tk.Hierarchy.intervals("age", [23, 31], width=5).labels_at(1)
        ['20-24', '30-34']
        """
        builder = BUILDERS.make("intervals", width=width, factors=tuple(factors), start=start, bottom=bottom, top=top)
        return builder.build(attribute, pl.Series(attribute, values))

    @property
    def leaves(self) -> tuple[str, ...]:
        """The values themselves."""
        return self.levels[0].labels

    @property
    def height(self) -> int:
        """The number of the coarsest level."""
        return len(self.levels) - 1

    @cached_property
    def first_silent(self) -> int:
        """The first level that says nothing at all, not even whether there is a value; past the last if none does.

        Nothing is said where all values have the one label of the coarsest level. The values themselves always say
        something, though there be but one: beside `yes` a missing value is told, beside `*` it is not.
        """
        top = self.levels[-1].labels
        if len(top) > 1 or (top[0] in self.leaves and top[0] != SUPPRESSED):
            return len(self.levels)
        first = self.height
        while first > 1 and self.levels[first - 1].labels == top:
            first -= 1
        return max(1, first)

    def says_nothing(self, level: int) -> bool:
        """Whether a level has one label for everything, the missing value too."""
        return level >= self.first_silent

    @property
    def has_single_top(self) -> bool:
        """Whether the coarsest level says nothing at all."""
        return self.says_nothing(self.height)

    @cached_property
    def finer(self) -> npt.NDArray[np.bool_]:
        """finer[a, b]: whether level b follows from level a, that is, each label of a lies in one label of b.

        A level is never finer than itself, and of two levels that group alike the earlier counts as the finer.
        """
        n = len(self.levels)
        follows = np.array([[_follows(fine, coarse) for coarse in self.levels] for fine in self.levels])
        out: npt.NDArray[np.bool_] = follows & ~(follows.T & np.tri(n, dtype=bool))
        return out

    @cached_property
    def is_nested(self) -> bool:
        """Whether every level follows from the one before it."""
        # Not by `finer`, which compares all pairs of levels and takes long for many leaves.
        return all(_follows(fine, coarse) for fine, coarse in itertools.pairwise(self.levels))

    @cached_property
    def above(self) -> tuple[tuple[int, ...], ...]:
        """For each level those directly coarser: they follow from it, and no third level lies between."""
        return _direct_steps(self.finer)

    @cached_property
    def below(self) -> tuple[tuple[int, ...], ...]:
        """For each level those directly finer."""
        return _direct_steps(self.finer.T)

    @cached_property
    def label_heights(self) -> tuple[npt.NDArray[np.int64], ...]:
        """Height of each label in the value tree, level by level: the longest chain of ever smaller labels within it.

        A label is what it covers: one that stands for the same leaves at two levels has one height, and a leaf has 0
        wherever it stands. The missing value is a leaf, too, which only a level that says nothing covers.
        """
        return _label_heights(self)

    def check_nested(self, *, file: str | None = None) -> None:
        """Refuse levels that cross, naming the first leaf whose label does not follow from the level before."""
        faults = FaultList(file)
        for index in range(1, len(self.levels)):
            fine, coarse = self.levels[index - 1], self.levels[index]
            if not _follows(fine, coarse):
                first = np.unique(fine.codes, return_index=True)[1]
                wanted = coarse.codes[first[fine.codes]]
                for leaf in np.flatnonzero(wanted != coarse.codes)[:1]:
                    label = fine.labels[fine.codes[leaf]]
                    expected = f"'{coarse.labels[wanted[leaf]]}', the label of '{label}' above"
                    found = coarse.labels[coarse.codes[leaf]]
                    faults.add(expected, line=int(leaf) + 1, column=str(index + 1), value=found)
        faults.raise_if_any()

    def check_level(self, level: int) -> None:
        """Refuse a level the hierarchy does not have."""
        if not 0 <= level <= self.height:
            raise InputError.of(Text("a level from 0 to {n}", n=self.height), column=self.attribute, value=level)

    def labels_at(self, level: int) -> list[str]:
        """Return the label of each leaf at a level."""
        self.check_level(level)
        return [self.levels[level].labels[code] for code in self.levels[level].codes]

    def recoding(self, level: int) -> Recoding:
        """Return the recoding of the values at a level."""
        return Recoding(
            self.attribute,
            pl.Series("value", list(self.leaves), pl.String),
            pl.Series("label", self.labels_at(level), pl.String),
            self.label_of_missing(level),
        )

    def label_of_missing(self, level: int) -> str | None:
        """Return the label of a missing value at a level: it stays missing until nothing is said of any."""
        return self.levels[level].labels[0] if self.says_nothing(level) else None

    def codes_with_missing(self, level: int) -> npt.NDArray[np.int64]:
        """Return the index of each leaf's label at a level, and last that of a missing value."""
        found = self.levels[level]
        return np.append(found.codes, 0 if self.says_nothing(level) else len(found)).astype(np.int64)

    def n_labels_with_missing(self, level: int) -> int:
        """Return the number of labels of a level, counting the missing value where it stands apart."""
        return len(self.levels[level]) + (not self.says_nothing(level))

    def n_told_apart(self, level: int) -> int:
        """Count the labels of a level, but two where its one label tells missing values apart."""
        return max(len(self.levels[level]), min(self.n_labels_with_missing(level), 2))

    def with_top(self) -> Hierarchy:
        """Return the hierarchy with a coarsest level that says nothing, added if there is none."""
        if self.has_single_top:
            return self
        top = Level.of([SUPPRESSED] * len(self.leaves))
        return Hierarchy(self.attribute, (*self.levels, top))

    def from_level(self, level: int) -> Hierarchy:
        """Return the hierarchy whose leaves are the labels of a level; coarser levels that follow from it stay."""
        self.check_level(level)
        base = self.levels[level]
        first_leaf = np.unique(base.codes, return_index=True)[1]
        columns = [
            [self.levels[coarser].labels[self.levels[coarser].codes[leaf]] for leaf in first_leaf]
            for coarser in range(level, len(self.levels))
            if coarser == level or self.finer[level, coarser]
        ]
        return Hierarchy.of_levels(self.attribute, columns)

    def named(self, attribute: str) -> Hierarchy:
        """Return the same hierarchy for another attribute."""
        return Hierarchy(attribute, self.levels)


def _tell_repeated(leaves: Sequence[str], faults: FaultList) -> None:
    seen: dict[str, int] = {}
    for line, leaf in enumerate(leaves, start=1):
        if leaf in seen:
            faults.add(f"each value once (it stands in line {seen[leaf]} too)", line=line, column="1", value=leaf)
        seen.setdefault(leaf, line)


def _follows(fine: Level, coarse: Level) -> bool:
    """Whether every label of the fine level lies in one label of the coarse one."""
    # Each fine label takes the coarse one of its last leaf, which then must be that of its other leaves.
    above = np.empty(len(fine), np.int32)
    above[fine.codes] = coarse.codes
    return bool((above[fine.codes] == coarse.codes).all())


def _label_heights(hierarchy: Hierarchy) -> tuple[npt.NDArray[np.int64], ...]:
    levels = hierarchy.levels
    sizes = [np.bincount(one.codes) + hierarchy.says_nothing(index) for index, one in enumerate(levels)]
    heights = [np.zeros(len(one), np.int64) for one in levels]
    steps = []
    for inner, outer in itertools.permutations(range(len(levels)), 2):
        above = np.empty(len(levels[inner]), np.int64)
        above[levels[inner].codes] = levels[outer].codes
        sticks_out = np.bincount(levels[inner].codes, above[levels[inner].codes] != levels[outer].codes) > 0
        within = np.flatnonzero(~sticks_out & (sizes[inner] < sizes[outer][above]))
        if len(within):
            steps.append((inner, outer, within, above[within]))
    # A chain has one label of a level at most, and where levels nest the first pass is the last that changes anything.
    for _ in levels:
        before = [one.copy() for one in heights]
        for inner, outer, within, above in steps:
            np.maximum.at(heights[outer], above, heights[inner][within] + 1)
        if all(map(np.array_equal, before, heights)):
            break
    return tuple(heights)


def _direct_steps(order: npt.NDArray[np.bool_]) -> tuple[tuple[int, ...], ...]:
    """For each level the ones reached from it directly, given the whole strict order."""
    through_another = (order.astype(np.int64) @ order.astype(np.int64)) > 0
    return tuple(tuple(int(level) for level in np.flatnonzero(row)) for row in order & ~through_another)


class Builder(Protocol):
    """Makes the hierarchy of one column; its fields are its options."""

    def build(self, attribute: str, values: pl.Series) -> Hierarchy:
        """Make the hierarchy of an attribute with these values.

        Values may repeat and be missing. The hierarchy holds every value that is not missing, perhaps more,
        and its last level is a single `*`. A value that the builder cannot place is an InputError.
        """
        ...


BUILDERS: Registry[Builder] = Registry(
    "hierarchy builder",
    "tokumei.hierarchies.builders",
    {
        "dates": ["calendar", "decades"],
        "from_data": ["from-data"],
        "groups": ["nested-yaml", "ordered-groups", "prefix"],
        "intervals": ["intervals", "magnitudes"],
        "people": ["japan-age", "japan-prefecture", "sex"],
    },
)
