"""Measures of histories with their options, from Python and the command line, and on values drawn from ranges."""

from __future__ import annotations

import itertools
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.journey.commands import tokumei, tokumei_json

import tokumei as tk
from tokumei.core.errors import InputError, UnknownPart
from tokumei.core.seeds import generator
from tokumei.data.files.released_histories import read_generalized
from tokumei.data.made_retail import make_retail
from tokumei.measures.generalized_histories import DrawnCells
from tokumei.measures.registry import HistoryUtility
from tokumei.measures.utility.item_similarity import ItemItem
from tokumei.measures.utility.purchases import Statistic, TopItems
from tokumei.tasks.measure_history import measure_history

# Three rows: a sells twice, b once.
ORIGINAL = tk.History(
    {
        "customer": ["1", "1", "2"],
        "date": ["2011-01-01", "2011-01-03", "2011-01-05"],
        "item": ["a", "b", "a"],
        "price": [1.0, 2.0, 6.0],
        "quantity": [1, 2, 6],
    }
)
RELEASE = tk.History(ORIGINAL.frame.with_columns(price=pl.Series([1.0, 2.0, 3.0]), item=pl.Series(["a", "b", "b"])))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    history = tk.History(make_retail(12, seed=1))
    history.frame.write_parquet(folder / "T.parquet")
    tk.anonymize(history, method="perturb", seed=1).save(folder / "A.parquet")
    tk.anonymize(history, method="generalize", k=2, seed=1).save(folder / "G.csv", published=folder / "S.csv")
    return folder


def test_option_of_the_one_measure_is_a_keyword() -> None:
    # The top item of the original is a, of the release b; two items are the top of both.
    lost = {k: measure_history(ORIGINAL, RELEASE, "top-items", k=k).scores["top-items"].value for k in (1, 2)}
    assert lost == {1: 1.0, 2: 0.0}
    assert tk.measure(ORIGINAL, RELEASE, TopItems(k=1)).scores["top-items"].value == 1


def test_several_values_of_an_option_measure_each() -> None:
    found = tk.measure(ORIGINAL, RELEASE, "statistic", statistic=["sum", "maximum"], column=["price", "quantity"])
    values = {key: score.value for key, score in found.scores.items()}
    assert values == {
        "statistic(statistic=sum, column=price)": 3,
        "statistic(statistic=sum, column=quantity)": 0,
        "statistic(statistic=maximum, column=price)": 3,
        "statistic(statistic=maximum, column=quantity)": 0,
    }
    parts: list[Statistic | TopItems] = [Statistic("sum", "price"), Statistic("sum", "quantity"), TopItems(1)]
    assert list(tk.measure(ORIGINAL, RELEASE, parts).scores) == [
        "statistic(column=price)",
        "statistic(column=quantity)",
        "top-items",
    ]


def test_all_statistics_of_all_columns_come_from_one_command(shop: Path) -> None:
    names, columns = (
        ("sum", "mean", "variance", "deviation", "maximum", "minimum", "median"),
        ("date", "price", "quantity"),
    )
    found = tokumei_json(
        *("measure", "history", "--original", shop / "T.parquet", "--release", shop / "A.parquet"),
        *("--measures", "statistic", "--set", f"statistic={','.join(names)}", "--set", f"column={','.join(columns)}"),
    )["scores"]
    assert len(found) == 21
    before, after = (pl.read_parquet(shop / name) for name in ("T.parquet", "A.parquet"))
    plain: dict[str, Any] = {
        "sum": sum,
        "mean": statistics.fmean,
        "variance": statistics.pvariance,
        "deviation": statistics.pstdev,
        "maximum": max,
        "minimum": min,
        "median": statistics.median,
    }
    for name, column in itertools.product(names, columns):
        day = pl.col("date").cast(pl.Int32) - 14_610
        sides = [
            [float(one) for one in side.select(day if column == "date" else column).to_series() if one is not None]
            for side in (before, after)
        ]
        expected = abs(plain[name](sides[0]) - plain[name](sides[1]))
        assert found[f"statistic(statistic={name}, column={column})"]["value"] == pytest.approx(expected, abs=1e-6)


def test_options_of_several_measures_name_them(shop: Path) -> None:
    words = ["measure", "history", "--original", shop / "T.parquet", "--release", shop / "A.parquet"]
    found = tokumei_json(*words, "--set", "top-items.k=3", "--set", "item-item.kind=wholesale,top")["scores"]
    history, release = (tk.History(shop / name) for name in ("T.parquet", "A.parquet"))
    assert found["top-items"]["value"] == TopItems(3).measure(history, release).value
    for kind in ("wholesale", "top"):
        assert found[f"item-item(kind={kind})"]["value"] == ItemItem(kind).measure(history, release).value
    assert {"rows", "item-cf-supply", "statistic"} <= found.keys()
    there = tokumei_json(*words, "--measures", "top-items", "--set", "k=3,4", "--engine", "duckdb")["scores"]
    assert there["top-items(k=3)"]["value"] == found["top-items"]["value"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--set", "k=3"], "found 'k=3', expected MEASURE.NAME=VALUE, where several are measured"),
        (
            ["--measures", "top-items", "--set", "kk=3"],
            "found 'kk', expected an option of the history utility 'top-items': 'k'",
        ),
        (["--measures", "top-items", "--set", "k=3.5"], "found '3.5', expected whole number"),
        (["--measures", "top-items", "--set", "k=3", "--set", "k=4"], "each option once"),
        (["--measures", "top-items", "--set", "k=3,3"], "found 'top-items', expected each measure once"),
        (["--measures", "top-items", "--set", "k"], "found 'k', expected NAME=VALUE"),
        (["--set", "top-item.k=3"], "Did you mean 'top-items'?"),
        (["--measures", "rows", "--set", "top-items.k=3"], "an option of a measure that is asked for"),
        (["--set", "buyers.master=M.csv"], "--master instead"),
        (["--draws", "2"], "a release with ranges and sets"),
        (["--draws", "2", "--engine", "duckdb"], "the local engine"),
        (["--measures", "generalized-error", "--engine", "duckdb"], "the local engine, which generalized-error needs"),
    ],
)
def test_option_that_cannot_be_is_refused(shop: Path, words: list[str], expected: str) -> None:
    done = tokumei("measure", "history", "--original", shop / "T.parquet", "--release", shop / "A.parquet", *words)
    assert done.returncode == 2
    assert expected in done.stderr


def test_option_of_another_type_is_refused_from_python() -> None:
    for given, expected in (
        ({"k": "many"}, "option k: found 'many', expected whole number"),
        ({"k": []}, r"option k: found '\[\]', expected whole number"),
        ({"kk": 1}, "found 'kk', expected an option of the history utility 'top-items': 'k'"),
        ({"draws": 0}, "at least 1 draw"),
    ):
        with pytest.raises(InputError, match=expected):
            tk.measure(ORIGINAL, RELEASE, "top-items", **given)
    with pytest.raises(InputError, match="found 'k', expected one measure, whose option it is"):
        tk.measure(ORIGINAL, RELEASE, k=1)
    with pytest.raises(UnknownPart, match="top-items"):
        tk.measure(ORIGINAL, RELEASE, "top-item")


def test_measures_that_need_values_are_said_of_ranges(shop: Path) -> None:
    words = ["measure", "history", "--original", shop / "T.parquet", "--release", shop / "G.csv"]
    found = tokumei_json(*words, "--measures", "top-items,statistic")
    assert found["scores"] == {}
    assert found["left_out"].keys() == {"top-items", "statistic"}
    assert "--draws 100" in found["left_out"]["top-items"]
    every = tokumei_json(*words)
    assert list(every["scores"]) == ["generalized-error"]
    assert {"rows", "item-item", "frequent-itemsets"} <= every["left_out"].keys()
    # For people those that are left out for one reason stand in one line.
    assert tokumei(*words).stdout.count("--draws 100") == 1


def test_draws_give_the_mean_use_of_values_within_the_cells(shop: Path) -> None:
    words = ["measure", "history", "--original", shop / "T.parquet", "--release", shop / "G.csv", "--draws", "4"]
    asked = ["--measures", "top-items,statistic,date,generalized-error", "--set", "top-items.k=5", "--seed", "7"]
    found = tokumei_json(*words, *asked)
    original, cells = tk.History(shop / "T.parquet"), read_generalized(shop / "G.csv")
    drawn = DrawnCells.of(original, cells)
    plain = [drawn.draw(generator(7, "draws", number)) for number in range(4)]
    parts: dict[str, HistoryUtility] = {"top-items": TopItems(5), "statistic": Statistic()}
    for key, part in parts.items():
        values = [part.measure(original, one).value for one in plain]
        score = found["scores"][key]
        assert score["value"] == pytest.approx(np.mean(values))
        assert score["inputs"] == {"draws": 4, "deviation": pytest.approx(np.std(values, ddof=1))}
        assert score["interval"][0] <= score["value"] <= score["interval"][1]
    assert (found["draws"], found["seed"]) == (4, 7)
    assert found["scores"].keys() == {"top-items", "statistic", "date", "generalized-error"}
    assert tokumei_json(*words, *asked)["scores"] == found["scores"]


def test_published_rows_can_be_drawn_from_but_stand_beside_nothing(shop: Path) -> None:
    words = ["measure", "history", "--original", shop / "T.parquet", "--release", shop / "S.csv"]
    found = tokumei_json(*words, "--draws", "2", "--measures", "top-items,date,generalized-error")
    assert list(found["scores"]) == ["top-items"]
    assert {name: "no row stands beside its own" in why for name, why in found["left_out"].items()} == {
        "date": True,
        "generalized-error": True,
    }
    assert "expected as many rows as the original" in tokumei(*words).stderr


def test_single_amounts_with_decimals_are_drawn_as_they_are() -> None:
    kilos = tk.History(
        ORIGINAL.frame.with_columns(quantity=pl.Series([0.25, 1.5, 0.375]), price=pl.Series([1.005, 2, 3]))
    )
    same = tk.anonymize(
        tk.History(pl.concat([kilos.frame, kilos.frame.with_columns(pl.col("customer") + "x")])),
        method="generalize",
        k=2,
        seed=1,
    )
    drawn = DrawnCells.of(kilos, same.cells).draw(generator(1, "any"))
    for column in ("quantity", "price"):
        assert sorted(drawn.kept[column]) == pytest.approx(sorted([*kilos.frame[column]] * 2))


def test_plain_release_is_measured_by_the_error_of_cells_where_asked() -> None:
    # One of four columns differs in one of three rows: 1 item in 3, and one price by 3 of σ = 2.16….
    found = tk.measure(ORIGINAL, RELEASE, "generalized-error").scores["generalized-error"]
    assert found.inputs == pytest.approx({"date": 0, "item": 1 / 3, "price": 1 / np.std([1, 2, 6]), "quantity": 0})


def test_test_of_guesses_takes_its_chance_and_level(shop: Path, tmp_path: Path) -> None:
    # Five of six right: r(6) is none by the contest's, 5 at p = 1/2 and level 1/4: 1/64 + 6/32 = 13/64 is less.
    (tmp_path / "F.csv").write_text("pseudonym,customer\n" + "".join(f"{n},{n}\n" for n in range(1, 7)))
    (tmp_path / "Fh.csv").write_text("pseudonym,customer\n" + "".join(f"{n},{n % 6 or 5}\n" for n in range(1, 7)))
    words = ["judge", "--truth", tmp_path / "F.csv", tmp_path / "Fh.csv"]
    found = tokumei_json(*words)
    assert (found["right"], found["needed"], found["is_unsafe"]) == (5, 7, False)
    assert (found["p"], found["alpha"]) == ("1/3", "1/2000")
    found = tokumei_json(*words, "--p", "1/2", "--alpha", "0.25")
    assert (found["right"], found["needed"], found["is_unsafe"], found["alpha"]) == (5, 5, True, "1/4")
    assert tokumei_json(*words, "--p", "1/2", "--alpha", "0.5/2")["needed"] == 5
    for bad in ("0", "1", "x", "1/0", "-1/2", "nan"):
        assert (
            f"option alpha: found '{bad}', expected a chance between 0 and 1" in tokumei(*words, "--alpha", bad).stderr
        )
    by_month = tmp_path / "months.csv"
    by_month.write_text("customer,2011-01\n1,P\n")
    done = tokumei("judge", "--truth", by_month, by_month, "--p", "1/2")
    assert "option p: found '1/2', expected guesses at a generalized release" in done.stderr


def test_options_of_attacks_on_ranges_are_taken(shop: Path, tmp_path: Path) -> None:
    words = ["attack", "history", "items-in-common", "--knowledge", shop / "T.parquet", "--release", shop / "S.csv"]
    assert tokumei_json(*words, "--set", "n_guesses=3", "--out", tmp_path / "a.csv")["guesses"] == 3
    done = tokumei(*words, "--set", "n_guess=3", "--out", tmp_path / "b.csv")
    assert "found 'n_guess', expected an option of the history attack 'items-in-common': 'n_guesses'" in done.stderr
    words[2] = "generalized"
    counts = [
        tokumei_json(*words, "--set", f"p={p}", "--set", "alpha=0.5", "--out", tmp_path / f"{n}.csv")["guesses"]
        for n, p in enumerate(("1/100", "0.6"))
    ]
    # Where fewer must be right, more are named.
    assert counts[0] > counts[1]
