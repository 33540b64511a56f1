"""ℓ-diversity."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.class_counts import ClassCounts
from tokumei.measures.requirement import MISSING_IS_A_VALUE, ROUNDING, Holds
from tokumei.measures.safety._sensitive import Numbers, SensitiveValues


@dataclass(frozen=True)
class LDiversity:
    """Every class has at least ℓ well represented sensitive values; measures the least ℓ of a class.

    - `distinct`: its number of different values.
    - `entropy`: e to the entropy of their shares, which is the number of values where all are equally frequent.
    - `recursive`: the largest ℓ with r₁ < c · (r_ℓ + … + r_m), where r₁ ≥ … ≥ r_m are the counts of its values; ℓ = 1
      always holds.

    0 for no rows, 1 if some class has but one value; the more the better. Where missing values do not count, a class
    without any other has ℓ = 0. Answers attribute linkage (Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam 2007).

    Example: the least ℓ is 2 by `distinct`, 1.75 by `entropy` and 1 by `recursive` with c = 2. In C flu has 3 rows,
    which is less than 2 · (3 + 1), but not less than 2 · 1. A missing illness is here a value of its own.

    | zip | illnesses                    | distinct | entropy | recursive |
    |-----|------------------------------|----------|---------|-----------|
    | A   | flu, flu, cold, ulcer        | 3        | 2.83    | 2         |
    | B   | flu, cold                    | 2        | 2       | 2         |
    | C   | flu, flu, flu, a missing one | 2        | 1.75    | 1         |
    """

    sensitive: str = field(metadata={"help": "The sensitive column."})
    l: float = field(metadata={"help": "Fewest well represented values allowed in one class."})  # noqa: E741 - its name
    kind: Literal["distinct", "entropy", "recursive"] = field(
        default="distinct", metadata={"help": "What well represented means."}
    )
    c: float | None = field(
        default=None, metadata={"help": "For recursive: how much the most frequent value may outweigh the rare ones."}
    )
    is_missing_a_value: bool = field(
        default=MISSING_IS_A_VALUE, metadata={"help": "Whether a missing sensitive value counts as a value of its own."}
    )

    def __post_init__(self) -> None:
        if self.l < 1:
            raise InputError.of("at least 1", option="l", value=self.l)
        if self.kind not in ("distinct", "entropy", "recursive"):
            raise InputError.of("distinct, entropy or recursive", option="kind", value=self.kind)
        if self.kind == "recursive" and (self.c is None or self.c <= 0):
            raise InputError.of("a number above 0 for recursive ℓ-diversity", option="c", value=self.c)

    @property
    def sensitive_columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.sensitive,)

    @property
    def is_monotone(self) -> bool:
        """All kinds are: a merged class has the values of both, at least their mean entropy, and a longer tail."""
        return True

    @property
    def is_strongly_monotone(self) -> bool:
        """Only the number of values never falls: a large class of one value can drown a diverse one."""
        return self.kind == "distinct"

    def values_in(self, counts: ClassCounts) -> SensitiveValues:
        """Take the sensitive values out of class counts."""
        return SensitiveValues.of(counts, self.sensitive, is_missing_a_value=self.is_missing_a_value)

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether each class has ℓ well represented values."""
        return self.achieved(self.values_in(counts)) >= self.l - ROUNDING

    def measure(self, counts: ClassCounts) -> Score:
        """Return the least ℓ of a class."""
        return self.score(self.values_in(counts))

    def achieved(self, values: SensitiveValues) -> Numbers:
        """Return the ℓ of each class."""
        if self.kind == "entropy":
            return entropy_l(values)
        if self.kind == "recursive":
            return recursive_l(values, self.c or 0)
        return values.in_all(values.n_values)

    def score(self, values: SensitiveValues) -> Score:
        """Return the least ℓ of a class, from known values."""
        least = float(self.achieved(values).min()) if values.n_classes else 0.0
        inputs = {"sensitive": self.sensitive} | ({"c": self.c} if self.kind == "recursive" else {})
        return Score(f"l-diversity-{self.kind}", least, best=math.inf, worst=0, inputs=inputs)


def entropy_l(values: SensitiveValues) -> Numbers:
    """Return e to the entropy of each class; 0 for one without values."""
    # −Σ c/n · ln(c/n) = ln n − Σ c · ln c / n, which takes one logarithm a pair and no division.
    weighted = np.add.reduceat(values.counts * np.log(values.counts), values.starts) if len(values.starts) else 0.0
    # By rounding, a single value could come out as less than one.
    return values.in_all(np.clip(values.totals * np.exp(-weighted / values.totals), 1, values.n_values))


def recursive_l(values: SensitiveValues, c: float) -> Numbers:
    """Return the largest ℓ of each class with r₁ < c · (r_ℓ + … + r_m)."""
    counts = values.descending
    up_to = np.cumsum(counts)
    ends = values.repeated(up_to[values.starts + values.n_values - 1])
    tail = ends - up_to + counts
    # The tail shrinks with ℓ, so the ℓ that hold are the first ones, and counting them gives the largest.
    holds = values.repeated(values.largest) < c * tail - ROUNDING
    # "We say that 1-diversity is always satisfied", of one value too, with any c.
    return np.maximum(values.sums(holds.astype(np.int64)), values.in_all(np.ones(len(values.starts))))
