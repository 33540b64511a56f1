"""The risk from someone who wants to find as many people as possible, whoever they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from tokumei.core.score import Score
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.recoding import Recoding
from tokumei.measures.requirement import ROUNDING, Holds
from tokumei.measures.safety._population import PopulationMatch, recoded_population
from tokumei.measures.safety._risk import RiskProfile, check_risk_options


# Compared by identity, since counts are arrays.
@dataclass(frozen=True, eq=False)
class MarketerRisk:
    """At most a share of all records is found again by someone who matches each of them to a person with its values.

    Measures the expected share: the mean over records of 1 over the number of people with their values, in the
    population or, if none is given, in the release. Near 0 in one large class, 1 if everybody is alone. The share is
    of all records, those suppressed being at no risk. It speaks of the whole release, so all classes hold or none.

    Example: of four records three are of age 30 and one of 40. Within the release one of each class is expected to be
    found: 2 of 4, so the measure is 1/2. In a population with six people of 30 and two of 40 it is
    (3 · 1/6 + 1/2) / 4 = 1/4.
    """

    threshold: float = field(metadata={"help": "Largest expected share allowed, above 0 and at most 1."})
    population: ClassCounts | None = field(
        default=None, metadata={"help": "Class counts of the population, over the same columns."}
    )
    n_suppressed: int = field(default=0, metadata={"help": "Number of records that were suppressed."})

    sensitive_columns: ClassVar[tuple[str, ...]] = ()
    is_monotone: ClassVar[bool] = True
    is_strongly_monotone: ClassVar[bool] = True
    sees_whole_release: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_risk_options(self.threshold, self.n_suppressed)

    def recoded(self, recodings: Iterable[Recoding]) -> MarketerRisk:
        """Return the requirement for a release at other levels."""
        if self.population is None:
            return self
        return replace(self, population=recoded_population(self.population, recodings))

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Say, alike for every class, whether the expected share is at most the threshold."""
        return np.full(counts.n_classes, self.measure(counts).value <= self.threshold + ROUNDING)

    def measure(self, counts: ClassCounts) -> Score:
        """Return the expected share of records found again."""
        if self.population is None:
            return self.score(PopulationMatch(counts.sizes, counts.sizes, 0))
        return self.score(PopulationMatch.of(counts, self.population))

    def score(self, match: PopulationMatch) -> Score:
        """Return the expected share of records found again, from the known people of each class."""
        profile = RiskProfile.of(
            match.sizes, match.population_sizes, threshold=self.threshold, n_suppressed=self.n_suppressed
        )
        return Score("marketer-risk", profile.mean, best=0, worst=1)
