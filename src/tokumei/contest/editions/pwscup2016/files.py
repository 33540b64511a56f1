"""The files of PWSCUP 2016, its rules, and the checks that hold submissions against them.

Files are UTF-8 CSV without a header, plain or gzipped.

| file | holds                                     | read as                                      |
|------|-------------------------------------------|----------------------------------------------|
| M    | customers: sex, birth date, country       | frame                                        |
| T    | the original history with real invoices   | History                                      |
| M′   | the released customers, under pseudonyms  | frame                                        |
| T′   | the released history, under pseudonyms    | History                                      |
| P    | which row of M each row of M′ was         | series of row numbers, each of 1…n once      |
| Q    | an attacker's guess of P                  | series of row numbers of 1…n, repeats allowed |

P and Q have one row number a line, counted from 1: line i of P names the customer, by the row of M, that row i of M′
came from; T′ names customers by the ids of M′.

The papers print the files and how they are scored, and few rules. Those here are the ones without which the scores mean
nothing: the customers of the original, one line each, values that are possible, and a P that is a permutation of the
customers. Rows of T may be changed, left out and added, as the paper on Jaccard adds dummy records. Whether P is *true*
is no rule, since no check can prove it; see `contest/yamaoka.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from tokumei.contest.checks import (
    DATE_FORM,
    FILE_FORM,
    ITEM_OF_T,
    NO_CUSTOMER_ID,
    PRICE_FORM,
    QUANTITY_FORM,
    TIME_FORM,
    HistoryFile,
    RowFaults,
    Together,
    read_submitted_rows,
)
from tokumei.contest.edition import Files, Rule
from tokumei.core.errors import FaultList
from tokumei.core.text import Text, counted
from tokumei.data.files.strict import (
    CUSTOMER,
    DATE,
    ITEM,
    PRICE,
    PSEUDONYM,
    QUANTITY,
    ROW,
    ROWS,
    ROWS_LINE_END,
    SEX,
    TIME,
    ColumnType,
    StrictFile,
    add_value_faults,
    read_rows,
    write_rows,
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
MASTER, RELEASED_MASTER = (
    StrictFile({"customer": one, **_PERSON}, line_end=ROWS_LINE_END) for one in (CUSTOMER, PSEUDONYM)
)
HISTORY, RELEASED_HISTORY = (
    HistoryFile(StrictFile({"customer": one, **_PURCHASE}, line_end=ROWS_LINE_END), name)
    for one, name in ((CUSTOMER, "T"), (PSEUDONYM, "T′"))
)
# M, T, M′ and T′.
read_master, write_master = MASTER.read, MASTER.write
read_history, write_history = HISTORY.read, HISTORY.write
read_released_master, write_released_master = RELEASED_MASTER.read, RELEASED_MASTER.write
read_released_history, write_released_history = RELEASED_HISTORY.read, RELEASED_HISTORY.write
# P and Q, which hold nothing but row numbers.
write_permutation = write_guess = write_rows


def read_permutation(path: Path | str) -> pl.Series:
    """Read P, in which each row number from 1 to the number of lines stands once."""
    rows = read_guess(path)
    faults = FaultList(str(path))
    add_value_faults(rows, ~rows.is_first_distinct(), "each row number once", faults)
    faults.raise_if_any()
    return rows


def read_guess(path: Path | str) -> pl.Series:
    """Read Q, in which an attacker may name one customer for several."""
    rows = read_rows(path)
    faults = FaultList(str(path))
    add_value_faults(rows, rows > len(rows), f"a row number of at most {len(rows):,}, the number of lines", faults)
    faults.raise_if_any()
    return rows


# Longer names carry notes to oneself, and nobody needs them.
LONGEST_PSEUDONYM = 20
# Far more than any dummies need, and few enough to be scored.
MOST_ROWS = 10
RELEASED_PSEUDONYM = replace(
    PSEUDONYM,
    expected=Text("a pseudonym of 1 to {n} letters, digits, _ or -", n=LONGEST_PSEUDONYM),
    pattern=rf"^[A-Za-z0-9_-]{{1,{LONGEST_PSEUDONYM}}}$",
)

MASTER_CELLS: Mapping[str, tuple[str, ColumnType]] = {
    "customer": ("pseudonym-form", RELEASED_PSEUDONYM),
    "sex": ("sex-form", SEX),
    "birth": ("birth-form", DATE),
}
HISTORY_CELLS: Mapping[str, tuple[str, ColumnType]] = {
    "customer": ("pseudonym-form", RELEASED_PSEUDONYM),
    "invoice": ("invoice-form", INVOICE),
    "date": ("date-form", DATE),
    "time": ("time-form", TIME),
    "price": ("price-form", PRICE),
    "quantity": ("quantity-form", QUANTITY),
}

RELEASE_RULES = (
    FILE_FORM,
    Rule(
        "customers-kept",
        "M_release has as many lines as M has customers, and no pseudonym stands in two of them.",
        "M_release の行数は M の顧客数と同じとし、同じ仮名を二度書かない。",
    ),
    Rule(
        "pseudonym-form",
        f"A pseudonym has 1 to {LONGEST_PSEUDONYM} letters, digits, _ or -.",
        f"仮名は英数字、_、- からなる{LONGEST_PSEUDONYM}文字以内とする。",
    ),
    NO_CUSTOMER_ID,
    Rule("sex-form", "The sex is f or m.", "性別は f または m とする。"),
    Rule(
        "birth-form",
        "The birth date exists and is written YYYY/M/D.",
        "生年月日は実在する日付とし、YYYY/M/D の形式で書く。",
    ),
    Rule("country-of-m", "The country occurs in M.", "国名は M に現れるものに限る。"),
    Rule(
        "rows-limit",
        f"T_release has at most {MOST_ROWS} times as many rows as T; rows may be left out, and their order is free.",
        f"T_release の行数は T の {MOST_ROWS} 倍以下とする。行は削除してもよく、順序は自由とする。",
    ),
    Rule("pseudonym-of-m", "Every pseudonym of T_release is in M_release.", "T_release の仮名は M_release に現れる。"),
    Rule(
        "invoice-form",
        "The invoice has 1 to 9 upper-case letters or digits.",
        "伝票IDは英大文字と数字からなる9文字以内とする。",
    ),
    DATE_FORM,
    Rule(
        "date-in-range",
        "The date lies between the first and the last day of T.",
        "購入日は T の最初の日から最後の日までとする。",
    ),
    TIME_FORM,
    ITEM_OF_T,
    PRICE_FORM,
    QUANTITY_FORM,
    Rule(
        "permutation",
        "Line i of P is the row of M that row i of M_release came from, counted from 1; each row stands there once.",
        "P の i 行目は M_release の i 行目の元となった M の行番号（1から数える）とし、各番号はちょうど一度だけ現れる。",
    ),
)
GUESS_RULES = (
    FILE_FORM,
    Rule(
        "row-for-row",
        "Q has one line for each row of M_release, in its order.",
        "Q の行数は M_release の行数と同じとし、その順に書く。",
    ),
    Rule(
        "row-of-m",
        "Each line of Q is a row number of M, counted from 1; one customer may be named for several.",
        "Q の各行は M の行番号（1から数える）とする。同じ番号を何度書いてもよい。",
    ),
)

ROW_OF_M = "a row of M, from 1 to {n_rows:,}"
NO_CUSTOMER = "a pseudonym that is no customer id"
ONE_A_CUSTOMER = "{n_rows:,} row numbers, one for each row of M_release"


@dataclass(frozen=True)
class Originals:
    """M and T, the data that everybody has."""

    master: pl.DataFrame
    history: History

    @classmethod
    def read(cls, data: Files) -> Originals:
        """Read both; T must name only customers of M, and M each of them once."""
        master, history = read_master(data["M"]), read_history(data["T"])
        twice = FaultList(str(data["M"]))
        add_value_faults(master["customer"], ~master["customer"].is_first_distinct(), "each customer once", twice)
        twice.raise_if_any()
        faults = FaultList(str(data["T"]))
        customer = history.frame["customer"]
        add_value_faults(customer, ~customer.is_in(master["customer"].implode()), "a customer of M", faults)
        faults.raise_if_any()
        return cls(master, history)

    @property
    def n_customers(self) -> int:
        """Number of rows of M."""
        return self.master.height


def check_release(originals: Originals, release: Files) -> None:
    """Raise one InputError with every fault of M_release, T_release and P."""
    faults = Together()
    names = faults.try_to(lambda: _check_master(originals, release["M_release"]))
    faults.try_to(lambda: _check_history(originals, release["T_release"], names))
    faults.try_to(lambda: _check_permutation(originals, release["P"]))
    faults.raise_if_any()


def _check_master(originals: Originals, path: Path) -> pl.Series:
    """Check M_release and give its pseudonyms."""
    text = read_submitted_rows(RELEASED_MASTER, path)
    faults = RowFaults(text)
    names = faults.read(MASTER_CELLS)["customer"]
    faults.check_no_customer(names, originals.master["customer"], NO_CUSTOMER)
    is_again = names.is_not_null() & ~names.is_first_distinct()
    faults.add_cells("customers-kept", "customer", is_again, "each pseudonym once")
    faults.check_known("country-of-m", text.frame["country"], originals.master["country"], "a country of M")
    expected = "{n_rows:,} lines, as many as M has customers"
    faults.check_n_rows(originals.n_customers, "customers-kept", expected, "line")
    faults.raise_if_any()
    return names


def _check_history(originals: Originals, path: Path, names: pl.Series | None) -> None:
    """Check T_release; its pseudonyms are compared where M_release is sound, else each would be one more fault."""
    text = read_submitted_rows(RELEASED_HISTORY.form, path)
    faults = RowFaults(text)
    cells = faults.read(HISTORY_CELLS)
    faults.check_no_customer(cells["customer"], originals.master["customer"], NO_CUSTOMER)
    if names is not None:
        # One fault a cell: a customer id is told above.
        known = pl.concat([names, originals.master["customer"]])
        expected = "a pseudonym of M_release"
        faults.check_known("pseudonym-of-m", cells["customer"], known, expected, may_be_empty=True)
    first, last = originals.history.frame.select(pl.col("date").min().alias("first"), pl.col("date").max()).row(0)
    is_outside = ~cells["date"].is_between(first, last).fill_null(True)
    span = {"first": str(first), "last": str(last)}
    faults.add_cells("date-in-range", "date", is_outside, "a date from {first} to {last}, as in T", span)
    faults.check_known("item-of-t", text.frame["item"], originals.history.frame["item"], "an item of T")
    n_most, n_found = MOST_ROWS * originals.history.n_rows, text.frame.height
    if n_found > n_most:
        found = counted(n_found, "row")
        faults.add("rows-limit", "at most {n_most:,} rows", row=n_most, value=found, parameters={"n_most": n_most})
    faults.raise_if_any()


def _check_permutation(originals: Originals, path: Path) -> None:
    faults = RowFaults(read_submitted_rows(ROWS, path))
    rows = faults.read_row_numbers("permutation", "row", ROW, originals.n_customers, ROW_OF_M)
    is_again = (rows <= originals.n_customers).fill_null(False) & ~rows.is_first_distinct()
    faults.add_cells("permutation", "row", is_again, "each row of M once")
    faults.check_n_rows(originals.n_customers, "permutation", ONE_A_CUSTOMER, "line")
    faults.raise_if_any()


def check_guess(originals: Originals, path: Path) -> None:
    """Raise one InputError with every fault of Q."""
    faults = RowFaults(read_submitted_rows(ROWS, path))
    faults.read_row_numbers("row-of-m", "row", ROW, originals.n_customers, ROW_OF_M)
    faults.check_n_rows(originals.n_customers, "row-for-row", ONE_A_CUSTOMER, "line")
    faults.raise_if_any()
