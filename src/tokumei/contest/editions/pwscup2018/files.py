"""The files of PWSCUP 2018: UTF-8 CSV without a header, plain or gzipped.

| file | holds                                            | read as                               |
|------|--------------------------------------------------|---------------------------------------|
| T    | the original history, without invoice and time   | History                               |
| A    | the release, row by row as T, cells generalized  | GeneralizedHistory, `*` where deleted |
| A′   | the release as published: kept rows, sorted      | GeneralizedHistory                    |
| F′   | an attack: pseudonym and customer                | frame                                 |

A cell of A is a value, `*`, a range `[lo;hi]` of dates, prices or quantities, or a set `{a;b;…}` of items.
Only the form is checked here; what the rules ask of a release against T is checked by the contest.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from tokumei.core.errors import FaultList
from tokumei.data.cells import Kind
from tokumei.data.files.columns import ColumnType, add_value_faults
from tokumei.data.files.generalized import CONTEST, LARGEST_SET, cells_of, published_text, text_of
from tokumei.data.files.strict import (
    CUSTOMER,
    DATE,
    ITEM,
    LINE_END,
    PRICE,
    QUANTITY,
    StrictFile,
)
from tokumei.data.generalized import GeneralizedHistory
from tokumei.data.history import History

LONGEST_LINE = 8_000


def _as_text(cell: pl.Expr) -> pl.Expr:
    return cell


def _or_range(kind: ColumnType) -> ColumnType:
    """Return the type of a column that may generalize another to ranges; it is read as cells later."""
    value = kind.pattern.removeprefix("^").removesuffix("$")
    pattern = rf"^(\*|{value}|\[{value};{value}\])$"
    return ColumnType(f"{kind.expected}, a range [lo;hi] of two such with lo ≤ hi, or *", pattern, _as_text)


PSEUDONYM = ColumnType("a pseudonym of 1 to 9 digits, the first not 0", r"^[1-9][0-9]{0,8}$", _as_text)
PSEUDONYM_OR_STAR = ColumnType(
    "a pseudonym of 1 to 9 digits, the first not 0, or * in all cells", r"^(\*|[1-9][0-9]{0,8})$", _as_text
)
ITEM_SET = ColumnType(
    f"{ITEM.expected}, a set {{a;b;…}} of 1 to {LARGEST_SET} different ones, or *",
    r"^(\*|[A-Z0-9]{1,9}|\{[A-Z0-9]{1,9}(;[A-Z0-9]{1,9})*\})$",
    _as_text,
)
# Other than in T, leading zeros are allowed.
RELEASED_DATE = replace(DATE, expected="a real date YYYY/M/D", pattern=r"^[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}$")
_CELLS = {
    "date": _or_range(RELEASED_DATE),
    "item": ITEM_SET,
    "price": _or_range(PRICE),
    "quantity": _or_range(QUANTITY),
}
HISTORY = StrictFile(
    {"customer": CUSTOMER, "date": DATE, "item": ITEM, "price": PRICE, "quantity": QUANTITY}, longest_line=LONGEST_LINE
)
RELEASE = StrictFile({"customer": PSEUDONYM_OR_STAR, **_CELLS}, longest_line=LONGEST_LINE, mixes_line_ends=True)
PUBLISHED = StrictFile({"customer": PSEUDONYM, **_CELLS}, longest_line=LONGEST_LINE)
# Whoever dares to name nobody hands in an empty file.
GUESS = StrictFile(
    {"pseudonym": PSEUDONYM, "customer": CUSTOMER},
    longest_line=LONGEST_LINE,
    mixes_line_ends=True,
    may_be_empty=True,
)


def read_history(path: Path | str) -> History:
    """Read T; invoice and time are missing."""
    return History.of(HISTORY.read(path), name="T")


def write_history(history: History, path: Path | str, *, line_end: str = LINE_END) -> None:
    """Write T."""
    HISTORY.write(history.frame, path, line_end=line_end)


def read_release(path: Path | str) -> GeneralizedHistory:
    """Read A."""
    return _read_cells(RELEASE, path, "A")


def write_release(release: GeneralizedHistory, path: Path | str, *, line_end: str = LINE_END) -> None:
    """Write A."""
    _write_cells(RELEASE, text_of(release, CONTEST), path, line_end)


def read_published(path: Path | str) -> GeneralizedHistory:
    """Read A′, in which no row is deleted."""
    return _read_cells(PUBLISHED, path, "A′")


def write_published(release: GeneralizedHistory, path: Path | str, *, line_end: str = LINE_END) -> None:
    """Write A′ from A: the kept rows, sorted as text, so that their order tells nothing of T."""
    _write_cells(PUBLISHED, published_text(text_of(release, CONTEST)), path, line_end)


def read_guess(path: Path | str) -> pl.DataFrame:
    """Read F′: pseudonym and customer, for any of the pseudonyms."""
    return GUESS.read(path)


def write_guess(guess: pl.DataFrame, path: Path | str, *, line_end: str = LINE_END) -> None:
    """Write F′."""
    GUESS.write(guess, path, line_end=line_end)


def _read_cells(form: StrictFile, path: Path | str, name: str) -> GeneralizedHistory:
    text = form.read(path)
    release = cells_of(text, name, CONTEST)
    _check_cells(release, text, form, path)
    return release


def _write_cells(form: StrictFile, text: pl.DataFrame, path: Path | str, line_end: str) -> None:
    _check_cells(cells_of(text, str(path), CONTEST), text, form, path)
    form.write(text, path, line_end=line_end)


def _check_cells(release: GeneralizedHistory, text: pl.DataFrame, form: StrictFile, path: Path | str) -> None:
    """Refuse what only looks well: days that do not exist, ranges upside down, repeated items, half a deletion."""
    columns = (release.date, release.item, release.price, release.quantity)
    is_left = pl.any_horizontal(*(column.kind != Kind.SUPPRESSED for column in columns))
    is_bad = {
        "customer": release.is_deleted & pl.select(is_left).to_series(),
        "date": release.date.kind == Kind.BROKEN,
        "item": (release.item.kind == Kind.BROKEN) | (release.item.sizes() > LARGEST_SET).fill_null(False),
        "price": release.price.kind == Kind.BROKEN,
        "quantity": release.quantity.kind == Kind.BROKEN,
    }
    faults = FaultList(str(path))
    for name, kind in form.types.items():
        # No pattern allows a line end, so a row is a line.
        add_value_faults(text[name], is_bad[name], kind.expected, faults)
    faults.raise_if_any()
