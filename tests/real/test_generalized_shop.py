"""A shop with names for items and letters for customers, written alike in groups: from its file to a verdict."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.journey.commands import tokumei_here

import tokumei as tk
from tokumei.data.files.generalized import read_generalized

ITEMS = ["whole milk", "tea; green", "お茶", "5* {set} [12], large", "back\\slash"]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    draw, file = random.Random(1), tmp_path / "shop.csv"
    with file.open("w", newline="", encoding="utf-8") as handle:
        rows = csv.writer(handle)
        rows.writerow(["household", "day", "product", "paid", "kilos"])
        for customer in range(12):
            for _ in range(draw.randrange(3, 9)):
                day = f"{draw.randrange(1, 13)}/{draw.randrange(1, 29)}/2024"
                paid, kilos = draw.choice([0, -1.5, 123_456.789, 2]), draw.choice([0.25, 1, 3])
                rows.writerow([f"hh-{customer}", day, draw.choice(ITEMS), paid, kilos])
    return file


COLUMNS: dict[str, Any] = {
    "customer": "household",
    "date": "day",
    "item": "product",
    "price": "paid",
    "quantity": "kilos",
}
READING = ["--columns", ",".join(f"{role}={name}" for role, name in COLUMNS.items()), "--date-format", "%m/%d/%Y"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_generalized_shop_is_measured_attacked_and_judged(
    shop: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shop.parent
    release, published, truth = (folder / f"{name}.{suffix}" for name in ("A", "S", "F"))
    truth, guess = truth.with_suffix(".csv"), folder / "Fh.csv"

    def run(*words: Any) -> dict[str, Any]:
        code, found = tokumei_here(capsys, *words, *READING)
        assert code == 0, found
        return found

    names = ["--out", release, "--published", published, "--truth", truth, "--seed", "1"]
    run("anonymize", "history", shop, "--method", "generalize", *names)
    history = tk.History(pl.read_csv(shop), **COLUMNS, date_format="%m/%d/%Y")
    cells = read_generalized(release)
    # Each cell stands for the truth beside it, whatever its name.
    assert cells.contains(history).select(pl.all().all()).row(0) == (True,) * 4
    use = run("measure", "history", "--original", shop, "--release", release)
    assert use["scores"].keys() == {"generalized-error"}
    for attack in ("generalized", "items-in-common", "sum-of-quantities"):
        words = ["attack", "history", attack, "--knowledge", shop, "--release", published]
        found = run(*words, "--out", guess, "--truth", truth, "--force")
        assert guess.read_text().startswith("pseudonym,customer\n")
        assert found["success"]["right"] <= found["success"]["guesses"]


def test_what_needs_values_refuses_ranges_with_one_word(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = shop.parent
    release = folder / "A.csv"
    words = ["anonymize", "history", shop, "--method", "generalize", "--out", release, *READING]
    assert tokumei_here(capsys, *words)[0] == 0
    for asked in (
        ["attack", "history", "linkage", "--knowledge", shop, "--release", release, "--out", folder / "Fh.csv"],
        ["report", "--original", shop, "--release", release, "--out", folder / "r.html"],
        ["measure", "history", "--original", shop, "--release", release, "--engine", "duckdb"],
    ):
        code, found = tokumei_here(capsys, *asked, *READING)
        assert code == 2
        assert "without ranges and sets" in found["message"]
    text = release.read_text(encoding="utf-8").splitlines()
    text[3] = "1,[2024-02-30;x],{a;a},[2;1],1e999"
    (folder / "bad.csv").write_text("\n".join([*text, ""]), encoding="utf-8")
    code, found = tokumei_here(
        capsys, "measure", "history", "--original", shop, "--release", folder / "bad.csv", *READING
    )
    assert code == 2
    assert {(one["line"], one["column"]) for one in found["faults"]} == {
        (4, name) for name in ("date", "item", "price", "quantity")
    }


def test_release_in_a_notebook_says_what_it_is_and_what_takes_it(shop: Path) -> None:
    history = tk.History(pl.read_csv(shop), **COLUMNS, date_format="%m/%d/%Y")
    release = tk.anonymize(history, method="generalize", seed=1)
    assert repr(tk.measure(history, release)).startswith("HistoryUse(1 measure, most lost by generalized-error (0.")
    with pytest.raises(tk.errors.InputError, match="without ranges and sets"):
        tk.attack(history, release, "linkage")
    with pytest.raises(tk.errors.InputError, match="without ranges and sets"):
        release.report(shop.with_name("page.html"))
    assert not shop.with_name("page.html").exists()
