"""The files of PWSCUP 2017, its rules, and the checks that hold submissions against them.

Files are UTF-8 CSV without a header, plain or gzipped.

| file      | holds                                   | read as                                   |
|-----------|-----------------------------------------|-------------------------------------------|
| M         | customers: sex, birth decade, country   | frame                                     |
| T         | the original history                    | History                                   |
| A(T)      | the release, row by row as T            | History, missing where `DEL,,,,,,` stands |
| S         | the release as published: kept, shuffled | History                                   |
| F, Fh     | pseudonym by customer and month         | frame, missing where `DEL` stands         |
| T_α       | what the attacker knows of T            | History, missing where unknown            |

A row moved to another place shows only where its date leaves the month, or its pseudonym the customer, that stand there
in T: two rows of one customer and month that change places cannot be told from rows that were changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import polars as pl

from tokumei.contest.checks import (
    DATE_FORM,
    FILE_FORM,
    ITEM_OF_T,
    NO_CUSTOMER_ID,
    PRICE_FORM,
    QUANTITY_FORM,
    SAME_ROWS,
    TIME_FORM,
    HistoryFile,
    RowFaults,
    read_submitted_rows,
)
from tokumei.contest.edition import Files, Rule
from tokumei.core.errors import FaultList, PromiseBroken
from tokumei.core.text import Text, counted
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
    ColumnType,
    StrictFile,
    add_value_faults,
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
HISTORY = HistoryFile(StrictFile({"customer": CUSTOMER, **_PURCHASE}), "T")
RELEASE = HistoryFile(StrictFile({"customer": RELEASED_PSEUDONYM, **_PURCHASE}, may_delete=True), "A(T)")
PUBLISHED = HistoryFile(StrictFile({"customer": RELEASED_PSEUDONYM, **_PURCHASE}), "S")
# Unknown rows are missing in every column, and items have their first two characters.
KNOWLEDGE = HistoryFile(StrictFile({"customer": CUSTOMER, **_PURCHASE, "item": ITEM_START}, may_delete=True), "T_α")
# What is known may also be all of T.
KNOWN = StrictFile({"customer": CUSTOMER, **_PURCHASE}, may_delete=True)
PSEUDONYMS = StrictFile({"customer": CUSTOMER, **dict.fromkeys(PERIODS, PSEUDONYM)})

read_master, write_master = MASTER.read, MASTER.write
read_history, write_history = HISTORY.read, HISTORY.write
read_release, write_release = RELEASE.read, RELEASE.write
read_published, write_published = PUBLISHED.read, PUBLISHED.write
read_knowledge, write_knowledge = KNOWLEDGE.read, KNOWLEDGE.write


def read_known_history(path: Path | str) -> History:
    """Read T_α, or all of T, whose rows are all known and whose items are whole."""
    frame = KNOWN.read(path)
    is_cut = (frame["item"].str.len_chars() <= N_KNOWN_CHARACTERS).all()
    # Rows are unknown in T_α alone, which has no whole items: its own form says where they stand.
    return read_knowledge(path) if frame["customer"].has_nulls() and not is_cut else History(frame, "T_α")


def read_truth(path: Path | str) -> pl.DataFrame:
    """Read F or Fh: a column for the customer and one for each month, missing where the customer has no row in S."""
    frame = PSEUDONYMS.read(path)
    return frame.with_columns(pl.when(pl.col(period) != DELETED).then(pl.col(period)) for period in PERIODS)


def write_truth(truth: pl.DataFrame, path: Path | str, *, line_end: str = LINE_END) -> None:
    """Write F."""
    check_has_columns(PSEUDONYMS.types, truth.columns, path)
    PSEUDONYMS.write(truth.with_columns(pl.col(PERIODS).fill_null(DELETED)), path, line_end=line_end)


FIRST_PERIOD = 2010 * 12 + 11
LAST_PERIOD = FIRST_PERIOD + len(PERIODS) - 1

RELEASE_RULES = (
    FILE_FORM,
    SAME_ROWS,
    Rule(
        "half-kept",
        "At least half of the rows, rounded down, are kept.",
        "少なくとも半数（端数切り捨て）の行を残す。",
    ),
    Rule(
        "deleted-whole",
        f"A deleted row is {DELETED} in the first cell and nothing in the six others.",
        f"削除した行は先頭セルを {DELETED} とし、残り6セルを空にする。",
    ),
    Rule(
        "pseudonym-form",
        f"A pseudonym is made of letters, digits, _ and -, and is not {DELETED}.",
        f"仮名は英数字、_、- からなり、{DELETED} であってはならない。",
    ),
    NO_CUSTOMER_ID,
    Rule("invoice-zero", "The invoice is 0.", "伝票IDは 0 とする。"),
    DATE_FORM,
    Rule("same-month", "The date stays in the month of the same row of T.", "購入日は T の同じ行と同じ年月とする。"),
    TIME_FORM,
    ITEM_OF_T,
    PRICE_FORM,
    QUANTITY_FORM,
    Rule(
        "one-pseudonym-a-month",
        "A customer has one pseudonym in all rows of a month.",
        "同じ顧客の同じ月の行には同じ仮名を付ける。",
    ),
    Rule(
        "no-shared-pseudonym",
        "Two customers never share a pseudonym in one month.",
        "同じ月に異なる顧客へ同じ仮名を付けてはならない。",
    ),
)
GUESS_RULES = (
    FILE_FORM,
    Rule(
        "customers-of-m",
        "The first cell of a line is a customer of M.",
        "各行の先頭セルは M の顧客IDとする。",
    ),
    Rule(
        "each-customer-once",
        "Every customer of M has one line; the order of the lines does not matter.",
        "M の全顧客についてちょうど1行ずつ書く。行の順序は問わない。",
    ),
    Rule(
        "pseudonym-of-s",
        f"The twelve other cells, December 2010 to November 2011, are each a pseudonym of S or {DELETED}.",
        f"残り12セル（2010年12月〜2011年11月）は S に現れる仮名または {DELETED} とする。",
    ),
)

# Rule and type of each column; of items only T can tell.
CELLS = {
    "customer": ("pseudonym-form", RELEASED_PSEUDONYM),
    "invoice": ("invoice-zero", one_of("0")),
    "date": ("date-form", DATE),
    "time": ("time-form", TIME),
    "price": ("price-form", PRICE),
    "quantity": ("quantity-form", QUANTITY),
}


@dataclass(frozen=True)
class Originals:
    """M and T, the data that everybody has."""

    master: pl.DataFrame
    history: History

    @classmethod
    def read(cls, data: Files) -> Originals:
        """Read both; T must lie in the twelve months and name only customers of M."""
        master, history = read_master(data["M"]), read_history(data["T"])
        faults = FaultList(str(data["T"]))
        is_outside = ~history.period.is_between(FIRST_PERIOD, LAST_PERIOD)
        expected = Text("a date from {first} to {last}", first=PERIODS[0], last=PERIODS[-1])
        add_value_faults(history.frame["date"], is_outside, expected, faults)
        customer = history.frame["customer"]
        add_value_faults(customer, ~customer.is_in(master["customer"].implode()), "a customer of M", faults)
        faults.raise_if_any()
        twice = FaultList(str(data["M"]))
        add_value_faults(master["customer"], ~master["customer"].is_first_distinct(), "each customer once", twice)
        twice.raise_if_any()
        return cls(master, history)

    @property
    def customers(self) -> list[str]:
        """The customers in the order of M."""
        return self.master["customer"].to_list()

    @cached_property
    def items(self) -> pl.Series:
        """The items of T."""
        return self.history.frame["item"].unique()


def check_two_anonymous(master: pl.DataFrame) -> None:
    """Refuse an M in which somebody is the only one of a sex, birth decade and country: it would name who it is."""
    n_alone = int(master.select((pl.len().over("sex", "birth", "country") == 1).sum()).item())
    if n_alone and master.height > 1:
        raise PromiseBroken(
            Text("M is not 2-anonymous: {n:,} of {m:,} customers are unlike all others.", n=n_alone, m=master.height)
        )


def check_release(originals: Originals, path: Path) -> None:
    """Raise one InputError with every fault of A(T)."""
    text = read_submitted_rows(RELEASE.form, path)
    faults = RowFaults(text)
    frame = text.frame
    is_deleted = faults.check_deleted("deleted-whole")
    cells = faults.read(CELLS, pl.lit(is_deleted))
    faults.check_no_customer(cells["customer"], originals.master["customer"], "a pseudonym that is no customer id")
    is_unknown = ~frame["item"].is_in(originals.items.implode()).fill_null(False)
    faults.add_cells("item-of-t", "item", is_unknown & ~is_deleted, "an item of T")
    _check_half_kept(faults, is_deleted, originals.history.n_rows)
    # Where a row is missing, every later one would be held against a wrong row of T.
    if faults.check_n_rows(originals.history.n_rows):
        _check_against(faults, originals.history, cells)
    faults.raise_if_any()


def _check_half_kept(faults: RowFaults, is_deleted: pl.Series, n_rows: int) -> None:
    """Refuse the first row deleted beyond what is allowed, naming how many there are in all."""
    # The organizers' own sample keeps 22,458 rows of 44,917: half, rounded down.
    n_most = n_rows - n_rows // 2
    deleted = is_deleted.arg_true()
    if len(deleted) > n_most:
        expected = "at most {n_most:,} of {n_rows:,} rows deleted"
        found = Text("{rows} deleted", rows=counted(len(deleted), "row"))
        known = {"n_most": n_most, "n_rows": n_rows}
        faults.add("half-kept", expected, row=deleted[n_most], column="customer", value=found, parameters=known)


def _check_against(faults: RowFaults, history: History, cells: pl.DataFrame) -> None:
    """Hold months and pseudonyms against the same rows of T."""
    periods = history.period
    faults.check_same_month(cells["date"], periods)
    keys = pl.DataFrame({"customer": history.frame["customer"], "period": periods})
    rules = ("one-pseudonym-a-month", "no-shared-pseudonym")
    faults.check_names(rules, cells["customer"], keys, is_monthly=True)


def check_guess(originals: Originals, published: History, path: Path) -> None:
    """Raise one InputError with every fault of Fh."""
    text = read_submitted_rows(PSEUDONYMS, path)
    faults = RowFaults(text)
    rules = ("customers-of-m", "each-customer-once")
    faults.check_one_line_each(rules, text.frame["customer"], originals.master["customer"], "customer of M")
    names = pl.Series([*published.customers, DELETED])
    for period in PERIODS:
        faults.check_known("pseudonym-of-s", text.frame[period], names, f"a pseudonym of S or {DELETED}")
    faults.raise_if_any()
