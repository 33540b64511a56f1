from __future__ import annotations

import datetime
from typing import Any

import polars as pl
import pytest

from tokumei.attacks.judge import published, truth_of
from tokumei.core.errors import InputError
from tokumei.data.history import History


def history(*customers: str | None) -> History:
    cells: dict[str, Any] = {"date": datetime.date(2011, 1, 5), "item": pl.lit("A"), "price": 1.0, "quantity": 1}
    # A deleted row is missing in every column.
    is_there = pl.col("customer").is_not_null()
    frame = pl.DataFrame({"customer": customers}, schema={"customer": pl.String}).with_columns(
        **{name: pl.when(is_there).then(value) for name, value in cells.items()}
    )
    return History.of(frame)


def test_truth_names_customers_with_rows_left() -> None:
    assert truth_of(history("a", "a", "b"), history("P", "P", None)).rows() == [("a", 24132, "P")]


def test_truth_of_a_release_with_other_rows_is_refused() -> None:
    with pytest.raises(InputError, match="the 2 rows of the original"):
        truth_of(history("a", "b"), history("P"))


def test_truth_with_two_pseudonyms_in_a_month_is_refused() -> None:
    with pytest.raises(InputError, match=r"'[PQ] beside a'.*--out has them.*one pseudonym for a customer and month"):
        truth_of(history("a", "a"), history("P", "Q"))


def test_published_rows_are_those_left_in_another_order() -> None:
    released = history(*(f"P{n}" for n in range(50)), None)
    shown = published(released, seed=1)
    assert sorted(shown.frame["customer"]) == sorted(released.kept["customer"])
    assert shown.frame["customer"].to_list() != released.kept["customer"].to_list()
    assert published(released, seed=1).frame.equals(shown.frame)
