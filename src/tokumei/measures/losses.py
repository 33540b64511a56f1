"""The losses of generalized tables, the form in which a search uses them, and those of class sizes alone.

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

LOSSES: Registry[Loss] = Registry(
    "table loss",
    "tokumei.measures",
    {
        "cell_losses": ["dis", "entropy", "ncp", "prec", "price"],
        "losses": ["average-class-size", "discernibility"],
    },
    group="tokumei.measures.loss",
)


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


@dataclass(frozen=True)
class AverageClassSize:
    """Records per class: 1 if all are apart, N if none is.

    All suppressed records together count as one class, since none of them can be told from another. The average is over
    classes, not over records, so that one large class weighs no more than a small one. It is the average class size of
    LeFevre, DeWitt and Ramakrishnan (2006), not divided by k.

    Example: six records in classes of 3, 1, 1 and 1 lose 6/4 = 1.5. With the three single records suppressed there are
    two classes, one kept and one of those suppressed: 6/2 = 3.
    """

    name: ClassVar[str] = "average-class-size"
    # Fewer suppressed records may mean fewer classes as well, so that the difference to the rise can grow.
    penalty_shrinks: ClassVar[bool] = False

    def rise(self, sizes: Sizes, n_rows: int) -> float:
        """Return the records per class if nothing is suppressed."""
        return n_rows / max(1, len(sizes))

    def least_rise(self, n_classes: Floats, n_rows: int) -> Floats:
        """Return the records per class."""
        return n_rows / n_classes

    def penalty(self, kept: Sizes, suppressed: Sizes, n_rows: int) -> float:
        """Return what joining the suppressed classes adds."""
        joined = len(kept) + (len(suppressed) > 0)
        return n_rows / max(1, joined) - n_rows / max(1, len(kept) + len(suppressed))

    def least_penalty(self, n_suppressed: Floats, k: int, n_rows: int) -> Floats:  # noqa: ARG002
        """Return 0: all suppressed records may have been one class before."""
        return np.zeros_like(n_suppressed)

    def ends(self, n_rows: int) -> tuple[float, float]:
        """From every record alone to all in one class."""
        return 1.0, float(n_rows)


@dataclass(frozen=True)
class Discernibility:
    """Sum of |class|² over the classes, plus N for each suppressed record: N if all are apart, N² if none is.

    A record costs the number of records it looks like, itself among them, and a suppressed one looks like all N. Large
    classes weigh by their square, so that of equally many classes those of equal size lose least (Bayardo and Agrawal
    2005).

    Example: six records in classes of 3, 2 and 1 lose 9 + 4 + 1 = 14. With the single record suppressed it is
    9 + 4 + 6 = 19.
    """

    name: ClassVar[str] = "discernibility"
    penalty_shrinks: ClassVar[bool] = True

    def rise(self, sizes: Sizes, n_rows: int) -> float:  # noqa: ARG002 - the form that a search calls.
        """Return the sum of squares."""
        return float(sizes @ sizes)

    def least_rise(self, n_classes: Floats, n_rows: int) -> Floats:
        """Return the sum of squares of classes of equal size, which is the least."""
        return n_rows**2 / n_classes

    def penalty(self, kept: Sizes, suppressed: Sizes, n_rows: int) -> float:  # noqa: ARG002
        """Return N for each suppressed record, instead of the square its class had."""
        return float(n_rows * suppressed.sum() - suppressed @ suppressed)

    def least_penalty(self, n_suppressed: Floats, k: int, n_rows: int) -> Floats:
        """Return N less the largest class for each record."""
        return n_suppressed * max(0, n_rows - (k - 1))

    def ends(self, n_rows: int) -> tuple[float, float]:
        """From every record alone to all in one class."""
        return float(n_rows), float(n_rows) ** 2
