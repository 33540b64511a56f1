"""Amounts in the ways people write them."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

import tokumei as tk
from tokumei.hierarchy.written_numbers import read_amounts

AMOUNTS = [1_000 + 311 * number for number in range(250)]
WAYS: dict[str, Callable[[int], str]] = {
    "dollars": lambda amount: f"${amount:,}",
    "yen": lambda amount: f"{amount:,}円",
    "commas": lambda amount: f"{amount:,}",
    "kilograms": lambda amount: f"{amount} kg",
    "currency code": lambda amount: f"USD {amount:,}.00",
    "points and a decimal comma": lambda amount: f"{amount:,}".replace(",", ".") + ",00 €",
}


@pytest.mark.parametrize("way", WAYS)
def test_amounts_are_released_in_the_intervals_of_their_numbers(way: str) -> None:
    texts = [WAYS[way](amount) for amount in AMOUNTS]
    assert read_amounts(texts) == AMOUNTS
    asked = {"k": 5, "suppress": 0.05, "keep_order": True}
    made = tk.anonymize(tk.Table(pl.DataFrame({"pay": texts}), qi=["pay"]), **asked)
    plain = tk.anonymize(tk.Table(pl.DataFrame({"pay": AMOUNTS}), qi=["pay"]), numeric=[], **asked)
    assert made.table["pay"].to_list() == plain.table["pay"].to_list()
    assert made.made["pay"].startswith("amounts: intervals")


@pytest.mark.parametrize(
    "texts",
    [["A1", "A2", "A3", "A4"], ["$5", "€5"], ["01", "02"], ["1,5", "1.5"], ["1,00,000"], ["3-4"], ["1 2"], [""]],
)
def test_codes_and_what_could_be_two_are_no_amounts(texts: list[str]) -> None:
    assert read_amounts(texts) is None
