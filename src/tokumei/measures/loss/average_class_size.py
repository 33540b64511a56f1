"""How large the classes are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tokumei.measures.losses import Floats, Sizes


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
