"""The risk that a release leaks, and somebody is found in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.class_counts import ClassCounts
from tokumei.measures.requirement import Holds
from tokumei.measures.safety._risk import RiskProfile, check_risk_options, is_within

# That a health care organization loses data, by the statistics of the government (CHEO; thesis section 2.7.4).
BREACH_CHANCE = 0.27
# What CHEO allows of data that everybody can have, as those that leaked.
PUBLIC_RISK = 0.05


@dataclass(frozen=True)
class BreachRisk:
    """No record is found again by a breach more surely than a threshold.

    A recipient who is trusted looks for nobody, but may lose the data. The risk of a record is then the chance of a
    breach times 1 over the size of its class (El Emam's rules at CHEO: of all ways to an attacker, the likeliest
    counts). Measures the largest: near 0 in one large class, the chance of a breach if somebody is alone.

    Example: with a chance of 0.27 the measure is 0.09. Under a threshold of 0.05 only the class of 30 holds, as do all
    of six records or more.

    | age | records | risk          |
    |-----|---------|---------------|
    | 30  | 6       | 0.27/6 = .045 |
    | 40  | 3       | 0.27/3 = .09  |
    """

    threshold: float = field(default=PUBLIC_RISK, metadata={"help": "Largest risk allowed, above 0 and at most 1."})
    chance: float = field(default=BREACH_CHANCE, metadata={"help": "Chance of a breach, above 0 and at most 1."})

    sensitive_columns: ClassVar[tuple[str, ...]] = ()
    is_monotone: ClassVar[bool] = True
    is_strongly_monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_risk_options(self.threshold, 0)
        if not 0 < self.chance <= 1:
            raise InputError.of("a chance above 0 and at most 1", option="chance", value=self.chance)

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether the risk of the records of each class is at most the threshold."""
        return is_within(counts.sizes, self.threshold / self.chance)

    def measure(self, counts: ClassCounts) -> Score:
        """Return the largest risk of a record."""
        found = RiskProfile.of(counts.sizes, counts.sizes, threshold=self.threshold / self.chance)
        return Score("breach-risk", self.chance * found.largest, best=0, worst=1)
