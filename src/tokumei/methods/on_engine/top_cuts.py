"""More classes than fit into memory: rows are cut where they are, as Mondrian does, until each part fits.

A cut is decided by what the engine counts of one column after the other, so that no class needs to come here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import TooManyClasses, count_relation, too_many_classes
from tokumei.engines.engine import Relation
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.requirement import Requirement
from tokumei.methods.goal import Goal
from tokumei.methods.local.encoding import encode_classes
from tokumei.methods.local.grid import Grid
from tokumei.methods.local.safe_cuts import SafeSplitting
from tokumei.methods.local.splitting import Splitting, first_cut
from tokumei.methods.local.task import Ranges, column_weights


@dataclass(frozen=True, eq=False)
class FittingPart:
    """Rows on an engine whose classes fit into memory, their classes, and the grids of the whole table."""

    relation: Relation
    counts: ClassCounts
    grids: Mapping[str, Grid]


def parts_that_fit(
    relation: Relation, trees: Mapping[str, Hierarchy], goal: Goal, requirements: Sequence[Requirement], most: int
) -> Iterator[FittingPart]:
    """Cut rows that have more classes than `most` into parts that do not, and of which all rows together hold.

    TooManyClasses where a part cannot be cut any more, or where a single column has more values.
    """
    cutting = _Cutting(trees, goal, requirements, most)
    waiting, grids = cutting.cut(relation, None)
    while waiting:
        # The first part, so that few are waiting at any time.
        part = waiting.pop()
        try:
            counts = count_relation(part, list(trees), sensitive=goal.sensitive, most=most)
        except TooManyClasses:
            waiting += cutting.cut(part, grids)[0]
            continue
        yield FittingPart(part, counts, grids)


@dataclass(frozen=True, eq=False)
class _Cutting:
    """What rows are cut by."""

    trees: Mapping[str, Hierarchy]
    goal: Goal
    requirements: Sequence[Requirement]
    most: int

    def cut(self, part: Relation, grids: Mapping[str, Grid] | None) -> tuple[list[Relation], Mapping[str, Grid]]:
        """Cut a part once and return the new ones, the first of them last, and the grids; they are made of all rows."""
        trees, goal, names = self.trees, self.goal, list(self.trees)
        # A class of one column takes as much less as there are columns.
        most = self.most * len(trees)
        counted = [count_relation(part, [one], sensitive=goal.sensitive, most=most) for one in trees]
        given: dict[str, Any] = {"numeric": goal.numeric, "weights": goal.weights, "grids": grids}
        encoded = [
            encode_classes(counts, {column: tree}, self.requirements, **given)
            for counts, (column, tree) in zip(counted, trees.items(), strict=True)
        ]
        tasks = [one.task for one in encoded]
        if grids is None:
            ranges: Ranges = getattr(goal.method, "ranges", "tight")
            tasks = [one.with_ranges(ranges, n_columns=len(trees)) for one in tasks]
            grids = {one.name: one.grid for task in tasks for one in task.attributes if one.grid is not None}
        margin = getattr(goal.method, "margin", 0.0) if getattr(goal.method, "cuts", "") == "safe" else None
        each = [Splitting(one) if margin is None else SafeSplitting(one, margin) for one in tasks]
        found = first_cut(each, column_weights(names, goal.weights))
        if found is None:
            raise too_many_classes(part, names, self.most)
        index, part_of = found
        values = counted[index].values().to_series(0)
        number = part_of[encoded[index].class_of]
        numbers = range(int(number.max()), -1, -1)
        parts = [part.within(names[index], values.gather(np.flatnonzero(number == one))) for one in numbers]
        return parts, grids
