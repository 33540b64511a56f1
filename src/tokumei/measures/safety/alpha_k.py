"""(α,k)-anonymity."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.class_counts import ClassCounts
from tokumei.measures.requirement import MISSING_IS_A_VALUE, ROUNDING, Holds
from tokumei.measures.safety._sensitive import Numbers, SensitiveValues


@dataclass(frozen=True)
class AlphaK:
    """Every class has at least k rows, and no sensitive value a share of more than α in it; measures the largest share.

    Near 0 if every value is rare in every class, 1 if some class has but one value; k is among its inputs. Where
    missing values do not count, shares are of the rows with a value, and a class without any has share 0; its size
    counts all rows. Answers record and attribute linkage (Wong, Li, Fu and Wang 2006, their general form: every value
    is protected).

    Example: with α = 2/3 and k = 3 the classes A and B hold, C does not, since it has one row. With α = 1/2 B fails as
    well. The measure is 1, because of C, and its input k is 1.

    | zip | illnesses                | rows | largest share |
    |-----|--------------------------|------|---------------|
    | A   | flu, flu, cold, ulcer    | 4    | 1/2           |
    | B   | flu, flu, a missing one  | 3    | 2/3           |
    | C   | flu                      | 1    | 1             |
    """

    sensitive: str = field(metadata={"help": "The sensitive column."})
    alpha: float = field(metadata={"help": "Largest share of one value allowed in a class, above 0 and at most 1."})
    k: int = field(metadata={"help": "Fewest rows allowed in one class."})
    is_missing_a_value: bool = field(
        default=MISSING_IS_A_VALUE, metadata={"help": "Whether a missing sensitive value counts as a value of its own."}
    )

    is_monotone: ClassVar[bool] = True
    is_strongly_monotone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 < self.alpha <= 1:
            raise InputError.of("a share above 0 and at most 1", option="alpha", value=self.alpha)
        if self.k < 1:
            raise InputError.of("at least 1", option="k", value=self.k)

    @property
    def sensitive_columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.sensitive,)

    def values_in(self, counts: ClassCounts) -> SensitiveValues:
        """Take the sensitive values out of class counts."""
        return SensitiveValues.of(counts, self.sensitive, is_missing_a_value=self.is_missing_a_value)

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether each class has k rows and no value a share of more than α."""
        is_spread: Holds = self.achieved(self.values_in(counts)) <= self.alpha + ROUNDING
        return np.logical_and(is_spread, counts.sizes >= self.k)

    def measure(self, counts: ClassCounts) -> Score:
        """Return the largest share of a value in a class."""
        return self.score(self.values_in(counts), counts.k)

    def achieved(self, values: SensitiveValues) -> Numbers:
        """Return the share of the most frequent value of each class."""
        return values.in_all(values.largest / values.totals)

    def score(self, values: SensitiveValues, k: int) -> Score:
        """Return the largest share of a value in a class, from known values and the size of the smallest class."""
        largest = float(self.achieved(values).max()) if values.n_classes else 0.0
        return Score("alpha-k", largest, best=0, worst=1, inputs={"sensitive": self.sensitive, "k": k})
