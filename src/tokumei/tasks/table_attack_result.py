"""What attacks on a released table found, as people, programs and pages read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from tokumei.attacks.registry import NOTHING_TO_FIND, attack_title, was_tried
from tokumei.attacks.table_threats import TableThreat
from tokumei.core.result import Drawing, Facts, Result, Rows, Section, UserFrame, as_kind
from tokumei.core.score import Score
from tokumei.core.text import Json, JsonView
from tokumei.tasks.attack_outcome import Outcome

if TYPE_CHECKING:
    from tokumei.attacks.public_knowledge import Deductions

FITTING = {
    ("distance-linkage", "success"): "People whose record is drawn among those most like them.",
    ("distance-linkage", "claimed"): "People of whom one record is likelier than all others, and it is theirs.",
    ("distance-linkage", "one-to-one"): "People found if each record can be one person's only.",
    ("inference", "success"): "People whose value is guessed by the better way, which a third of them chose.",
    ("inference", "neighbours"): "People whose value is guessed by the records most like them.",
    ("inference", "model"): "People whose value is guessed by all records, as far as each is like them.",
    ("inference", "anonymity-loss"): "Precision at its best threshold above that of claims about people outside.",
    ("linkability", "success"): "People two parts of whom lead to one record.",
    ("linkability", "linked-rightly"): "People two parts of whom lead to their own record.",
    ("membership", "success"): "People told to be in, at one false alarm in a hundred outside.",
    ("membership", "at-0.1%"): "People told to be in, at one false alarm in a thousand.",
    ("membership", "auc"): "How often somebody in the release comes before somebody outside.",
    ("singling-out", "success"): "Descriptions by two columns or more that fit one row.",
    ("singling-out", "one-column"): "Descriptions by one column that fit one row.",
    ("record-linkage", "certain"): "People whom exactly one record fits, and it is theirs.",
    ("record-linkage", "success"): "People whose record is drawn among those that fit.",
    ("homogeneity", "certain"): "People of whom all fitting records tell the same value, and it is theirs.",
    ("homogeneity", "success"): "People whose value is the most frequent one of the fitting records.",
    ("background-knowledge", "certain"): "People of whom their own value alone is left when others are ruled out.",
    ("background-knowledge", "success"): "People whose value is the most frequent one that is left.",
    ("linked-rows", "certain"): "People of whom one value of the linking column fits all known rows, and it is theirs.",
    ("linked-rows", "success"): "People whose value of the linking column is drawn among those that fit.",
    ("population-linkage", "certain"): "People whose record exactly one person of the population fits: themselves.",
    ("population-linkage", "success"): "People named by a draw among those of the population who fit their record.",
    ("presence", "success"): "People of the population of whom it is told rightly whether they are in the release.",
    ("presence", "certain"): "Released people who must be in the release.",
    ("downcoding", "singled-out"): "Ends of ranges that fit one row of all; blindly: any value of the range.",
    ("downcoding", "singled-out-estimate"): "The same as far as the release tells, if values lay evenly in ranges.",
    ("downcoding", "cells-certain"): "Generalized cells known exactly, up to the order of rows that say the same.",
    ("downcoding", "narrowed"): "Rows of whose class something is claimed.",
    (
        "minimality",
        "above-bound",
    ): "People whose own value is likelier than the promise allows; blindly: by shares alone.",
    ("minimality", "broken"): "People of whom what is believed breaks the promise, which every class keeps.",
    ("minimality", "certain"): "People whose value is the only one that is possible, and it is theirs.",
    (
        "reconstruction",
        "certain",
    ): "People proven to be in a group of fewer than k, in every table that fits.",
    ("reconstruction", "values-certain"): "People in a group all of whom are proven to have one value.",
    ("reconstruction", "success"): "People whose whole row is in a table that fits; blindly: drawn column by column.",
    ("reconstruction", "claimed"): "Rows that nine fits in ten have, and somebody is; blindly: the likeliest rows.",
    ("refine", "cells-certain"): "Generalized cells known exactly, up to the order of rows that say the same.",
    ("refine", "narrowed"): "Rows of whose class it is proven how many rows at least or at most have some values.",
    ("intersection", "certain"): "People with one record left when all releases are held together, and it is theirs.",
    ("intersection", "success"): "People whose record is drawn among those left.",
    ("intersection", "linked-certain"): "The same if records of one person can be linked across releases.",
    ("intersection", "linked-success"): "The same if records of one person can be linked across releases.",
}


@dataclass(frozen=True)
class Tried:
    """One attack that was tried, its scores, and the column it learned where that is one of several.

    deduced: the claims of an attack that needs the release alone, and what it assumed.
    """

    attack: str
    sensitive: str | None
    scores: Mapping[str, Score]
    deduced: Deductions | None = None

    @property
    def title(self) -> str:
        """The attack in words."""
        return attack_title(self.attack, self.sensitive)


@dataclass(frozen=True, eq=False, repr=False)
class TableAttack(Result):
    """The attacks that were tried, and what was left out and why."""

    tried: Sequence[Tried]
    left_out: Mapping[str, str]
    facts: JsonView
    frame_kind: str = "polars"
    threat: TableThreat | None = None
    has_control: bool = False

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """The same figures of each attack by its title, and why one is not there."""
        return {one.title: Outcome.of(one.attack, one.scores, has_control=self.has_control) for one in self.tried}

    @property
    def riskiest(self) -> UserFrame:
        """The rows of the original that each attack finds most surely, the surest first; rows count from 0."""
        found = [
            (title, at, row)
            for title, one in self.outcomes.items()
            for at, row in enumerate(one.riskiest or (), start=1)
        ]
        schema = {"attack": pl.String, "place": pl.Int64, "row": pl.Int64}
        return as_kind(pl.DataFrame(found, schema=schema, orient="row"), self.frame_kind)

    @property
    def scores(self) -> dict[str, Mapping[str, Score]]:
        """The scores of each attack by its title."""
        return {one.title: one.scores for one in self.tried}

    def as_records(self, threat: str, *, alone: str | None = None) -> list[Json]:
        """List each attack as a dossier has it: who attacks, what they know of people, what they learn, the scores.

        alone: who makes the attacks that need the release alone, and so know nothing of anybody; else `threat`.
        """
        return [
            {
                "threat": threat if one.deduced is None or alone is None else alone,
                "known": [] if one.deduced is not None else self.facts["known"],
                "attack": one.attack,
                "sensitive": one.sensitive,
                "scores": {key: score.as_dict() for key, score in one.scores.items()},
                "outcome": self.outcomes[one.title].as_dict(),
            }
            for one in self.tried
        ]

    def to_dict(self) -> Json:
        """Return the result as `tokumei attack table --json` prints it."""
        found = {name: {key: score.as_dict() for key, score in each.items()} for name, each in self.scores.items()}
        deduced = {one.title: dict(one.deduced.facts) for one in self.tried if one.deduced is not None}
        more = {"deduced": deduced} if deduced else {}
        outcomes = {name: one.as_dict() for name, one in self.outcomes.items()}
        who = {} if self.threat is None else {"threat": self.threat.as_dict()}
        return {**who, "outcomes": outcomes, "attacks": found, **more, "left_out": dict(self.left_out), **self.facts}

    @property
    def claims(self) -> UserFrame:
        """What the attacks that need the release alone claim, a row a claim; None where none was tried.

        `row` is the first row of the class in the release, counted from 0.
        """
        found = self.claims_table
        return None if found is None else as_kind(found.with_columns(pl.col("row") - 1), self.frame_kind)

    @property
    def claims_table(self) -> pl.DataFrame | None:
        """The claims as a Polars frame as it is written to files, where rows count from 1."""
        return self._of_each("claims")

    @property
    def candidates(self) -> UserFrame:
        """Rows of people that an attack takes for likely, the surest first; None where none was tried that guesses any.

        `confidence` is the share of fitting tables that have such a row, `mean_rows` how many they have on average,
        `is_true` whether somebody is so, where the original is there.
        """
        found = self.candidates_table
        return None if found is None else as_kind(found, self.frame_kind)

    @property
    def candidates_table(self) -> pl.DataFrame | None:
        """The candidates as a Polars frame."""
        found = [one.deduced.candidates for one in self.tried if one.deduced is not None]
        return next((one for one in found if one is not None), None)

    @property
    def is_refused(self) -> bool:
        """Whether counts prove a group of fewer people than the k that was asked for."""
        deduced = [one.deduced.facts for one in self.tried if one.deduced is not None]
        return any(one.get("proven_under_k") and one.get("k_is_told") for one in deduced)

    @property
    def narrowed(self) -> UserFrame:
        """For each released row the bits that its labels leave open, and those that the claims remove."""
        found = self._of_each("rows")
        return None if found is None else as_kind(found, self.frame_kind)

    def _of_each(self, part: str) -> pl.DataFrame | None:
        found = [
            getattr(one.deduced, part).select(pl.lit(one.title).alias("attack"), pl.all())
            for one in self.tried
            if one.deduced is not None and getattr(one.deduced, part).width
        ]
        return pl.concat(found) if found else None

    def sections(self) -> Sequence[Section]:
        """Return the scores of each attack with what they say, and the facts."""
        parts: list[Section] = []
        for one in self.tried:
            with_risk = any(score.risk is not None for score in one.scores.values())
            rows = [
                [
                    f"{key}: {said}" if (said := FITTING.get((one.attack, key))) else key,
                    *numbers_of(score.as_dict()),
                    *([score.risk] if with_risk else []),
                ]
                for key, score in one.scores.items()
            ]
            header = [one.title, "found", "95 % interval", "blindly", "control", *(["risk"] if with_risk else [])]
            parts.append(Rows(header, rows))
            if one.deduced is not None:
                parts += _told_of(one.deduced)
        rows = [
            [title, one.certain, one.highest, ", ".join(f"{row + 1:,}" for row in one.riskiest or ()) or None]
            for title, one in self.outcomes.items()
            if one.certain is not None or one.riskiest is not None
        ]
        if rows:
            parts.append(Rows(["attack", "certain", "highest chance", "riskiest rows of the original"], rows))
        out = {f"{name} left out": f"needs {lack}" for name, lack in self.left_out.items()}
        who = {} if self.threat is None else {"who": self.threat.who}
        return [*parts, Facts({**who, **self.facts, **out})]

    def to_frame(self) -> UserFrame:
        """Return all scores as one frame."""
        from tokumei.core.result import frame_of

        rows = [
            [name, key, score.value, *(score.interval or (None, None)), score.baseline, score.control]
            for name, each in self.scores.items()
            for key, score in each.items()
        ]
        return frame_of(["attack", "success", "found", "low", "high", "blindly", "control"], rows, self.frame_kind)

    def __repr__(self) -> str:
        best = [f"{name} {key} {one.value:.4g}" for name, each in self.scores.items() for key, one in each.items()]
        return f"TableAttack({', '.join(best)})"

    def figure(self) -> Drawing | None:
        """Draw the share of people found by each attack."""
        from tokumei.reports.figures import bar_figure

        named = [(f"{name}, {key}", one.value) for name, each in self.scores.items() for key, one in each.items()]
        # What any value of a range finds shows how much its end gives away.
        named += [
            (f"{one.title}, any value", score.baseline)
            for one in self.tried
            if one.deduced is not None
            for score in one.scores.values()
            if score.baseline is not None
        ]
        if not named:
            return None
        points = pl.DataFrame({"attack": [name for name, _ in named], "found": [value for _, value in named]})
        return Drawing(bar_figure(points, x="found", y="attack", x_title="share found"))


def _told_of(deduced: Deductions) -> list[Section]:
    """Show what is known of each column, how many claims of each kind there are, and what they assume."""
    by_column = deduced.scores["cells-certain"].inputs["by_column"] if "cells-certain" in deduced.scores else {}
    ends: JsonView = next(
        (one.inputs["by_column"] for key, one in deduced.scores.items() if key.startswith("singled-out")), {}
    )
    columns = [
        [name, share, ends.get(name, {}).get("end"), ends.get(name, {}).get("any")] for name, share in by_column.items()
    ]
    by_kind, assumed = deduced.facts.get("claims_by_kind", {}), deduced.facts.get("assumed", {})
    kinds = [[kind, one["claims"], one["true"], _example(one["example"])] for kind, one in by_kind.items()]
    said = {name: value for name, value in assumed.items() if name != "ranges" and value is not None}
    said |= {f"ranges of {name}": f"{one['are']} ({one['since']})" for name, one in assumed.get("ranges", {}).items()}
    tables = (
        Rows(["column", "cells known exactly", "an end singles out", "any value does"], columns),
        Rows(["claims by", "claims", "true", "for example"], kinds),
    )
    facts = {f"assumed: {name}": value for name, value in said.items()}
    if reason := deduced.facts.get("nothing_claimed_since"):
        facts["nothing claimed, since"] = reason
    programs: Mapping[str, int] = deduced.facts.get("programs", {})
    if "proven_under_k" in deduced.facts:
        told = deduced.facts
        facts |= {"tables that fit": told["fits"], "groups looked at": told["groups"]}
        facts |= {"proven to be under k": told["proven_under_k"], "neither proven nor ruled out": programs["open"]}
    left_out = {"out_of_time": "left out for lack of time", "too_large": "too large for a program"}
    facts |= {f"classes {why}": programs[name] for name, why in left_out.items() if programs.get(name)}
    return [*(one for one in tables if one.rows), Facts(facts)]


def _example(found: JsonView) -> str:
    where = [f"row {found['row']:,}" if found["row"] else None, found["column"], found["label"]]
    return f"{', '.join(one for one in where if one)}: {found['claim']}"


def numbers_of(score: JsonView) -> list[Any]:
    """Return the share found, its interval, and what blind guessing and the control group score.

    Where there was nothing to find, that is said in place of a share and an interval that speak of nothing.
    """
    if not was_tried(score):
        return [NOTHING_TO_FIND, None, None, None]
    interval = score.get("interval")
    told = "–" if interval is None else f"{interval[0]:.3g} – {interval[1]:.3g}"
    return [score["value"], told, score.get("baseline"), score.get("control")]
