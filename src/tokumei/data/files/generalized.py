"""Generalized histories as text: a value, `*`, a range `[lo;hi]` of dates, prices or quantities, a set `{a;b;…}`.

Anybody's are a table with a header, with dates as in any other; those of the 2018 contest have its form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import FaultList, InputError
from tokumei.data.cells import Kind, read_range_cells, read_set_cells
from tokumei.data.files.columns import add_value_faults
from tokumei.data.files.csv import check_has_columns
from tokumei.data.files.formats import TEXT_SUFFIXES, format_of, read_frame, read_text_frame, write_frame
from tokumei.data.files.histories import (
    CONTEST_2018,
    RELEASED,
    TABLE,
    check_form_of_release,
    form_of,
    format_of_name,
    reading_of_release,
)
from tokumei.data.files.history_formats import history_format
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.files.strict import DATE, PRICE, QUANTITY, write_date, write_price
from tokumei.data.generalized import GeneralizedHistory

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
