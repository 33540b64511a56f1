"""More classes than fit into memory: rows are cut where they are, as Mondrian does, until each part fits.

A cut is decided by what the engine counts of one column after the other, so that no class needs to come here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tokumei.anonymize.goal import Goal
from tokumei.anonymize.local.encoding import encode_classes
from tokumei.anonymize.local.splitting import first_cut
from tokumei.anonymize.local.task import column_weights
from tokumei.counting.class_counts import ClassCounts
from tokumei.counting.count import TooManyClasses, count_relation, too_many_classes
from tokumei.counting.engine import Relation
from tokumei.hierarchy.hierarchy import Hierarchy
from tokumei.measure.requirement import Requirement


def parts_that_fit(
    relation: Relation, trees: Mapping[str, Hierarchy], goal: Goal, requirements: Sequence[Requirement], most: int
) -> Iterator[tuple[Relation, ClassCounts]]:
    """Cut rows that have more classes than `most` into parts that do not, and of which all rows together hold.

    TooManyClasses where a part cannot be cut any more, or where a single column has more values.
    """
    waiting = _cut(relation, trees, goal, requirements, most)
    while waiting:
        # The first part, so that few are waiting at any time.
        part = waiting.pop()
        try:
            counts = count_relation(part, list(trees), sensitive=goal.sensitive, most=most)
        except TooManyClasses:
            waiting += _cut(part, trees, goal, requirements, most)
            continue
        yield part, counts


def _cut(
    part: Relation, trees: Mapping[str, Hierarchy], goal: Goal, requirements: Sequence[Requirement], most: int
) -> list[Relation]:
    """Cut a part once, and give the new ones, the first of them last."""
    # A class of one column takes as much less as there are columns.
    counted = [count_relation(part, [one], sensitive=goal.sensitive, most=most * len(trees)) for one in trees]
    encoded = [
        encode_classes(counts, {column: tree}, requirements, numeric=goal.numeric, weights=goal.weights)
        for counts, (column, tree) in zip(counted, trees.items(), strict=True)
    ]
    cut = first_cut([one.task for one in encoded], column_weights(list(trees), goal.weights))
    if cut is None:
        raise too_many_classes(part, list(trees), most)
    index, part_of = cut
    column, values = list(trees)[index], counted[index].values().to_series(0)
    number = part_of[encoded[index].class_of]
    numbers = range(int(number.max()), -1, -1)
    return [part.within(column, values.gather(np.flatnonzero(number == one))) for one in numbers]
