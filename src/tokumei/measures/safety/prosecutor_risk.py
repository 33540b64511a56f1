"""The risk from someone who knows that a person is in the release."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from tokumei.core.score import Score
from tokumei.engines.class_counts import ClassCounts
from tokumei.measures.requirement import Holds
from tokumei.measures.safety._risk import RiskProfile, check_risk_options, is_within


@dataclass(frozen=True)
class ProsecutorRisk:
    """No record is found again more surely than a threshold by someone who knows that the person is in the release.

    The risk of a record is 1 over the size of its class. Measures the largest: near 0 in one large class, 1 if
    somebody is alone; its inputs are the least, the mean and the share of records above the threshold. Mean and
    share are of all records, those suppressed being at no risk.

    Example: the measure is 1. The mean is (4 · 1/4 + 3 · 1/3 + 1) / 8 = 3/8, which is classes over records. With a
    threshold of 0.3 only the class of 30 holds, and half of the records are above.

    | age | records | risk |
    |-----|---------|------|
    | 30  | 4       | 1/4  |
    | 40  | 3       | 1/3  |
    | 50  | 1       | 1    |
    """

    threshold: float = field(metadata={"help": "Largest risk allowed, above 0 and at most 1."})
    n_suppressed: int = field(default=0, metadata={"help": "Number of records that were suppressed."})

    sensitive_columns: ClassVar[tuple[str, ...]] = ()
    is_monotone: ClassVar[bool] = True
    is_strongly_monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_risk_options(self.threshold, self.n_suppressed)

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether the risk of the records of each class is at most the threshold."""
        return is_within(counts.sizes, self.threshold)

    def measure(self, counts: ClassCounts) -> Score:
        """Return the largest risk of a record."""
        return self.profile(counts).score("prosecutor-risk")

    def profile(self, counts: ClassCounts) -> RiskProfile:
        """Return least, mean and largest risk and the share of records above the threshold."""
        return RiskProfile.of(counts.sizes, counts.sizes, threshold=self.threshold, n_suppressed=self.n_suppressed)
