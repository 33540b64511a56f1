from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.core.result import Facts, Sentence
from tokumei.data.history import History
from tokumei.data.made_retail import make_retail
from tokumei.methods.pipeline import pipeline_of
from tokumei.reports.evaluation import SAMPLE_ATTACKS, default_grid, frontier, read_grid
from tokumei.tasks.report_history import report_history, sweep_history


def test_frontier_marks_what_no_other_beats() -> None:
    points = pl.DataFrame({"utility": [0.1, 0.5, 0.5, 0.9], "found": [0.9, 0.4, 0.6, 0.4]})
    assert frontier(points).to_list() == [True, True, False, False]


def test_frontier_keeps_equals() -> None:
    points = pl.DataFrame({"utility": [0.1, 0.1], "found": [0.2, 0.2]})
    assert frontier(points).to_list() == [True, True]


def test_default_grid_holds_pipelines_that_can_be_made() -> None:
    for settings in default_grid().values():
        assert pipeline_of(settings).methods


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"\[\[pipeline\]\]"),
        ("pipeline = 1", r"\[\[pipeline\]\]"),
        ("[[pipeline", "TOML"),
        ('[[pipeline]]\nname = "a"\n[[pipeline]]\nname = "a"\n', "a name for each"),
    ],
)
def test_grid_that_is_none_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "grid.toml").write_text(text)
    with pytest.raises(InputError, match=message):
        read_grid(tmp_path / "grid.toml")


WAY = {"monthly": {"step": [{"method": "pseudonyms", "lifetime": 1}]}}


def test_history_without_rows_is_left_out_of_report_and_sweep_by_a_word(tmp_path: Path) -> None:
    empty = tmp_path / "empty.csv"
    empty.write_text("customer,date,item,price,quantity\n")
    done = report_history(empty, empty)
    assert (done.to_dict()["contest_utility"], done.to_dict()["attacks"]) == (None, [])
    said = {"use lost": "left out: the history has no rows", "customers found": "left out: the history has no rows"}
    assert done.sections()[0] == Facts(said)
    assert "No loss could be measured: the history has no rows." in done.page().to_html()
    swept = sweep_history(empty, grid=WAY)
    assert swept.to_dict()["ways"] == [
        {"name": "monthly", "utility": None, "found": None, "attack": None, "attributed": None}
        | {"left_out": "the history has no rows", "is_on_frontier": False}
    ]
    assert Sentence("Left out: the history has no rows.") in swept.sections()
    assert "Left out: the history has no rows." in swept.page().to_html()


def test_sweep_of_visits_says_that_no_attack_fits_them(tmp_path: Path) -> None:
    visits = tmp_path / "visits.csv"
    visits.write_text("customer,date\na,2020-01-01\na,2020-02-01\nb,2020-01-03\nb,2020-02-04\n")
    # If none is named, visits are attacked by their days and by how many there are.
    assert sweep_history(visits, grid=WAY).to_dict()["ways"][0]["attack"] in ("same-day", "row-counts", "linkage")
    way = sweep_history(visits, grid=WAY, attacks=["s1"]).to_dict()["ways"][0]
    assert (way["utility"] is None, way["found"], way["is_on_frontier"]) == (False, None, False)
    assert "the history has no item" in way["left_out"]


def test_sweep_permutes_groups_and_says_where_none_can_be_made(tmp_path: Path) -> None:
    visits = tmp_path / "visits.csv"
    visits.write_text("customer,date\na,2020-01-01\na,2020-01-09\nb,2020-02-03\nb,2020-02-04\n")
    # Nobody buys in the same month as the other.
    way = {"permuted": {"step": [{"method": "permute-groups", "bound": 0.5}]}}
    [row] = sweep_history(visits, grid=way).to_dict()["ways"]
    assert row["found"] is None
    assert "No grouping of customers" in row["left_out"]
    assert "permuted groups, bound 0.25" in default_grid()


@pytest.mark.slow
def test_attacks_that_do_not_fit_in_the_time_are_left_out_and_said(tmp_path: Path) -> None:
    shop = History.of(make_retail(20, n_rows=300, seed=1))
    release = tk.anonymize(shop, method="pseudonyms", lifetime=12, seed=1)
    # linkage alone is expected to take two seconds; others fit in one.
    told = report_history(shop, release, knowledge=[25], minutes=1 / 60).to_dict()
    assert {one["attack"] for one in told["attacks"]} == {*SAMPLE_ATTACKS, "tfidf", "row-counts"}
    assert "--minutes" in told["left_out"]["linkage"]
    swept = sweep_history(shop, grid=WAY, minutes=1 / 60)
    assert "--minutes" in swept.to_dict()["left_out"]["linkage"]
    assert "linkage" in {one["attack"] for one in report_history(shop, release, knowledge=[25]).to_dict()["attacks"]}
    with pytest.raises(InputError, match="time for one attack"):
        report_history(shop, release, minutes=1e-9)


def test_result_whose_numbers_meant_another_thing_is_not_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = History.of(make_retail(8, seed=1))
    asked: dict[str, Any] = {"grid": {"plain": {"step": [{"method": "pseudonyms"}]}}, "attacks": ["s1"]}
    folder = tmp_path / "swept"

    def swept() -> set[Path]:
        sweep_history(shop, folder, **asked)
        return set(folder.rglob("*.json"))

    before = swept()
    assert swept() == before
    monkeypatch.setattr("tokumei.reports.evaluation.RESULTS", 0)
    assert swept() > before


def test_purchases_that_a_method_draws_are_audited_beside_ways_that_are_attacked(tmp_path: Path) -> None:
    history = History(make_retail(60, seed=1))
    ways = {
        **WAY,
        "drawn": {"step": [{"method": "basket-chain", "hold_out": 0.3}]},
        "private": {"step": [{"method": "dp-baskets", "epsilon": 50.0, "delta": 0.01}]},
        "none is named": {"step": [{"method": "dp-baskets", "epsilon": 0.1}]},
    }
    first = sweep_history(history, tmp_path, grid=ways, attacks=["s1"], knowledge=["50"])
    lines = {line["name"]: line for line in first.to_dict()["ways"]}
    assert lines["monthly"]["found"] is not None
    for name in ("drawn", "private"):
        assert 0 < lines[name]["utility"] <= 1
        assert lines[name]["found"] is None
        assert not lines[name]["is_on_frontier"]
        assert "the audit " in lines[name]["left_out"]
        assert " finds " in lines[name]["left_out"]
    assert "about" in lines["none is named"]["left_out"]
    # What is there is not drawn again, although the noise is nobody's.
    again = sweep_history(history, tmp_path, grid=ways, attacks=["s1"], knowledge=["50"])
    assert again.to_dict()["ways"] == first.to_dict()["ways"]
