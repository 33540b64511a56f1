"""The files of PWSCUP 2017: UTF-8 CSV without a header, plain or gzipped.

| file      | holds                                   | read as                                   |
|-----------|-----------------------------------------|-------------------------------------------|
| M         | customers: sex, birth decade, country   | frame                                     |
| T         | the original history                    | History                                   |
| A(T)      | the release, row by row as T            | History, missing where `DEL,,,,,,` stands |
| S         | the release as published: kept, shuffled | History                                   |
| F, Fh     | pseudonym by customer and month         | frame, missing where `DEL` stands         |
| T_α       | what the attacker knows of T            | History, missing where unknown            |

Only the form is checked here; what the rules ask of a release against T is checked by the contest.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from tokumei.data.files.columns import ColumnType
from tokumei.data.files.csv import check_has_columns
from tokumei.data.files.strict import (
    CUSTOMER,
    DATE,
    DELETED,
    ITEM,
    LINE_END,
    PRICE,
    PSEUDONYM,
    QUANTITY,
    SEX,
    TIME,
    StrictFile,
    one_of,
    read_date,
)
from tokumei.data.history import History, period_name

COUNTRIES = ("United Kingdom", "France", "Germany", "Others")
# December 2010 to November 2011.
PERIODS = tuple(period_name(period) for period in range(2010 * 12 + 11, 2011 * 12 + 11))

BIRTH_DECADE = ColumnType("a birth decade 1930/1/1, 1940/1/1, … 1980/1/1", r"^19[3-8]0/1/1$", read_date)
# An attacker learns no more than the kind of an item.
N_KNOWN_CHARACTERS = 2
ITEM_START = ColumnType("the first 1 or 2 characters of an item", r"^[A-Z0-9]{1,2}$", ITEM.read, takes_names=True)

# DEL would be taken for a deleted row, so as a pseudonym it reads as nothing.
RELEASED_PSEUDONYM = replace(
    PSEUDONYM,
    expected=f"{PSEUDONYM.expected}, other than {DELETED}",
    read=lambda cell: pl.when(cell != DELETED).then(cell),
)

_PURCHASE = {
    "invoice": one_of("0"),
    "date": DATE,
    "time": TIME,
    "item": ITEM,
    "price": PRICE,
    "quantity": QUANTITY,
}
MASTER = StrictFile({"customer": CUSTOMER, "sex": SEX, "birth": BIRTH_DECADE, "country": one_of(*COUNTRIES)})
HISTORY = StrictFile({"customer": CUSTOMER, **_PURCHASE})
RELEASE = StrictFile({"customer": RELEASED_PSEUDONYM, **_PURCHASE}, may_delete=True)
PUBLISHED = StrictFile({"customer": RELEASED_PSEUDONYM, **_PURCHASE})
KNOWLEDGE = StrictFile({"customer": CUSTOMER, **_PURCHASE, "item": ITEM_START}, may_delete=True)
# What is known may also be all of T.
KNOWN = StrictFile({"customer": CUSTOMER, **_PURCHASE}, may_delete=True)
PSEUDONYMS = StrictFile({"customer": CUSTOMER, **dict.fromkeys(PERIODS, PSEUDONYM)})


def read_master(path: Path | str) -> pl.DataFrame:
    """Read M: customer, sex, birth and country."""
    return MASTER.read(path)


def write_master(master: pl.DataFrame, path: Path | str, *, line_end: str = LINE_END) -> None:
    """Write M."""
    MASTER.write(master, path, line_end=line_end)


def read_history(path: Path | str) -> History:
    """Read T."""
    return History(HISTORY.read(path), "T")


def write_history(history: History, path: Path | str, *, line_end: str = LINE_END) -> None:
    """Write T."""
    HISTORY.write(history.frame, path, line_end=line_end)


def read_release(path: Path | str) -> History:
    """Read A(T); a deleted row is missing in every column."""
    return History(RELEASE.read(path), "A(T)")


def write_release(release: History, path: Path | str, *, line_end: str = LINE_END) -> None:
    """Write A(T)."""
    RELEASE.write(release.frame, path, line_end=line_end)


def read_published(path: Path | str) -> History:
    """Read S, in which no row is deleted."""
    return History(PUBLISHED.read(path), "S")


def write_published(published: History, path: Path | str, *, line_end: str = LINE_END) -> None:
    """Write S in the order given."""
    PUBLISHED.write(published.frame, path, line_end=line_end)


def read_knowledge(path: Path | str) -> History:
    """Read T_α: unknown rows are missing in every column, items have their first two characters."""
    return History(KNOWLEDGE.read(path), "T_α")


def read_known_history(path: Path | str) -> History:
    """Read T_α, or all of T, whose rows are all known and whose items are whole."""
    frame = KNOWN.read(path)
    is_cut = (frame["item"].str.len_chars() <= N_KNOWN_CHARACTERS).all()
    # Rows are unknown in T_α alone, which has no whole items: its own form says where they stand.
    return read_knowledge(path) if frame["customer"].has_nulls() and not is_cut else History(frame, "T_α")


def write_knowledge(knowledge: History, path: Path | str, *, line_end: str = LINE_END) -> None:
    """Write T_α."""
    KNOWLEDGE.write(knowledge.frame, path, line_end=line_end)


def read_truth(path: Path | str) -> pl.DataFrame:
    """Read F: a column for the customer and one for each month, missing where the customer has no row in S."""
    frame = PSEUDONYMS.read(path)
    return frame.with_columns(pl.when(pl.col(period) != DELETED).then(pl.col(period)) for period in PERIODS)


def write_truth(truth: pl.DataFrame, path: Path | str, *, line_end: str = LINE_END) -> None:
    """Write F."""
    check_has_columns(PSEUDONYMS.types, truth.columns, path)
    PSEUDONYMS.write(truth.with_columns(pl.col(PERIODS).fill_null(DELETED)), path, line_end=line_end)


def read_guess(path: Path | str) -> pl.DataFrame:
    """Read Fh, an attacker's guess in the form of F."""
    return read_truth(path)


def write_guess(guess: pl.DataFrame, path: Path | str, *, line_end: str = LINE_END) -> None:
    """Write Fh."""
    write_truth(guess, path, line_end=line_end)
