"""Contests of one's own with purchase histories: the data, the losses, the attacks, the built-in anonymizers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from tokumei.attacks.judge import judge as judge_guesses
from tokumei.attacks.judge import truth_of
from tokumei.contest.checks import RowFaults, for_a_table
from tokumei.contest.custom.kinds import SUCCESSES
from tokumei.contest.custom.rules import FORM, NAME, Play, bounded, read_form
from tokumei.contest.custom.settings import Settings
from tokumei.contest.edition import GuessScore, Measure, Rule
from tokumei.contest.measures import BASELINE, CELLS_FOUND, CUSTOMERS_FOUND, MONTHS_FOUND, TRANSACTIONS_FOUND
from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.text import Text
from tokumei.data.files.csv import write_csv
from tokumei.data.files.formats import read_frame
from tokumei.data.files.reading import Reading
from tokumei.data.files.strict import DELETED, ISO_DATE, NUMBER, TYPES, ColumnType
from tokumei.data.history import History, period_name, period_of
from tokumei.data.history_columns import SCHEMA
from tokumei.data.made_retail import make_retail
from tokumei.methods.history.delete import Delete
from tokumei.methods.history.perturb import Perturb
from tokumei.methods.history.steps import HistoryStep, Pseudonyms, name_for_the_whole_time, recipe_of

# A contest may do without these, and not without any other column.
OPTIONAL = ("invoice", "time")
DATE_FORMATS = ("%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%d.%m.%Y")
TIME_FORMATS = ("%H:%M:%S", "%H:%M")
DELETED_SHARE = 0.3
LARGEST_PRICE = 1e7
LARGEST_QUANTITY = 1_000_000
PSEUDONYM = ColumnType(
    f"a pseudonym of 1 to 20 letters, digits, _ or -, other than {DELETED}",
    r"^[A-Za-z0-9_-]{1,20}$",
    lambda cell: pl.when(cell != DELETED).then(cell),
)
CLOCK = ColumnType(
    "a real time HH:MM:SS", r"^[0-9]{2}:[0-9]{2}:[0-9]{2}$", lambda cell: cell.str.to_time("%H:%M:%S", strict=False)
)
TYPES_OF_COLUMNS: Mapping[str, ColumnType] = {
    "customer": PSEUDONYM,
    "invoice": NAME,
    "date": ISO_DATE,
    "time": CLOCK,
    "item": NAME,
    "price": bounded(NUMBER, Text("a price from 0 to {n:,.0f}", n=LARGEST_PRICE), 0, LARGEST_PRICE),
    "quantity": bounded(
        TYPES["integer"], Text("a whole number from {n} to {m:,}", n=0, m=LARGEST_QUANTITY), 0, LARGEST_QUANTITY
    ),
}
# Whoever is in the original has whatever name he has.
ORIGINAL_TYPES = {**TYPES_OF_COLUMNS, "customer": NAME}


@dataclass(frozen=True)
class OwnPurchases:
    """Contests with purchases: attackers tell whose each pseudonym is."""

    what: ClassVar[str] = "purchases"
    what_ja: ClassVar[str] = "購買履歴"
    guess_measures: ClassVar[Sequence[Measure]] = (
        CUSTOMERS_FOUND,
        CELLS_FOUND,
        MONTHS_FOUND,
        TRANSACTIONS_FOUND,
        BASELINE,
    )

    def make_frame(self, settings: Settings, source: Path | None, seed: int) -> pl.DataFrame:
        """Return the original: the declared columns of the source, or made-up purchases."""
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

    def original_types(self, settings: Settings, columns: Sequence[str]) -> dict[str, ColumnType]:  # noqa: ARG002
        """Return the types of a history's columns; customers may have any name."""
        return {name: ORIGINAL_TYPES[name] for name in columns if name in ORIGINAL_TYPES}

    def release_types(self, settings: Settings, original: pl.DataFrame) -> dict[str, ColumnType]:  # noqa: ARG002
        """Return the types of a history's columns, with pseudonyms for customers."""
        return {name: TYPES_OF_COLUMNS[name] for name in original.columns}

    def needed_columns(self, settings: Settings, original: pl.DataFrame) -> Sequence[str]:  # noqa: ARG002
        """Name all columns."""
        return original.columns

    def release_rules(self, settings: Settings) -> Sequence[Rule]:
        """Return the rules of pseudonyms and dates."""
        span, span_ja = ("a month", "同じ月") if settings.checks.pseudonyms == "month" else ("the whole time", "全期間")
        rules = [
            Rule("no-customer-id", "No pseudonym is a customer of T.", "仮名は T の顧客IDと一致してはならない。"),
            Rule(
                "one-pseudonym",
                f"A customer has one pseudonym in all rows of {span}.",
                f"同じ顧客の{span_ja}の行には同じ仮名を付ける。",
            ),
            Rule(
                "no-shared-pseudonym",
                f"Two customers never share a pseudonym in {span}.",
                f"{span_ja}に異なる顧客へ同じ仮名を付けてはならない。",
            ),
        ]
        if settings.checks.same_month:
            rules.append(
                Rule(
                    "same-month",
                    "The date stays in the month of the same row of T.",
                    "日付は T の同じ行と同じ年月とする。",
                )
            )
        return rules

    def check_cells(self, original: pl.DataFrame, cells: pl.DataFrame, faults: RowFaults) -> None:
        """Refuse a pseudonym that is a customer."""
        faults.check_no_customer(cells["customer"], original["customer"], "a pseudonym that is no customer of T")

    def check_rows(self, settings: Settings, original: pl.DataFrame, cells: pl.DataFrame, faults: RowFaults) -> None:
        """Refuse dates of another month, and pseudonyms that stand for two or change too soon."""
        periods = original.select(period_of(pl.col("date"))).to_series()
        if settings.checks.same_month:
            faults.check_same_month(cells["date"], periods)
        is_monthly = settings.checks.pseudonyms == "month"
        spans = periods if is_monthly else pl.zeros(original.height, pl.Int32, eager=True)
        keys = pl.DataFrame({"customer": original["customer"], "period": spans})
        rules = ("one-pseudonym", "no-shared-pseudonym")
        faults.check_names(rules, cells["customer"], keys, is_monthly=is_monthly)

    def guess_rules(self) -> tuple[Rule, ...]:
        """Return the rules of a table of pseudonyms."""
        return (
            Rule(
                FORM,
                "The file is UTF-8 text; its header is customer and the months of T, such as 2011-01.",
                "ファイルは UTF-8 の CSV とし、ヘッダーは customer と T の各月（2011-01 など）とする。",
            ),
            Rule("each-customer-once", "Every customer of T has one line.", "T の全顧客についてちょうど1行ずつ書く。"),
            Rule(
                "pseudonym-of-s",
                "The other cells are each a pseudonym of S, or nothing where the customer is believed to have no row.",
                "残りのセルは S に現れる仮名とする。その月に行がないと推定するときは空とする。",
            ),
        )

    def check_guess(self, original: pl.DataFrame, published: pl.DataFrame, path: Path) -> None:
        """Raise one InputError with every fault of a table of pseudonyms."""
        history = as_history(original, "T")
        months = [period_name(period) for period in history.periods]
        text = read_form(path, ["customer", *months])
        faults = RowFaults(text)
        known = pl.Series("customer", history.customers, dtype=pl.String)
        rules = ("each-customer-once", "each-customer-once")
        faults.check_one_line_each(rules, text.frame["customer"], known, "customer of T")
        for month in months:
            expected = "a pseudonym of S, or nothing"
            faults.check_known("pseudonym-of-s", text.frame[month], published["customer"], expected, may_be_empty=True)
        faults.raise_if_any()

    def known_frame(self, settings: Settings, original: pl.DataFrame) -> pl.DataFrame:
        """Return what attackers may know of each row: items only by their first characters."""
        return original.with_columns(pl.col("item").str.slice(0, settings.item_characters))

    def measure(self, settings: Settings, original: pl.DataFrame, released: pl.DataFrame) -> dict[str, Score]:
        """Measure every metric of the contest."""
        before, after = as_history(original, "T"), as_history(released, "A")
        return {metric.label: metric.part.measure(before, after) for metric in settings.metrics}

    def truth(self, original: pl.DataFrame, released: pl.DataFrame, rows: pl.Series) -> pl.DataFrame:  # noqa: ARG002
        """Return the true pseudonyms: customer, period and pseudonym."""
        return truth_of(as_history(original, "T"), as_history(released, "A"))

    def guess(
        self,
        settings: Settings,  # noqa: ARG002
        attack: Any,
        known: pl.DataFrame,
        published: pl.DataFrame,
        seed: int,  # noqa: ARG002
    ) -> pl.DataFrame:
        """Run an attack that guesses customer, period and pseudonym."""
        cells: pl.DataFrame = for_a_table(attack).guess(as_history(known, "known"), as_history(published, "S"))
        return cells

    def judge(
        self,
        settings: Settings,
        guesses: pl.DataFrame,
        true: pl.DataFrame,
        original: pl.DataFrame,
        published: pl.DataFrame,
    ) -> GuessScore:
        """Hold guessed cells against the true ones; all measures are in the details."""
        history, seen = as_history(original, "T"), as_history(published, "S")
        verdict = judge_guesses(guesses, true, history.customers, history.periods, seen)
        scores: dict[str, Score] = {name: getattr(verdict, name) for name in SUCCESSES}
        success = scores[settings.success]
        values = {name: score.value for name, score in scores.items()}
        return GuessScore(success.value, {**values, "baseline": success.baseline})

    def write_guess(self, guesses: pl.DataFrame, original: pl.DataFrame, path: Path) -> None:
        """Write pseudonyms as a table: a line a customer, a column a month."""
        history = as_history(original, "T")
        wide = pl.DataFrame({"customer": history.customers}, schema={"customer": pl.String})
        for period in history.periods:
            month = guesses.filter(pl.col("period") == period).select(
                "customer", pl.col("pseudonym").alias(period_name(period))
            )
            wide = wide.join(month, on="customer", how="left", maintain_order="left")
        write_csv(wide, path)

    def read_guess(self, original: pl.DataFrame, path: Path) -> pl.DataFrame:
        """Read a table of pseudonyms: the cells that hold one."""
        months = {period_name(period): period for period in as_history(original, "T").periods}
        wide = read_form(path, ["customer", *months]).frame
        long = wide.unpivot(list(months), index="customer", variable_name="month", value_name="pseudonym").drop_nulls()
        period = pl.col("month").replace_strict(months, return_dtype=pl.Int32)
        return long.select("customer", period.alias("period"), "pseudonym")

    def anonymizers(self) -> Mapping[str, Play]:
        """Return the built-in anonymizers by name, simplest first."""
        return {"pseudonyms": _pseudonyms, "delete": _delete, "perturb": _perturb}


def as_history(frame: pl.DataFrame, name: str) -> History:
    """Make a history of a frame of the contest's files."""
    missing = [pl.lit(None, kind).alias(column) for column, kind in SCHEMA.items() if column not in frame.columns]
    return History(frame.with_columns(missing).select(list(SCHEMA)), name)


def _read(frame: pl.DataFrame, name: str, read: pl.Expr, example: str, source: Path) -> pl.Series:
    """Read a text column; a cell that cannot be read is an error with its line."""
    values = frame.select(read.alias(name)).to_series()
    lost = (values.is_null() & frame[name].is_not_null()).arg_true()
    if len(lost):
        at = int(lost[0])
        raise InputError.of(
            Text("a {name} such as {example}", name=name, example=example),
            file=source,
            line=at + 2,
            column=name,
            value=frame[name][at],
        )
    return values


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
