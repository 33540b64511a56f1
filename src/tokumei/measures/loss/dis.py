"""How far the values went up their value tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tokumei.measures.losses import Attribute, LevelCost


@dataclass(frozen=True)
class Dis:
    """Mean over all cells of a label's height in its value tree / that of the tree: 0 if untouched, 1 at the top.

    The height of a label is the longest chain of ever smaller labels within it (Muramoto, Kamidoi and Wakabayashi 2007;
    Oguri's thesis, formula 2). Unlike Prec it asks what a label covers and not at which level it stands: a level at
    which a value's group does not grow costs nothing, and labels of levels that cross are compared by what lies in
    them. `*` is the top, even over a single value; a suppressed record costs 1 in each cell.

    Example: ages 20, 21, 35 and 35 become 20s, 20s, 30s and 30s, and `*` above. 35 is the only age of the 30s, which
    are no higher than it, and the tree has two steps: the loss is (1 + 1 + 0 + 0) / 2 / 4 = 1/4. At the top it is 1.
    """

    name: ClassVar[str] = "dis"

    def level_cost(self, attribute: Attribute, level: int) -> LevelCost:
        """Return the mean height of the labels at a level, over that of the tree."""
        heights = attribute.hierarchy.label_heights
        cost = heights[level] / max(1, *(int(one.max()) for one in heights))
        if not attribute.hierarchy.says_nothing(level):
            # A missing value stands for itself until it stands with all.
            cost = np.append(cost, 0.0)
        rise = float(cost @ attribute.label_sizes(level)) / max(1, attribute.n_rows)
        return LevelCost(rise, 1 - cost)
