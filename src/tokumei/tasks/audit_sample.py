"""Risk without an attacker: what the rows, taken as a sample of more people, say of those who may be found.

Who is alone among all people is estimated from the sizes of classes, the risk of each row from sampling weights, and
which rows few columns are enough for is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.result import Facts, Rows, Section, Sentence
from tokumei.core.text import Json, Text
from tokumei.data.table import Role, Unit
from tokumei.engines.class_counts import ClassCounts
from tokumei.measures.safety.individual_risk import SampleRisk, risk_by_weights
from tokumei.measures.safety.population_uniques import PopulationUniques, population_uniques
from tokumei.measures.safety.special_uniques import (
    DIS_FRACTION,
    MOST_LOOKS,
    SpecialUniques,
    n_sets_of,
    special_uniques,
)

NOT_ESTIMATED = "not estimated"
USUAL_SUDA = 3
TOO_LITTLE = (
    "Each row is taken to have others alike among the people who are not in the file, so that this says too little "
    "where most rows are alone."
)


@dataclass(frozen=True)
class Sampling:
    """What is known of how the rows were drawn from all people, and how large sets of columns are tried.

    population_size: how many people the rows are a sample of. weights: the column that says how many people a row
    stands for. suda: look for special uniques by sets of up to so many columns.
    """

    population_size: int | None = None
    weights: str | None = None
    suda: int | None = None

    @property
    def needs_rows(self) -> bool:
        """Whether more is asked for than the sizes of classes tell."""
        return self.weights is not None or self.suda is not None

    def with_special_uniques(self, n_columns: int, n_rows: int) -> Sampling:
        """Return the same with sets of three columns, if the rows are a sample and these can be tried."""
        is_sample = self.population_size is not None or self.weights is not None
        fits = n_sets_of(n_columns, USUAL_SUDA) * n_rows <= MOST_LOOKS
        return replace(self, suda=USUAL_SUDA) if is_sample and n_columns and fits else self


NOT_SAMPLED = Sampling()


@dataclass(frozen=True)
class RiskOfSample:
    """What was measured of the rows as a sample; None for what nothing was given for."""

    uniques: PopulationUniques | None = None
    individual: SampleRisk | None = None
    special: SpecialUniques | None = None
    threshold: float = 0.2

    def as_dict(self) -> Json:
        """Return what was measured as JSON shows it."""
        found = {
            "population_uniques": None if self.uniques is None else self.uniques.as_dict(),
            "individual_risk": None if self.individual is None else self.individual.as_dict(self.threshold),
            "special_uniques": None if self.special is None else self.special.as_dict(),
        }
        return {name: one for name, one in found.items() if one is not None}

    def sections(self) -> list[Section]:
        """Return what was measured in words and tables."""
        parts: list[Section] = []
        if self.uniques is not None:
            parts += _uniques_sections(self.uniques)
        if self.individual is not None:
            parts += _individual_sections(self.individual.as_dict(self.threshold))
        if self.special is not None:
            parts += _special_sections(self.special.as_dict())
        return parts


NO_SAMPLE = RiskOfSample()


def measure_sample(
    frame: pl.DataFrame | None,
    attributes: Sequence[str],
    counts: ClassCounts,
    sampling: Sampling,
    *,
    unit: Unit | None = None,
    threshold: float = 0.2,
    name: str = "table",
) -> RiskOfSample:
    """Measure what the rows say as a sample.

    frame: the rows; only weights and special uniques need them.
    """
    individual = None
    if sampling.weights in attributes:
        expected = "a column of sampling weights that is no quasi-identifier"
        raise InputError.of(expected, file=name, column=sampling.weights)
    if sampling.weights is not None and frame is not None:
        individual = risk_by_weights(frame, attributes, sampling.weights, unit=unit, name=name)
    size, fraction = sampling.population_size, DIS_FRACTION
    if individual is not None:
        fraction = min(1.0, individual.n / individual.population)
        # Weights say how many people there are, not how many households.
        if size is None and (unit is None or unit.role is Role.PERSON):
            size = max(1, round(individual.population))
    uniques = None if size is None else population_uniques(counts.people, size)
    special = None
    if sampling.suda is not None and frame is not None:
        if uniques is not None:
            fraction = min(1.0, uniques.n_sampled / uniques.population)
        whose = None if unit is None else frame[unit.column]
        special = special_uniques(frame, attributes, largest=sampling.suda, fraction=fraction, whose=whose)
    return RiskOfSample(uniques, individual, special, threshold)


def _uniques_sections(found: PopulationUniques) -> list[Section]:
    rows = [
        [name, NOT_ESTIMATED if alone is None else alone, "" if alone is None else alone / found.population]
        for name, alone in found.estimates.items()
    ]
    title = f"Estimated to be alone among all {found.population:,} people"
    parts: list[Section] = [Rows(["estimator", "people", "share of all"], rows, title)]
    if found.share_of_alone is not None:
        said = "Of the {n:,} who are alone here, about {share:.1%} are alone among all {population:,}, too ({chosen})."
        values = {"n": found.n_alone_in_sample, "share": found.share_of_alone, "population": found.population}
        parts.append(Sentence(Text(said, **values, chosen=found.chosen)))
    return parts


def _individual_sections(found: Json) -> list[Section]:
    facts = {
        "expected to be found": found["expected"],
        "share of people": found["share"],
        "highest risk of a row": found["highest"],
        f"share of rows above {found['threshold']:g}": found["above"],
    }
    parts: list[Section] = [Facts(facts, "Individual risk by sampling weights (Benedetti and Franconi)")]
    parts.append(Rows(["row", "risk"], [list(one.values()) for one in found["riskiest"]], "Rows at the highest risk"))
    parts.append(Sentence(TOO_LITTLE))
    for name in ("people", "households"):
        if name in found:
            of = found[name]
            told = {name: of["n"], "expected to be found": of["expected"], "share": of["share"]}
            parts.append(Facts(told, f"Risk of {name}"))
            parts.append(
                Rows([*of["riskiest"][0]] if of["riskiest"] else [name], [[*o.values()] for o in of["riskiest"]])
            )
    return parts


def _special_sections(found: Json) -> list[Section]:
    said = "{special:,} of the {alone:,} unique rows are special uniques: fewer than all columns single them out."
    if found["largest_set"] < len(found["columns"]):
        said = "{special:,} of the {alone:,} unique rows are special uniques: {size} columns or fewer single them out."
    values = {"special": found["special_uniques"], "alone": found["rows_alone"], "size": found["largest_set"]}
    by_column = sorted(found["by_column"].items(), key=lambda one: -one[1])
    columns = [[name, share, ", ".join(list(found["by_value"][name])[:3])] for name, share in by_column]
    rows = [[NOT_ESTIMATED if cell is None else cell for cell in one.values()] for one in found["riskiest"]]
    return [
        Sentence(Text(said, **{name: n for name, n in values.items() if f"{{{name}" in said})),
        Rows(["column", "share of scores", "values that add most"], columns, "What makes rows special (SUDA2)"),
        Rows(["row", "score", "DIS-SUDA", "columns needed"], rows, "The most special rows"),
    ]
