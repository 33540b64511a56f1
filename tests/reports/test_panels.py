"""Small figures beside each other as SVG."""

from __future__ import annotations

import polars as pl

from tokumei.reports.figures import panel_figure

POINTS = pl.DataFrame(
    {
        "use": ["RFM", "RFM", "top", "top"],
        "kind": ["groups", "stars", "groups", "stars"],
        "utility": [0.1, 0.2, 0.1, 0.3],
        "error": [1.0, 2.0, 30.0, 40.0],
    }
)


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
