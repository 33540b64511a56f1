"""How much of its attribute's range a value now covers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tokumei.hierarchies.leaves import numbers_of
from tokumei.measures.losses import Attribute, Floats, LevelCost


@dataclass(frozen=True)
class Ncp:
    """Mean over all cells of the share of values a label covers: 0 if untouched, 1 if all (certainty penalty).

    A label of a category that covers u of A leaves costs u/A, and nothing while it covers one. A label of a numeric
    attribute costs the width of its leaves over the width of all. A label that says nothing, such as `*`, covers the
    missing value, too, and costs 1, even over a single leaf: whether there is a value is no longer told. A suppressed
    record covers everything.

    Example: ages 20, 21, 35 and 35 become 20s, 20s, 30s and 30s. As categories the 20s cover two of three ages and the
    30s one, which is no loss: (2/3 + 2/3 + 0 + 0) / 4 = 1/3. As numbers the 20s cover 1 of 15 years:
    (1/15 + 1/15 + 0 + 0) / 4 = 1/30.
    """

    name: ClassVar[str] = "ncp"

    def level_cost(self, attribute: Attribute, level: int) -> LevelCost:
        """Return the mean cover over all records, and the cover each label lacks."""
        if attribute.hierarchy.says_nothing(level):
            # Of a single value nothing but whether it is there can be lost, and here that is.
            cost = np.ones(1)
        else:
            cost = _widths(attribute, level) if attribute.is_numeric else _covers(attribute, level)
            # A missing value stands for itself until it stands with all.
            cost = np.append(cost, 0.0)
        sizes = attribute.label_sizes(level)
        return LevelCost(float(cost @ sizes) / max(1, attribute.n_rows), 1 - cost)


def _covers(attribute: Attribute, level: int) -> Floats:
    n_leaves = np.bincount(attribute.hierarchy.levels[level].codes)
    return np.where(n_leaves > 1, n_leaves / len(attribute.hierarchy.leaves), 0.0)


def _widths(attribute: Attribute, level: int) -> Floats:
    numbers = numbers_of(attribute.hierarchy)
    at = attribute.hierarchy.levels[level]
    low, high = np.full(len(at), np.inf), np.full(len(at), -np.inf)
    np.minimum.at(low, at.codes, numbers)
    np.maximum.at(high, at.codes, numbers)
    whole = numbers.max() - numbers.min()
    return (high - low) / whole if whole else np.zeros(len(at))
