"""Contests of one's own with tables: the data, the losses, the attacks, the built-in anonymizers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tokumei.attack.row_judge import judge_rows
from tokumei.contest.custom.forms import LARGEST_NUMBER, read_form
from tokumei.contest.custom.settings import ROW, Settings
from tokumei.contest.edition import GuessScore
from tokumei.core.errors import InputError, nearest
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.data.files.formats import read_frame
from tokumei.data.files.reading import Reading
from tokumei.data.made.survey import make_survey
from tokumei.data.table import Role, Table

NOISE = 0.2
DELETED_SHARE = 0.3
SWAPPED_SHARE = 0.3


def make_frame(settings: Settings, source: Path | None, seed: int) -> pl.DataFrame:
    """Give the original: the columns of the source that have a role, or a made-up survey; no identifiers."""
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
            wanted = f"'{near}'" if near else f"one of {', '.join(found.columns)}"
            raise InputError.of(f"a column of the data: {wanted}", file=name, column="[roles]", value=column)
    for column in found.columns:
        if column not in (*roles.identifiers, *roles.kept):
            expected = "a role for every column: identifiers, quasi_identifiers, sensitive or insensitive"
            raise InputError.of(expected, file=name, column="[roles]", value=column)
    return found.select(roles.kept)


def as_table(settings: Settings, frame: pl.DataFrame, name: str) -> Table:
    """Give a frame of the contest's files its roles."""
    roles: dict[str, Role | str] = dict.fromkeys(settings.roles.quasi_identifiers, Role.QUASI_IDENTIFIER)
    roles |= dict.fromkeys(settings.roles.sensitive, Role.SENSITIVE)
    roles |= dict.fromkeys(settings.roles.insensitive, Role.INSENSITIVE)
    return Table.of(frame.select(list(roles)), roles, name=name)


def measure(settings: Settings, original: pl.DataFrame, kept: pl.DataFrame, rows: pl.Series) -> dict[str, Score]:
    """Measure every metric of the contest; `rows` are the rows of T that are kept, counted from 0."""
    before, after = as_table(settings, original, "T"), as_table(settings, kept, "A")
    return {metric.label: metric.part.measure(before, after, rows) for metric in settings.metrics}


def guess(settings: Settings, attack: Any, known: pl.DataFrame, published: pl.DataFrame, seed: int) -> pl.Series:
    """Let an attack guess the row of T, counted from 1, of each published row; missing where it has no idea."""
    before, after = as_table(settings, known, "known"), as_table(settings, published, "S")
    places: pl.Series = attack.guess(before, after, seed=seed)
    return known[ROW].gather(places).alias(ROW)


def judge_guess(guesses: pl.Series, true: pl.Series, n_rows: int) -> GuessScore:
    """Give the share of rows that were found."""
    score = judge_rows(guesses, true, n_rows)
    return GuessScore(score.value, {"interval": list(score.interval or ()), "baseline": score.baseline})


def anonymizers() -> Mapping[str, Callable[[Settings, pl.DataFrame, int], pl.DataFrame]]:
    """Give the built-in anonymizers by name, simplest first; a deleted row is missing in every column."""
    return {"as-it-is": _as_it_is, "noise": _noise, "swap": _swap, "delete": _delete}


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
    """Let three rows of ten exchange each quasi-identifier, column by column, and add noise."""
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
    n_deleted = min(int(share * original.height + 1e-9), original.height - 1)
    is_deleted = np.zeros(original.height, bool)
    is_deleted[generator(seed, "delete").permutation(original.height)[:n_deleted]] = True
    return original.with_columns(pl.when(~pl.Series(is_deleted)).then(pl.all()))


def _allowed(settings: Settings, original: pl.DataFrame, changed: pl.DataFrame, *, keeps_values: bool) -> pl.DataFrame:
    """Take back what the rules forbid to change."""
    fixed = set(settings.checks.unchanged)
    if not keeps_values:
        fixed |= set(settings.checks.values_of_original)
    return changed.with_columns(original[name] for name in sorted(fixed)) if fixed else changed


def read_rows(path: Path) -> pl.Series:
    """Read row numbers."""
    return read_form(path, [ROW]).frame[ROW].cast(pl.Int64)
