"""Contests of one's own with purchase histories: the data, the losses, the attacks, the built-in anonymizers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.anonymize.history.delete import Delete
from tokumei.anonymize.history.perturb import Perturb
from tokumei.anonymize.history.pseudonyms import Pseudonyms
from tokumei.anonymize.steps import HistoryStep, name_for_the_whole_time, recipe_of
from tokumei.attack.judge import judge
from tokumei.attack.truth import truth_of
from tokumei.contest.custom.forms import as_history, read_form
from tokumei.contest.custom.settings import Settings
from tokumei.contest.edition import GuessScore
from tokumei.contest.table_of_pseudonyms import for_a_table
from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.data.files.csv import write_csv
from tokumei.data.files.formats import read_frame
from tokumei.data.files.reading import Reading
from tokumei.data.history import History, period_name
from tokumei.data.made.retail import make_retail

# A contest may do without these, and not without any other column.
OPTIONAL = ("invoice", "time")
DATE_FORMATS = ("%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%d.%m.%Y")
TIME_FORMATS = ("%H:%M:%S", "%H:%M")
DELETED_SHARE = 0.3


def make_frame(settings: Settings, source: Path | None, seed: int) -> pl.DataFrame:
    """Give the original: the declared columns of the source, or made-up purchases."""
    if source is None:
        return make_retail(settings.data.n_made, seed=seed)
    found = read_frame(source, Reading(delimiter=settings.data.delimiter))
    columns = {ours: theirs for ours, theirs in settings.data.columns.items() if theirs in found.columns}
    for ours, theirs in settings.data.columns.items():
        if theirs not in found.columns and (ours not in OPTIONAL or ours != theirs):
            expected = f"a column of the file for {ours}: {', '.join(found.columns)}"
            raise InputError.of(expected, file=source, value=theirs)
    named = found.select(pl.col(theirs).alias(ours) for ours, theirs in columns.items())
    if named.schema.get("date") == pl.String:
        dates = pl.coalesce(pl.col("date").str.to_date(form, strict=False) for form in DATE_FORMATS)
        named = named.with_columns(_read(named, "date", dates, "2011-01-31", source))
    if named.schema.get("time") == pl.String:
        times = pl.coalesce(pl.col("time").str.to_time(form, strict=False) for form in TIME_FORMATS)
        named = named.with_columns(_read(named, "time", times, "08:26", source))
    history = History.of(named, name=str(source))
    return history.frame.select(list(columns))


def _read(frame: pl.DataFrame, name: str, read: pl.Expr, example: str, source: Path) -> pl.Series:
    """Read a text column; a cell that cannot be read is an error with its line."""
    values = frame.select(read.alias(name)).to_series()
    lost = (values.is_null() & frame[name].is_not_null()).arg_true()
    if len(lost):
        at = int(lost[0])
        raise InputError.of(f"a {name} such as {example}", file=source, line=at + 2, column=name, value=frame[name][at])
    return values


def known_frame(settings: Settings, original: pl.DataFrame) -> pl.DataFrame:
    """Give what attackers may know of each row: items only by their first characters."""
    return original.with_columns(pl.col("item").str.slice(0, settings.item_characters))


def measure(settings: Settings, original: pl.DataFrame, released: pl.DataFrame) -> dict[str, Score]:
    """Measure every metric of the contest."""
    before, after = as_history(original, "T"), as_history(released, "A")
    return {metric.label: metric.part.measure(before, after) for metric in settings.metrics}


def guess(attack: Any, known: pl.DataFrame, published: pl.DataFrame) -> pl.DataFrame:
    """Let an attack guess: customer, period and pseudonym."""
    cells: pl.DataFrame = for_a_table(attack).guess(as_history(known, "known"), as_history(published, "S"))
    return cells


def truth(original: pl.DataFrame, released: pl.DataFrame) -> pl.DataFrame:
    """Give the true pseudonyms: customer, period and pseudonym."""
    return truth_of(as_history(original, "T"), as_history(released, "A"))


def judge_cells(settings: Settings, guesses: pl.DataFrame, true: pl.DataFrame, original: pl.DataFrame) -> GuessScore:
    """Hold guessed cells against the true ones; both measures are in the details."""
    history = as_history(original, "T")
    verdict = judge(guesses, true, history.customers, history.periods)
    success = verdict.row if settings.success == "row" else verdict.cell
    details = {"row": verdict.row.value, "cell": verdict.cell.value, "baseline": success.baseline}
    return GuessScore(success.value, details)


def write_cells(cells: pl.DataFrame, original: pl.DataFrame, path: Path) -> None:
    """Write pseudonyms as a table: a line a customer, a column a month."""
    history = as_history(original, "T")
    wide = pl.DataFrame({"customer": history.customers}, schema={"customer": pl.String})
    for period in history.periods:
        month = cells.filter(pl.col("period") == period).select(
            "customer", pl.col("pseudonym").alias(period_name(period))
        )
        wide = wide.join(month, on="customer", how="left", maintain_order="left")
    write_csv(wide, path)


def read_cells(original: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Read a table of pseudonyms: the cells that hold one."""
    months = {period_name(period): period for period in as_history(original, "T").periods}
    wide = read_form(path, ["customer", *months]).frame
    long = wide.unpivot(list(months), index="customer", variable_name="month", value_name="pseudonym").drop_nulls()
    period = pl.col("month").replace_strict(months, return_dtype=pl.Int32)
    return long.select("customer", period.alias("period"), "pseudonym")


def anonymizers() -> Mapping[str, Callable[[Settings, pl.DataFrame, int], pl.DataFrame]]:
    """Give the built-in anonymizers by name, simplest first."""
    return {"pseudonyms": _pseudonyms, "delete": _delete, "perturb": _perturb}


def _pseudonyms(settings: Settings, original: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Change nothing but the names."""
    history = as_history(original, "T")
    if settings.checks.pseudonyms == "month":
        release = Pseudonyms(lifetime=1).anonymize(history, seed=seed)
    else:
        whole = Pseudonyms(lifetime=max(1, len(history.periods)))
        release = name_for_the_whole_time(history, recipe=recipe_of(whole, seed), seed=seed)
    frame = release.frame.select(original.columns)
    customers = set(original["customer"])
    # Somebody may be called like a pseudonym.
    while customers & set(frame["customer"].drop_nulls()):
        frame = frame.with_columns("x" + pl.col("customer"))
    return frame


def _delete(settings: Settings, original: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Delete three rows of ten, or as many as the rules allow."""
    share = min(DELETED_SHARE, 1 - settings.checks.least_kept)
    step = Delete(once=False, price_deviations=0.0, random=share, most=share)
    return _after(step, settings, original, seed)


def _perturb(settings: Settings, original: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Move dates, quantities and prices a little, where the rules allow."""
    return _after(Perturb(days=3, quantities=0.2, prices=0.1), settings, original, seed)


def _after(step: HistoryStep, settings: Settings, original: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Change the rows, take back what the rules forbid to change, and name the customers."""
    changed = step.change(as_history(original, "T"), seed=seed).history.frame.select(original.columns)
    is_kept = changed["customer"].is_not_null()
    fixed = {*settings.checks.unchanged, *settings.checks.values_of_original} & set(original.columns)
    restored = changed.with_columns(original[name] for name in sorted(fixed)) if fixed else changed
    restored = restored.with_columns(pl.when(is_kept).then(pl.all()))
    names = _pseudonyms(settings, original, seed)["customer"]
    return restored.with_columns(customer=pl.when(is_kept).then(names))
