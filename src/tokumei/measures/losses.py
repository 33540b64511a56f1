"""The losses of generalized tables, and the form in which a search uses them.

Every loss of a node is a sum of two parts: its *rise*, what generalizing all records to the node costs, and its
*penalty*, what suppressing some of them adds. Generalizing further never lowers the rise. So a search that knows the
rise of a node, or of any finer one, knows a lower bound of its loss. Prices alone may rise with generalizing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from tokumei.core.registry import Registry
from tokumei.core.score import Score
from tokumei.hierarchies.hierarchy import Hierarchy

Floats = npt.NDArray[np.float64]
Sizes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Attribute:
    """One quasi-identifier as a loss sees it: its hierarchy, and how many records have each leaf.

    The last entry of `leaf_sizes` counts the records whose value is missing.
    """

    hierarchy: Hierarchy
    leaf_sizes: Sizes
    is_numeric: bool = False

    @property
    def n_rows(self) -> int:
        """Number of records."""
        return int(self.leaf_sizes.sum())

    def leaf_labels(self, level: int) -> npt.NDArray[np.int64]:
        """Return the index of each leaf's label at a level; a missing value has a label of its own below the top."""
        return self.hierarchy.codes_with_missing(level)

    def label_sizes(self, level: int) -> Sizes:
        """Count the records with each label of a level, missing ones last where they stand apart."""
        n_labels = self.hierarchy.n_labels_with_missing(level)
        sizes = np.bincount(self.leaf_labels(level), self.leaf_sizes, n_labels)
        return sizes.astype(np.int64)


@dataclass(frozen=True)
class LevelCost:
    """What one level of one attribute costs, from 0 to 1 but for prices.

    `rise` is the mean over all records. `rest[label]` is what a record with that label still had to lose: what
    suppressing it adds.
    """

    rise: float
    rest: Floats


class CellLoss(Protocol):
    """A loss that adds up over cells: a mean over the attributes of a mean over the records."""

    name: ClassVar[str]

    def level_cost(self, attribute: Attribute, level: int) -> LevelCost:
        """Return the cost of a level; labels are in the order of the level, a missing value last."""


class SizeLoss(Protocol):
    """A loss that depends on the sizes of classes alone."""

    name: ClassVar[str]
    # Whether generalizing further never raises the penalty.
    penalty_shrinks: ClassVar[bool]

    def rise(self, sizes: Sizes, n_rows: int) -> float:
        """Return the loss if nothing is suppressed."""

    def least_rise(self, n_classes: Floats, n_rows: int) -> Floats:
        """Return the least loss that so many classes can have."""

    def penalty(self, kept: Sizes, suppressed: Sizes, n_rows: int) -> float:
        """Return what suppressing some classes adds."""

    def least_penalty(self, n_suppressed: Floats, k: int, n_rows: int) -> Floats:
        """Return the least that suppressing at least so many records in classes smaller than k adds."""

    def ends(self, n_rows: int) -> tuple[float, float]:
        """Return the best and the worst possible loss."""


Loss = CellLoss | SizeLoss

LOSSES: Registry[Loss] = Registry("table loss", "tokumei.measures.loss")


def is_cell_loss(loss: Loss) -> bool:
    """Whether a loss adds up over cells."""
    return hasattr(loss, "level_cost")


def loss_score(loss: Loss, value: float, n_rows: int, shares: Mapping[str, float] | None = None) -> Score:
    """Return a loss as a score, with what each attribute contributed where it adds up over cells."""
    # By prices generalizing may pay: then the loss is below 0.
    best, worst = (min(0.0, value), 1.0) if is_cell_loss(loss) else loss.ends(n_rows)  # type: ignore[union-attr]
    # One record alone has nothing to lose, but a score needs two ends.
    worst = worst if worst > best else best + 1
    return Score(loss.name, min(max(value, best), worst), best=best, worst=worst, inputs={"shares": dict(shares or {})})
