"""δ-disclosure privacy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.class_counts import ClassCounts
from tokumei.measures.requirement import MISSING_IS_A_VALUE, ROUNDING, Holds
from tokumei.measures.safety._compared import ComparedWithAll
from tokumei.measures.safety._sensitive import Numbers, SensitiveValues


@dataclass(frozen=True)
class DeltaDisclosure(ComparedWithAll):
    """In no class is a sensitive value much rarer or more frequent than in all rows; measures the largest difference.

    With p the share of a value in all rows and q its share in a class, |log₂ q/p| is less than δ for every class and
    every value that occurs at all: what is learned is bounded both ways. A value that a class lacks makes the
    difference infinite, so that each class needs them all. 0 if every class is distributed as all rows are, without
    upper end. Where missing values do not count, a class without any other has 0. Answers attribute linkage (Brickell
    and Shmatikov 2008).

    Example: of all rows 5/8 have flu and 3/8 a cold. In B a cold has 1/2, log₂ (1/2 : 3/8) = 0.415. In A it has 1/4,
    log₂ (1/4 : 3/8) = −0.585: the measure is 0.585. With δ = 1/2 only B holds.

    | zip | illnesses             | cold | difference |
    |-----|-----------------------|------|------------|
    | A   | flu, flu, flu, cold   | 1/4  | 0.585      |
    | B   | flu, flu, cold, cold  | 1/2  | 0.415      |
    """

    sensitive: str = field(metadata={"help": "The sensitive column."})
    delta: float = field(metadata={"help": "What no difference may reach, above 0: 1 is twice or half as frequent."})
    reference: Mapping[Any, float] | None = field(
        default=None, metadata={"help": "Share of each value to compare with, instead of that of all rows."}
    )
    against: Literal["both", "original", "release"] = field(
        default="both",
        metadata={"help": "Whose shares count where rows are left out: the original's, the release's, or both."},
    )
    is_missing_a_value: bool = field(
        default=MISSING_IS_A_VALUE, metadata={"help": "Whether a missing sensitive value counts as a value of its own."}
    )

    is_monotone: ClassVar[bool] = True
    is_strongly_monotone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.delta > 0:
            raise InputError.of("a number above 0", option="delta", value=self.delta)
        self.check_whose()

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether every difference of each class is less than δ."""
        return self.achieved(self.values_in(counts)) < self.delta - ROUNDING

    def achieved(self, values: SensitiveValues) -> Numbers:
        """Return the largest difference in each class, infinite where it lacks a value."""
        with np.errstate(divide="ignore"):
            differences = np.abs(np.log2(values.shares / values.reference[values.value_of]))
        n_there = values.sums((values.reference[values.value_of] > 0).astype(np.int64))
        is_lacking = (n_there < (values.reference > 0).sum()) & (values.in_all(values.totals) > 0)
        return np.where(is_lacking, math.inf, values.maxima(differences))

    def score(self, values: SensitiveValues) -> Score:
        """Return the largest difference in a class, from known values."""
        largest = float(self.achieved(values).max()) if values.n_classes else 0.0
        return Score("delta-disclosure", largest, best=0, worst=math.inf, inputs={"sensitive": self.sensitive})
