"""β-likeness."""

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
class BetaLikeness(ComparedWithAll):
    """No sensitive value gains more than β in a class over its share of all rows; measures the largest gain.

    With p a value's share of all rows and q > p its share of a class, its gain is (q − p)/p.

    - `basic`: every gain is at most β.
    - `enhanced`: every gain is at most β and at most −ln p, so that a frequent value cannot become a certainty.

    0 if every class is distributed as all rows are, without upper end; infinite where no β is enough, as a gain above
    −ln p is refused by `enhanced` whatever β is. Where missing values do not count, a class without any other gains 0.
    Answers attribute linkage (Cao and Karras 2012).

    Example: of all rows 5/8 have flu and 3/8 a cold. Flu gains (3/4 − 5/8) / (5/8) in A, a cold (1/2 − 3/8) / (3/8) in
    B, so the measure is 1/3, and with β = 1/5 only A holds. Both gains are below −ln p, so `enhanced` says the same.

    | zip | illnesses             | largest gain |
    |-----|-----------------------|--------------|
    | A   | flu, flu, flu, cold   | 1/5          |
    | B   | flu, flu, cold, cold  | 1/3          |
    """

    sensitive: str = field(metadata={"help": "The sensitive column."})
    beta: float = field(metadata={"help": "Largest gain allowed, above 0."})
    kind: Literal["basic", "enhanced"] = field(
        default="enhanced", metadata={"help": "Whether gains are bounded by −ln p as well."}
    )
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
        if not self.beta > 0:
            raise InputError.of("a number above 0", option="beta", value=self.beta)
        if self.kind not in ("basic", "enhanced"):
            raise InputError.of("basic or enhanced", option="kind", value=self.kind)
        self.check_whose()

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether no value of each class gains more than β."""
        return self.achieved(self.values_in(counts)) <= self.beta + ROUNDING

    def achieved(self, values: SensitiveValues) -> Numbers:
        """Return the largest gain in each class, infinite where no β is enough."""
        with np.errstate(divide="ignore"):
            weight, bound = 1 / values.reference, -np.log(values.reference)
        # A value that the reference does not know gains without end.
        gains = values.gains * weight[values.value_of]
        if self.kind == "enhanced":
            gains[gains > bound[values.value_of] + ROUNDING] = math.inf
        return values.maxima(gains)

    def score(self, values: SensitiveValues) -> Score:
        """Return the largest gain in a class, from known values."""
        largest = float(self.achieved(values).max()) if values.n_classes else 0.0
        inputs = {"sensitive": self.sensitive}
        return Score(f"beta-likeness-{self.kind}", largest, best=0, worst=math.inf, inputs=inputs)
