"""What anonymizing a table gives, and the original and its release as attacks and measures see them.

A release may carry further columns unchanged, unless they single people out by themselves: then they are refused
unless they are asked for anyway. The result holds the release, what it promises, what it lost, and what is needed to
judge it. With its original it becomes a pair: the same roles, and whose each row is.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.attacks.registry import attack_title
from tokumei.attacks.threat_model import Published
from tokumei.core.errors import FaultList, InputError
from tokumei.core.result import Drawing, Facts, Result, Rows, Section, Sentence, UserFrame
from tokumei.core.score import Score, most_within
from tokumei.core.text import Json, JsonView, Text, counted, to_json
from tokumei.data.files.formats import check_can_be_written, read_beside, write_file_or_folder
from tokumei.data.files.outputs import guarded
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.files.strict import write_rows
from tokumei.data.frames import as_frame, as_original
from tokumei.data.history import History
from tokumei.data.release import Recipe, Release
from tokumei.data.table import Table, Unit
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import count_relation
from tokumei.engines.engine import Relation
from tokumei.engines.local import LocalRelation
from tokumei.hierarchies.hierarchy import SUPPRESSED, Hierarchy
from tokumei.hierarchies.parsed_labels import parse_label
from tokumei.hierarchies.written_dates import read_days
from tokumei.inspection.leading_columns import examples_of, leading_column, unchanged_values
from tokumei.methods.local.encoding import flat_hierarchy
from tokumei.methods.registry import TABLE_ANONYMIZERS
from tokumei.tasks.preparing import given_hierarchies, is_of_dates, is_of_numbers, made_hierarchy, told_of_made
from tokumei.tasks.row_numbers import row_numbers

SINGLED = "of its values are one customer's alone"
ROWS_ALONE = "rows are singled out by it"
ONE_PERSONS = "of its values are one person's alone"
# A name that no column of a file has.
CUSTOMER = "customer \0"
# A column may single out a few rows by chance; more are an identifier in all but name.
FEW_ROWS = 5
# What is longer than this, and not one of a few phrases, was written about one person.
LONG_TEXT, MANY_WORDS, FEW_PHRASES = 60, 6, 20
# Where at least so many of the values are somebody's own, they are codes.
MOST_OWN = 0.5
# How R writes a missing value.
WRITTEN_MISSING = "NA"
# A code of which every character is masked.
ALL_MASKED = r"^\*{2,}$"


# Why a column is not released as it is; a page that knows these forms offers what mends them.
SINGLES = "no identifier among the columns to {option} ({why}); --{option}-anyway releases it all the same"
RARE = (
    "no measurement with rare values among the columns to {option} ({why}: round it or cut off its ends); "
    "--{option}-anyway releases it all the same"
)
NAMED = "no identifier among the quasi-identifiers ({why}); --{option}-anyway releases it all the same"
STOPS = (SINGLES, RARE, NAMED)


@dataclass(frozen=True)
class ColumnUniqueness:
    """How far one column tells rows apart."""

    column: str
    n_distinct: int
    n_unique: int
    n_missing: int
    is_free_text: bool
    # The fewest rows, or people, of a value.
    n_least: int = 0
    is_number: bool = False
    # What its values look like, where they lead to people in however many rows they stand; and some values to show.
    leads: Text | None = None
    examples: tuple[str, ...] = ()

    @property
    def is_measurement(self) -> bool:
        """Whether it is numbers of which some are rare, and not codes of which nearly all are somebody's own."""
        return self.is_number and self.n_unique < MOST_OWN * self.n_distinct

    def danger(self, what: str) -> Text | None:
        """Return why the column is not to be released as it is; None where it may be.

        what: what is said of values that are somebody's alone.
        """
        if self.n_unique > FEW_ROWS:
            return Text("{n:,} {what}", n=self.n_unique, what=Text(what))
        form = "it is free text, which may name people; its rarest value has {n:,}"
        return Text(form, n=self.n_least) if self.is_free_text else self.leads

    def as_dict(self) -> Json:
        """Return the uniqueness for JSON: unique values are those of one row alone."""
        return {
            "column": self.column,
            "distinct": self.n_distinct,
            "unique": self.n_unique,
            "missing": self.n_missing,
            "is_free_text": self.is_free_text,
        }


def uniqueness(rows: pl.LazyFrame, columns: Sequence[str]) -> list[ColumnUniqueness]:
    """Count the distinct and the unique values of columns, missing ones apart."""
    schema = rows.collect_schema()
    found = []
    for column in columns:
        dtype = schema[column]
        value = pl.col(column).cast(pl.String) if isinstance(dtype, (pl.Categorical, pl.Enum)) else pl.col(column)
        if not dtype.is_nested():
            counted = rows.select(value.alias("value")).group_by("value").agg(pl.len().alias("n"))
            found.append(replace(_uniqueness(column, counted), is_number=dtype.is_numeric()))
    return found


def uniqueness_of(counts: ClassCounts, columns: Sequence[str]) -> list[ColumnUniqueness]:
    """Return the uniqueness of columns from counts that have them."""
    found = []
    for column in columns:
        own = counts.over([column])
        counted = pl.LazyFrame({"value": own.values()[column], "n": own.sizes})
        found.append(replace(_uniqueness(column, counted), is_number=own.domain(column).dtype.is_numeric()))
    return found


def _uniqueness(column: str, counted: pl.LazyFrame) -> ColumnUniqueness:
    """Return a column's uniqueness from its distinct values and the rows of each."""
    value = pl.col("value")
    long = pl.lit(0)
    if counted.collect_schema()["value"] == pl.String:
        long = ((value.str.len_chars() > LONG_TEXT) | (value.str.count_matches(r"\S+") >= MANY_WORDS)).sum()
    there = value.is_not_null()
    told = counted.select(
        n_missing=pl.col("n").filter(~there).sum(),
        n_distinct=there.sum(),
        n_unique=(there & (pl.col("n") == 1)).sum(),
        n_least=pl.col("n").filter(there).min(),
        n_long=long,
    )
    row = told.collect(engine="streaming").row(0, named=True)
    is_text = bool(row.pop("n_long")) and row["n_distinct"] > FEW_PHRASES
    counts: Json = {name: int(n or 0) for name, n in row.items()}
    return ColumnUniqueness(column, is_free_text=is_text, **counts)


def uniqueness_on(relation: Relation, columns: Sequence[str], *, person: str | None = None) -> list[ColumnUniqueness]:
    """Count the same where the rows are: here, or on their engine, in a pass for each column.

    person: the column that tells whose a row is, where a value of a single person is unique in however many rows.
    """
    if person is not None:
        of_rows = uniqueness_on(relation, columns)
        return [replace(one, n_unique=_n_of_one_person(relation, one.column, person)) for one in of_rows]
    if isinstance(relation, LocalRelation):
        return uniqueness(relation.rows, columns)
    found = []
    for column in columns:
        if not relation.schema[column].is_nested():
            n = relation.count_values(column, longest=LONG_TEXT, many_words=MANY_WORDS)  # type: ignore[attr-defined]
            is_text = bool(n.pop("n_long")) and n["n_distinct"] > FEW_PHRASES
            is_number = relation.schema[column].is_numeric()
            found.append(ColumnUniqueness(column, is_free_text=is_text, is_number=is_number, **n))
    return found


def _n_of_one_person(relation: Relation, column: str, person: str) -> int:
    """Count the values of a column that a single person has."""
    counts = count_relation(relation, [column], person=person)
    return int(((counts.people == 1) & counts.values()[column].is_not_null().to_numpy()).sum())


def check_carried(history: History) -> None:
    """Refuse to carry columns of a history by which customers are singled out, or that are free text."""
    if history.carried is None:
        return
    by_customer = history.carried.with_columns(history.frame["customer"].alias(CUSTOMER)).lazy()
    check_kept(by_customer, history.carried.columns, history.name, person=CUSTOMER, what=SINGLED, option="--carry")


def check_kept(
    rows: pl.LazyFrame,
    columns: Sequence[str],
    name: str,
    *,
    person: str | None = None,
    guarded: Sequence[str] | None = None,
    what: str = ROWS_ALONE,
    option: str = "--keep",
) -> list[KeptAnyway]:
    """Refuse to release columns unchanged that single people out, or that are free text.

    person: the column that tells whose a row is; a person's own value singles them out in however many rows it stands.
    guarded: those that are refused, all if not given; others are returned with the reason.
    """
    found = []
    schema = rows.collect_schema()
    for column in columns:
        each = rows if person is None else rows.unique([person, column])
        own = each.select(column).collect().to_series() if not schema[column].is_nested() else None
        found += [one if own is None else _with_values(one, own) for one in uniqueness(each, [column])]
    return refuse_singling(found, name, guarded=guarded, what=what, option=option)


def _with_values(one: ColumnUniqueness, values: pl.Series, counts: pl.Series | None = None) -> ColumnUniqueness:
    """Add what the values of a column look like, and some of them where it is dangerous."""
    leading = leading_column(values, counts)
    one = replace(one, leads=None if leading is None else leading.why)
    return one if one.danger(ROWS_ALONE) is None else replace(one, examples=examples_of(values))


def with_values_of(counts: ClassCounts, told: Sequence[ColumnUniqueness]) -> list[ColumnUniqueness]:
    """Add what the values of columns look like, from counts that have them."""
    found = []
    for one in told:
        own = counts.over([one.column])
        found.append(_with_values(one, own.values()[one.column].alias(one.column), pl.Series(own.sizes)))
    return found


def check_generalized(original: Table, released: pl.DataFrame, *, guarded: Sequence[str]) -> list[KeptAnyway]:
    """Refuse quasi-identifiers of which values that lead to people are released as they were.

    guarded: those that are refused; others are returned with the reason.
    """
    found = []
    for column in original.quasi_identifiers:
        if column not in released.columns or leading_column(original.frame[column], is_general=False) is None:
            continue
        same = unchanged_values(original.frame[column], released[column])
        leading = leading_column(same, is_general=False)
        if leading is not None:
            of_column = uniqueness(pl.LazyFrame({column: same}), [column])[0]
            found.append(replace(of_column, n_unique=0, leads=leading.why, examples=leading.examples))
    return refuse_singling(found, original.name, guarded=guarded, form=NAMED)


@dataclass(frozen=True)
class KeptAnyway:
    """A column that is released as it is, as asked for, although it singles people out or is free text."""

    column: str
    why: Text

    def as_dict(self) -> Json:
        """Return the column and the reason for JSON."""
        return {"column": self.column, "why": to_json(self.why)}


def alone_words(unit: Unit | None) -> str:
    """Return what is said of values that single out: a row, or a person who may have several."""
    return ROWS_ALONE if unit is None else ONE_PERSONS


def refuse_singling(
    found: Sequence[ColumnUniqueness],
    name: str,
    *,
    guarded: Sequence[str] | None = None,
    what: str = ROWS_ALONE,
    option: str = "--keep",
    form: str | None = None,
) -> list[KeptAnyway]:
    """Refuse columns of which more than a few values are unique, or that are free text, all of them at once."""
    dangers = [(one, why) for one in found if (why := one.danger(what)) is not None]
    faults = FaultList(name)
    for one, why in dangers:
        if guarded is not None and one.column not in guarded:
            continue
        is_rare = one.is_measurement and one.leads is None
        said = form or (RARE if is_rare else SINGLES)
        shown = ", ".join(one.examples) or None
        faults.add(Text(said, option=option[2:], why=why), column=one.column, value=shown)
    faults.raise_if_any()
    return [KeptAnyway(one.column, why) for one, why in dangers]


TIGHT_RANGES = (
    "Ranges of numbers are tight: both ends of each are values of people in the group, so that some of them can be "
    "singled out. 'tokumei attack table downcoding' tells how many; --set ranges=grid hides the ends."
)


MAY_SUPPRESS = (
    "As many rows as {share:.3g} % of the {who} could be left out ({most:,}), the limit of the option suppress; "
    "{n:,} were."
)
NOT_ATTACKED = (
    "Whether labels single people out was not measured, since attacks do not run on engines: "
    "'tokumei attack table downcoding' reads the released file here."
)


def not_released(columns: Sequence[str], why: str) -> Sentence:
    """Note which columns a release leaves out."""
    return Sentence(f"Columns that are not released, since they were {why}: {', '.join(columns)}.")


@dataclass(frozen=True, eq=False, repr=False)
class TableRelease(Result):
    """The release of a table.

    k: fewest rows in a class; None where no row is a person's.
    loss: what was lost by the measure `loss_name`, 0 if nothing and 1 if all; None where no cell became a label.
    promises: what was asked for, recounted on the release, as scores by name.
    recipe: how it came about, for `tk.apply`; a secret of the publisher, as `rows` are.
    left_out: columns of the original that are not released, since they have no role and nobody kept them.
    kept_anyway: columns that are released as they are although they single people out, as asked for.
    several_rows: what is to be said where people seem to have several rows and k is of rows.
    held_out: the rows of the original, counted from 0, that a model of new rows never saw: a control for attacks.
    """

    original: Table | None
    release: Release | None
    recipe: Recipe
    facts: JsonView
    promises: Mapping[str, Score]
    columns: Sequence[JsonView]
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    made: Mapping[str, str] = field(default_factory=dict)
    number_columns: Sequence[str] = ()
    counts: ClassCounts | None = None
    frame_kind: str = "polars"
    left_out: Sequence[str] = ()
    kept_anyway: Sequence[KeptAnyway] = ()
    several_rows: Text | None = None
    held_out: pl.Series | None = None

    @property
    def frame(self) -> UserFrame:
        """The released rows, as a frame of the kind that the original was.

        Columns of pandas keep their types where no cell became a label. The index is a new one: that of the original
        tells whose each row is, as `rows` do.
        """
        return None if self.release is None else as_original(self.release.frame, self.frame_kind)

    def numeric(self) -> Any:
        """Return the released rows with the middle of each label in columns of numbers, dates and moments, for models.

        A label without an end stands for the end that it has, and `*` is missing. The middle of a moment is by the
        clock that the labels show.
        """
        others = {name: one for name, one in self.hierarchies.items() if name not in self.number_columns}
        dates = [name for name, one in others.items() if is_of_dates(pl.Series(one.leaves, dtype=pl.String))]
        made = with_middle_moments(with_middles(self.table, self.number_columns), {n: others[n] for n in dates})
        return as_original(made, self.frame_kind, without=[*self.number_columns, *dates])

    @property
    def table(self) -> pl.DataFrame:
        """The released rows as a Polars frame."""
        if self.release is None:
            raise ValueError("the release was written on its engine and is not in this process")
        return self.release.frame

    @property
    def rows(self) -> pl.Series | None:
        """The row of the original that each released row was, counted from 0; a secret of the publisher."""
        return None if self.release is None else self.release.rows

    @property
    def has_rows(self) -> bool:
        """Whether the release has rows like the original's: of people, or of nobody."""
        return self.rows is not None or getattr(TABLE_ANONYMIZERS.get(self.recipe.method), "draws_all_columns", False)

    @property
    def k(self) -> int | None:
        """Fewest rows in a class."""
        return self.facts.get("k")

    @property
    def loss(self) -> float | None:
        """What was lost, 0 to 1."""
        return self.facts.get("loss")

    @property
    def loss_name(self) -> str | None:
        """The measure of the loss."""
        return self.facts.get("loss_name")

    @property
    def n_suppressed(self) -> int:
        """Number of rows that were left out."""
        return int(self.facts["suppressed"])

    @property
    def n_may_suppress(self) -> int:
        """Number of rows that could have been left out: each may be another person's, where people have several."""
        found = self.facts
        n = found["people"] + found["people_left_out"] if "unit" in found else found["rows"] + self.n_suppressed
        return most_within(found.get("may_suppress", 0), n)

    @property
    def levels(self) -> dict[str, int] | None:
        """The level of each quasi-identifier, where the method searches levels."""
        return self.facts.get("levels")

    def to_dict(self) -> Json:
        """Return all facts as `tokumei anonymize table --json` prints them."""
        promises = {name: score.as_dict() for name, score in self.promises.items()}
        more: dict[str, object] = {"hierarchies_made": dict(self.made), "left_out": list(self.left_out)}
        if self.kept_anyway:
            more["kept_anyway"] = [one.as_dict() for one in self.kept_anyway]
        if self.several_rows is not None:
            more["several_rows"] = self.several_rows
        return {**self.facts, "promises": promises, **more}

    def sections(self) -> Sequence[Section]:
        """Return the facts, what became of each column, the promises, and which hierarchies were made here."""
        plain = {k: v for k, v in self.facts.items() if v is not None and not isinstance(v, dict)}
        for name in ("gives_away", "may_suppress", "constraints"):
            plain.pop(name, None)
        # A seed is a name, not an amount.
        facts = plain | ({"seed": str(plain["seed"])} if "seed" in plain else {})
        parts: list[Section] = [Facts(facts)]
        if self.several_rows is not None:
            parts.append(Sentence(self.several_rows))
        if self.n_may_suppress:
            told = {"share": 100 * self.facts["may_suppress"], "most": self.n_may_suppress, "n": self.n_suppressed}
            told["who"] = Text(self.facts.get("unit", "rows"))
            parts.append(Sentence(Text(MAY_SUPPRESS, **told)))
        if self.columns:
            parts.append(Rows(list(self.columns[0]), [list(one.values()) for one in self.columns]))
        if self.promises:
            parts.append(Rows(["promise", "value"], [[name, one.value] for name, one in self.promises.items()]))
        if self.facts.get("ranges") == "tight" and self.number_columns:
            parts.append(Sentence(TIGHT_RANGES))
        if beside := self.facts.get("beside_others"):
            proven = f"groups under {beside['k']} proven with {', '.join(beside['files'])}"
            parts.append(Facts({proven: len(beside["proven_under_k"]), "groups left open": beside["open"]}))
        if audit := self.facts.get("audit"):
            parts += told_of_audit(audit)
        if gives_away := self.facts.get("gives_away"):
            parts.append(Sentence(gives_away))
        if rules := self.facts.get("constraints"):
            parts.append(
                Sentence(
                    Text("What holds in every row of the original and of the release: {rules}.", rules=", ".join(rules))
                )
            )
        for one in self.kept_anyway:
            form = "Released as it is although it may lead to people: {column} ({why})."
            parts.append(Sentence(Text(form, column=one.column, why=one.why)))
        if self.release is None:
            parts.append(Sentence(NOT_ATTACKED))
        parts += told_of_made(self.made)
        if self.left_out:
            parts.append(not_released(self.left_out, "neither named nor kept (option keep)"))
        return parts

    def __repr__(self) -> str:
        most = f" (at most {self.n_may_suppress:,})" if self.n_may_suppress else ""
        left_out = f"{self.n_suppressed:,} left out{most}"
        said = f"{counted(self.facts['rows'], 'row')}, {left_out}, by {self.facts['method']}"
        loss = "" if self.loss is None else f", {self.loss_name} {self.loss:.4g}"
        without = f", without {', '.join(self.left_out)}" if self.left_out else ""
        return f"TableRelease({said}{'' if self.k is None else f', k {self.k:,}'}{loss}{without})"

    def figure(self) -> Drawing | None:
        """Draw what each column lost."""
        from tokumei.reports.figures import bar_figure

        shares = self.facts.get("loss_by_attribute")
        if not shares:
            return None
        points = pl.DataFrame({"column": list(shares), "loss": list(shares.values())})
        return Drawing(bar_figure(points, x="loss", y="column", x_title=f"loss ({self.loss_name})"))

    def save(
        self,
        out: Path | str,
        *,
        recipe: Path | str | None = None,
        rows: Path | str | None = None,
        force: bool = False,
    ) -> None:
        """Write the release as CSV or Parquet and, where named, its recipe and which row each released row was.

        A file that exists is replaced only with `force`; all files get their names together.

        >>> import tokumei as tk
        >>> r = tk.anonymize(tk.Table({"age": [31, 31, 52, 52]}, qi=["age"]), k=2)
        >>> r.save("release.csv", recipe="recipe.json")
        """
        check_can_be_written(out)
        outputs = {"out": out, "recipe": recipe, "rows": rows}
        with guarded(outputs, inputs=[self.original and self.original.name], force=force) as drafts:
            self.write(drafts["out"], drafts.get("recipe"), drafts.get("rows"))

    def write(self, out: Path | None, recipe: Path | None, rows: Path | None) -> None:
        """Write to drafts that were guarded before."""
        if out is not None:
            write_file_or_folder(self.table, out)
        if recipe is not None:
            self.recipe.write(recipe)
        if rows is not None and self.rows is not None:
            write_rows(self.rows + 1, rows)


def with_middles(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Put the middle of each label in place of the labels of columns of numbers."""
    made = []
    for name in columns:
        if name in frame.columns:
            labels = frame[name].cast(pl.String)
            distinct = labels.unique()
            middles = [parse_label(label).middle for label in distinct]
            made.append(labels.replace_strict(distinct, pl.Series(middles, dtype=pl.Float64), default=None).alias(name))
    return frame.with_columns(made)


def told_of_audit(audit: JsonView) -> list[Section]:
    """Return what attacks found in drawn rows before they were released, and what was not tried."""
    parts: list[Section] = []
    heads = ["attacked before it was released", "found", "beyond others", "at least", "at most allowed"]
    names = ("found", "beyond", "low", "most")
    rows = [[attack_title(one["attack"], one["column"]), *(one[name] for name in names)] for one in audit["findings"]]
    if rows:
        parts.append(Rows(heads, rows))
    leaks = [row[0] for row, one in zip(rows, audit["findings"], strict=True) if one["is_leak"]]
    if leaks:
        form = "Released although attacks find more people than the bound allows: {attacks}."
        parts.append(Sentence(Text(form, attacks=", ".join(str(one) for one in leaks))))
    if audit.get("use"):
        heads = ["use, judged by people outside", "loss", "at least", "at most"]
        parts.append(Rows(heads, [[name, one["value"], *one["interval"]] for name, one in audit["use"].items()]))
    if "promised_mu" in audit:
        form = "Promised: what the counts tell of one person is at most that of a normal shift of μ = {promised}."
        parts.append(Sentence(Text(form, promised=f"{audit['promised_mu']:.3f}")))
    if "shadow_runs" in audit:
        form = "Found by {n} shadow runs with and without one person: μ = {empirical}, from {low} to {high}."
        runs = audit["shadow_runs"]
        numbers = {name: f"{runs[name]:.3f}" for name in ("empirical", "low", "high")}
        parts.append(Sentence(Text(form, n=runs["n_runs"], **numbers)))
    for name, why in audit["left_out"].items():
        parts.append(Sentence(Text("Not measured: {attack} ({why}).", attack=name, why=why)))
    return parts


def with_middle_moments(frame: pl.DataFrame, hierarchies: Mapping[str, Hierarchy]) -> pl.DataFrame:
    """Put the middle of each label in place of the labels of columns of dates: days, or moments where there are any."""
    made = []
    for name, hierarchy in hierarchies.items():
        if name in frame.columns:
            labels = frame[name].cast(pl.String)
            leaves = list(hierarchy.leaves)
            has_times = any(":" in leaf for leaf in leaves)
            # The day of 03/04/2020 shows in the column alone.
            days = {} if has_times else dict(zip(leaves, read_days(leaves) or (), strict=False))
            distinct = labels.unique()
            middles = [days[label] if label in days else parse_label(label).moment for label in distinct]
            whole = [None if one is None else dt.datetime.combine(one, dt.time()) for one in middles]
            values = pl.Series(middles, dtype=pl.Datetime("us")) if has_times else pl.Series(whole).cast(pl.Date)
            made.append(labels.replace_strict(distinct, values, default=None).alias(name))
    return frame.with_columns(made)


def published(
    original: Table,
    release: object,
    rows: object = None,
    *,
    in_order: bool = False,
    option: str = "rows",
    reading: Reading = AS_IT_IS,
    may_be_made_up: bool = False,
) -> Published:
    """Return a release with the truth about it.

    release: what `tk.anonymize` gave, which knows whose each row is, or a frame or file.
    rows: the row of the original of each released row, counted from 0, or a file with a line each, counted from 1.
    in_order: row n of both is the same person, for releases that were not shuffled.
    may_be_made_up: where nobody says whose rows they are, they are taken for nobody's.
    """
    own: pl.Series | None = None
    if isinstance(release, TableRelease):
        if release.rows is None and not may_be_made_up:
            raise InputError.of(f"a release of rows of people, not what {release.facts['method']} gives")
        frame, name, own = release.table, "release", release.rows
    elif isinstance(release, (str, Path)):
        columns = [*original.quasi_identifiers, *original.sensitive]
        frame, name = read_beside(release, reading, columns), str(release)
    else:
        frame, name = (release.frame, release.name) if isinstance(release, Table) else (as_frame(release), "release")
    frame = as_count_table(frame, [*original.quasi_identifiers, *original.sensitive])
    has = [column for column in original.quasi_identifiers if column in frame.columns]
    if own is None:
        frame = with_suppressed_cells(original.frame, frame, has)
    table = Table(frame, has, [column for column in original.sensitive if column in frame.columns], name=name)
    if rows is not None:
        return Published(table, row_numbers(rows, table, original.n_rows))
    if own is not None:
        return Published(table, own)
    if not in_order and may_be_made_up:
        return Published.made_up(table)
    if not in_order:
        expected = (
            "{option}: the row of the original behind each released row (in the shell 'anonymize table --rows FILE' "
            "writes it, and --rows FILE reads it), or in_order (--in-order) where both are in one order; attacks named "
            "singling-out, linkability, inference or membership need neither"
        )
        raise InputError.of(Text(expected, option=option), file=name)
    if table.n_rows != original.n_rows:
        expected = f"the {original.n_rows:,} rows of the original, or {option} with the row of each"
        raise InputError.of(expected, file=name, value=counted(table.n_rows, "row"))
    return Published(table, pl.Series("row", range(table.n_rows), dtype=pl.Int64))


def released_table(
    data: Any,
    qi: Sequence[str],
    sensitive: Sequence[str] | str = (),
    *,
    reading: Reading | None = None,
    hierarchies: Any = None,
    numeric: Sequence[str] | None = None,
) -> Table:
    """Read a release of which nothing else is there; counts as `marginals` writes them are read by column."""
    read = Table(data, reading=reading)
    columns = [*([qi] if isinstance(qi, str) else qi), *([sensitive] if isinstance(sensitive, str) else sensitive)]
    frame = as_count_table(read.frame, columns)
    kept: dict[str, Any] = {"name": read.name, "reading": read.reading}
    made = Table(frame, qi, sensitive, hierarchies=hierarchies, numeric=numeric, **kept)
    made.kind = read.kind
    return made


def as_count_table(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Return a table that `marginals` wrote with a column for each attribute; any other as it is."""
    from tokumei.methods.perturbing.marginals import LONG, counts_by_column

    return counts_by_column(frame, columns) if set(LONG) <= set(frame.columns) else frame


def with_suppressed_cells(original: pl.DataFrame, released: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Write `*` for the suppressed cells of a release, however they are written.

    ARX masks all characters of a code, as *****. sdcMicro leaves a cell out, which R writes as NA: in a column in which
    the original has no missing value, and no such text, that is a suppressed cell.
    """
    changed = []
    for name in [name for name in columns if name in original.columns]:
        cells = released[name]
        is_text = cells.dtype == pl.String
        is_hidden = cells.str.contains(ALL_MASKED) if is_text else pl.repeat(False, len(cells), eager=True)
        if not original[name].null_count():
            is_hidden = is_hidden.fill_null(True) | cells.is_null()
            if is_text and not (original[name].cast(pl.String) == WRITTEN_MISSING).any():
                is_hidden |= (cells == WRITTEN_MISSING).fill_null(True)
        if is_hidden.any():
            changed.append(cells.cast(pl.String).set(is_hidden.fill_null(False), SUPPRESSED))
    return released.with_columns(changed)


def hierarchies_of(
    original: Table, release: object, given: object, released: pl.DataFrame | None = None
) -> dict[str, Hierarchy]:
    """Return the hierarchies that read labels: those given, those the release was made by, or the calendar.

    released: its rows, whose masks as 130** are read by the values that agree with them, in columns of numbers, too.
    """
    columns = [*original.quasi_identifiers, *original.sensitive]
    chosen = original.hierarchies if given is None else given
    found = given_hierarchies(chosen, columns, original.distinct)
    if isinstance(release, TableRelease):
        return {**release.hierarchies, **found}
    if chosen is None:
        # As `anonymize` makes them: intervals of numbers say what they stand for, months and ranges of texts do only by
        # their hierarchy.
        values = {name: original.distinct(name) for name in original.quasi_identifiers}
        found |= {name: made_hierarchy(name, own)[0] for name, own in values.items() if _needs_hierarchy(own)}
    if released is not None:
        masked = [
            name for name in columns if name not in found and name in released.columns and _has_masks(released[name])
        ]
        found |= {name: flat_hierarchy(name, original.distinct(name)) for name in masked}
    return found


def _has_masks(cells: pl.Series) -> bool:
    """Whether a column holds labels as 130**."""
    return cells.dtype == pl.String and bool(cells.str.contains(r"[^*]\*+$").any())


def _needs_hierarchy(values: pl.Series) -> bool:
    return is_of_dates(values) or (values.dtype == pl.String and not is_of_numbers(values))


def numeric_of(original: Table, given: Sequence[str] | None) -> list[str]:
    """Return the columns of numbers: those named, or those whose values are all numbers."""
    if given is not None:
        return [given] if isinstance(given, str) else list(given)
    if original.numeric is not None:
        return list(original.numeric)
    return [name for name in original.quasi_identifiers if is_of_numbers(original.distinct(name))]
