"""k-anonymity."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.class_counts import ClassCounts
from tokumei.measures.requirement import Holds


@dataclass(frozen=True)
class KAnonymity:
    """Every record shares its values with at least k − 1 others; measures the size of the smallest class.

    0 for no rows, 1 if somebody is alone; the more the better. Answers record linkage (Sweeney 2002). S1 k-anony of
    PWSCUP 2015, over the quasi-identifiers of Y.

    Example: of six people three are 30, two are 40, and of one the age is missing, which is a class of its own: the
    measure is 1. With k = 2 the first two classes hold. Without the last record the measure is 2.
    """

    k: int = field(metadata={"help": "Fewest rows allowed in one class."})

    sensitive_columns: ClassVar[tuple[str, ...]] = ()
    is_monotone: ClassVar[bool] = True
    is_strongly_monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError.of("at least 1", option="k", value=self.k)

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether each class has k rows."""
        return counts.sizes >= self.k

    def measure(self, counts: ClassCounts) -> Score:
        """Return the size of the smallest class."""
        return Score("k-anonymity", counts.k, best=math.inf, worst=0)
