"""How many records each record cannot be told from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tokumei.measures.losses import Floats, Sizes


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
