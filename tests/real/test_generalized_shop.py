"""A shop with names for items and letters for customers, written alike in groups: from its file to a verdict."""

from __future__ import annotations

import csv
import datetime
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.cases import cases
from tests.journey.commands import tokumei_here

import tokumei as tk
from tokumei.data.files.histories import is_generalized_file
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.files.released_histories import read_generalized
from tokumei.tasks.measure_history import measure_history

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
        tk.report(release, shop.with_name("page.html"))
    assert not shop.with_name("page.html").exists()


SUFFIXES = [".csv", ".tsv", ".txt", ".tab", ".dat", ".data", ".csv.gz", ".tab.gz", ".parquet"]
# How the original beside the release is read.
READINGS = [AS_IT_IS, Reading(format="pwscup2018"), Reading(delimiter=";"), Reading(delimiter=",", encoding="cp932")]


def random_shop(draw: random.Random, characters: str) -> tk.History:
    items = ["".join(draw.choices(characters, k=draw.randint(1, 5))) for _ in range(draw.randint(1, 12))]
    items = [item if item.strip() else f"x{item}" for item in items]
    n_days = draw.choice([1, 300])
    prices, quantities = draw.choice([([2.0], [1]), ([0.5, 1.25, 300.0], [1, 2, 30])])
    rows = [
        (
            str(100 + customer),
            datetime.date(2011, 1, 1) + datetime.timedelta(days=draw.randrange(n_days)),
            draw.choice(items),
            draw.choice(prices),
            draw.choice(quantities),
        )
        for customer in range(draw.randint(4, 12))
        for _ in range(draw.randint(1, 6))
    ]
    return tk.History(pl.DataFrame(rows, ["customer", "date", "item", "price", "quantity"], orient="row"))


@pytest.mark.parametrize("seed", range(cases(300)))
def test_every_generalized_file_is_read_as_it_was_written(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    form, characters = draw.choice([("table", "ab ,;\t|{}[]*\\\"'\n\r茶é^$"), ("pwscup2018", "AB01")])
    history = random_shop(draw, characters)
    release = replace(tk.anonymize(history, method="generalize", k=draw.randint(2, 4), seed=seed), form=form)
    out, published = (tmp_path / f"{name}{draw.choice(SUFFIXES)}" for name in "AS")
    release.save(out, published=published)
    lost = tk.measure(history, release).to_dict()["scores"]
    for reading in READINGS:
        cells = read_generalized(out, reading)
        assert cells.item.members.to_list() == release.cells.item.members.to_list()
        assert cells.contains(history).select(pl.all().all()).row(0) == (True,) * 4
        left = read_generalized(published, reading)
        assert left.n_rows == cells.n_rows - cells.is_deleted.sum()
        # Where no two customers of a group differ there is no range and no set, and any measure takes the release.
        if is_generalized_file(out, reading):
            assert measure_history(history, out, reading=reading).to_dict()["scores"] == lost
        else:
            assert lost["generalized-error"]["value"] == 0
            assert measure_history(history, out, "top-items", reading=reading).scores["top-items"].value == 0


@pytest.mark.parametrize("more", [[], ["--format", "pwscup2018"], ["--delimiter", ","]])
def test_set_in_the_first_line_of_a_contest_release_hides_no_delimiter(
    more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original, release, guess = tmp_path / "T.csv", tmp_path / "A.csv", tmp_path / "Fh.csv"
    original.write_text("1,2011/1/5,A,1,2\n2,2011/1/7,B,1,3\n")
    cells = "[2011/1/5;2011/1/7],{A;B;C;D;E;F},1,[2;3]"
    release.write_text(f"11,{cells}\n12,{cells}\n")
    words = ["measure", "history", "--original", original, "--release", release]
    # The contest's T is told by its first line only where nothing else is said of it.
    if more[:1] == ["--delimiter"]:
        original.write_text("customer,date,item,price,quantity\n" + original.read_text().replace("/", "-"))
    code, found = tokumei_here(capsys, *words, *more)
    assert (code, found["scores"].keys()) == (0, {"generalized-error"})
    words = ["attack", "history", "generalized", "--knowledge", original, "--release", release, "--out", guess]
    assert tokumei_here(capsys, *words, *more)[0] == 0


def test_release_without_ranges_is_refused_by_attacks_on_ranges(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original, release = tmp_path / "T.csv", tmp_path / "S.csv"
    original.write_text("1,0,2011/1/5,9:00,A,1,2\n")
    release.write_text("x,0,2011/1/5,9:00,A,1,2\n")
    words = ["attack", "history", "generalized", "--knowledge", original, "--release", release]
    code, found = tokumei_here(capsys, *words, "--out", tmp_path / "Fh.csv")
    assert code == 2
    assert "found 'pwscup2017', expected a release with ranges and sets" in found["message"]
