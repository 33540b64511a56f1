"""The figures of a contest name every team and attacker."""

from __future__ import annotations

import datetime
import re

import polars as pl

from tokumei.reports.contest_figures import (
    DOT,
    SIDES,
    _box,
    _labels,
    _overlap,
    attack_figure,
    history_figure,
    standings_figure,
)
from tokumei.reports.figures import HEIGHT, WIDTH

TEAMS = {"utility": [0.0, 0.001, 0.5], "safety": [1.0, 0.999, 0.2], "is_ranked": [True, True, False]}


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
