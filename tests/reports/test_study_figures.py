"""Figures of studies as SVG."""

from __future__ import annotations

import polars as pl

from tokumei.reports.figures import dots_figure, grouped_bar_figure, parts_figure


def test_dots_figure_draws_a_dot_for_each_row_and_a_line_for_each_series() -> None:
    points = pl.DataFrame({"x": [1.0, 10.0, 100.0], "y": [9.0, 3.0, 1.0], "series": ["k"] * 3})
    lines = points.with_columns(series=pl.lit("law"))
    svg = dots_figure(points, lines=lines, x_title="classes", y_title="size", is_log_x=True, is_log_y=True)
    assert svg.count('aria-roledescription="point"') == 3
    assert svg.count('aria-roledescription="line mark"') == 1
    for text in ("classes", "size", ">k<", ">law<"):
        assert text in svg


def test_grouped_bars_are_one_for_each_group_and_series() -> None:
    points = pl.DataFrame(
        {"group": ["a", "a", "b", "b"], "series": ["one", "two"] * 2, "value": [1.0, 1000.0, 3.0, 0.0]}
    )
    svg = grouped_bar_figure(points, x_title="table", y_title="cost", is_log=True)
    assert svg.count('aria-roledescription="bar"') == 4
    assert ">one<" in svg
    assert ">1,000<" in svg


def test_parts_of_a_row_are_labeled_where_there_is_room() -> None:
    points = pl.DataFrame({"row": ["census"] * 3, "part": ["α", "β", "γ"], "share": [0.9, 0.06, 0.04]})
    svg = parts_figure(points, x_title="share", parts=["α", "β", "γ"])
    assert svg.count('aria-roledescription="bar"') == 3
    assert ">90%<" in svg
    assert ">6%<" in svg
    assert ">4%<" not in svg
