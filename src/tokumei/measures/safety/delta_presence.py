"""δ-presence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.recoding import Recoding
from tokumei.measures.requirement import ROUNDING, Holds
from tokumei.measures.safety._population import PopulationMatch, recoded_population


# Compared by identity, since counts are arrays.
@dataclass(frozen=True, eq=False)
class DeltaPresence:
    """Nobody in the population can be told to be in the release, or not to be, more surely than between two shares.

    A person's share is the released part of the population with the same values, 0 where none is released.
    Measures the largest: near 0 if few of many are released, 1 if some group is released whole; the least is among
    its inputs. Answers table linkage (Nergiz, Atzori and Clifton 2007).

    With delta_min above 0 every class of the population must have released rows; while one has none, no class holds,
    since no further suppression could mend it.

    Example: the measure is 1, since everybody of 50 is in the release. With shares from 0.3 to 0.5 allowed, only the
    class of 30 holds.

    | age | in the population | in the release | share |
    |-----|-------------------|----------------|-------|
    | 30  | 5                 | 2              | 2/5   |
    | 40  | 4                 | 1              | 1/4   |
    | 50  | 2                 | 2              | 1     |
    """

    population: ClassCounts = field(metadata={"help": "Class counts of the population, over the same columns."})
    delta_max: float = field(metadata={"help": "Largest released share of a class of the population, 0 to 1."})
    delta_min: float = field(
        default=0.0, metadata={"help": "Least released share of a class of the population, 0 to 1."}
    )

    sensitive_columns: ClassVar[tuple[str, ...]] = ()
    is_monotone: ClassVar[bool] = True
    is_strongly_monotone: ClassVar[bool] = False

    @property
    def sees_whole_release(self) -> bool:
        """With a least share, a class of the population that is not released breaks it."""
        return self.delta_min > 0

    def __post_init__(self) -> None:
        if not 0 <= self.delta_max <= 1:
            raise InputError.of("a share from 0 to 1", option="delta_max", value=self.delta_max)
        if not 0 <= self.delta_min <= self.delta_max:
            raise InputError.of("a share from 0 to delta_max", option="delta_min", value=self.delta_min)

    def recoded(self, recodings: Iterable[Recoding]) -> DeltaPresence:
        """Return the requirement for a release at other levels."""
        return replace(self, population=recoded_population(self.population, recodings))

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether the released share of each class lies between the two."""
        match = PopulationMatch.of(counts, self.population)
        if match.n_absent and self.delta_min > 0:
            return np.zeros(counts.n_classes, bool)
        shares = match.sizes / match.population_sizes
        out: Holds = (shares >= self.delta_min - ROUNDING) & (shares <= self.delta_max + ROUNDING)
        return out

    def measure(self, counts: ClassCounts) -> Score:
        """Return the largest released share of a class of the population."""
        return self.score(PopulationMatch.of(counts, self.population))

    def score(self, match: PopulationMatch) -> Score:
        """Return the largest released share, from the known people of each class."""
        shares = match.sizes / match.population_sizes
        least = 0.0 if match.n_absent or not len(shares) else float(shares.min())
        largest = float(shares.max()) if len(shares) else 0.0
        return Score("delta-presence", largest, best=0, worst=1, inputs={"least": least})
