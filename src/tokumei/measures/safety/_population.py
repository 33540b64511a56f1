"""How many people of a population share the values of each class of a release."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.grouping import Codes, group_recoded_rows
from tokumei.engines.recoding import Recoding


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
        return cls(counts.sizes, found, everyone.n_classes - counts.n_classes)


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
    for lacking in np.flatnonzero(population_sizes < counts.sizes)[:1]:
        values = [domain[int(code)] for domain, code in zip(counts.domains, counts.codes[:, lacking], strict=True)]
        n_released, n_there = int(counts.sizes[lacking]), int(population_sizes[lacking])
        expected = f"a population that holds everyone in the release: {n_released} rows of a class, not {n_there}"
        raise InputError.of(
            expected, column=", ".join(counts.columns), value=", ".join("" if v is None else str(v) for v in values)
        )
