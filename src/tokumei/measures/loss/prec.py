"""How high in their hierarchies the values stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tokumei.measures.losses import Attribute, LevelCost


@dataclass(frozen=True)
class Prec:
    """Mean over all cells of level / height: 0 if untouched, 1 if fully generalized (Sweeney's Prec as a loss).

    A suppressed record counts as fully generalized.

    Example: ages 20, 21, 35 and 35 become 20s, 20s, 30s and 30s, and `*` above. That is one of two levels, so each cell
    and the whole column lose 1/2.
    """

    name: ClassVar[str] = "prec"

    def level_cost(self, attribute: Attribute, level: int) -> LevelCost:
        """Return level / height, the same for every label."""
        height = max(1, attribute.hierarchy.height)
        cost = level / height
        return LevelCost(cost, np.full(len(attribute.label_sizes(level)), 1 - cost))
