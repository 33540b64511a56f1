"""Classes over some of the columns, each set of columns counted from the smallest that was counted and has it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod

import numpy as np
import numpy.typing as npt

from tokumei.engines.grouping import Codes, group_rows

# A set of columns is worth counting on the way if it may have so many times fewer classes.
WORTH = 2


@dataclass(frozen=True)
class Classes:
    """Classes by the codes of some columns, by number, and their sizes."""

    codes: Mapping[int, Codes]
    sizes: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NestedClasses:
    """The classes of all columns, and those of fewer columns as they were asked for.

    Two columns of two million classes are counted from three or four that have few values, not from the two million.
    """

    whole: Classes
    radices: Mapping[int, int]
    _counted: dict[frozenset[int], Classes] = field(default_factory=dict)

    def over(self, columns: Iterable[int]) -> Classes:
        """Return the classes of some columns."""
        wanted = frozenset(columns)
        if wanted == self.whole.codes.keys():
            return self.whole
        if wanted not in self._counted:
            self._counted[wanted] = self._rolled_up(self._nearest(wanted), wanted)
        return self._counted[wanted]

    def _nearest(self, wanted: frozenset[int]) -> Classes:
        """Return classes that have one more column, that of fewest values, or all where that would save little."""
        more = min(self.whole.codes.keys() - wanted, key=self.radices.__getitem__)
        parent = wanted | {more}
        if WORTH * prod(self.radices[column] for column in parent) > len(self.whole.sizes):
            return self.whole
        return self.over(parent)

    def _rolled_up(self, classes: Classes, wanted: frozenset[int]) -> Classes:
        columns = sorted(wanted)
        grouping = group_rows(
            [classes.codes[one] for one in columns], [self.radices[one] for one in columns], len(classes.sizes)
        )
        rows = grouping.a_row_of
        return Classes({one: classes.codes[one][rows] for one in columns}, grouping.sums(classes.sizes))
