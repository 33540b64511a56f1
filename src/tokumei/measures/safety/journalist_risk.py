"""The risk from someone who does not know whether a person is in the release."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar

from tokumei.core.score import Score
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.recoding import Recoding
from tokumei.measures.requirement import Holds
from tokumei.measures.safety._population import PopulationMatch, recoded_population
from tokumei.measures.safety._risk import RiskProfile, check_risk_options, is_within


# Compared by identity, since counts are arrays.
@dataclass(frozen=True, eq=False)
class JournalistRisk:
    """No record is found again more surely than a threshold by someone who knows the population, not who is released.

    The risk of a record is 1 over the number of people in the population with its values. Measures the largest:
    near 0 in one large class, 1 if somebody is alone in the population; its inputs are the least, the mean and the
    share of records above the threshold. Mean and share are of all records, those suppressed being at no risk.

    Example: the measure is 1, since the one of 50 is alone in the population, too. The mean is
    (1/5 + 1/5 + 1/2 + 1) / 4 = 0.475. With a threshold of 0.5 all but the class of 50 hold: 1/4 of the records is
    above.

    | age | in the release | in the population | risk |
    |-----|----------------|-------------------|------|
    | 30  | 2              | 5                 | 1/5  |
    | 40  | 1              | 2                 | 1/2  |
    | 50  | 1              | 1                 | 1    |
    | 60  | 0              | 9                 |      |
    """

    population: ClassCounts = field(metadata={"help": "Class counts of the population, over the same columns."})
    threshold: float = field(metadata={"help": "Largest risk allowed, above 0 and at most 1."})
    n_suppressed: int = field(default=0, metadata={"help": "Number of records that were suppressed."})

    sensitive_columns: ClassVar[tuple[str, ...]] = ()
    is_monotone: ClassVar[bool] = True
    is_strongly_monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_risk_options(self.threshold, self.n_suppressed)

    def recoded(self, recodings: Iterable[Recoding]) -> JournalistRisk:
        """Return the requirement for a release at other levels."""
        return replace(self, population=recoded_population(self.population, recodings))

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether the risk of the records of each class is at most the threshold."""
        return is_within(PopulationMatch.of(counts, self.population).population_sizes, self.threshold)

    def measure(self, counts: ClassCounts) -> Score:
        """Return the largest risk of a record."""
        return self.profile(PopulationMatch.of(counts, self.population)).score("journalist-risk")

    def profile(self, match: PopulationMatch) -> RiskProfile:
        """Return least, mean and largest risk and the share of records above the threshold."""
        return RiskProfile.of(
            match.sizes, match.population_sizes, threshold=self.threshold, n_suppressed=self.n_suppressed
        )
