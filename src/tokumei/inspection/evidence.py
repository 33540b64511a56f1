"""Evidence for the clauses of a framework: a standard, a law or a regulator's guidance.

A framework is a list of clauses. Each has one verdict: `measured` with a figure, `stated` by a person in a field,
`open` with the field that nobody filled, or `not measured` with the reason. Only a figure that is held against a bound
which somebody stated, or which the text itself states, has an outcome: met, not met or undecided.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import polars as pl

from tokumei.attacks.registry import (
    DECIDING,
    JUDGE,
    MET,
    NOT_MET,
    chance_of,
    judge_scores,
    was_tried,
)
from tokumei.core.text import Json, JsonView
from tokumei.data.context import NOT_STATED, ReleaseContext
from tokumei.inspection.column_facts import ColumnFacts, column_facts
from tokumei.inspection.kinds import header_words
from tokumei.inspection.roles import Suggestion, suggest_role

# Of the texts below; a change of what a clause asks or of how it is judged changes it.
VERSION = "2026-11-20.1"


class Verdict(StrEnum):
    """What kind of evidence a clause has."""

    MEASURED = "measured"
    STATED = "stated"
    OPEN = "open"
    NOT_MEASURED = "not measured"


UNDECIDED = "undecided"


@dataclass(frozen=True)
class Figure:
    """A number that was measured, with its interval and what blind guessing scores; `bound` is the most it may be.

    Where `least` is true the bound is the least that the number must be.
    """

    value: float
    unit: str
    low: float | None = None
    high: float | None = None
    blind: float | None = None
    bound: float | None = None
    least: bool = False


@dataclass(frozen=True)
class Clause:
    """One clause: its number, its title, what it asks, and the evidence.

    said: the evidence as a sentence with a {name} for each of `values`. field: the question that a person answers.
    who: the attacker that it is about, where it differs from one to another.
    """

    number: str
    title: str
    asks: str
    verdict: Verdict
    said: str
    values: JsonView = field(default_factory=dict)
    figure: Figure | None = None
    outcome: str | None = None
    field: str | None = None
    who: str | None = None

    def __post_init__(self) -> None:
        """Refuse an outcome without a figure and a bound, and a verdict without what it stands on."""
        if self.outcome is not None and (self.figure is None or self.figure.bound is None):
            raise ValueError(f"{self.number}: {self.outcome} without a number held against a bound")
        if (self.verdict == Verdict.MEASURED) != (self.figure is not None):
            raise ValueError(f"{self.number}: a figure goes with what was measured")
        if (self.verdict in (Verdict.STATED, Verdict.OPEN)) != (self.field is not None):
            raise ValueError(f"{self.number}: a field goes with what people state")

    def as_dict(self) -> Json:
        """Return the clause for JSON."""
        return {
            **{name: getattr(self, name) for name in ("number", "title", "asks", "said", "outcome", "field", "who")},
            "verdict": self.verdict.value,
            "values": dict(self.values),
            "evidence": self.said.format(**self.values),
            "figure": None if self.figure is None else dict(vars(self.figure)),
        }


@dataclass(frozen=True)
class Framework:
    """A framework: its short name, its title, the text that its clauses are of, and the clauses.

    source: the text and its date, and which part of it was read; what was not read in the text itself is said there.
    """

    name: str
    title: str
    source: str
    clauses: Sequence[Clause]
    drafts: Sequence[str] = ()

    def as_dict(self) -> Json:
        """Return the framework for JSON; each clause has an id under which it can be computed again."""
        listed = [{"id": f"{self.name}/{at}", **one.as_dict()} for at, one in enumerate(self.clauses, start=1)]
        return {**vars(self), "clauses": listed, "drafts": list(self.drafts)}


# Where a criterion names a kind of attack, these are it.
LINKING = ("record-linkage", "distance-linkage", "linkability", "linked-rows", "intersection")
INFERRING = ("homogeneity", "background-knowledge", "inference", "minimality")
# What each deciding score is a share of.
UNITS = {
    "singled-out": "share of the ends of ranges",
    "found": "share of customers' months",
    "row": "share of customers",
    "pseudonym": "share of pseudonyms",
}
PEOPLE = "share of people"
# An attack whose success is a share of descriptions, not of people.
OF_DESCRIPTIONS = "singling-out"
# Kinds of columns of which nothing is known but what their values look like.
UNKNOWN = ("number", "category", "phrases")
# Columns that these words name hold the body of a person, which no text tells.
# Why risks by class are not told of rows that a model drew.
NO_ONES = "the rows are drawn from a model: none of them is a person's, and attacks tell what they give away"
_BODY = {
    "biometric": r"\b(fingerprints?|voice ?prints?|iris|retina|biometrics?|gait|dna|genome)\b|指紋"
    r"|虹彩|声紋|静脈|歩容|ゲノム",
    "photo": r"\b(photos?|photographs?|face|images?|pictures?|selfie)\b|写真|顔|画像",
}


@dataclass(frozen=True)
class Evidence:
    """All that clauses are judged by: the release, what was measured of it, and what people state."""

    released: pl.DataFrame
    known: Sequence[str]
    k: int
    # As a dossier lists them.
    attacks: Sequence[JsonView] = ()
    bounds: Sequence[JsonView] = ()
    requirements: Sequence[JsonView] = ()
    # The risks of the classes by their names, before and after.
    risks: Mapping[str, float] = field(default_factory=dict)
    risks_before: Mapping[str, float] = field(default_factory=dict)
    # Of how many people the rows are a sample, and how many of the release are estimated to be alone among them.
    population: int | None = None
    population_uniques: float | None = None
    unit: str = "rows"
    # Classes of one row, person or household.
    n_alone: int = 0
    # Whether the rows were drawn from a model, so that classes of them say nothing of people.
    is_drawn: bool = False
    # The files that lead back, as they lie beside the release.
    secrets: Sequence[str] = ()
    # Columns of pseudonyms that were drawn at random, and so follow from nothing that anybody knows.
    pseudonyms: Sequence[str] = ()
    # Whether ranges of numbers are of a public grid or tight; None where there are none, or nobody said.
    ranges: str | None = None
    # What the method writes of the values of people, in a sentence; None where there is nothing to tell.
    gives_away: str | None = None
    method: str = ""
    # Columns that were released as they are although they may lead to people.
    kept_anyway: Sequence[str] = ()
    # The column by which people seem to have several rows, where classes count rows.
    several_rows_by: str | None = None
    # Rows that are released, and those of which every quasi-identifier reads as it did; None where nobody knows.
    n_released: int = 0
    n_unchanged: int | None = None
    # How much of the detail is lost, as a share.
    loss: float | None = None
    # ε and δ of a release that promises differential privacy.
    epsilon: float | None = None
    delta: float = 0.0
    # What the account of all releases of these people says, and the audit of drawn rows; empty where there is none.
    account: JsonView = field(default_factory=dict)
    audit: JsonView = field(default_factory=dict)
    context: ReleaseContext = NOT_STATED
    reviewer: str | None = None
    # What changed since the release before, where there was one.
    earlier: JsonView | None = None
    # The day by which ages and reviews are counted.
    today: dt.date = field(default_factory=lambda: dt.datetime.now(dt.UTC).date())

    @cached_property
    def facts(self) -> dict[str, ColumnFacts]:
        """The counts of each released column."""
        return {column.name: column_facts(column) for column in self.released.get_columns()}

    @cached_property
    def columns(self) -> dict[str, Suggestion]:
        """What each released column is recognized as."""
        return {name: suggest_role(facts) for name, facts in self.facts.items()}

    def of_kinds(self, *kinds: str) -> list[str]:
        """Return the released columns of some kinds; pseudonyms drawn at random are of none."""
        return [name for name, one in self.columns.items() if one.kind in kinds and name not in self.pseudonyms]

    def of_body(self, what: str) -> list[str]:
        """Return the columns that are named after a part of the body, or hold bytes."""
        named = [name for name in self.columns if re.search(_BODY[what], header_words(name), re.IGNORECASE)]
        return [
            *named,
            *(name for name, kind in self.released.schema.items() if kind == pl.Binary and name not in named),
        ]

    def unrecognized(self, *, may_repeat: bool) -> list[str]:
        """Return the columns that are recognized as nothing; without `may_repeat` those with a value of one row alone.

        Such a column may be anything: that it was not recognized as something is no evidence that it is not.
        """
        names = [name for name, one in self.columns.items() if one.kind in UNKNOWN and name not in self.pseudonyms]
        return [name for name in names if self.facts[name].n_present and (may_repeat or self.facts[name].n_unique)]

    def without(self, number: str, title: str, asks: str, found: Sequence[str]) -> Clause:
        """Clause that allows no released column of some kind, by the columns that were recognized as such."""
        if found:
            return counted(number, title, asks, len(found), "released columns", "{columns}", {"columns": listed(found)})
        said, values = "none of the {n} released columns is recognized as such", {"n": self.released.width}
        return self.none_of(number, title, asks, "released columns", said, values, may_repeat=False)

    def none_of(
        self, number: str, title: str, asks: str, unit: str, said: str, values: JsonView, *, may_repeat: bool
    ) -> Clause:
        """Clause of which nothing was found: met, unless a column may be what nobody recognized."""
        unknown = self.unrecognized(may_repeat=may_repeat)
        if not unknown:
            return counted(number, title, asks, 0, unit, said, values)
        more = {**values, "unknown": listed(unknown)}
        return counted(number, title, asks, 0, unit, f"{said}; look yourself at {{unknown}}", more, most=None)

    def stated(self, number: str, title: str, asks: str, name: str) -> Clause:
        """Clause that a person answers in a field."""
        answer = self.reviewer if name == "reviewer" else getattr(self.context, name)
        if answer is None:
            return Clause(number, title, asks, Verdict.OPEN, "not stated", field=name)
        return Clause(number, title, asks, Verdict.STATED, "{answer}", {"answer": answer}, field=name)

    def risk(self, number: str, title: str, asks: str, name: str, unit: str) -> Clause:
        """Clause on a risk of the classes, held against the bound of the job where it has one."""
        value = self.risks.get(name)
        if value is None:
            why = NO_ONES if self.is_drawn else "it is counted of tables with quasi-identifiers"
            return not_measured(number, title, asks, why)
        most = next((one["most"] for one in self.bounds if one["of"] == name and one["most"] is not None), None)
        said = "{value} after, {before} before, of {n} released rows; quasi-identifiers: {known}"
        values = {
            "value": f"{value:.3g}",
            "before": f"{self.risks_before[name]:.3g}" if name in self.risks_before else "–",
            "n": self.released.height,
            "known": ", ".join(self.known),
        }
        outcome = None if most is None else MET if value <= most else NOT_MET
        figure = Figure(value, unit, bound=most)
        return Clause(number, title, asks, Verdict.MEASURED, said, values, figure, outcome)

    def attacked(self, number: str, title: str, asks: str, is_meant: Callable[[JsonView], bool]) -> list[Clause]:
        """Clauses on what attacks of a kind found, one for each that was tried."""
        meant = [one for one in self.attacks if is_meant(one) and scores_that_decide(one)]
        if not meant:
            return [not_measured(number, title, asks, "no attack of this kind found anything that it could try")]
        return [self._attacked(one, number, title, asks) for one in meant]

    def strongest(self, number: str, title: str, asks: str) -> Clause:
        """Clause on the attack that finds most beyond blind guessing, one that passes its bound before others."""
        found = self.attacked(number, title, asks, lambda _one: True)
        return max(found, key=_weight)

    def _attacked(self, attack: JsonView, number: str, title: str, asks: str) -> Clause:
        name, score = strongest_score(attack)
        figure = figure_of(attack, name, score, self.context.most_gain)
        said = "{attack} ({score}): {found} of 100 found, {blind} by blind guessing; 95 % interval {low} to {high}"
        values = {
            "attack": attack["attack"],
            "score": name,
            **{key: out_of_100(getattr(figure, at)) for key, at in zip(_SHOWN, _FIGURES, strict=True)},
        }
        if attack.get("sensitive") is not None:
            said, values = f"{{column}}, {said}", {"column": attack["sensitive"], **values}
        outcome = None if figure.bound is None else outcome_of(attack, self.context.most_gain)
        return Clause(number, title, asks, Verdict.MEASURED, said, values, figure, outcome, who=attack["threat"])


def outcome_of(attack: JsonView, most_gain: float | None) -> str:
    """Hold what an attack gains over blind guessing against the most that was stated."""
    decided = judge_scores(attack["scores"], most_gain or 0.0)
    return UNDECIDED if decided == JUDGE else decided


def _weight(clause: Clause) -> tuple[int, float]:
    figure = clause.figure
    if figure is None:
        return -1, 0.0
    return [None, MET, UNDECIDED, NOT_MET].index(clause.outcome), figure.value - (figure.blind or 0.0)


# A share below is written as such.
LEAST_SHOWN = 1e-5
_SHOWN, _FIGURES = ("found", "blind", "low", "high"), ("value", "blind", "low", "high")


def out_of_100(share: float | None) -> str:
    """Write a share as people out of a hundred.

    >>> out_of_100(0.256), out_of_100(0.004), out_of_100(0.0), out_of_100(1e-8), out_of_100(None)
    ('25.6', '0.4', '0', '<0.001', '–')
    """
    if share is None:
        return "–"
    return "<0.001" if 0 < share < LEAST_SHOWN else f"{100 * share:.3g}"


def figure_of(attack: JsonView, name: str, score: JsonView, most_gain: float | None) -> Figure:
    """Return the figure of one score; its bound is what blind guessing finds and the most that an attack may gain."""
    low, high = score.get("interval") or (None, None)
    blind = chance_of(name, score)
    unit = "share of descriptions" if attack["attack"] == OF_DESCRIPTIONS else UNITS.get(name, PEOPLE)
    bound = None if most_gain is None or blind is None else blind + most_gain
    return Figure(float(score["value"]), unit, low, high, blind, bound)


def scores_that_decide(attack: JsonView) -> dict[str, JsonView]:
    """Return the scores of an attack that are shares of what was rightly found, where there was anything to find."""
    return {name: one for name, one in attack["scores"].items() if name in DECIDING and was_tried(one)}


def strongest_score(attack: JsonView) -> tuple[str, JsonView]:
    """Return the deciding score of an attack that finds most beyond blind guessing, with its name."""
    found = scores_that_decide(attack)
    name = max(found, key=lambda one: float(found[one]["value"]) - (chance_of(one, found[one]) or 0.0))
    return name, found[name]


def is_linking(attack: JsonView) -> bool:
    """Whether an attack looks for the record of a person; every attack on a history does."""
    return attack["attack"] in LINKING or not isinstance(attack["known"], list)


def is_inferring(attack: JsonView) -> bool:
    """Whether an attack learns a value of a person."""
    return attack["attack"] in INFERRING


def is_singling_out(attack: JsonView) -> bool:
    """Whether an attack looks for people whom labels single out."""
    return "singled-out" in attack["scores"] or attack["attack"] == OF_DESCRIPTIONS


def listed(columns: Sequence[str]) -> str:
    """List columns in a sentence."""
    return ", ".join(columns)


def describes_nobody(attack: JsonView) -> bool:
    """Whether an attack looked for descriptions of one alone, and the release let it expect none to be right."""
    return attack["attack"] == OF_DESCRIPTIONS and not scores_that_decide(attack)


def counted(
    number: str, title: str, asks: str, n: int, unit: str, said: str, values: JsonView, *, most: int | None = 0
) -> Clause:
    """Clause on a count, which must be at most what the text itself allows; of `most` None nothing is decided."""
    outcome = None if most is None else MET if n <= most else NOT_MET
    return Clause(number, title, asks, Verdict.MEASURED, said, values, Figure(n, unit, bound=most), outcome)


def not_measured(number: str, title: str, asks: str, why: str) -> Clause:
    """Clause of which nothing was measured, with the reason."""
    return Clause(number, title, asks, Verdict.NOT_MEASURED, why)


def clauses_of(frameworks: Sequence[JsonView]) -> Iterator[Json]:
    """Yield every clause of a dossier."""
    for one in frameworks:
        yield from one["clauses"]
