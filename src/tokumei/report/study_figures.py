"""Figures of studies: dots with lines through them, bars side by side, bars made of parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from tokumei.report.figures import COLORS, HEIGHT, WIDTH, to_svg

# Room between the numbers of an axis and its title, for readers whose fonts are wider.
ROOM = 14
BAR = 13
# So many letters fit below a figure.
LETTERS = 115


def dots_figure(
    points: pl.DataFrame,
    *,
    x_title: str,
    y_title: str,
    lines: pl.DataFrame | None = None,
    is_log_x: bool = False,
    is_log_y: bool = False,
    size: int = 45,
) -> str:
    """Draw dots and, if given, lines over the same axes (columns x, y and series), one color for each series.

    A series that has both dots and a line has one color. On a logarithmic axis all values must be above 0.
    """
    import altair as alt

    both = points if lines is None else pl.concat([points.select("x", "y", "series"), lines.select("x", "y", "series")])
    x = alt.X("x:Q", title=x_title, scale=_scale(is_log_x), axis=_axis(is_log_x))
    y = alt.Y("y:Q", title=y_title, scale=_scale(is_log_y), axis=_axis(is_log_y))
    color = _color(both["series"].unique(maintain_order=True).to_list())
    layers = [alt.Chart(points).mark_point(filled=True, opacity=0.75, size=size).encode(x=x, y=y, color=color)]
    if lines is not None:
        layers.append(alt.Chart(lines).mark_line(strokeWidth=1.5).encode(x=x, y=y, color=color))
    return to_svg(alt.layer(*layers).properties(width=WIDTH, height=HEIGHT))


def grouped_bar_figure(points: pl.DataFrame, *, x_title: str, y_title: str, is_log: bool = False) -> str:
    """Draw for each group a bar of each series side by side (columns group, series, value), in the order given."""
    import altair as alt

    groups = points["group"].unique(maintain_order=True).to_list()
    series = points["series"].unique(maintain_order=True).to_list()
    scale = alt.Scale(type="symlog", constant=1) if is_log else alt.Scale(zero=True, nice=True)
    ticks = [0, 1, 10, 100, 1_000, 10_000, 100_000] if is_log else alt.Undefined
    chart = (
        alt.Chart(points)
        .mark_bar()
        .encode(
            x=alt.X("group:N", title=x_title, sort=groups, axis=alt.Axis(labelAngle=0, labelLimit=0, grid=False)),
            xOffset=alt.XOffset("series:N", sort=series),
            y=alt.Y("value:Q", title=y_title, scale=scale, axis=alt.Axis(values=ticks, titlePadding=ROOM)),
            color=_color(series),
        )
        .properties(width=max(WIDTH, BAR * len(groups) * (len(series) + 1)), height=HEIGHT)
    )
    return to_svg(chart)


def parts_figure(points: pl.DataFrame, *, x_title: str, parts: Sequence[str], colors: Sequence[str] = COLORS) -> str:
    """Draw one horizontal bar for each row, made of parts from left to right (columns row, part, share).

    Shares of one row add up to 1; each part of more than a twentieth is labeled with its share.
    """
    import altair as alt

    rows = points["row"].unique(maintain_order=True).to_list()
    order = {part: index for index, part in enumerate(parts)}
    placed = (
        points.with_columns(index=pl.col("part").replace_strict(order, return_dtype=pl.Int64))
        .sort("index", maintain_order=True)
        .with_columns(end=pl.col("share").cum_sum().over("row"))
        .with_columns(start=pl.col("end") - pl.col("share"), middle=pl.col("end") - pl.col("share") / 2)
    )
    y = alt.Y("row:N", title=None, sort=rows, axis=alt.Axis(labelLimit=0, grid=False))
    bars = alt.Chart(placed).encode(
        x=alt.X("start:Q", title=x_title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
        x2="end:Q",
        y=y,
        color=_color(list(parts), "part", colors),
    )
    numbers = alt.Chart(placed.filter(pl.col("share") > 0.05)).encode(
        x="middle:Q", y=y, text=alt.Text("share:Q", format=".0%")
    )
    layers = alt.layer(bars.mark_bar(stroke="white"), numbers.mark_text(color="white", fontSize=11))
    return to_svg(layers.properties(width=WIDTH, height=30 * max(1, len(rows))))


def _scale(is_log: bool) -> Any:
    import altair as alt

    return alt.Scale(type="log", nice=False, padding=10) if is_log else alt.Scale(zero=False, nice=False, padding=10)


def _axis(is_log: bool) -> Any:
    import altair as alt

    # More ticks than these would be too many for an axis of several powers of ten.
    ticks = [times * 10.0**power for power in range(-6, 13) for times in (1, 3)]
    return (
        alt.Axis(values=ticks, format="~s", titlePadding=ROOM) if is_log else alt.Axis(tickCount=8, titlePadding=ROOM)
    )


def _color(series: list[str], field: str = "series", colors: Sequence[str] = COLORS) -> Any:
    import altair as alt

    return alt.Color(
        f"{field}:N",
        title=None,
        sort=series,
        scale=alt.Scale(domain=series, range=list(colors)[: max(1, len(series))]),
        legend=alt.Legend(orient="bottom", columns=_n_columns(series), columnPadding=40, labelLimit=0),
    )


def _n_columns(series: list[str]) -> int:
    """Return how many entries of a legend fit beside each other."""
    longest = max(map(len, series), default=1)
    return max(1, min(len(series), LETTERS // (longest + 8)))
