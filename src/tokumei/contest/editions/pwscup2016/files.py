"""The files of PWSCUP 2016: UTF-8 CSV without a header, plain or gzipped.

| file | holds                                     | read as                                      |
|------|-------------------------------------------|----------------------------------------------|
| M    | customers: sex, birth date, country       | frame                                        |
| T    | the original history with real invoices   | History                                      |
| M′   | the released customers, under pseudonyms  | frame                                        |
| T′   | the released history, under pseudonyms    | History                                      |
| P    | which row of M each row of M′ was         | series of row numbers, each of 1…n once      |
| Q    | an attacker's guess of P                  | series of row numbers of 1…n, repeats allowed |

P and Q have one row number a line, counted from 1: line i of P names the customer, by the row of M, that row i of M′
came from; T′ names customers by the ids of M′. Only the form is checked here; the rules are checked by the contest.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from tokumei.core.errors import FaultList
from tokumei.data.files.columns import ColumnType, add_value_faults
from tokumei.data.files.row_numbers import LINE_END, read_rows, write_rows
from tokumei.data.files.strict import (
    CUSTOMER,
    DATE,
    ITEM,
    PRICE,
    PSEUDONYM,
    QUANTITY,
    SEX,
    TIME,
    StrictFile,
)
from tokumei.data.history import History

COUNTRY = ColumnType("the name of a country", r"^\p{L}[\p{L} .'’-]{0,59}$", lambda cell: cell, takes_names=True)
INVOICE = ColumnType(
    "an invoice of 1 to 9 upper-case letters or digits", r"^[A-Z0-9]{1,9}$", lambda cell: cell, takes_names=True
)
_PERSON = {"sex": SEX, "birth": DATE, "country": COUNTRY}
_PURCHASE = {
    "invoice": INVOICE,
    "date": DATE,
    "time": TIME,
    "item": ITEM,
    "price": PRICE,
    "quantity": QUANTITY,
}
MASTER = StrictFile({"customer": CUSTOMER, **_PERSON})
RELEASED_MASTER = StrictFile({"customer": PSEUDONYM, **_PERSON})
HISTORY = StrictFile({"customer": CUSTOMER, **_PURCHASE})
RELEASED_HISTORY = StrictFile({"customer": PSEUDONYM, **_PURCHASE})


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


def read_released_master(path: Path | str) -> pl.DataFrame:
    """Read M′, whose customers are pseudonyms."""
    return RELEASED_MASTER.read(path)


def write_released_master(master: pl.DataFrame, path: Path | str, *, line_end: str = LINE_END) -> None:
    """Write M′."""
    RELEASED_MASTER.write(master, path, line_end=line_end)


def read_released_history(path: Path | str) -> History:
    """Read T′, whose customers are pseudonyms."""
    return History(RELEASED_HISTORY.read(path), "T′")


def write_released_history(history: History, path: Path | str, *, line_end: str = LINE_END) -> None:
    """Write T′."""
    RELEASED_HISTORY.write(history.frame, path, line_end=line_end)


def read_permutation(path: Path | str) -> pl.Series:
    """Read P, in which each row number from 1 to the number of lines stands once."""
    rows = read_guess(path)
    faults = FaultList(str(path))
    add_value_faults(rows, ~rows.is_first_distinct(), "each row number once", faults)
    faults.raise_if_any()
    return rows


def write_permutation(rows: pl.Series, path: Path | str, *, line_end: str = LINE_END) -> None:
    """Write P."""
    write_guess(rows, path, line_end=line_end)


def read_guess(path: Path | str) -> pl.Series:
    """Read Q, in which an attacker may name one customer for several."""
    rows = read_rows(path)
    faults = FaultList(str(path))
    add_value_faults(rows, rows > len(rows), f"a row number of at most {len(rows):,}, the number of lines", faults)
    faults.raise_if_any()
    return rows


def write_guess(rows: pl.Series, path: Path | str, *, line_end: str = LINE_END) -> None:
    """Write Q."""
    write_rows(rows, path, line_end=line_end)
