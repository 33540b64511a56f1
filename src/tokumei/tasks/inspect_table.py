"""What a file holds and what each of its columns may be to an attacker: roles are suggested, never applied."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from tokumei.core.progress import step
from tokumei.core.result import Drawing, Facts, Result, Rows, Section, Sentence
from tokumei.core.text import Json, Text, counted
from tokumei.data.files.formats import scan_frame
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.frames import as_frame, kind_of
from tokumei.data.table import Table
from tokumei.inspection.column_facts import ColumnFacts, Separation, column_facts, separate
from tokumei.inspection.repeated_people import RepeatedPeople, repeated_people
from tokumei.inspection.roles import HierarchyChoice, Suggestion, suggest_hierarchy, suggest_role
from tokumei.reports.figures import bar_figure
from tokumei.reports.page import Page

ROLES = ("identifier", "quasi-identifier", "sensitive", "person", "household", "other")
MOST_NAMED = 4
SETS_LISTED = 12
SUGGESTED = (
    "These roles are suggestions, made from headers and values: nothing was changed, and nothing is taken for granted. "
    "Look at each reason; whoever knows the data decides."
)


@dataclass(frozen=True)
class InspectedColumn:
    """One column: what was counted, the role that is suggested, and how it might be generalized."""

    facts: ColumnFacts
    suggestion: Suggestion
    hierarchy: HierarchyChoice | None
    # Values that a single person has, where people have several rows.
    n_of_one_person: int | None = None

    @property
    def n_alone(self) -> int:
        """Number of values that are one row's, or one person's, alone."""
        return self.facts.n_unique if self.n_of_one_person is None else self.n_of_one_person

    def as_dict(self) -> Json:
        """Return the column for JSON."""
        facts, hierarchy = self.facts, self.hierarchy
        return {
            "role": self.suggestion.role,
            "reason": self.suggestion.reason,
            "kind": self.suggestion.kind,
            "type": facts.type,
            "unit": facts.unit,
            "distinct": facts.n_distinct,
            "unique": facts.n_unique,
            "missing": facts.n_missing,
            "hierarchy": hierarchy
            and {"builder": hierarchy.builder, "options": hierarchy.options, "reason": hierarchy.reason},
        }


@dataclass(frozen=True, eq=False, repr=False)
class Inspection(Result):
    """What a file holds: its columns with suggested roles, and the sets of columns that single people out."""

    name: str
    n_rows: int
    columns: Mapping[str, InspectedColumn]
    separation: Separation
    repeated: RepeatedPeople | None
    seconds: float
    frame_kind: str = "polars"

    @property
    def roles(self) -> dict[str, str]:
        """The suggested role of each column."""
        return {name: one.suggestion.role for name, one in self.columns.items()}

    def columns_with(self, role: str) -> list[str]:
        """Return the columns for which a role is suggested."""
        return [name for name, found in self.roles.items() if found == role]

    def to_dict(self) -> Json:
        """Return the result as `tokumei inspect --json` prints it."""
        found = self.separation
        return {
            "file": self.name,
            "rows": self.n_rows,
            "columns": {name: one.as_dict() for name, one in self.columns.items()},
            "sets": [
                {
                    "columns": list(one.columns),
                    "distinction": one.distinction,
                    "separation": one.separation,
                    "unique": one.n_unique,
                }
                for one in found.sets
            ],
            "minimal_uniques": {
                "columns": list(found.columns),
                "left_out": list(found.left_out),
                "largest_set": found.largest_set,
                "rows_looked_at": found.n_rows,
                "is_sample": found.is_sample,
                "by_size": {str(size): n for size, n in found.n_minimal.items()},
                "rows": found.n_rows_unique,
                "by_column": found.by_column,
                "riskiest": [{"row": row + 1, "score": score} for row, score in found.riskiest],
            },
            "several_rows": self.several_rows_in_words(),
            "seconds": self.seconds,
        }

    def sections(self) -> Sequence[Section]:
        """Return the columns with their roles, the sharpest sets, and what was drawn at random."""
        counts = {role: len(self.columns_with(role)) for role in ROLES}
        listed = [
            [
                name,
                one.suggestion.role,
                one.facts.type,
                one.facts.unit,
                one.facts.n_distinct,
                one.facts.n_missing,
                one.suggestion.reason,
            ]
            for name, one in self.columns.items()
        ]
        head = ["column", "role", "type", "unit", "distinct", "missing", "reason"]
        if not any(one.facts.unit for one in self.columns.values()):
            unit = head.index("unit")
            head, listed = [name for name in head if name != "unit"], [row[:unit] + row[unit + 1 :] for row in listed]
        parts: list[Section] = [
            Facts({"file": self.name, "rows": self.n_rows, "columns": len(self.columns), **counts}),
            Rows(head, listed, "Columns with the roles that are suggested"),
        ]
        found = self.separation
        if found.sets:
            rows = [[", ".join(s.columns), s.distinction, s.separation, s.n_unique] for s in found.sets[:SETS_LISTED]]
            title = "Sets of quasi-identifiers, the sharpest first: shares of combinations and of pairs told apart"
            parts.append(Rows(["columns", "distinction", "separation", "rows alone"], rows, title))
            parts.append(Sentence(self.uniques_in_words()))
        several = self.several_rows_in_words()
        return [*parts, *([Sentence(several)] if several else []), Sentence(SUGGESTED)]

    def several_rows_in_words(self) -> Text | None:
        """Note that people seem to have several rows, where codes of people repeat; None where they do not.

        Classes count rows: five purchases of one person are no five people.
        """
        return None if self.repeated is None else self.repeated.words

    def uniques_in_words(self) -> str:
        """Describe how many rows the smallest sets of columns single out."""
        found = self.separation
        counts = ", ".join(f"{n:,} of {size}" for size, n in found.n_minimal.items())
        of = f"{found.n_rows:,} rows drawn at random" if found.is_sample else f"{found.n_rows:,} rows"
        said = (
            f"{found.n_rows_unique:,} of {of} are alone by {counted(found.largest_set, 'quasi-identifier')} or fewer. "
            f"Minimal sample uniques by the number of their columns: {counts}."
        )
        if found.left_out:
            said += f" Not combined, since there are many: {', '.join(found.left_out)}."
        return said

    def figure(self) -> Drawing | None:
        """Draw the share of rows that each column has different values for."""
        if not self.n_rows or not self.columns:
            return None
        shares = [one.facts.n_distinct / self.n_rows for one in self.columns.values()]
        points = pl.DataFrame({"column": [f"{name} ({role})" for name, role in self.roles.items()], "distinct": shares})
        return Drawing(bar_figure(points, x="distinct", y="column", x_title="different values for each row"))

    def page(self) -> Page:
        """Return one page with the roles, the figure and the sets."""
        page = Page(f"What {Path(self.name).name} holds")
        page.paragraph(SUGGESTED)
        for section in self.sections()[:-1]:
            if isinstance(section, Sentence):
                page.paragraph(section.text)
            elif isinstance(section, Rows):
                rows = [["–" if value is None else value for value in row] for row in section.rows]
                page.table(list(section.columns), rows, section.title or "")
        figure = self.figure()
        if figure is not None:
            page.figure(figure.svg, "Different values for each row: at 1, every row has its own.")
        suggested = [
            [name, one.hierarchy.builder or "flat", one.hierarchy.reason]
            for name, one in self.columns.items()
            if one.hierarchy is not None
        ]
        if suggested:
            page.table(["column", "hierarchy", "reason"], suggested, "How the quasi-identifiers might be generalized.")
        return page

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(self.columns_with(role))} {role}" for role in ROLES)
        return f"Inspection({counted(self.n_rows, 'row')}, {counted(len(self.columns), 'column')}: {counts})"


def inspect(data: object, *, seed: int = 0, reading: Reading | None = None, **options: object) -> Inspection:
    """Suggest what each column of a table is to an attacker, with reasons, and find the sets that single people out.

    data: a frame, a `tk.Table`, or the name of a file (CSV, Parquet, Excel, JSON, Stata, …).
    seed: draws the rows whose combinations are looked at, where there are many.
    options: how a file is read: `encoding`, `delimiter`, `sheet`, `skip_rows`, `null_values`, `has_header`, `trim`,
        `rename`, `codes`.

    >>> import tokumei as tk
    >>> people = {"mail": ["a@x.org", "b@x.org"], "sex": ["f", "m"], "illness": ["flu", "cold"]}
    >>> tk.inspect(people).roles
    {'mail': 'identifier', 'sex': 'quasi-identifier', 'illness': 'sensitive'}
    """
    started = time.perf_counter()
    read = (Reading.of(options) if options else AS_IT_IS) if reading is None else reading
    name = data.name if isinstance(data, Table) else str(data) if isinstance(data, (str, Path)) else "table"
    if isinstance(data, Table):
        frame = data.frame
    else:
        frame = scan_frame(data, read).collect() if isinstance(data, (str, Path)) else as_frame(data)
    columns, repeated = inspect_columns(frame)
    known = [one for one, found in columns.items() if found.suggestion.role == "quasi-identifier"]
    separation = separate(frame, known, seed=seed)
    seconds = round(time.perf_counter() - started, 4)
    return Inspection(name, frame.height, columns, separation, repeated, seconds, kind_of(data))


def _of_people(column: InspectedColumn, repeated: RepeatedPeople) -> InspectedColumn:
    """Suggest that a column tells whose a row is."""
    reason = Text("{n:,} different values in {m:,} rows", n=repeated.n_values, m=repeated.n_rows)
    if repeated.traits:
        names = ", ".join(repeated.traits[:MOST_NAMED])
        reason = Text("{reason}, which do not differ in {names}", reason=reason, names=names)
    return replace(column, suggestion=Suggestion(repeated.role, column.suggestion.kind, reason), hierarchy=None)


def inspect_columns(frame: pl.DataFrame) -> tuple[dict[str, InspectedColumn], RepeatedPeople | None]:
    """Look at the columns one by one, and for one that tells whose a row is: the quick half of `inspect`."""
    columns: dict[str, InspectedColumn] = {}
    with step("looking at columns", frame.width) as bar:
        for column in frame.get_columns():
            facts = column_facts(column)
            role = suggest_role(facts)
            columns[column.name] = InspectedColumn(facts, role, suggest_hierarchy(facts, role))
            bar.advance()
    repeated = repeated_people(frame, {name: one.suggestion.kind for name, one in columns.items()})
    if repeated is not None:
        columns[repeated.column] = _of_people(columns[repeated.column], repeated)
        for name, one in columns.items():
            if one.suggestion.role == "sensitive":
                each = frame.select(repeated.column, name).unique()[name].drop_nulls()
                columns[name] = replace(one, n_of_one_person=int(each.is_unique().sum()))
    return columns, repeated
