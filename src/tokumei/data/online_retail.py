"""The Online Retail data of UCI, cleaned as the contests did."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tokumei.core.errors import FaultList, InputError
from tokumei.data.files.strict import add_value_faults
from tokumei.data.history import History

# The releases of UCI, and those who copied them, spell the columns in these ways.
SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "InvoiceNo": ("InvoiceNo", "Invoice"),
    "StockCode": ("StockCode",),
    "Quantity": ("Quantity",),
    "InvoiceDate": ("InvoiceDate",),
    "UnitPrice": ("UnitPrice", "Price"),
    "CustomerID": ("CustomerID", "Customer ID"),
    "Country": ("Country",),
}
# In a text file: as UCI's workbook shows it, and as most programs write it.
DATE_FORMATS = ("%m/%d/%Y %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S")
# They stand for no goods. POST, M, C2 and DOT do not either, yet the contests kept them.
LEFT_OUT_ITEMS = ("BANK CHARGES", "PADS")
LEFT_OUT_COUNTRY = "Unspecified"


def clean_retail(frame: pl.DataFrame) -> pl.DataFrame:
    """Keep the rows that the contests kept: a known customer who bought goods for money.

    The columns get the names and types of UCI's first release; other columns stay as they are.
    """
    bought = (pl.col("Quantity") > 0) & (pl.col("UnitPrice") > 0) & pl.col("CustomerID").is_not_null()
    left_out = pl.col("StockCode").is_in(LEFT_OUT_ITEMS) | pl.col("Country").eq_missing(LEFT_OUT_COUNTRY)
    return _with_uci_types(frame).filter(bought & ~left_out)


def to_history(frame: pl.DataFrame, *, name: str = "online retail") -> History:
    """Make a history of Online Retail rows, in their order."""
    return History.of(
        _with_uci_types(frame).select(
            customer="CustomerID",
            invoice="InvoiceNo",
            date=pl.col("InvoiceDate").dt.date(),
            time=pl.col("InvoiceDate").dt.time(),
            item="StockCode",
            price="UnitPrice",
            quantity="Quantity",
        ),
        name=name,
    )


def with_smallest_customers(history: History, n_customers: int) -> History:
    """Keep the customers with the smallest ids, compared as numbers; 400 give the set of PWSCUP 2016."""
    ids = history.frame["customer"].unique().drop_nulls()
    smallest = ids.gather(ids.cast(pl.Int64).arg_sort()[:n_customers])
    return History(history.frame.filter(pl.col("customer").is_in(smallest.implode())), history.name)


def _with_uci_types(frame: pl.DataFrame) -> pl.DataFrame:
    """Convert the columns to one spelling and one type each; a cell that has no such value is a fault."""
    named = frame.rename(_names_found(frame))
    typed = named.with_columns(
        InvoiceNo=_as_text("InvoiceNo"),
        StockCode=_as_text("StockCode"),
        Quantity=_as_whole("Quantity"),
        InvoiceDate=_as_datetime(named),
        UnitPrice=pl.col("UnitPrice").cast(pl.Float64, strict=False),
        CustomerID=_as_whole("CustomerID").cast(pl.String),
    )
    faults = FaultList("online retail")
    for column, expected in (
        ("Quantity", "a whole number"),
        ("InvoiceDate", "a date and time"),
        ("UnitPrice", "a number"),
        ("CustomerID", "a customer number"),
    ):
        is_bad = typed[column].is_null() & named[column].is_not_null()
        add_value_faults(named[column], is_bad, expected, faults)
    faults.raise_if_any()
    return typed


def _names_found(frame: pl.DataFrame) -> dict[str, str]:
    found = {}
    for name, spellings in SPELLINGS.items():
        present = [spelling for spelling in spellings if spelling in frame.columns]
        if len(present) != 1:
            expected = f"one column named {' or '.join(spellings)}"
            raise InputError.of(expected, file="online retail", column=name, value=", ".join(frame.columns))
        found[present[0]] = name
    return found


def _as_text(column: str) -> pl.Expr:
    """Return numbers as text, without the .0 that a column with missing values gets in other programs."""
    return pl.col(column).cast(pl.String).str.strip_suffix(".0")


def _as_whole(column: str) -> pl.Expr:
    """Return whole numbers, also those written with a .0; any other number reads as nothing."""
    number = pl.col(column).cast(pl.Float64, strict=False)
    whole = number.cast(pl.Int64, strict=False)
    return pl.when(whole == number).then(whole)


def _as_datetime(frame: pl.DataFrame) -> pl.Expr:
    column = pl.col("InvoiceDate")
    if frame.schema["InvoiceDate"] == pl.String:
        return pl.coalesce(column.str.to_datetime(form, strict=False) for form in DATE_FORMATS)
    return column.cast(pl.Datetime("ms"), strict=False)
