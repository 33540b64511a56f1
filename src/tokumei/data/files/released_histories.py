"""What comes with a released history as files: generalized cells as text, and who is who.

A cell is a value, `*`, a range `[lo;hi]` of dates, prices or quantities, or a set `{a;b;…}`. Anybody's are a table with
a header, with dates as in any other; those of the 2018 contest have its form.

Who is who, and guesses of it, come in four forms.

| form           | a line is                                          | first line                |
|----------------|----------------------------------------------------|---------------------------|
| by customer    | a customer with the pseudonym of each month        | customer,2010-12,2011-01… |
| by pseudonym   | a month and pseudonym with its customer            | month,pseudonym,customer  |
| by row         | the customer of a published row, in their order    | customer                  |
| in pairs       | a pseudonym with its customer, for all months      | pseudonym,customer        |

The first is that of PWSCUP 2017 (F and Fh), which has no header there. The second is the direction of the papers, in
which a customer may be given several pseudonyms of a month. The third, R, is a guess of every purchase on its own. The
fourth is that of generalized releases; in PWSCUP 2018 (F′) it has no header.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import FaultList, InputError
from tokumei.data.cells import Kind, read_range_cells, read_set_cells
from tokumei.data.files.csv import TextFrame, check_has_columns, read_csv, write_csv
from tokumei.data.files.disk import check_is_file
from tokumei.data.files.formats import TEXT_SUFFIXES, format_of, read_frame, read_text_frame, write_frame
from tokumei.data.files.histories import (
    CONTEST_2017,
    CONTEST_2018,
    RELEASED,
    TABLE,
    check_form_of_release,
    first_cells,
    form_of,
    format_of_name,
    history_format,
    reading_of_release,
)
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.files.strict import DATE, PRICE, QUANTITY, add_value_faults, write_date, write_price
from tokumei.data.history import History, period_name
from tokumei.data.release import GeneralizedHistory

# Longer sets say no more than a star.
LARGEST_SET = 100
EXPECTED = {
    "date": "a date YYYY-MM-DD, a range [lo;hi] of them, or *",
    "item": "an item, a set {a;b;…} of different ones, or *",
    "price": "a number, a range [lo;hi], or *",
    "quantity": "a number, a range [lo;hi], or *",
}

OfCells = Callable[[pl.Expr], pl.Expr]


def _read_number(cell: pl.Expr) -> pl.Expr:
    number = cell.cast(pl.Float64, strict=False)
    return pl.when(number.is_finite()).then(number)


def _write_number(number: pl.Expr) -> pl.Expr:
    return number.cast(pl.String).str.strip_suffix(".0")


@dataclass(frozen=True)
class CellForm:
    """How the bounds of ranges are written, and read again."""

    read_date: OfCells = lambda cell: cell.str.to_date("%Y-%m-%d", strict=False)
    read_price: OfCells = _read_number
    read_quantity: OfCells = _read_number
    write_date: OfCells = lambda date: date.dt.to_string("%Y-%m-%d")
    write_price: OfCells = _write_number
    write_quantity: OfCells = _write_number


PLAIN = CellForm()
CONTEST = CellForm(DATE.read, PRICE.read, QUANTITY.read, write_date, write_price)


def cells_of(text: pl.DataFrame, name: str, form: CellForm = PLAIN) -> GeneralizedHistory:
    """Read text cells; what cannot be read has the kind BROKEN."""
    return GeneralizedHistory(
        customer=text["customer"],
        date=read_range_cells(text["date"], form.read_date),
        item=read_set_cells(text["item"]),
        price=read_range_cells(text["price"], form.read_price),
        quantity=read_range_cells(text["quantity"], form.read_quantity),
        name=name,
    )


def text_of(release: GeneralizedHistory, form: CellForm = PLAIN) -> pl.DataFrame:
    """Write cells as text."""
    return pl.DataFrame(
        {
            "customer": release.customer,
            "date": release.date.to_text(form.write_date),
            "item": release.item.to_text(),
            "price": release.price.to_text(form.write_price),
            "quantity": release.quantity.to_text(form.write_quantity),
        }
    )


def write_generalized(text: pl.DataFrame, path: Path | str, form: str = TABLE, *, is_published: bool = False) -> None:
    """Write text cells as a table, or in the form of 2018: all of them, or what is published of them."""
    check_form_of_release(form, is_generalized=True)
    if form == TABLE or format_of_name(path) not in TEXT_SUFFIXES:
        write_frame(published_text(text) if is_published else text, path)
    else:
        contest: Any = history_format(form, "write_release", "write_published")
        (contest.write_published if is_published else contest.write_release)(cells_of(text, str(path)), path)


def published_text(text: pl.DataFrame) -> pl.DataFrame:
    """Return what is published of text cells: the rows that are left, sorted, so that their order reveals nothing."""
    left = text.filter(pl.col("customer") != "*")
    return left.sort(pl.concat_str(pl.all(), separator=","))


def read_generalized(path: Path | str, reading: Reading = AS_IT_IS) -> GeneralizedHistory:
    """Read a release with ranges and sets; a cell that is none of what it may be is a fault.

    reading: how the original beside it is read; a release that cannot be read by its own header or form is read so.
    """
    reading = reading_of_release(path, reading)
    form = form_of(path, reading)
    if form not in (TABLE, CONTEST_2018):
        raise InputError.of(
            "a release with ranges and sets: a table, or in the form of pwscup2018", file=path, value=form
        )
    if form == CONTEST_2018:
        contest: Any = history_format(CONTEST_2018, "read_release")
        release: GeneralizedHistory = contest.read_release(path)
        return release
    line_of: Callable[[int], int] = _row
    if format_of(path) in TEXT_SUFFIXES:
        read = read_text_frame(path, reading)
        frame, line_of = read.frame, read.line_of
    else:
        frame = read_frame(path, reading)
    check_has_columns(RELEASED, frame.columns, path)
    frame = frame.select(pl.col(RELEASED).cast(pl.String))
    release = cells_of(frame, str(path))
    faults = FaultList(str(path))
    kinds = (release.date.kind, release.item.kind, release.price.kind, release.quantity.kind)
    for name, kind in zip(EXPECTED, kinds, strict=True):
        add_value_faults(frame[name], kind == Kind.BROKEN, EXPECTED[name], faults, line_of=line_of)
    add_value_faults(frame["customer"], frame["customer"].is_null(), "a pseudonym, or *", faults, line_of=line_of)
    faults.raise_if_any()
    return release


def _row(index: int) -> int:
    return index + 1


BY_PSEUDONYM = ["month", "pseudonym", "customer"]
BY_ROW = ["customer"]
IN_PAIRS = ["pseudonym", "customer"]


def write_pseudonyms(
    cells: pl.DataFrame, customers: list[str], path: Path | str, form: str = TABLE, periods: Sequence[int] = ()
) -> None:
    """Write customer, period and pseudonym by customer, or by pseudonym where a customer has several of a month.

    That of PWSCUP 2017 has the contest's months and no header. Any other has the months that occur, and those of
    `periods`: whoever is judged by it needs all months of the original, those in which nobody has a pseudonym too.
    """
    names = {period: period_name(period) for period in cells["period"].unique()}
    # Where there is nothing to replace, Polars leaves numbers.
    found = pl.col("period").replace_strict(names, return_dtype=pl.String) if names else pl.lit(None, pl.String)
    named = cells.with_columns(found.alias("month"))
    if cells.select("customer", "period").is_duplicated().any():
        write_csv(named.select(BY_PSEUDONYM).sort("month", "pseudonym"), path)
        return
    months = sorted({*named["month"], *map(period_name, periods)})
    contest = history_format(form, "write_truth") if form == CONTEST_2017 else None
    if contest is not None:
        months = _contest_months(months, contest.PERIODS, path)
    wide = pl.DataFrame({"customer": customers}, schema={"customer": pl.String})
    for month in months:
        one = named.filter(pl.col("month") == month).select("customer", pl.col("pseudonym").alias(month))
        wide = wide.join(one, on="customer", how="left", maintain_order="left")
    if contest is not None:
        contest.write_truth(wide, path)
    else:
        write_csv(wide, path)


def judged_periods(history: History, form: str = TABLE) -> list[int]:
    """Return the months in which guesses are judged: those of a contest's table, else all of the history's."""
    months: tuple[str, ...] = () if form == TABLE else getattr(history_format(form), "PERIODS", ())
    return [_period(month, form) for month in months] or history.periods


def write_guesses(cells: pl.DataFrame, customers: list[str], path: Path | str, form: str = TABLE) -> None:
    """Write guesses as who is who; none at all by pseudonym, since customers alone would read as a guess by row."""
    if cells.is_empty() and form != CONTEST_2017:
        write_csv(pl.DataFrame(schema=dict.fromkeys(BY_PSEUDONYM, pl.String)), path)
    else:
        write_pseudonyms(cells, customers, path, form)


def read_pseudonyms(path: Path | str) -> tuple[pl.DataFrame, list[str], list[int]]:
    """Read a table by customer or by pseudonym: the cells that hold a pseudonym, the customers, and the periods."""
    names = first_cells(check_is_file(path))
    if names == BY_PSEUDONYM:
        text = read_csv(path)
        _check_filled(text, BY_PSEUDONYM)
        periods = {month: _period(month, path) for month in text.frame["month"].unique()}
        cells = _with_periods(text.frame, periods)
        return cells, sorted(set(cells["customer"])), sorted(set(periods.values()))
    if names[:1] == ["customer"]:
        text = read_csv(path)
        _check_customers(text)
        wide = text.frame
    else:
        wide = history_format(CONTEST_2017).read_truth(path)
    months = [name for name in wide.columns if name != "customer"]
    periods = {month: _period(month, path) for month in months}
    # A customer without a purchase in a month has no pseudonym there.
    long = wide.unpivot(months, index="customer", variable_name="month", value_name="pseudonym").drop_nulls()
    return _with_periods(long, periods), wide["customer"].to_list(), list(periods.values())


def write_pairs(pairs: pl.DataFrame, path: Path | str, form: str = TABLE) -> None:
    """Write the customer of each pseudonym."""
    if form == TABLE:
        write_csv(pairs.select(IN_PAIRS), path)
    else:
        contest: Any = history_format(form, "write_guess")
        contest.write_guess(pairs, path)


def are_pairs(path: Path | str) -> bool:
    """Whether a file names the customer of each pseudonym."""
    cells = first_cells(check_is_file(path))
    return cells == IN_PAIRS or (len(cells) == len(IN_PAIRS) and "customer" not in cells)


def read_pairs(path: Path | str) -> pl.DataFrame:
    """Read the customer of each pseudonym."""
    if first_cells(check_is_file(path)) != IN_PAIRS:
        contest: Any = history_format(CONTEST_2018, "read_guess")
        found: pl.DataFrame = contest.read_guess(path)
        return found
    text = read_csv(path)
    _check_filled(text, IN_PAIRS)
    return text.frame.select(IN_PAIRS)


def is_row_guess(path: Path | str) -> bool:
    """Whether a file names a customer for each published row."""
    return first_cells(check_is_file(path)) == BY_ROW


def read_row_guess(path: Path | str) -> pl.Series:
    """Read R: the customer of each published row, missing where there is no guess."""
    return read_csv(path).frame["customer"]


def _with_periods(named: pl.DataFrame, periods: dict[str, int]) -> pl.DataFrame:
    if not periods:
        return pl.DataFrame(schema={"customer": pl.String, "period": pl.Int32, "pseudonym": pl.String})
    period = pl.col("month").replace_strict(periods, return_dtype=pl.Int32).alias("period")
    return named.select("customer", period, "pseudonym")


def _contest_months(months: list[str], contest: tuple[str, ...], path: Path | str) -> list[str]:
    for month in months:
        if month not in contest:
            expected = f"purchases from {contest[0]} to {contest[-1]}, the months of the contest"
            raise InputError.of(expected, file=path, value=month)
    return list(contest)


def _check_filled(text: TextFrame, names: Sequence[str]) -> None:
    faults = FaultList(text.file)
    for name in names:
        for row in text.frame[name].is_null().arg_true():
            faults.add(f"a {name} in every line", line=text.line_of(row), column=name, value="")
    faults.raise_if_any()


def _check_customers(text: TextFrame) -> None:
    faults = FaultList(text.file)
    customers = text.frame["customer"]
    for row in customers.is_null().arg_true():
        faults.add("a customer in every line", line=text.line_of(row), column="customer", value="")
    for row in (~customers.is_first_distinct() & customers.is_not_null()).arg_true():
        faults.add("each customer once", line=text.line_of(row), column="customer", value=customers[row])
    faults.raise_if_any()


def _period(month: str, path: Path | str) -> int:
    year, mark, number = month.partition("-")
    if not (mark and year.isdecimal() and number.isdecimal() and 1 <= int(number) <= 12):
        raise InputError.of("months written YYYY-MM as column names", file=path, line=1, value=month)
    return int(year) * 12 + int(number) - 1
