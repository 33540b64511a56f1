"""More classes than fit into memory: rows are cut where they are, as Mondrian does, until each part fits.

A cut is decided by what the engine counts of one column after the other, so that no class needs to come here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from tokumei.anonymize.goal import Goal
from tokumei.anonymize.local.encoding import encode_classes
from tokumei.anonymize.local.splitting import first_cut
from tokumei.anonymize.local.task import column_weights
from tokumei.counting.class_counts import ClassCounts
from tokumei.counting.count import TooManyClasses, count_relation
from tokumei.counting.engine import Relation
from tokumei.hierarchy.hierarchy import Hierarchy
from tokumei.measure.requirement import Requirement


def parts_that_fit(
    relation: Relation, trees: Mapping[str, Hierarchy], goal: Goal, requirements: Sequence[Requirement], most: int
) -> Iterator[tuple[Relation, ClassCounts]]:
    """Give parts of the rows, each of at most so many classes and such that all of its rows together hold.

    TooManyClasses where a part cannot be cut any more, or where a single column has more values.
    """
    waiting = [relation]
    while waiting:
        part = waiting.pop()
        try:
            counts = count_relation(part, list(trees), sensitive=goal.sensitive, most=most)
        except TooManyClasses as refused:
            cut = _cut(part, trees, goal, requirements, most)
            if cut is None:
                raise refused from None
            # The first part is taken next, so that few are waiting at any time.
            column, values = cut
            waiting += [part.within(column, own) for own in reversed(values)]
            continue
        yield part, counts


def _cut(
    part: Relation, trees: Mapping[str, Hierarchy], goal: Goal, requirements: Sequence[Requirement], most: int
) -> tuple[str, list[pl.Series]] | None:
    """Give the column along which a part is cut, and its values in each of the new parts."""
    # A class of one column takes as much less as there are columns.
    counted = [count_relation(part, [one], sensitive=goal.sensitive, most=most * len(trees)) for one in trees]
    encoded = [
        encode_classes(counts, {column: tree}, requirements, numeric=goal.numeric, weights=goal.weights)
        for counts, (column, tree) in zip(counted, trees.items(), strict=True)
    ]
    cut = first_cut([one.task for one in encoded], column_weights(list(trees), goal.weights))
    if cut is None:
        return None
    index, part_of = cut
    column, values = list(trees)[index], counted[index].values().to_series(0)
    number = part_of[encoded[index].class_of]
    return column, [values.gather(np.flatnonzero(number == one)) for one in range(int(number.max()) + 1)]
