"""Contests of one's own with tables: the data, the losses, the attacks, the built-in anonymizers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from tokumei.attacks.nearest_rows import judge_rows
from tokumei.contest.checks import RowFaults
from tokumei.contest.custom.kinds import ROW
from tokumei.contest.custom.rules import FORM, LARGEST_NUMBER, NAME, Play, bounded, kept_rows, read_form
from tokumei.contest.custom.settings import Settings
from tokumei.contest.edition import GuessScore, Measure, Rule
from tokumei.contest.measures import BASELINE, INTERVAL, ROWS_FOUND
from tokumei.core.errors import InputError, nearest
from tokumei.core.score import Score, most_within
from tokumei.core.seeds import generator
from tokumei.core.text import Text, choice_of
from tokumei.data.files.csv import write_csv
from tokumei.data.files.formats import read_frame
from tokumei.data.files.reading import Reading
from tokumei.data.files.strict import ROW as ROW_NUMBER
from tokumei.data.files.strict import TYPES, ColumnType
from tokumei.data.made_survey import make_survey
from tokumei.data.table import Role, Table

NOISE = 0.2
DELETED_SHARE = 0.3
SWAPPED_SHARE = 0.3


@dataclass(frozen=True)
class OwnMicrodata:
    """Contests with tables: attackers tell which row of T each published row is."""

    what: ClassVar[str] = "a table"
    what_ja: ClassVar[str] = "表"
    guess_measures: ClassVar[Sequence[Measure]] = (ROWS_FOUND, BASELINE, INTERVAL)

    def make_frame(self, settings: Settings, source: Path | None, seed: int) -> pl.DataFrame:
        """Return the original: the columns of the source that have a role, or a made-up survey; no identifiers."""
        roles = settings.roles
        name = "the made-up survey" if source is None else str(source)
        found = (
            make_survey(settings.data.n_made, seed=seed)
            if source is None
            else read_frame(source, Reading(delimiter=settings.data.delimiter))
        )
        for column in (*roles.identifiers, *roles.kept):
            if column not in found.columns:
                near = nearest(column, found.columns)
                wanted = f"'{near}'" if near else choice_of(found.columns)
                raise InputError.of(
                    Text("a column of the data: {names}", names=wanted), file=name, column="[roles]", value=column
                )
        for column in found.columns:
            if column not in (*roles.identifiers, *roles.kept):
                expected = "a role for every column: identifiers, quasi_identifiers, sensitive or insensitive"
                raise InputError.of(expected, file=name, column="[roles]", value=column)
        return found.select(roles.kept)

    def original_types(self, settings: Settings, columns: Sequence[str]) -> dict[str, ColumnType]:  # noqa: ARG002
        """Return the declared types of the columns that have a role; a cell may be missing unless it is sensitive."""
        return {name: _type_of(settings, name) for name in settings.roles.kept}

    def release_types(self, settings: Settings, original: pl.DataFrame) -> dict[str, ColumnType]:
        """Return the types of the original's columns; a cell may be missing only where some are."""
        types = {name: _type_of(settings, name) for name in original.columns}
        return {name: replace(kind, is_optional=original[name].has_nulls()) for name, kind in types.items()}

    def needed_columns(self, settings: Settings, original: pl.DataFrame) -> Sequence[str]:  # noqa: ARG002
        """Name the sensitive columns."""
        return settings.roles.sensitive

    def release_rules(self, settings: Settings) -> Sequence[Rule]:  # noqa: ARG002
        """Add no rule: a cell may hold whatever its column may."""
        return ()

    def check_cells(self, original: pl.DataFrame, cells: pl.DataFrame, faults: RowFaults) -> None:
        """Check nothing more."""

    def check_rows(self, settings: Settings, original: pl.DataFrame, cells: pl.DataFrame, faults: RowFaults) -> None:
        """Check nothing more."""

    def guess_rules(self) -> tuple[Rule, ...]:
        """Return the rule of a list of row numbers."""
        return (
            Rule(
                FORM,
                f"The file is UTF-8 text with the header {ROW}.",
                f"ファイルは UTF-8 とし、ヘッダーは {ROW} とする。",
            ),
            Rule(
                "row-of-t",
                "Line i is the row of T, counted from 1, that row i of S is believed to be; one may be named twice.",
                "i 行目は S の i 行目に対応すると推定した T の行番号（1から数える）とする。重複してもよい。",
            ),
            Rule("row-for-row", "There is one line for each row of S.", "S の各行についてちょうど1行ずつ書く。"),
        )

    def check_guess(self, original: pl.DataFrame, published: pl.DataFrame, path: Path) -> None:
        """Raise one InputError with every fault of a list of row numbers."""
        faults = RowFaults(read_form(path, [ROW]))
        expected = "a row of T, from 1 to {n_rows:,}"
        faults.read_row_numbers("row-of-t", ROW, ROW_NUMBER, original.height, expected)
        faults.check_n_rows(published.height, "row-for-row", "{n_rows:,} lines, one for each row of S", "line")
        faults.raise_if_any()

    def known_frame(self, settings: Settings, original: pl.DataFrame) -> pl.DataFrame:  # noqa: ARG002
        """Return the known values of each row."""
        return original

    def measure(self, settings: Settings, original: pl.DataFrame, released: pl.DataFrame) -> dict[str, Score]:
        """Measure every metric of the contest on the rows that are kept."""
        rows = kept_rows(released)
        before, after = as_table(settings, original, "T"), as_table(settings, released[rows], "A")
        return {metric.label: metric.part.measure(before, after, rows) for metric in settings.metrics}

    def truth(self, original: pl.DataFrame, released: pl.DataFrame, rows: pl.Series) -> pl.DataFrame:  # noqa: ARG002
        """Return the row of T of each published row, counted from 1."""
        return (rows + 1).to_frame()

    def guess(
        self, settings: Settings, attack: Any, known: pl.DataFrame, published: pl.DataFrame, seed: int
    ) -> pl.DataFrame:
        """Run an attack that guesses the row of T of each published row; missing where it has no idea."""
        before, after = as_table(settings, known, "known"), as_table(settings, published, "S")
        places: pl.Series = attack.guess(before, after, seed=seed)
        return known.select(pl.col(ROW).gather(places))

    def judge(
        self,
        settings: Settings,  # noqa: ARG002
        guesses: pl.DataFrame,
        true: pl.DataFrame,
        original: pl.DataFrame,
        published: pl.DataFrame,  # noqa: ARG002
    ) -> GuessScore:
        """Return the share of rows that were found."""
        score = judge_rows(guesses[ROW], true[ROW], original.height)
        details = {"row": score.value, "interval": list(score.interval or ()), "baseline": score.baseline}
        return GuessScore(score.value, details)

    def write_guess(self, guesses: pl.DataFrame, original: pl.DataFrame, path: Path) -> None:  # noqa: ARG002
        """Write row numbers; a line must name a row even where an attack has no idea."""
        write_csv(guesses.fill_null(1), path)

    def read_guess(self, original: pl.DataFrame, path: Path) -> pl.DataFrame:  # noqa: ARG002
        """Read row numbers."""
        return read_form(path, [ROW]).frame.select(pl.col(ROW).cast(pl.Int64))

    def anonymizers(self) -> Mapping[str, Play]:
        """Return the built-in anonymizers by name, simplest first; a deleted row is missing in every column."""
        return {"as-it-is": _as_it_is, "noise": _noise, "swap": _swap, "delete": _delete}


def as_table(settings: Settings, frame: pl.DataFrame, name: str) -> Table:
    """Assign roles to a frame of the contest's files."""
    roles: dict[str, Role | str] = dict.fromkeys(settings.roles.quasi_identifiers, Role.QUASI_IDENTIFIER)
    roles |= dict.fromkeys(settings.roles.sensitive, Role.SENSITIVE)
    roles |= dict.fromkeys(settings.roles.insensitive, Role.INSENSITIVE)
    return Table.of(frame.select(list(roles)), roles, name=name)


def _as_it_is(settings: Settings, original: pl.DataFrame, seed: int) -> pl.DataFrame:  # noqa: ARG001
    """Change nothing: the rows are shuffled when they are published."""
    return original


def _noise(settings: Settings, original: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Multiply every sensitive value by a number near 1."""
    noisy = []
    for name in settings.roles.sensitive:
        values = original[name]
        factors = np.exp(NOISE * generator(seed, "noise", name).standard_normal(original.height))
        moved = (values * pl.Series(factors)).clip(-LARGEST_NUMBER, LARGEST_NUMBER)
        # Whole numbers stay whole, and others get no more digits than two, as amounts have.
        noisy.append(moved.round(0 if values.dtype.is_integer() else 2).cast(values.dtype).alias(name))
    return _allowed(settings, original, original.with_columns(noisy), keeps_values=False)


def _swap(settings: Settings, original: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Swap each quasi-identifier among three rows of ten, column by column, and add noise."""
    swapped = []
    for name in settings.roles.quasi_identifiers:
        rng = generator(seed, "swap", name)
        chosen = rng.permutation(original.height)[: round(SWAPPED_SHARE * original.height)]
        source = np.arange(original.height)
        source[chosen] = rng.permutation(chosen)
        swapped.append(original[name].gather(source))
    noisy = _noise(settings, original, seed).with_columns(swapped)
    return _allowed(settings, original, noisy, keeps_values=True)


def _delete(settings: Settings, original: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Delete three rows of ten, or as many as the rules allow."""
    share = min(DELETED_SHARE, 1 - settings.checks.least_kept)
    n_deleted = min(most_within(share, original.height), original.height - 1)
    is_deleted = np.zeros(original.height, bool)
    is_deleted[generator(seed, "delete").permutation(original.height)[:n_deleted]] = True
    return original.with_columns(pl.when(~pl.Series(is_deleted)).then(pl.all()))


def _allowed(settings: Settings, original: pl.DataFrame, changed: pl.DataFrame, *, keeps_values: bool) -> pl.DataFrame:
    """Take back what the rules forbid to change."""
    fixed = set(settings.checks.unchanged)
    if not keeps_values:
        fixed |= set(settings.checks.values_of_original)
    return changed.with_columns(original[name] for name in sorted(fixed)) if fixed else changed


def _type_of(settings: Settings, name: str) -> ColumnType:
    """Return the declared type of a table's column: a number if it is sensitive, else text by default."""
    if name in settings.roles.sensitive:
        kind = TYPES[settings.data.types.get(name, "number")]
        return bounded(kind, f"{kind.expected} of at most {LARGEST_NUMBER:,.0f}", -LARGEST_NUMBER, LARGEST_NUMBER)
    declared = settings.data.types.get(name, "text")
    return (NAME if declared == "text" else TYPES[declared]).optional()
