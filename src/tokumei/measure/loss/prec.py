"""How high in their hierarchies the values stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tokumei.measure.losses import Attribute, LevelCost


@dataclass(frozen=True)
class Prec:
    """Mean over all cells of level / height: 0 if untouched, 1 if fully generalised (Sweeney's Prec as a loss).

    A suppressed record counts as fully generalised.
    """

    name: ClassVar[str] = "prec"

    def level_cost(self, attribute: Attribute, level: int) -> LevelCost:
        """Give level / height, the same for every label."""
        height = max(1, attribute.hierarchy.height)
        cost = level / height
        return LevelCost(cost, np.full(len(attribute.label_sizes(level)), 1 - cost))
