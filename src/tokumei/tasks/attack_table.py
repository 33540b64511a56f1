"""What a released table gives away to somebody who knows people."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import polars as pl

from tokumei.attacks.registry import (
    ALL,
    DISCLOSURE_ATTACKS,
    NOTHING_TO_FIND,
    ChecksThreatModel,
    DisclosureAttack,
    ReleaseAttack,
    attack_title,
    was_tried,
)
from tokumei.attacks.table_threats import TAKE_FOR_RIGHT, TableThreat, table_threat_of
from tokumei.attacks.threat_model import KnownMethod, Published, ThreatModel
from tokumei.core.errors import InputError, nearest
from tokumei.core.registry import part_name
from tokumei.core.result import Drawing, Facts, Result, Rows, Section, UserFrame, as_kind
from tokumei.core.score import Score
from tokumei.core.text import Json, JsonView, Text
from tokumei.data.files.formats import read_beside
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.frames import as_frame
from tokumei.data.release import Recipe
from tokumei.data.table import Table, check_column
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.inspection.repeated_people import repeated_people
from tokumei.methods.recipes import part_as_dict, requirement_of
from tokumei.methods.registry import TABLE_ANONYMIZERS, TableAnonymizer
from tokumei.tasks.attack_outcome import Outcome
from tokumei.tasks.goal import usual_suppression
from tokumei.tasks.preparing import given_hierarchies
from tokumei.tasks.row_numbers import check_pairing
from tokumei.tasks.table_release import TableRelease, hierarchies_of, numeric_of, published

if TYPE_CHECKING:
    from tokumei.attacks.public_knowledge import Deductions, PublicKnowledge

COUNTS = "a table of counts (the column rows, or another that counts=NAME names)"
# Who makes attacks that need the release alone.
ANYBODY = "anybody"
# What compares with people whom a recipe does not hold.
OF_POPULATIONS = ("k-map", "delta-presence", "journalist-risk", "marketer-risk")
OPTIONS = (
    *("attack", "known", "known_share", "numeric", "hierarchies", "rows", "in_order", "made_up", "earlier"),
    "earlier_rows",
    *("population", "control", "method", "k", "seed", "threat", *(one.name for one in fields(TableThreat))),
)
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


def attack_table(
    original: Table,
    release: object,
    attack: object = ALL,
    *,
    threat: str | TableThreat | None = None,
    known: Sequence[str] = (),
    known_share: float = 1.0,
    numeric: Sequence[str] | None = None,
    hierarchies: object = None,
    rows: object = None,
    in_order: bool = False,
    made_up: bool = False,
    optional: bool = False,
    earlier: Sequence[object] = (),
    earlier_rows: Sequence[object] = (),
    population: object = None,
    control: object = None,
    method: str | KnownMethod | TableAnonymizer | None = None,
    k: int | None = None,
    seed: int = 1,
    reading: Reading = AS_IT_IS,
    **options: object,
) -> TableAttack:
    """Attack a released table; see `tk.attack`.

    optional: attacks that cannot be tried are left out, with the reason, though they were named.
    """
    started = time.perf_counter()
    if made_up and (in_order or rows is not None):
        raise InputError.of("either whose each row is, or that no row is anybody's", option="made_up")
    changes = {one.name: options.pop(one.name) for one in fields(TableThreat) if one.name in options}
    who = None if threat is None and not changes else table_threat_of(threat or TableThreat(), **changes)
    parts = chosen_attacks(attack, options)
    optional = optional or attack == ALL
    if who is not None and optional:
        refused = who.lacks(has_population=population is not None)
        if refused is not None:
            raise InputError.of(refused, option="population")
    cannot = {name: why for name in parts if who is not None and (why := who.why_not(name)) is not None}
    if made_up:
        asking = [name for name, part in parts.items() if getattr(part, "asks_whose", True)]
        cannot |= dict.fromkeys(asking, Text("to know whose each row is"))
    threat_model = threat_model_of(
        original,
        release,
        threat=who,
        known=known,
        known_share=known_share,
        numeric=numeric,
        hierarchies=hierarchies,
        rows=rows,
        in_order=in_order,
        earlier=earlier,
        earlier_rows=earlier_rows,
        population=population,
        control=control,
        method=method,
        k=k,
        seed=seed,
        reading=reading,
        may_be_made_up=made_up or not any(getattr(part, "asks_whose", True) for part in parts.values()),
    )
    parts = {name: _with_link(part, threat_model) for name, part in parts.items()}
    left_out = {
        name: lack
        for name, part in parts.items()
        if (lack := cannot.get(name) or what_is_missing(threat_model, part)) is not None
    }
    if not optional and left_out:
        name, told = next(iter(left_out.items()))
        raise InputError.of(Text("{lack}, which {name} needs", lack=told, name=name))
    tried = try_each({name: part for name, part in parts.items() if name not in left_out}, threat_model, seed)
    facts = {
        "rows": original.n_rows,
        "released": threat_model.published.table.n_rows,
        "known": threat_model.known_columns,
        "looked_for": len(threat_model.targets),
        **_takes_for_right(threat_model, [one.attack for one in tried]),
        "seed": seed,
        "seconds": round(time.perf_counter() - started, 3),
    }
    return TableAttack(tried, left_out, facts, original.kind, who, threat_model.control is not None)


def _takes_for_right(threat_model: ThreatModel, attacks: Sequence[str]) -> dict[str, object]:
    """Name the attacks that a mistaken value misleads, so that they find less than could be found."""
    misled = [name for name in attacks if name in TAKE_FOR_RIGHT]
    return {"take_every_known_value_for_right": misled} if threat_model.codes_wrong and misled else {}


def threat_model_of(
    original: Table,
    release: object,
    *,
    threat: TableThreat | None = None,
    known: Sequence[str] = (),
    known_share: float = 1.0,
    numeric: Sequence[str] | None = None,
    hierarchies: object = None,
    rows: object = None,
    in_order: bool = False,
    earlier: Sequence[object] = (),
    earlier_rows: Sequence[object] = (),
    population: object = None,
    control: object = None,
    method: str | KnownMethod | TableAnonymizer | None = None,
    k: int | None = None,
    seed: int = 1,
    reading: Reading = AS_IT_IS,
    may_be_made_up: bool = False,
) -> ThreatModel:
    """Make the threat model of attacks by somebody who knows people; see `tk.attack`.

    threat: who attacks, if not somebody who knows everything; `known` and a `known_share` say what else they know.
    """
    who = TableThreat() if threat is None else threat
    wanted = [known] if isinstance(known, str) else list(known) or list(who.knows) or original.quasi_identifiers
    numbers = numeric_of(original, numeric)
    for column in [*wanted, *numbers]:
        check_column(column, original.frame.columns, "a known column", original.name)
    if earlier_rows and len(earlier_rows) != len(earlier):
        expected = f"one file for each of {len(earlier)} earlier releases"
        raise InputError.of(expected, option="earlier_rows", value=len(earlier_rows))
    each: Sequence[object] = earlier_rows or [None] * len(earlier)
    given = published(original, release, rows, in_order=in_order, reading=reading, may_be_made_up=may_be_made_up)
    scene = ThreatModel(
        original=original.with_written_moments(),
        published=_written(given),
        hierarchies=hierarchies_of(original, release, hierarchies, given.table.frame),
        known=wanted,
        numeric=numbers,
        known_share=who.share if known_share == 1 else known_share,
        numbers_off=who.numbers_off,
        codes_wrong=who.codes_wrong,
        aimed_at=who.aimed_at(original, wanted, seed),
        earlier=[
            _written(published(original, one, own, in_order=in_order, option="earlier_rows", reading=reading))
            for one, own in zip(earlier, each, strict=True)
        ],
        population=_frame(population, reading, wanted),
        control=_frame(control, reading, wanted),
        method=known_method(release, method, k),
    )
    # Whose rows are whose is checked by what is known, whatever the attacker knows of it.
    check_pairing(scene)
    return scene if threat is None else replace(scene, method=who.method_of(scene.method))


def try_each(parts: Mapping[str, DisclosureAttack], threat_model: ThreatModel, seed: int) -> list[Tried]:
    """Try attacks that have all they need; one that learns a column learns each of several in turn."""
    from tokumei.attacks.public_knowledge import PublicKnowledge

    tried = []
    for name, part in parts.items():
        if isinstance(part, ReleaseAttack):
            tried.append(_deduced(name, part, PublicKnowledge.of(threat_model), seed))
            continue
        for learned, one in _for_each_sensitive(part, threat_model.sensitive):
            tried.append(Tried(name, learned, dict(one.measure(threat_model, seed=seed))))
    return tried


def attack_release(
    release: Table,
    attack: object = ALL,
    *,
    numeric: Sequence[str] | None = None,
    hierarchies: object = None,
    method: str | KnownMethod | TableAnonymizer | None = None,
    k: int | None = None,
    seed: int = 1,
    **options: object,
) -> TableAttack:
    """Attack a release of which nothing else is there: by what its labels give away; see `tk.attack`."""
    started = time.perf_counter()
    parts = chosen_attacks(attack, options)
    left_out = {name: lack for name, part in parts.items() if (lack := what_release_lacks(release, part))}
    alone = {name: part for name, part in parts.items() if isinstance(part, ReleaseAttack) and name not in left_out}
    if attack != ALL and left_out:
        name, lack = next(iter(left_out.items()))
        raise InputError.of(Text("{lack}, which {name} needs", lack=lack, name=name), file=release.name)
    tried = deduce_each(alone, public_of(release, numeric, hierarchies, method, k), seed)
    facts = {"released": release.n_rows, "seed": seed, "seconds": round(time.perf_counter() - started, 3)}
    return TableAttack(tried, left_out, facts, release.kind)


def public_of(
    release: Table,
    numeric: Sequence[str] | None,
    hierarchies: object,
    method: str | KnownMethod | TableAnonymizer | None,
    k: int | None,
) -> PublicKnowledge:
    """Return what everybody knows of a release of which nothing else is there."""
    from tokumei.attacks.public_knowledge import PublicKnowledge

    chosen = release.hierarchies if hierarchies is None else hierarchies
    public = PublicKnowledge(
        release.with_written_moments(),
        given_hierarchies(chosen, release.quasi_identifiers),
        release.numeric if numeric is None else [numeric] if isinstance(numeric, str) else list(numeric),
        known_method(release, method, k),
    )
    for column in public.numeric or []:
        check_column(column, release.frame.columns, "numeric", release.name)
    return public


def deduce_each(parts: Mapping[str, ReleaseAttack], public: PublicKnowledge, seed: int) -> list[Tried]:
    """Try attacks that need nothing but the release."""
    return [_deduced(name, part, public, seed) for name, part in parts.items()]


def _deduced(name: str, part: ReleaseAttack, public: PublicKnowledge, seed: int) -> Tried:
    found = part.deduce(public, seed=seed)
    return Tried(name, None, dict(found.scores), found)


def known_method(release: object, method: str | KnownMethod | TableAnonymizer | None, k: int | None) -> KnownMethod:
    """Return what is public of how a release was made: what was told, or what a release here was made by.

    method: its name, if nobody said by which options; or the method itself, whose options are known then.
    """
    if isinstance(method, KnownMethod):
        return method if k is None else replace(method, k=k)
    name, options = (method, None) if isinstance(method, str) else ("", None)
    if method is not None and not isinstance(method, str):
        name, options = part_name(method), part_as_dict(method)["options"]
    # Who knows the method by its name alone knows what it does where nobody says more.
    usual = usual_suppression(TABLE_ANONYMIZERS.get(name)) if name else 0.0
    if not isinstance(release, TableRelease):
        return KnownMethod(name, options, k, suppression=usual)
    made = replace(method_of_recipe(release.recipe, release.hierarchies), ranged=list(release.number_columns))
    return replace(
        made,
        name=name or made.name,
        options=made.options if options is None else options,
        k=made.k if k is None else k,
    )


def method_of_recipe(recipe: Recipe, hierarchies: Mapping[str, Hierarchy] = MappingProxyType({})) -> KnownMethod:
    """Return what is no secret of how a release was made: the method, its options, and what was asked for."""
    made, asked = recipe.options, recipe.options.get("requirements", [])
    ks = [one["options"]["k"] for one in asked if one["name"] == "k-anonymity"]
    is_plain = all(one["name"] == "k-anonymity" for one in asked) and not made.get("weights")
    is_plain = is_plain and made.get("loss", "ncp") == "ncp"
    return KnownMethod(
        recipe.method if recipe.method in TABLE_ANONYMIZERS else "",
        made.get("options", {}),
        max(ks, default=None),
        ranged=made.get("numeric"),
        is_plain=is_plain,
        suppression=float(made.get("suppression", 0.0)),
        on_grid=made.get("hardened", {}).get("on_grid", ()),
        is_hardened=bool(made.get("hardened", {}).get("changes")),
        requirements=[requirement_of(one, hierarchies, None) for one in asked if one["name"] not in OF_POPULATIONS],
        loss=made.get("loss", "ncp"),
        weights=made.get("weights", {}),
        preference=made.get("preference", []),
    )


def chosen_attacks(attack: Any, options: Mapping[str, Any]) -> dict[str, DisclosureAttack]:
    """Make the attack or the attacks that are asked for, or all of them."""
    if isinstance(attack, str) and attack != ALL:
        return {attack: DISCLOSURE_ATTACKS.make(attack, **options)}
    for name in options:
        near = nearest(name, OPTIONS)
        raise InputError.of(f"'{near}'" if near else "the name of one attack, whose option it is", value=name)
    wanted = list(DISCLOSURE_ATTACKS) if attack == ALL else attack if isinstance(attack, (list, tuple)) else [attack]
    made = [DISCLOSURE_ATTACKS.make(one) if isinstance(one, str) else one for one in wanted]
    for one in made:
        if not isinstance(one, DisclosureAttack):
            raise InputError.of("an attack on tables by its name", option="attack", value=type(one).__name__)
    return {part_name(one): one for one in made}


def _with_link(part: DisclosureAttack, threat_model: ThreatModel) -> DisclosureAttack:
    """Name the released column that links the rows of a person to an attack that needs one, where one does."""
    if getattr(part, "column", None) != "":
        return part
    found = linking_column(threat_model.published.table.frame, threat_model.known_columns)
    return part if found is None else replace(part, column=found)  # type: ignore[type-var]


def linking_column(released: pl.DataFrame, known: Sequence[str]) -> str | None:
    """Return the released column whose values repeat as codes of people do; None where none does."""
    found = repeated_people(released)
    return None if found is None or found.column in known else found.column


def _for_each_sensitive(part: Any, columns: Sequence[str]) -> list[tuple[str | None, DisclosureAttack]]:
    """Repeat an attack that learns one column for each sensitive column, where none is named."""
    if len(columns) > 1 and getattr(part, "sensitive", None) == "":
        return [(column, replace(part, sensitive=column)) for column in columns]
    return [(None, part)]


def what_is_missing(threat_model: ThreatModel, part: DisclosureAttack) -> str | None:
    """Name what an attack needs and was not given."""
    has = {
        "sensitive": bool(threat_model.sensitive),
        "earlier": bool(threat_model.earlier),
        "population": threat_model.population is not None,
        "control": threat_model.control is not None,
        "counts": has_counts(threat_model.published.table.frame, part, threat_model.original.frame.columns),
    }
    words = {"sensitive": "a sensitive column that is not known"} if threat_model.original.sensitive else {}
    words |= {"counts": COUNTS}
    missing = [words.get(need, need) for need in part.needs if not has[need]]
    if missing:
        return " and ".join(missing)
    return part.lacks(threat_model) if isinstance(part, ChecksThreatModel) else None


def what_release_lacks(release: Table, part: DisclosureAttack) -> str | None:
    """Name what an attack needs beside a release of which nothing else is there."""
    if not isinstance(part, ReleaseAttack):
        return "the original"
    return None if has_counts(release.frame, part, [*release.quasi_identifiers, *release.sensitive]) else COUNTS


def has_counts(released: pl.DataFrame, part: DisclosureAttack, of_people: Sequence[str]) -> bool:
    """Whether a release has the counts that an attack needs, if it needs any; a column of people is none."""
    name = getattr(part, "counts", "")
    return "counts" not in part.needs or (name in released.columns and name not in of_people)


def _frame(data: object, reading: Reading, columns: Sequence[str]) -> pl.DataFrame | None:
    from pathlib import Path

    if data is None:
        return None
    frame = read_beside(data, reading, columns) if isinstance(data, (str, Path)) else as_frame(data)
    # Moments in known columns as those of the original are written.
    return Table(frame, qi=[name for name in columns if name in frame.columns]).with_written_moments().frame


def _written(release: Published) -> Published:
    return replace(release, table=release.table.with_written_moments())


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
