"""Every safety measure of a table as it stands, whether what is stated holds, and what a file gives away.

| attacker   | knows                                                     | finds                                    |
|------------|-----------------------------------------------------------|------------------------------------------|
| prosecutor | one person's quasi-identifiers, and that they are in it    | that person: 1 over the rows alike       |
| journalist | the same, but not whether the person is in the file        | at most as surely: others may be alike   |
| marketer   | everybody's quasi-identifiers, links as many as they can   | so many of all people: classes over rows |

They are those of El Emam and Dankar (2008), by whom the measures are named.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.result import Drawing, Facts, Result, Rows, Section, Sentence
from tokumei.core.score import Score
from tokumei.core.text import Json, JsonView, Text
from tokumei.data.files.formats import reading_beside
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.history import History
from tokumei.data.release import Recipe
from tokumei.data.table import Table, Unit, check_column
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.connect import connect
from tokumei.engines.count import count_beside, count_classes
from tokumei.engines.local import LocalRelation
from tokumei.inspection.repeated_people import several_rows
from tokumei.measures.audit import Audit, audit
from tokumei.measures.requirement import Requirement, in_words
from tokumei.measures.safety.suppressed_cells import SuppressedCells, suppressed_cells
from tokumei.methods.recipes import against_original
from tokumei.tasks.audit_releases import (
    Matching,
    check_together,
    compare_releases,
    describe_comparison,
    quasi_identifiers_of_each,
)
from tokumei.tasks.audit_sample import NO_SAMPLE, NOT_SAMPLED, RiskOfSample, Sampling, measure_sample
from tokumei.tasks.goal import requirements_of
from tokumei.tasks.preparing import given_hierarchies
from tokumei.tasks.request import Requirements
from tokumei.tasks.table_release import ColumnUniqueness, TableRelease, uniqueness_on

# Where nothing is asked for.
NOTHING = Requirements()
MISSING_COUNTS = "A missing sensitive value counts as a value of its own, as asked for."
NOT_MATCHED = Matching()
ONLY_COUNTED = (
    "All of this is counted. Whether people can be singled out, linked or inferred about was not measured: "
    "'tokumei attack table' tries it."
)
COUNTED_OR_ESTIMATED = (
    "All of this is counted, or estimated of the people who are not in the file. Whether people can be singled out, "
    "linked or inferred about was not measured: 'tokumei attack table' tries it."
)
MISSING_DOES_NOT = "A missing sensitive value does not count as a value."


@dataclass(frozen=True, eq=False, repr=False)
class TableAudit(Result):
    """What a table gives away as it stands: every measure, every column, and whether what was stated holds."""

    counts: ClassCounts
    measured: Audit
    requirements: Sequence[JsonView]
    columns: Sequence[ColumnUniqueness]
    roles: Mapping[str, str]
    missing_is_a_value: bool
    together: JsonView | None
    seconds: float
    frame_kind: str = "polars"
    unit: Unit | None = None
    # That people seem to have several rows, where nothing says whose each row is.
    several_rows: Text | None = None
    # What the rows say as a sample of more people, where something was given to measure it by.
    sample: RiskOfSample = NO_SAMPLE
    # Rows with suppressed cells, where there are any.
    suppressed: SuppressedCells | None = None
    # What the maker of the release asked for that is not checked here, in its words.
    not_checked: Sequence[str] = ()

    @property
    def k(self) -> int:
        """Fewest rows in a class, or people, where it is known whose each row is."""
        return self.counts.k

    @property
    def of_people(self) -> Json:
        """Who is counted, how many they are, and how much of a class may be one's; nothing where rows are counted."""
        if self.unit is None:
            return {}
        share = self.counts.largest_share_of_one
        return {"unit": self.unit.plural, "people": self.counts.n_people, "largest_share_of_one": share}

    @property
    def holds(self) -> bool:
        """Whether every stated requirement holds."""
        return all(one["holds"] for one in self.requirements)

    def to_dict(self) -> Json:
        """Return the result as `tokumei audit --json` prints it."""
        counts = self.counts
        listed = [{"role": self.roles.get(one.column, ""), **one.as_dict()} for one in self.columns]
        return {
            "rows": counts.n_rows,
            "classes": counts.n_classes,
            "k": counts.k,
            "unique": counts.n_unique,
            **self.of_people,
            "holds": self.holds,
            "requirements": list(self.requirements),
            "measures": self.measured.as_dict(),
            "columns": listed,
            "missing_is_a_value": self.missing_is_a_value,
            **({} if self.several_rows is None else {"several_rows": self.several_rows}),
            **({} if self.suppressed is None else {"suppressed_cells": self.suppressed.as_dict(counts.k)}),
            **({"not_checked": list(self.not_checked)} if self.not_checked else {}),
            **({} if self.together is None else {"against": dict(self.together)}),
            **self.sample.as_dict(),
            "seconds": self.seconds,
        }

    def sections(self) -> Sequence[Section]:
        """Return the classes, the measures, the columns, and what holds."""
        counts = self.counts
        facts = {"rows": counts.n_rows, "classes": counts.n_classes, "k": counts.k, "unique": counts.n_unique}
        facts |= self.of_people
        rows = [["", name, score.value, _direction(score)] for name, score in self.measured.classes.items()]
        for column, scores in self.measured.by_sensitive.items():
            rows += [[column, name, score.value, _direction(score)] for name, score in scores.items()]
        parts: list[Section] = [Facts(facts)]
        if self.several_rows is not None:
            parts.append(Sentence(self.several_rows))
        if self.suppressed is not None:
            parts.append(Sentence(self.suppressed.words(counts.k)))
        parts.append(Rows(["sensitive", "measure", "value", "better"], rows))
        if self.measured.by_sensitive:
            parts.append(Sentence(MISSING_COUNTS if self.missing_is_a_value else MISSING_DOES_NOT))
        if self.columns:
            listed = [
                [one.column, self.roles.get(one.column, ""), one.n_distinct, one.n_unique, one.n_missing]
                for one in self.columns
            ]
            alone = "row" if self.unit is None else str(self.unit.role)
            title = f"Columns by themselves: values that one {alone} alone has single it out"
            parts.append(Rows(["column", "role", "distinct", "unique", "missing"], listed, title))
        if self.together is not None:
            parts.append(Sentence(describe_comparison(self.together)))
        parts += self.sample.sections()
        parts.append(Sentence(ONLY_COUNTED if self.sample == NO_SAMPLE else COUNTED_OR_ESTIMATED))
        parts += [
            Sentence(f"{'holds' if one['holds'] else 'FAILS'}  {one['requirement']}") for one in self.requirements
        ]
        if self.not_checked:
            parts.append(Sentence(Text("Asked for, and not checked: {models}.", models="; ".join(self.not_checked))))
        return parts

    def figure(self) -> Drawing | None:
        """Draw how many rows are in classes of each size."""
        return class_size_figure(self.counts)


def audit_table(
    table: Table,
    asked: Requirements = NOTHING,
    *,
    against: object = (),
    rows: object = None,
    against_rows: object = (),
    in_order: bool = False,
    original: object = None,
    recipe: object = None,
    threshold: float = 0.2,
    hierarchies: object = None,
    population_size: int | None = None,
    weights: str | None = None,
    suda: int | None = None,
) -> TableAudit:
    """Measure a table in memory, and check what is asked of it."""
    if not table.quasi_identifiers:
        raise InputError.of("a quasi-identifier or more, as tk.Table(data, qi=['age'])", file=table.name)
    asked = asked.of_table(table)
    for column in asked.sensitive_columns():
        check_column(column, table.frame.columns, "a sensitive column", table.name)
    chosen = table.hierarchies if hierarchies is None else hierarchies
    return audit_source(
        table.frame,
        table.quasi_identifiers,
        table.sensitive,
        asked,
        name=table.name,
        against=_listed(against),
        matching=Matching(None, rows, _listed(against_rows), in_order),
        original=original.frame if isinstance(original, Table) else original,
        recipe=recipe,
        threshold=threshold,
        hierarchies=given_hierarchies(chosen, [*table.sensitive, *asked.sensitive_columns()], table.distinct),
        sampling=Sampling(population_size, weights, suda),
        frame_kind=table.kind,
    )


def audit_source(
    source: Any,
    attributes: Sequence[str],
    sensitive: Sequence[str],
    asked: Requirements,
    *,
    name: str,
    against: Sequence[Any] = (),
    matching: Matching = NOT_MATCHED,
    original: Any = None,
    recipe: Any = None,
    threshold: float = 0.2,
    hierarchies: Any = None,
    sampling: Sampling = NOT_SAMPLED,
    engine: str = "local",
    reading: Reading = AS_IT_IS,
    frame_kind: str = "polars",
) -> TableAudit:
    """Measure a frame, a file or a table of an engine."""
    started = time.perf_counter()
    columns = list(dict.fromkeys([*sensitive, *asked.sensitive_columns()]))
    unit = asked.unit
    person = None if unit is None else unit.column
    if against and matching.given() is None:
        matching = replace(matching, person=person)
    by_file = quasi_identifiers_of_each([source, *against], attributes, engine=engine, reading=reading)
    attributes = by_file[0]
    trees = given_hierarchies(hierarchies, columns)
    # The options may be meant for the original that the release is held against.
    is_beside = isinstance(source, (str, Path)) and engine == "local" and (original is not None or bool(against))
    own = reading_beside(source, reading, attributes) if is_beside else reading
    with connect(engine) as opened:
        relation = opened.open(source, own)
        present = list(relation.schema)
        for column in attributes:
            check_column(column, present, "a quasi-identifier", name)
        for column in columns:
            check_column(column, present, "a sensitive column", name)
        if unit is not None:
            check_column(unit.column, present, f"a {unit.role}", name)
        several: Text | None = None
        if unit is None and isinstance(relation, LocalRelation):
            several = several_rows(relation.rows)
        listed = uniqueness_on(relation, [column for column in present if column != person], person=person)
        if sampling.needs_rows and not isinstance(relation, LocalRelation):
            expected = "the engine local, which reads rows: sampling weights and special uniques need them"
            raise InputError.of(expected, option="--engine", value=engine)
        if sampling.weights is not None:
            check_column(sampling.weights, present, "sampling weights", name)
        wanted = [*attributes, *([] if sampling.weights is None else [sampling.weights]), *([person] if person else [])]
        frame = None
        if sampling.needs_rows and isinstance(relation, LocalRelation):
            frame = relation.rows.select(list(dict.fromkeys(wanted))).collect()
    counts = count_classes(source, attributes, sensitive=columns, person=person, engine=engine, reading=own)
    everybody = None if asked.population is None else count_beside(asked.population, attributes, reading=reading)
    missing = asked.missing_is_a_value
    measured = audit(counts, population=everybody, hierarchies=trees, threshold=threshold, is_missing_a_value=missing)
    beside: dict[str, Any] = {"reading": reading, "sensitive": columns, "person": person}
    whole = None if original is None else count_beside(original, attributes, **beside)
    stated = _stated(requirements_of(asked, trees, everybody), counts, whole) + _promised(recipe)
    together = compare_releases([source, *against], by_file, columns, matching, reading=reading)
    if together is not None and asked.k is not None:
        stated.append(check_together(together, asked.k))
    roles = dict.fromkeys(attributes, "quasi-identifier") | dict.fromkeys(columns, "sensitive")
    sample = measure_sample(frame, attributes, counts, sampling, unit=unit, threshold=threshold, name=name)
    seconds = round(time.perf_counter() - started, 4)
    hidden = suppressed_cells(counts) if unit is None else None
    return TableAudit(
        counts, measured, stated, listed, roles, missing, together, seconds, frame_kind, unit, several, sample, hidden
    )


def _listed(given: object) -> list[Any]:
    """Return the argument as a list, be it several or one."""
    return list(given) if isinstance(given, (list, tuple)) else [given]


def in_roles_of(original: Table, frame: pl.DataFrame, rows: pl.Series | None, name: str) -> Table:
    """Return released rows in the roles of their original, beside the column that tells whose they are, if one does.

    rows: the row of the original that each was, counted from 0.
    """
    unit = original.unit
    if unit is not None and rows is not None:
        frame = frame.with_columns(original.frame[unit.column].gather(rows))
    roles = {name: role for name, role in original.roles.items() if name in frame.columns}
    return Table(frame, roles=roles, name=name)


def released_table(release: TableRelease) -> Table:
    """Return a release as a table with the roles of its original."""
    original = release.original
    if original is None:
        raise InputError.of("a release that is in this process")
    table = in_roles_of(original, release.table, release.rows, "release")
    table.kind = release.frame_kind
    return table


def class_size_figure(counts: ClassCounts) -> Drawing | None:
    """Draw the share of rows in classes of each size, in powers of two."""
    from tokumei.reports.figures import bar_figure

    if not counts.n_rows:
        return None
    grouped = counts.rows_by_size()
    labels = [f"{low:,}" if low == high else f"{low:,} to {high:,}" for low, high, _ in grouped]
    points = pl.DataFrame({"class size": labels, "rows": [n for _, _, n in grouped]})
    return Drawing(bar_figure(points, x="rows", y="class size", x_title="rows in classes of that size"))


def _checked(requirement: Requirement, counts: ClassCounts) -> dict[str, object]:
    """Check a requirement in all classes, with the value achieved."""
    return {
        "requirement": in_words(requirement),
        "holds": bool(requirement.holds_in(counts).all()),
        "value": requirement.measure(counts).value,
    }


def _stated(
    requirements: Sequence[Requirement], counts: ClassCounts, whole: ClassCounts | None
) -> list[dict[str, object]]:
    """Check requirements; those that compare with all rows against the release and, if there is one, the original."""
    out = []
    for one in requirements:
        told = [one] if whole is None else against_original([one], whole, moves=True)
        if getattr(one, "reference", 0) is not None:
            out += [_checked(each, counts) for each in told]
            continue
        for each in told:
            whose = "the release" if getattr(each, "reference", None) is None else "the original"
            checked = _checked(each, counts)
            out.append(checked | {"requirement": f"{checked['requirement']} against {whose}", "against": whose})
    return out


def _promised(recipe: Any) -> list[dict[str, object]]:
    """Check whether what a recipe promises by its method can still be relied on."""
    if recipe is None:
        return []
    options = (recipe if isinstance(recipe, Recipe) else Recipe.load(recipe)).options
    if "spent" not in options:
        return []
    name = f"ε-differential privacy ({options.get('promise', 'spent')})"
    return [{"requirement": name, "holds": "promise" not in options, "value": options["spent"]}]


def _direction(score: Score) -> str:
    return "higher" if score.higher_is_better else "lower"


# Both compare every two customers in one way or another.
MOST_ROWS_OF_KNOWLEDGE = 300_000
UNICITY_POINTS = 6
ATTACKS, ON_SENSITIVE = ("record-linkage", "downcoding"), ("homogeneity",)


def threat_models(audited: TableAudit) -> list[dict[str, object]]:
    """Return each attacker's largest and mean chance, and the share of rows above the threshold of 20 %.

    A journalist's is known as far as the population is: at most the prosecutor's, and with its size an estimate of how
    many rows that are alone in the file are alone among all people too.
    """
    risks = {name: score.value for name, score in audited.measured.classes.items()}
    prosecutor = {
        "name": "prosecutor",
        "highest": risks["prosecutor-risk"],
        "mean": risks["prosecutor-risk-mean"],
        "above": risks["prosecutor-risk-share-above"],
    }
    journalist = {**prosecutor, "name": "journalist", "is_bound": True}
    found = audited.sample.uniques
    if found is not None:
        journalist |= {
            "population": found.population,
            "alone": found.alone,
            "share_alone": found.share_of_alone,
            "estimator": found.chosen,
        }
    return [prosecutor, journalist, {"name": "marketer", "mean": risks["marketer-risk"]}]


def attack_as_it_stands(table: Table) -> list[Json]:
    """Attack a table that was not changed at all, by somebody who knows all quasi-identifiers of everybody."""
    # An attack costs more to load than a table to audit.
    from tokumei.tasks.attack_table import ANYBODY, attack_table

    chosen = [*ATTACKS, *(ON_SENSITIVE if table.sensitive else ())]
    found = attack_table(table, table.frame, chosen, in_order=True, hierarchies=table.hierarchies)
    return found.as_records("marketer", alone=ANYBODY)


def history_facts(history: History) -> dict[str, int]:
    """Count what a history consists of."""
    months = history.periods
    return {
        "rows": history.n_rows,
        "customers": len(history.customers),
        "months": (months[-1] - months[0] + 1) if months else 0,
        "items": 0 if "item" in history.absent else history.frame["item"].n_unique(),
    }


def history_risk(history: History) -> JsonView:
    """Return how surely attackers who know a little find a customer, and how many purchases single one out."""
    facts = history_facts(history)
    nothing: dict[str, object] = {"attackers": [], "danger": [], "unicity": []}
    if history.n_rows > MOST_ROWS_OF_KNOWLEDGE or not history.n_rows:
        return {"facts": facts, **nothing}
    from tokumei.tasks.report_history import knowledge_history
    from tokumei.tasks.threat_history import unicity_history

    curves: Sequence[JsonView] = unicity_history(history, points=UNICITY_POINTS).to_dict()["curves"]
    if not facts["items"]:
        return {"facts": facts, **nothing, "unicity": curves}
    told = knowledge_history(history).to_dict()
    return {"facts": facts, "attackers": told["attackers"], "danger": told["danger"], "unicity": curves}
