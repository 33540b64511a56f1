"""Amounts in the ways people write them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tokumei as tk
from tokumei.data.files.reading import Reading
from tokumei.data.history_columns import read_amounts
from tokumei.engines.staging import stage_history

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
    asked: dict[str, Any] = {"k": 5, "suppress": 0.05, "keep_order": True}
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


def shop(tmp_path: Path, prices: list[str], quantities: list[str]) -> Path:
    file = tmp_path / "Käufe.csv"
    rows = [
        f"k{n % 3};2026-05-{n + 1:02};Brot;{p};{q}" for n, (p, q) in enumerate(zip(prices, quantities, strict=True))
    ]
    file.write_text("\n".join(["customer;date;item;price;quantity", *rows]), encoding="utf-8")
    return file


def test_history_with_decimal_commas_is_read_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "tokumei.notes")
    file = shop(tmp_path, ["7,18 €", "1.250,00 €", "-0,5 €"], ["1,250", "0,5", "2"])
    read = tk.History(file, delimiter=";").frame
    assert read["price"].to_list() == [7.18, 1250.0, -0.5]
    assert read["quantity"].to_list() == [1.25, 0.5, 2.0]
    assert "'7,18 €' was read as 7.18" in caplog.text


@pytest.mark.parametrize(
    "prices", [["1,250", "2,500", "3"], ["7,18", "7.18", "1"], ["7,18", "$3", "1"], ["7,18", "x", "1"]]
)
def test_amount_that_could_be_two_is_refused_by_its_line(tmp_path: Path, prices: list[str]) -> None:
    with pytest.raises(tk.errors.InputError, match=r"line 2, column price: found '.*', expected a price, as 1.95"):
        tk.History(shop(tmp_path, prices, ["1", "2", "3"]), delimiter=";")


@pytest.mark.parametrize("block_rows", [1, 2, 100])
@pytest.mark.parametrize(
    ("prices", "quantities"),
    [
        (["1.250", "7,18", "-0,5"], ["1,250", "0,5", "2"]),
        (["7.18", "2", "3"], ["1", "2", "$1,200.50"]),
        (["", "7,18 €", "1.250,00 €"], ["", "2", "3"]),
        (["1,250", "2,500", "3"], ["1", "2", "3"]),
        (["7,18", "7.18", "1"], ["1,5", "2", "3"]),
        (["1", "2", "7,18"], ["1", "2", "x"]),
    ],
)
def test_history_read_in_blocks_is_the_one_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_rows: int, prices: list[str], quantities: list[str]
) -> None:
    monkeypatch.setattr("tokumei.engines.staging.BLOCK_ROWS", block_rows)
    monkeypatch.setattr("tokumei.engines.staging.write_plain", lambda rows, _first, _keys, out: rows.write_parquet(out))
    file = shop(tmp_path, prices, quantities)
    if not prices[0]:
        # A deleted row.
        file.write_text(file.read_text().replace("k0;2026-05-01;Brot;;", ";;;;"))
    staged = tmp_path / "staged"
    try:
        plain = tk.History(file, delimiter=";").frame.select("price", "quantity")
    except tk.errors.InputError as error:
        with pytest.raises(tk.errors.InputError, match=re.escape(str(error).splitlines()[0])):
            stage_history(file, Reading(format="table"), staged)
    else:
        assert stage_history(file, Reading(format="table"), staged).n_rows == 3
        blocks = pl.concat(
            [pl.read_parquet(part).cast({"quantity": pl.Float64}) for part in sorted(staged.glob("*.parquet"))]
        )
        assert blocks.select("price", "quantity").equals(plain.cast({"quantity": pl.Float64}))
