"""Figures of studies, beside those of reports: dots, panels, curves, bars side by side and bars made of parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import polars as pl

from tokumei.reports.figures import COLORS, HEIGHT, ROOM, WIDTH, color_by, names_of, to_svg

LINE_HEIGHT = 34
# Of dots at one place the smaller lies on the larger.
LARGEST_DOT, SMALLEST_DOT = 170, 40


def dot_plot(points: pl.DataFrame, *, x: str, y: str, series: str, x_title: str, n_columns: int = 3) -> str:
    """Draw a line for each y, in the order in which they first stand, with a dot for each series, x from 0 to 1."""
    import altair as alt

    things, names = names_of(points, y), names_of(points, series)
    span = (LARGEST_DOT - SMALLEST_DOT) / max(1, len(names) - 1)
    sizes = [LARGEST_DOT - index * span for index in range(len(names))]
    base = alt.Chart(points).encode(
        y=alt.Y(f"{y}:N", title=None, sort=things, axis=alt.Axis(labelLimit=0, grid=True)),
        x=alt.X(f"{x}:Q", title=x_title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
    )
    layers = [
        base.transform_filter(alt.datum[series] == name)
        .mark_point(filled=True, opacity=1, size=size)
        .encode(color=color_by(names, series, n_columns=n_columns, symbolSize=90))
        for name, size in zip(names, sizes, strict=True)
    ]
    return to_svg(alt.layer(*layers).properties(width=WIDTH - 140, height=LINE_HEIGHT * len(things)))


PANEL_WIDTH, PANEL_HEIGHT = 190, 150
MOST_TICKS = 8


def panel_figure(
    points: pl.DataFrame,
    *,
    x: str,
    y: str,
    panel: str,
    series: str,
    x_title: str,
    n_columns: int = 3,
    is_line: bool = False,
    x_scale: Literal["linear", "log"] = "linear",
) -> str:
    """Draw a small figure for each panel, in the order in which they first stand, each with a y axis of its own.

    A series has the same color in all panels; its points stand alone, or have a line through them.
    """
    import altair as alt

    names = names_of(points, series)
    color = color_by(names, series, n_columns=len(names))
    values = points[x].unique().sort().to_list()
    # A few values are their own ticks, written without needless digits and left out where there is no room.
    own = alt.Axis(values=values, format="~r", labelOverlap="greedy", labelSeparation=4)
    ticks = own if len(values) <= MOST_TICKS else alt.Axis(tickCount=5)
    across = alt.X(f"{x}:Q", title=x_title, scale=alt.Scale(type=x_scale, zero=False), axis=ticks)
    down = alt.Y(f"{y}:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5))
    charts = []
    for name in names_of(points, panel):
        base = alt.Chart(points.filter(pl.col(panel) == name))
        marked = base.mark_line(point=True) if is_line else base.mark_point(filled=True, size=45, opacity=0.9)
        size = {"width": PANEL_WIDTH, "height": PANEL_HEIGHT}
        charts.append(marked.encode(x=across, y=down, color=color).properties(title=name, **size))
    return to_svg(alt.concat(*charts, columns=n_columns))


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
    color = color_by(names_of(both, "series"), "series")
    layers = [alt.Chart(points).mark_point(filled=True, opacity=0.75, size=size).encode(x=x, y=y, color=color)]
    if lines is not None:
        layers.append(alt.Chart(lines).mark_line(strokeWidth=1.5).encode(x=x, y=y, color=color))
    return to_svg(alt.layer(*layers).properties(width=WIDTH, height=HEIGHT))


def parts_figure(points: pl.DataFrame, *, x_title: str, parts: Sequence[str], colors: Sequence[str] = COLORS) -> str:
    """Draw one horizontal bar for each row, made of parts from left to right (columns row, part, share).

    Shares of one row add up to 1; each part of more than a twentieth is labeled with its share.
    """
    import altair as alt

    rows = names_of(points, "row")
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
        color=color_by(list(parts), "part", colors=colors),
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


def curves_figure(
    points: pl.DataFrame, *, x: str, y: str, series: str, x_title: str, y_title: str, label: str | None = None
) -> str:
    """Draw one line for each series through its points in the order of the frame, from 0 to 1 upwards.

    `label` names a column that is written beside each point.
    """
    import altair as alt

    names = names_of(points, series)
    base = alt.Chart(points.with_row_index("place")).encode(
        x=alt.X(f"{x}:Q", title=x_title, axis=alt.Axis(format="~g", tickCount=12)),
        y=alt.Y(f"{y}:Q", title=y_title, scale=alt.Scale(domain=[0, 1])),
        order="place:Q",
        color=color_by(names, series, n_columns=3),
    )
    layers = [base.mark_line(point=True)]
    if label is not None:
        # Beside the last series alone: the others have their points at the same places across.
        last = base.transform_filter(alt.datum[series] == names[-1])
        layers.append(last.mark_text(dy=14, fontSize=11).encode(text=f"{label}:N", color=alt.value("#333333")))
    return to_svg(alt.layer(*layers).properties(width=WIDTH, height=HEIGHT))


def diagonal_figure(points: pl.DataFrame, *, x: str, y: str, series: str, x_title: str, y_title: str) -> str:
    """Draw points of two counts on logarithmic axes, with the line on which both are equal in red."""
    import altair as alt

    names = names_of(points, series)
    most = int(points[x].to_numpy().max())
    ends = pl.DataFrame({x: [1, most], y: [1, most]})
    scale = alt.Scale(type="log", domain=[1, most], nice=False)
    dots = (
        alt.Chart(points)
        # Squares without a description each: the file would be ten times as long.
        .mark_square(opacity=0.6, size=16, aria=False)
        .encode(
            x=alt.X(f"{x}:Q", title=x_title, scale=scale),
            y=alt.Y(f"{y}:Q", title=y_title, scale=scale),
            color=color_by(names, series, n_columns=3, colors=[COLORS[0], COLORS[2], COLORS[4]]),
        )
    )
    line = alt.Chart(ends).mark_line(color="#cc0000", strokeWidth=1.5).encode(x=f"{x}:Q", y=f"{y}:Q")
    return to_svg(alt.layer(line, dots).properties(width=WIDTH, height=HEIGHT))


def grouped_bars_figure(points: pl.DataFrame, *, group: str, y: str, series: str, x_title: str, y_title: str) -> str:
    """Draw a bar for each series in each group, side by side, from 0 to 1."""
    import altair as alt

    names = names_of(points, series)
    chart = (
        alt.Chart(points)
        .mark_bar()
        .encode(
            x=alt.X(f"{group}:N", title=x_title, sort=None, axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset(f"{series}:N", sort=names),
            y=alt.Y(f"{y}:Q", title=y_title, scale=alt.Scale(domain=[0, 1])),
            color=color_by(names, series, n_columns=2),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )
    return to_svg(chart)
