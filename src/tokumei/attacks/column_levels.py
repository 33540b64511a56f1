"""The levels of one column as an attacker can read them: which label is at which level, and what lies below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tokumei.attacks.claims import MISSING, Leaf
from tokumei.attacks.label_reading import LabelReading
from tokumei.hierarchies.hierarchy import SUPPRESSED
from tokumei.hierarchies.label_semantics import Bools, Ints
from tokumei.hierarchies.labels import read_range, set_members
from tokumei.hierarchies.leaves import read_number

MISSING_NAME = "(missing)"


@dataclass(frozen=True)
class Place:
    """The levels that a label may be of, the finest and the coarsest, and its code at both."""

    low: int
    high: int
    low_code: int
    high_code: int


@dataclass(frozen=True, eq=False)
class ColumnLevels:
    """The values of a column, and the code of each at every level; levels that group alike are one.

    names: the text of each code, by level. leaves: each value as a claim names it. A column without a hierarchy has
    values that nobody lists: they stand together as the last one, and `has_unlisted` says so.
    """

    column: str
    codes: Ints
    names: Sequence[Sequence[str]]
    leaves: Sequence[Leaf]
    has_unlisted: bool
    places: Sequence[Place | None]

    @classmethod
    def of(cls, reading: LabelReading, *, is_complete: bool) -> ColumnLevels | None:
        """Read the levels of a column; None if they cross."""
        has_missing = not is_complete or None in reading.labels
        if reading.hierarchy is not None and not reading.hierarchy.is_nested:
            return None
        codes, names, leaves = _of_tree(reading, has_missing) if reading.hierarchy else _of_values(reading, has_missing)
        if len(np.unique(codes[-1])) > 1:
            codes.append(np.zeros_like(codes[0]))
            names.append([SUPPRESSED])
        kept = [at for at in range(len(codes)) if at == 0 or not _group_alike(codes[at - 1], codes[at])]
        # The level that each one was put together with, itself if it was kept.
        merged = np.searchsorted(kept, np.arange(len(codes)), side="right") - 1
        # Every label of a merged level stays known, by its code at the level that was kept.
        code_of: list[dict[str, tuple[int, int]]] = [{} for _ in kept]
        for at, own in enumerate(codes):
            level = int(merged[at])
            for code in np.unique(own).tolist():
                first = int(np.argmax(own == code))
                code_of[level].setdefault(names[at][code], (level, int(codes[kept[level]][first])))
        # A suppressed row says nothing, whatever the top is called.
        code_of[-1].setdefault(SUPPRESSED, (len(kept) - 1, int(codes[-1][0])))
        levels = np.array([codes[at] for at in kept], np.int64)
        own_names = [names[at] for at in kept]
        made = cls(reading.column, levels, own_names, leaves, has_unlisted=reading.hierarchy is None, places=[])
        return replace(made, places=[made._placed(label, code_of, reading) for label in reading.labels])

    @property
    def top(self) -> int:
        """The coarsest level, at which nothing is said."""
        return len(self.codes) - 1

    def up(self, level: int, coarser: int) -> Ints:
        """Return the code at a coarser level of each code at a level."""
        if (level, coarser) not in self._ups:
            out = np.full(int(self.codes[level].max()) + 1, -1, np.int64)
            out[self.codes[level]] = self.codes[coarser]
            self._ups[level, coarser] = out
        return self._ups[level, coarser]

    def below(self, level: int, coarser: int, code: int) -> Ints:
        """Return the codes at a level that lie below a code at a coarser one."""
        return np.flatnonzero(self.up(level, coarser) == code)

    def n_below(self, level: int, coarser: int, n_unlisted: int) -> Ints:
        """Count the codes of a level below each code of a coarser one; values that nobody lists count as many."""
        up = self.up(level, coarser)
        return np.bincount(up[up >= 0], self.weights(level, n_unlisted)[up >= 0]).astype(np.int64)

    def weights(self, level: int, n_unlisted: int) -> Ints:
        """Return 1 for each code of a level; for values that nobody lists how many are reckoned with."""
        out = np.ones(int(self.codes[level].max()) + 1, np.int64)
        if self.has_unlisted and level == 0:
            out[self.codes[0, -1]] = n_unlisted
        return out

    def is_unlisted(self, level: int, codes: Ints) -> Bools:
        """Whether each code of a level stands for several values that nobody lists."""
        if not self.has_unlisted or level:
            return np.zeros(len(codes), bool)
        out: Bools = codes == self.codes[0, -1]
        return out

    def leaves_of(self, level: int, code: int) -> frozenset[Leaf]:
        """Return the values of a code as claims name them."""
        return frozenset(self.leaves[at] for at in np.flatnonzero(self.codes[level] == code).tolist())

    @cached_property
    def _ups(self) -> dict[tuple[int, int], Ints]:
        return {}

    def _placed(
        self, label: str | None, code_of: Sequence[dict[str, tuple[int, int]]], reading: LabelReading
    ) -> Place | None:
        """Find the levels that a label may be of; None if it is of none, or of levels that have nothing in common."""
        if label is None:
            return self._place_of_missing()
        if self.has_unlisted and label != SUPPRESSED and _says_several(label):
            return None
        found = [own[label] for own in code_of if label in own]
        if not found and reading.is_numeric and (number := read_number(label)) is not None:
            index = reading.vocabulary.index_of_number.get(number)
            if index is not None:
                atom = int(np.flatnonzero(reading.vocabulary.index_of_leaf == index)[0])
                found = [(0, int(self.codes[0, atom]))]
        if not found:
            return None
        (low, low_code), (high, high_code) = found[0], found[-1]
        if self.up(low, high)[low_code] != high_code:
            return None
        return Place(low, high, low_code, high_code)

    def _place_of_missing(self) -> Place:
        atom = len(self.leaves) - 1 - self.has_unlisted
        alone = [level for level, own in enumerate(self.codes) if (own == own[atom]).sum() == 1]
        return Place(0, alone[-1], int(self.codes[0, atom]), int(self.codes[alone[-1], atom]))


Levels = tuple[list[Ints], list[list[str]], list[Leaf]]


def _of_tree(reading: LabelReading, has_missing: bool) -> Levels:
    """Return the codes of the values at each level of the hierarchy, the texts of these, and the values."""
    assert reading.hierarchy is not None  # noqa: S101 - the caller chose by it.
    tree = reading.hierarchy
    codes = [tree.codes_with_missing(level)[: None if has_missing else -1] for level in range(tree.height + 1)]
    names = [[*level.labels, MISSING_NAME] for level in tree.levels]
    return codes, names, [*reading.vocabulary.index_of_leaf.tolist(), *([MISSING] if has_missing else [])]


def _of_values(reading: LabelReading, has_missing: bool) -> Levels:
    """Return the same for a column without a hierarchy: the values that were released, and last what nobody lists."""
    listed = [leaf for leaf in reading.vocabulary.hierarchy.leaves if leaf]
    names = [*listed, *([MISSING_NAME] if has_missing else []), "(another value)"]
    leaves: list[Leaf] = [*listed, *([MISSING] if has_missing else []), ""]
    return [np.arange(len(names))], [names], leaves


def _says_several(label: str) -> bool:
    """Whether a label that no hierarchy has stands for several values: a range, a set or a mask."""
    found = read_range(label)
    is_range = found is not None and found.low < found.high
    return is_range or SUPPRESSED in label or len(set_members(label) or ()) > 1


def _group_alike(fine: Ints, coarse: Ints) -> bool:
    """Whether two levels group all values alike."""
    return len(np.unique(fine)) == len(np.unique(coarse))
