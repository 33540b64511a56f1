"""k-map."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.recoding import Recoding
from tokumei.measures.requirement import Holds
from tokumei.measures.safety._population import PopulationMatch, recoded_population


# Compared by identity, since counts are arrays.
@dataclass(frozen=True, eq=False)
class KMap:
    """Every released record fits at least k people of the population; measures the fewest that a record fits.

    0 for no rows, 1 if somebody is alone in the population; the more the better. Answers record linkage by an
    attacker who does not know who is in the release (Sweeney 2002).

    Example: the measure is 2, because of the man of 30. With k = 3 the other two classes hold, though each has fewer
    than three records in the release.

    | sex     | age | in the release | in the population |
    |---------|-----|----------------|-------------------|
    | f       | 30  | 2              | 4                 |
    | m       | 30  | 1              | 2                 |
    | missing | 40  | 1              | 3                 |
    """

    population: ClassCounts = field(metadata={"help": "Class counts of the population, over the same columns."})
    k: int = field(metadata={"help": "Fewest people of the population that a record may fit."})

    sensitive_columns: ClassVar[tuple[str, ...]] = ()
    is_monotone: ClassVar[bool] = True
    is_strongly_monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError.of("at least 1", option="k", value=self.k)

    def recoded(self, recodings: Iterable[Recoding]) -> KMap:
        """Return the requirement for a release at other levels."""
        return replace(self, population=recoded_population(self.population, recodings))

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether k people of the population have the values of each class."""
        return PopulationMatch.of(counts, self.population).population_sizes >= self.k

    def measure(self, counts: ClassCounts) -> Score:
        """Return the fewest people that a record fits."""
        return self.score(PopulationMatch.of(counts, self.population))

    def score(self, match: PopulationMatch) -> Score:
        """Return the fewest people that a record fits, from the known people of each class."""
        fewest = int(match.population_sizes.min()) if len(match.population_sizes) else 0
        return Score("k-map", fewest, best=math.inf, worst=0)
