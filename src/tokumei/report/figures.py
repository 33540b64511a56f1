"""Figures as SVG text, drawn here and shown anywhere without a script."""

from __future__ import annotations

from typing import Any

import polars as pl

# Told apart by people who see colours differently (Okabe and Ito, 2008).
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
WIDTH, HEIGHT = 560, 300


def line_figure(
    points: pl.DataFrame, *, x: str, y: str, series: str, x_title: str, y_title: str, series_title: str
) -> str:
    """Draw one line for each series over x, with y from 0 to 1."""
    import altair as alt

    order = points[series].unique(maintain_order=True).to_list()
    chart = (
        alt.Chart(points)
        .mark_line(point=True)
        .encode(
            x=alt.X(f"{x}:Q", title=x_title, axis=alt.Axis(format="%")),
            y=alt.Y(f"{y}:Q", title=y_title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
            color=alt.Color(f"{series}:N", title=series_title, sort=order, scale=alt.Scale(range=COLOURS)),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )
    return to_svg(chart)


def to_svg(chart: Any) -> str:
    """Render an Altair chart as SVG."""
    import vl_convert

    configured = chart.configure_view(stroke=None).configure(font="system-ui, sans-serif", background="transparent")
    return str(vl_convert.vegalite_to_svg(configured.to_dict()))
