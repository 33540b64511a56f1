"""The program of a release in rounds as one would write it down, with a variable for every combination of values.

Written from what is assumed alone, and solved by a solver of integer programs for each bound: slow, and for few rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp
from tests.attacks.disclosure.arx_local_recoding import Node, Row

from tokumei.hierarchies.hierarchy import Hierarchy

# A value that nobody lists, in a column without a hierarchy.
OTHER = "\x00"
Value = str | None


@dataclass(frozen=True)
class Column:
    """The values of a column, and for each level the label of each."""

    values: Sequence[Value]
    levels: Sequence[Mapping[Value, Value]]

    @classmethod
    def of(cls, tree: Hierarchy | None, labels: set[Value], *, is_complete: bool) -> Column:
        if tree is None:
            values: list[Value] = [*sorted(one for one in labels if one is not None and one != "*"), OTHER]
            levels: list[dict[Value, Value]] = [{value: value for value in values}]
            top: Value = None
        else:
            values = list(tree.leaves)
            levels = [dict(zip(values, tree.labels_at(at), strict=True)) for at in range(tree.height + 1)]
            top = tree.label_of_missing(tree.height)
        if not is_complete or None in labels:
            values.append(None)
            for at, own in enumerate(levels):
                own[None] = None if tree is None else tree.label_of_missing(at)
        if top is None:
            levels.append(dict.fromkeys(values, "*"))
        return cls(values, levels)

    def partition(self, level: int) -> list[int]:
        """Number the groups of values of a level, so that levels that group alike are the same."""
        seen: dict[Value, int] = {}
        return [seen.setdefault(self.levels[level][value], len(seen)) for value in self.values]

    def levels_of(self, label: Value) -> list[int]:
        found = [at for at, own in enumerate(self.levels) if label in own.values()]
        return found or [len(self.levels) - 1]

    def meant(self, label: Value, level: int) -> frozenset[Value]:
        if label == "*" and label not in self.levels[level].values():
            return frozenset(self.values)
        return frozenset(value for value in self.values if self.levels[level][value] == label)


class Oracle:
    """All counts of all combinations of values in all classes, and what binds them."""

    def __init__(self, columns: Sequence[Column], classes: Mapping[Row, int], k: int, *, is_finest: bool) -> None:
        self.columns, self.rows, self.sizes = columns, list(classes), list(classes.values())
        self.levels = [
            [column.levels_of(label) for column, label in zip(columns, row, strict=True)] for row in self.rows
        ]
        self.variables: list[tuple[int, Row]] = []
        for number, row in enumerate(self.rows):
            coarsest = [own[-1] for own in self.levels[number]]
            meant = [one.meant(label, level) for one, label, level in zip(columns, row, coarsest, strict=True)]
            self.variables += [(number, cell) for cell in itertools.product(*meant)]
        self.constraints: list[tuple[list[int], int, int]] = [
            ([at for at, (own, _) in enumerate(self.variables) if own == number], size, size)
            for number, size in enumerate(self.sizes)
        ]
        for number, row in enumerate(self.rows):
            if set(row) != {"*"}:
                self._round(number, k)
                if is_finest and all(self._is_sure(number, at) for at in range(len(columns))):
                    self._finest(number, k)
        lists = [one for one, _, _ in self.constraints]
        matrix = sparse.lil_array((len(lists), len(self.variables)))
        for at, one in enumerate(lists):
            matrix[at, one] = 1
        self.matrix = matrix.tocsr()

    def _is_sure(self, number: int, at: int) -> bool:
        """Whether the levels that a label may be of group values alike."""
        column = self.columns[at]
        return len({tuple(column.partition(level)) for level in self.levels[number][at]}) == 1

    def _comes_later(self, late: int, early: int) -> bool:
        """Whether a class was certainly released later than another: by coarser levels, whichever they were."""
        is_other = False
        for at, column in enumerate(self.columns):
            fine, coarse = self.levels[early][at][-1], self.levels[late][at][0]
            inner, outer = column.partition(fine), column.partition(coarse)
            if len(set(zip(inner, outer, strict=True))) != len(set(inner)):
                return False
            is_other |= inner != outer
        return is_other

    def _round(self, number: int, k: int) -> None:
        node = tuple(own[0] for own in self.levels[number])
        later = [other for other in range(len(self.rows)) if self._comes_later(other, number)]
        cells: dict[Row, list[int]] = {}
        for at, (own, cell) in enumerate(self.variables):
            if own in later:
                cells.setdefault(self._at(cell, node), []).append(at)
        for cell, members in cells.items():
            if cell == self.rows[number]:
                self.constraints.append((members, 0, 0))
            elif OTHER not in cell:
                self.constraints.append((members, 0, k - 1))

    def _finest(self, number: int, k: int) -> None:
        for at, column in enumerate(self.columns):
            partition = column.partition(self.levels[number][at][0])
            finer = [
                level for level in range(len(column.levels)) if len(set(column.partition(level))) > len(set(partition))
            ]
            if not finer:
                continue
            parts: dict[Value, list[int]] = {}
            for variable, (own, cell) in enumerate(self.variables):
                if own == number:
                    parts.setdefault(column.levels[finer[-1]][cell[at]], []).append(variable)
            self.constraints += [(own, 0, k - 1) for part, own in parts.items() if part != OTHER]

    def _at(self, cell: Row, node: Node) -> Row:
        return tuple(column.levels[level][value] for column, level, value in zip(self.columns, node, cell, strict=True))

    def bounds(self, number: int, at: int, values: frozenset[Value]) -> tuple[int, int]:
        """Return the fewest and the most rows of a class that can have one of some values of a column."""
        costs = np.array([own == number and cell[at] in values for own, cell in self.variables], float)
        low, high = [one for _, one, _ in self.constraints], [one for _, _, one in self.constraints]
        out = []
        for sign in (1, -1):
            found = milp(
                sign * costs,
                integrality=np.ones(len(costs), np.int64),
                bounds=Bounds(0, max(self.sizes)),
                constraints=[LinearConstraint(self.matrix, low, high)],
            )
            assert found.x is not None
            out.append(round(sign * found.fun))
        return out[0], out[1]
