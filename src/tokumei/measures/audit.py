"""Every safety measure of a release at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tokumei.core.score import Score
from tokumei.core.text import Json
from tokumei.engines.class_counts import ClassCounts
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.requirement import MISSING_IS_A_VALUE, sensitive_histogram
from tokumei.measures.safety.class_sizes import KAnonymity, MeanClassSize, Uniques
from tokumei.measures.safety.closeness import BetaLikeness, DeltaDisclosure, TCloseness, natural_indices
from tokumei.measures.safety.diversity import AlphaK, LDiversity, XYAnonymity
from tokumei.measures.safety.population import DeltaPresence, KMap, PopulationMatch
from tokumei.measures.safety.risks import BreachRisk, JournalistRisk, MarketerRisk, ProsecutorRisk
from tokumei.measures.safety.sensitive_values import SensitiveValues


@dataclass(frozen=True)
class Audit:
    """The scores of a release by name: of its classes, of each sensitive column, and the worst of those."""

    classes: Mapping[str, Score]
    by_sensitive: Mapping[str, Mapping[str, Score]]
    worst: Mapping[str, Score]

    @property
    def scores(self) -> dict[str, Score]:
        """All scores by name; of a measure of sensitive values the worst over the columns, which its inputs name."""
        return {**self.classes, **self.worst}

    def as_dict(self) -> Json:
        """Return the audit for JSON."""
        return {
            "classes": _as_dicts(self.classes),
            "by_sensitive": {column: _as_dicts(scores) for column, scores in self.by_sensitive.items()},
            "worst": _as_dicts(self.worst),
        }


def audit(
    counts: ClassCounts,
    *,
    population: ClassCounts | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    references: Mapping[str, Mapping[Any, float]] | None = None,
    threshold: float = 0.2,
    c: float = 3.0,
    n_suppressed: int = 0,
    is_missing_a_value: bool = MISSING_IS_A_VALUE,
) -> Audit:
    """Compute every measure of the counts of released rows; each sensitive column there is counted.

    population: class counts of the population; without it, measures that need one are left out.
    hierarchies: of sensitive columns, for the hierarchical distance of t-closeness.
    references: of sensitive columns, the shares to compare with instead of those of all rows.
    threshold: records with a larger risk than this are counted.
    c: of recursive (c,ℓ)-diversity.

    The ordered distance is given where the values are numbers or dates, and left out elsewhere.
    """
    hierarchies, references = hierarchies or {}, references or {}
    for column in [*hierarchies, *references]:
        sensitive_histogram(counts, column)
    sizes = (KAnonymity(1), MeanClassSize(1), Uniques(n_suppressed), BreachRisk())
    classes = {score.name: score for score in (part.measure(counts) for part in sizes)}
    classes |= ProsecutorRisk(threshold, n_suppressed).profile(counts).scores("prosecutor-risk")
    if population is None:
        marketer = MarketerRisk(threshold, None, n_suppressed).measure(counts)
    else:
        match = PopulationMatch.of(counts, population)
        marketer = MarketerRisk(threshold, population, n_suppressed).score(match)
        classes |= JournalistRisk(population, threshold, n_suppressed).profile(match).scores("journalist-risk")
        classes["k-map"] = KMap(population, 1).score(match)
        classes["delta-presence"] = DeltaPresence(population, 1).score(match)
    classes["marketer-risk"] = marketer
    by_sensitive = {}
    for column in counts.sensitive:
        values = SensitiveValues.of(
            counts, column, is_missing_a_value=is_missing_a_value, reference=references.get(column)
        )
        by_sensitive[column] = _sensitive_scores(column, values, counts.k, hierarchies.get(column), c)
    return Audit(classes, by_sensitive, _worst(by_sensitive))


def _sensitive_scores(
    column: str, values: SensitiveValues, k: int, hierarchy: Hierarchy | None, c: float
) -> dict[str, Score]:
    """Compute every measure of one sensitive column; what they have in common is computed once, with the values."""
    scores = [
        LDiversity(column, 1).score(values),
        LDiversity(column, 1, "entropy").score(values),
        LDiversity(column, 1, "recursive", c).score(values),
        TCloseness(column, 1).score(values),
        AlphaK(column, 1, 1).score(values, k),
        BetaLikeness(column, 1, "basic").score(values),
        BetaLikeness(column, 1, "enhanced").score(values),
        DeltaDisclosure(column, 1).score(values),
        XYAnonymity(column, 1).score(values),
    ]
    if natural_indices(values.domain) is not None:
        scores.append(TCloseness(column, 1, "ordered").score(values))
    if hierarchy is not None:
        scores.append(TCloseness(column, 1, "hierarchical", hierarchy).score(values))
    return {score.name: score for score in scores}


def _worst(by_sensitive: Mapping[str, Mapping[str, Score]]) -> dict[str, Score]:
    """Return the worst score of each measure over the sensitive columns, with the column among its inputs."""
    worst: dict[str, Score] = {}
    for column, scores in by_sensitive.items():
        for name, score in scores.items():
            if name not in worst or worst[name].is_better_than(score):
                worst[name] = replace(score, inputs={**score.inputs, "sensitive": column})
    return worst


def _as_dicts(scores: Mapping[str, Score]) -> dict[str, object]:
    return {name: score.as_dict() for name, score in scores.items()}
