"""Safety beside a population: the people who share each class's values, k-map and δ-presence."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.class_counts import ClassCounts, Recoding
from tokumei.engines.grouping import Codes, group_recoded_rows
from tokumei.measures.requirement import ROUNDING, ClassSizes, Holds


@dataclass(frozen=True)
class PopulationMatch:
    """The sizes of a release's classes beside those of the same classes in its population."""

    sizes: npt.NDArray[np.int64]
    population_sizes: npt.NDArray[np.int64]
    n_absent: int
    """Number of classes of the population that no released row belongs to."""

    @classmethod
    def of(cls, counts: ClassCounts, population: ClassCounts) -> PopulationMatch:
        """Find each class in the population, which must hold everyone in the release."""
        everyone = population if population.columns == counts.columns else population.over(counts.columns)
        domains = zip(counts.domains, everyone.domains, strict=True)
        # Both are put in the codes of the population's domain, with one more for what it does not hold.
        maps = [_indices(mine, theirs) for mine, theirs in domains]
        mine = [np.take(indices, codes) for indices, codes in zip(maps, counts.codes, strict=True)]
        columns = [np.concatenate(pair) for pair in zip(mine, everyone.codes, strict=True)]
        radices = [len(domain) + 1 for domain in everyone.domains]
        n_both = counts.n_classes + everyone.n_classes
        group_of = group_recoded_rows(columns, [None] * len(columns), radices, n_both).group_of
        own, theirs = group_of[: counts.n_classes], group_of[counts.n_classes :]
        size_of_group = np.zeros(n_both, np.int64)
        size_of_group[theirs] = everyone.sizes
        found = size_of_group[own]
        _check_holds_everyone(counts, found)
        return cls(counts.people, found, everyone.n_classes - counts.n_classes)


def recoded_population(population: ClassCounts, recodings: Iterable[Recoding]) -> ClassCounts:
    """Return the population's counts after the recodings of a release."""
    return population.roll_up(population.maps(recodings))


def _indices(mine: pl.Series, theirs: pl.Series) -> Codes:
    """Return the index of each value of one domain in another, one past the end where it is not there."""
    if mine.dtype != theirs.dtype:
        expected = f"a population with values of type {mine.dtype}, as in the release"
        raise InputError.of(expected, column=mine.name, value=theirs.dtype)
    if mine.equals(theirs):
        return np.arange(len(mine), dtype=np.int32)
    table = pl.DataFrame({"value": theirs, "index": np.arange(len(theirs), dtype=np.int32)})
    asked = pl.DataFrame({"value": mine})
    found = asked.join(table, on="value", how="left", nulls_equal=True, maintain_order="left")
    return found["index"].fill_null(len(theirs)).to_numpy()


def _check_holds_everyone(counts: ClassCounts, population_sizes: npt.NDArray[np.int64]) -> None:
    for lacking in np.flatnonzero(population_sizes < counts.people)[:1]:
        values = [domain[int(code)] for domain, code in zip(counts.domains, counts.codes[:, lacking], strict=True)]
        n_released, n_there = int(counts.people[lacking]), int(population_sizes[lacking])
        expected = f"a population that holds everyone in the release: {n_released} rows of a class, not {n_there}"
        raise InputError.of(
            expected, column=", ".join(counts.columns), value=", ".join("" if v is None else str(v) for v in values)
        )


# Compared by identity, since counts are arrays.
@dataclass(frozen=True, eq=False)
class KMap(ClassSizes):
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
