"""The rules of PWSCUP 2017, and the checks that hold submissions against them.

A row moved to another place shows only where its date leaves the month, or its pseudonym the customer, that stand there
in T: two rows of one customer and month that change places cannot be told from rows that were changed.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    RowFaults,
    read_rows,
)
from tokumei.contest.edition import Files, Rule
from tokumei.contest.editions.pwscup2017.files import (
    PERIODS,
    PSEUDONYMS,
    RELEASE,
    RELEASED_PSEUDONYM,
    read_history,
    read_master,
)
from tokumei.core.errors import FaultList, PromiseBroken
from tokumei.core.text import Text
from tokumei.core.wording import counted
from tokumei.data.files.columns import add_value_faults
from tokumei.data.files.strict import DATE, DELETED, PRICE, QUANTITY, TIME, one_of
from tokumei.data.history import History, period_name, period_of

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
    text = read_rows(RELEASE, path)
    faults = RowFaults(text)
    frame = text.frame
    deleted = (pl.col("customer") == DELETED).fill_null(False)
    for column in frame.columns[1:]:
        is_left = frame.select(deleted & pl.col(column).is_not_null()).to_series()
        faults.add_cells("deleted-whole", column, is_left, f"an empty cell after {DELETED}")
    cells = faults.read(CELLS, deleted)
    is_customer = cells["customer"].is_in(originals.master["customer"].implode()).fill_null(False)
    faults.add_cells("no-customer-id", "customer", is_customer, "a pseudonym that is no customer id")
    is_known = pl.col("item").is_in(originals.items.implode()).fill_null(False)
    faults.add_cells("item-of-t", "item", frame.select(~is_known & ~deleted).to_series(), "an item of T")
    _check_half_kept(faults, frame.select(deleted).to_series(), originals.history.n_rows)
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
    is_moved = cells.select((period_of(pl.col("date")) != periods).fill_null(False)).to_series()
    expected = "a day of {month}, the month in T"
    faults.add_cells("same-month", "date", is_moved, expected, lambda row: {"month": period_name(periods[row])})
    keys = pl.DataFrame({"customer": history.frame["customer"], "period": periods})
    rules = ("one-pseudonym-a-month", "no-shared-pseudonym")
    faults.check_names(rules, cells["customer"], keys, is_monthly=True)


def check_guess(originals: Originals, published: History, path: Path) -> None:
    """Raise one InputError with every fault of Fh."""
    text = read_rows(PSEUDONYMS, path)
    faults = RowFaults(text)
    customers, known = text.frame["customer"], originals.master["customer"]
    is_known = customers.is_in(known.implode()).fill_null(False)
    faults.add_cells("customers-of-m", "customer", ~is_known, "a customer of M")
    is_again = is_known & ~customers.is_first_distinct()
    faults.add_cells("each-customer-once", "customer", is_again, "one line for each customer")
    missing = known.filter(~known.is_in(customers.implode()))
    faults.add_rows("each-customer-once", missing, None, "a line for every customer of M, for this one too")
    names = pl.Series([*published.customers, DELETED])
    is_bad = text.frame.select(~pl.col(PERIODS).is_in(names.implode()).fill_null(False))
    for period in PERIODS:
        faults.add_cells("pseudonym-of-s", period, is_bad[period], f"a pseudonym of S or {DELETED}")
    faults.raise_if_any()
