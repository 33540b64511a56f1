"""How many real steps the values went up their own trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tokumei.measure.losses import Attribute, LevelCost


@dataclass(frozen=True)
class Dis:
    """Mean over all cells of the steps a value went up its tree / height: 0 if untouched, 1 if all went all the way.

    Unlike Prec a level at which a value's group does not grow is no step. So a value that stands high in its tree
    from the start loses less than 1 even at the top. A suppressed record counts as gone to the top of its tree.

    Example: ages 20, 21, 35 and 35 become 20s, 20s, 30s and 30s, and `*` above. 35 is the only age of the 30s, so that
    this is no step: the loss is (1 + 1 + 0 + 0) / 2 / 4 = 1/4. At the top it is (2 + 2 + 1 + 1) / 2 / 4 = 3/4.
    """

    name: ClassVar[str] = "dis"

    def level_cost(self, attribute: Attribute, level: int) -> LevelCost:
        """Give the mean number of steps made, and the steps each label has left, both over the height."""
        height = max(1, attribute.hierarchy.height)
        left = steps_left(attribute, level)
        before = steps_left(attribute, 0)[attribute.leaf_labels(0)]
        after = left[attribute.leaf_labels(level)]
        rise = float(((before - after) * attribute.leaf_sizes).sum()) / height / max(1, attribute.n_rows)
        return LevelCost(rise, left / height)


def steps_left(attribute: Attribute, level: int) -> npt.NDArray[np.int64]:
    """Count for each label of a level the coarser levels at which its group of leaves still grows."""
    hierarchy = attribute.hierarchy
    steps = np.zeros(len(attribute.label_sizes(level)), np.int64)
    if hierarchy.says_nothing(level):
        return steps
    n_leaves = [np.bincount(one.codes)[one.codes] for one in hierarchy.levels]
    grows = np.zeros(len(hierarchy.leaves), np.int64)
    for coarser in range(level + 1, len(hierarchy.levels)):
        grows += n_leaves[coarser] > n_leaves[coarser - 1]
    steps[hierarchy.levels[level].codes] = grows
    # A missing value goes up in one step, from standing apart to standing with all.
    steps[-1] = 1 if hierarchy.has_single_top else 0
    return steps
