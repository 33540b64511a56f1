from __future__ import annotations

from datetime import date, datetime, time

import polars as pl
import pytest

from tokumei.core.errors import Fault, InputError
from tokumei.data.online_retail import clean_retail, to_history, with_smallest_customers

AT = datetime(2010, 12, 1, 8, 26)
FRAME = pl.DataFrame(
    {
        "InvoiceNo": ["536365", "C536379", "536370", "536414", "536500", "536501", "536502", "536503"],
        "StockCode": ["85123A", "D", "POST", "22139", "PADS", "BANK CHARGES", "21258", "21259"],
        "Description": ["kept", "returned", "kept", "no customer", "pads", "charges", "unspecified", "free"],
        "Quantity": [6, -1, 3, 56, 1, 1, 2, 2],
        "InvoiceDate": [AT] * 8,
        "UnitPrice": [2.55, 27.5, 18.0, 4.0, 0.5, 15.0, 1.0, 0.0],
        "CustomerID": [17850, 14527, 9999, None, 12348, 12348, 12348, 12348],
        "Country": ["United Kingdom", "France", "France", "EIRE", "EIRE", "EIRE", "Unspecified", "EIRE"],
    }
)


def test_clean_retail_keeps_goods_bought_by_known_customers() -> None:
    assert clean_retail(FRAME)["Description"].to_list() == ["kept", "kept"]


@pytest.mark.parametrize("customer", [pl.Float64, pl.String, pl.Int32])
def test_clean_retail_takes_other_spellings_and_types(customer: pl.DataType) -> None:
    frame = FRAME.rename({"InvoiceNo": "Invoice", "CustomerID": "Customer ID", "UnitPrice": "Price"})
    cleaned = clean_retail(
        frame.with_columns(pl.col("Customer ID").cast(customer), pl.col("Quantity").cast(pl.Float64))
    )
    assert cleaned.equals(clean_retail(FRAME))


@pytest.mark.parametrize("form", ["%Y-%m-%d %H:%M:%S", "%m/%d/%Y %H:%M", "%-m/%-d/%Y %-H:%M", "%Y-%m-%dT%H:%M:%S"])
def test_clean_retail_takes_text_as_a_csv_file_gives_it(form: str) -> None:
    text = FRAME.with_columns(pl.col("InvoiceDate").dt.to_string(form)).select(pl.all().cast(pl.String))
    assert to_history(clean_retail(text)).frame.equals(to_history(clean_retail(FRAME)).frame)


def test_to_history_has_customers_as_text_and_keeps_the_order() -> None:
    history = to_history(clean_retail(FRAME))
    assert history.frame.rows() == [
        ("17850", "536365", date(2010, 12, 1), time(8, 26), "85123A", 2.55, 6),
        ("9999", "536370", date(2010, 12, 1), time(8, 26), "POST", 18.0, 3),
    ]


def test_smallest_customers_are_compared_as_numbers() -> None:
    history = to_history(clean_retail(FRAME))
    assert with_smallest_customers(history, 1).customers == ["9999"]
    assert with_smallest_customers(history, 5).n_rows == 2


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("Quantity", "6.5", "a whole number"),
        ("UnitPrice", "free", "a number"),
        ("InvoiceDate", "2010-02-30 08:26:00", "a date and time"),
        ("CustomerID", "A17850", "a customer number"),
    ],
)
def test_cell_that_does_not_fit_is_named(column: str, value: str, expected: str) -> None:
    text = FRAME.with_columns(pl.col("InvoiceDate").dt.to_string("%Y-%m-%d %H:%M:%S")).select(pl.all().cast(pl.String))
    text = text.with_columns(text[column].scatter(2, value))
    with pytest.raises(InputError) as caught:
        clean_retail(text)
    assert caught.value.faults == (Fault(expected, "online retail", 3, column, value),)


def test_missing_or_doubled_column_is_named() -> None:
    with pytest.raises(InputError, match="one column named CustomerID or Customer ID"):
        clean_retail(FRAME.drop("CustomerID"))
    with pytest.raises(InputError, match="one column named UnitPrice or Price"):
        clean_retail(FRAME.with_columns(Price=1.0))
