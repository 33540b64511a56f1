"""How many people look alike, on the mean."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.class_counts import ClassCounts
from tokumei.measures.requirement import ROUNDING, Holds


@dataclass(frozen=True)
class MeanClassSize:
    """Classes have at least so many records on the mean; measures the records per class.

    0 for no rows, 1 if everybody is alone; the more the better. S2 k-anonyMean of PWSCUP 2015, beside k-anonymity as
    S1; sees Y. The mean over classes is our choice; a large class hides small ones, so it promises nobody in
    particular anything. It speaks of the whole release, so all classes hold or none.

    Example: four records with the values a, a, a and b make two classes, so the measure is 2, though b is alone. With a
    size of 2 both classes hold, with 2.1 neither.
    """

    size: float = field(metadata={"help": "Fewest records a class may have on the mean."})

    sensitive_columns: ClassVar[tuple[str, ...]] = ()
    is_monotone: ClassVar[bool] = True
    is_strongly_monotone: ClassVar[bool] = True
    sees_whole_release: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.size >= 1:
            raise InputError.of("at least 1", option="size", value=self.size)

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Say, alike for every class, whether there are enough records per class."""
        return np.full(counts.n_classes, self.measure(counts).value >= self.size - ROUNDING)

    def measure(self, counts: ClassCounts) -> Score:
        """Return the records per class."""
        return Score("mean-class-size", counts.n_rows / max(1, counts.n_classes), best=math.inf, worst=0)
