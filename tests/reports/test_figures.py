"""Figures that any result may draw, and those of a contest, which name every team and attacker."""

from __future__ import annotations

import datetime
import re

import polars as pl
import pytest

from tokumei.reports.evaluation import STRONG_ATTACKS
from tokumei.reports.figures import (
    COLORS,
    DOT,
    HEIGHT,
    SIDES,
    WIDTH,
    _box,
    _labels,
    _overlap,
    attack_figure,
    bar_figure,
    grouped_bar_figure,
    history_figure,
    standings_figure,
)

TEAMS = {"utility": [0.0, 0.001, 0.5], "safety": [1.0, 0.999, 0.2], "is_ranked": [True, True, False]}


@pytest.mark.parametrize(("value", "label"), [(0.05, "0.05"), (40.0, "40"), (5000.0, "5k")])
def test_bars_are_labeled_in_numbers_that_people_read(value: float, label: str) -> None:
    svg = bar_figure(pl.DataFrame({"column": ["age"], "loss": [value]}), x="loss", y="column", x_title="loss")
    assert f">{label}<" in svg
    assert "m<" not in svg


def test_hundreds_on_an_axis_are_written_out() -> None:
    drawn = bar_figure(pl.DataFrame({"rows": [60, 485], "size": ["2-3", "4-7"]}), x="rows", y="size", x_title="rows")
    assert ">500<" in drawn
    assert "e+" not in drawn


def test_every_attack_of_a_report_has_a_color_of_its_own() -> None:
    assert len(set(COLORS)) == len(COLORS) >= len(STRONG_ATTACKS)


@pytest.mark.parametrize(("sign", "shown"), [("\0", "␀"), ("\x1b", "␛"), ("\x0b", "␋"), ("\uffff", "\ufffd")])
def test_sign_that_xml_does_not_have_is_drawn_by_another(sign: str, shown: str) -> None:
    # The renderer would end this process, and all tests with it.
    points = pl.DataFrame({f"loss{sign}": [1.0], "column": [f"a{sign}<b"]})
    drawn = bar_figure(points, x=f"loss{sign}", y="column", x_title=f"how {sign} much")
    assert f"a{shown}&lt;b" in drawn
    assert f"how {shown} much" in drawn
    assert sign not in drawn


def test_grouped_bars_are_one_for_each_group_and_series() -> None:
    points = pl.DataFrame(
        {"group": ["a", "a", "b", "b"], "series": ["one", "two"] * 2, "value": [1.0, 1000.0, 3.0, 0.0]}
    )
    svg = grouped_bar_figure(points, x_title="table", y_title="cost", is_log=True)
    assert svg.count('aria-roledescription="bar"') == 4
    assert ">one<" in svg
    assert ">1,000<" in svg


def test_teams_at_nearly_one_index_share_a_label() -> None:
    svg = standings_figure(pl.DataFrame({"team": ["a1", "b2", "c3"]} | TEAMS), x_title="use", y_title="safety")
    assert ">a1, b2<" in svg
    assert ">c3<" in svg


def test_name_with_markup_stays_text() -> None:
    svg = standings_figure(pl.DataFrame({"team": ["<b>", "x", "y"]} | TEAMS), x_title="use", y_title="safety")
    assert "<b>" not in svg


def test_teams_that_lost_nothing_are_drawn() -> None:
    points = pl.DataFrame({"team": ["a1"], "utility": [0.0], "safety": [0.0], "is_ranked": [True]})
    assert ">a1<" in standings_figure(points, x_title="use", y_title="safety")


def test_matrix_shows_each_success_and_leaves_missing_pairs_empty() -> None:
    points = pl.DataFrame({"attacker": ["a", "b"], "target": ["b", "a"], "success": [0.25, 0.75]})
    svg = attack_figure(points, attacker_title="by", target_title="on", success_title="found")
    assert ">0.25<" in svg
    assert ">0.75<" in svg
    assert svg.count(">0.00<") == 0


def test_label_that_would_cover_the_next_dot_stands_above_its_own() -> None:
    points = pl.DataFrame(
        {"team": ["Harbour Lab", "Fuji", "far"], "utility": [0.55, 0.66, 0.2], "safety": [0.78, 0.78, 0.1]}
    )
    sides = dict(_labels(points.with_columns(is_ranked=True)).select("team", "side").rows())
    assert sides == {"far": "right", "Harbour Lab": "above", "Fuji": "right"}
    assert set(sides.values()) <= set(SIDES)


def test_labels_of_a_season_with_many_teams_near_the_top_run_into_nothing() -> None:
    season = [("yearly", 0, 1), ("monthly-pseudonyms", 0.72, 0.97), ("delete", 0.79, 0.995), ("blur", 0.85, 0.974)]
    points = pl.DataFrame(
        [*season, ("perturb-and-delete", 0.93, 0.95)], schema=["team", "utility", "safety"], orient="row"
    )
    labels = _labels(points.with_columns(is_ranked=True))
    dots = [(x / 0.93 * WIDTH, (1 - y) * HEIGHT) for x, y in labels.select("utility", "safety").rows()]
    named = zip(dots, labels.select("team", "side").rows(), strict=True)
    boxes = [_box(x, y, team, side) for (x, y), (team, side) in named]
    for index, box in enumerate(boxes):
        assert not any(_overlap(box, other) for other in boxes[index + 1 :])
        assert not any(_overlap(box, (x - DOT, x + DOT, y - DOT, y + DOT)) for x, y in dots)


def test_best_score_holds_until_the_last_release_of_all() -> None:
    days = [datetime.datetime(2026, 5, day, 12) for day in (1, 2, 9)]
    points = pl.DataFrame({"team": ["a1", "b2", "b2"], "at": days, "best": [0.5, 0.25, 0.125]})
    svg = history_figure(points, time_title="when", value_title="lost", team_title="team")
    assert ">a1<" in svg
    assert "05/05" in svg
    lines = re.findall(r'aria-roledescription="line mark" d="([^"]*)"', svg)
    assert len(lines) == 2
    assert {line.rpartition("L")[2].split(",")[0] for line in lines} == {"640"}
