"""Figures of studies as SVG."""

from __future__ import annotations

import polars as pl

from tokumei_studies.figures import dot_plot, dots_figure, panel_figure, parts_figure

POINTS = pl.DataFrame(
    {
        "use": ["RFM", "RFM", "top", "top"],
        "kind": ["groups", "stars", "groups", "stars"],
        "utility": [0.1, 0.2, 0.1, 0.3],
        "error": [1.0, 2.0, 30.0, 40.0],
    }
)


def test_dots_figure_draws_a_dot_for_each_row_and_a_line_for_each_series() -> None:
    points = pl.DataFrame({"x": [1.0, 10.0, 100.0], "y": [9.0, 3.0, 1.0], "series": ["k"] * 3})
    lines = points.with_columns(series=pl.lit("law"))
    svg = dots_figure(points, lines=lines, x_title="classes", y_title="size", is_log_x=True, is_log_y=True)
    assert svg.count('aria-roledescription="point"') == 3
    assert svg.count('aria-roledescription="line mark"') == 1
    for text in ("classes", "size", ">k<", ">law<"):
        assert text in svg


def test_parts_of_a_row_are_labeled_where_there_is_room() -> None:
    points = pl.DataFrame({"row": ["census"] * 3, "part": ["α", "β", "γ"], "share": [0.9, 0.06, 0.04]})
    svg = parts_figure(points, x_title="share", parts=["α", "β", "γ"])
    assert svg.count('aria-roledescription="bar"') == 3
    assert ">90%<" in svg
    assert ">6%<" in svg
    assert ">4%<" not in svg


def test_dot_figure_draws_a_dot_for_each_release_and_attack_in_the_order_given() -> None:
    points = pl.DataFrame(
        {
            "release": ["pseudonyms", "pseudonyms", "dummies", "dummies"],
            "attack": ["Jaccard", "linkage"] * 2,
            "found": [1.0, 1.0, 0.25, 1.0],
        }
    )
    svg = dot_plot(points, x="found", y="release", series="attack", x_title="customers found")
    assert svg.count('aria-roledescription="point"') == 4
    assert svg.index(">pseudonyms<") < svg.index(">dummies<")
    assert svg.index(">Jaccard<") < svg.index(">linkage<")
    assert ">100%<" in svg


def test_panel_figure_draws_a_panel_for_each_use_with_points_and_one_legend() -> None:
    svg = panel_figure(POINTS, x="utility", y="error", panel="use", series="kind", x_title="U")
    assert svg.count('aria-roledescription="point"') == 4
    assert svg.index(">RFM<") < svg.index(">top<")
    assert svg.count(">groups<") == svg.count(">stars<") == 1
    assert svg.count(">U<") == 2


def test_panel_figure_with_lines_ticks_where_the_points_are() -> None:
    points = pl.DataFrame({"loss": ["Prec"] * 3, "k": [2, 10, 100], "value": [0.1, 0.2, 0.3], "share": ["0 %"] * 3})
    svg = panel_figure(points, x="k", y="value", panel="loss", series="share", x_title="k", is_line=True, x_scale="log")
    assert svg.count('aria-roledescription="line mark"') == 1
    for tick in (">2<", ">10<", ">100<"):
        assert tick in svg
    assert ">20<" not in svg
