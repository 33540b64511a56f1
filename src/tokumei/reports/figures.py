"""Figures as SVG text, drawn here and shown anywhere without a script.

First come lines, crowds, frontiers and bars; then dots on lines, small figures beside each other with one legend, and
those of studies: dots with lines through them, bars side by side, bars made of parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import polars as pl

# Told apart by people who see colors differently (Okabe and Ito, 2008; the last two by Tol, 2021): as many as a report
# has attacks, since colors that come again are read as the same line.
COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#882255", "#999933"]
THOUSAND = 1000
WIDTH, HEIGHT = 640, 320
# Characters that no XML may have: Unicode has pictures of the first 32, and one sign for all that cannot be shown.
SHOWN = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"} | dict.fromkeys(
    (0xFFFE, 0xFFFF), 0xFFFD
)


def line_figure(
    points: pl.DataFrame,
    *,
    x: str,
    y: str,
    series: str,
    x_title: str,
    y_title: str,
    series_title: str,
    x_format: str = "%",
) -> str:
    """Draw one line for each series over x, a share unless another format is named, with y from 0 to 1."""
    import altair as alt

    chart = (
        alt.Chart(points)
        .mark_line(point=True)
        .encode(
            x=alt.X(f"{x}:Q", title=x_title, axis=alt.Axis(format=x_format)),
            y=alt.Y(f"{y}:Q", title=y_title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
            color=_color(points, series, series_title, n_columns=3),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )
    return to_svg(chart)


def crowd_figure(points: pl.DataFrame, *, x: str, y: str, series: str, x_title: str, y_title: str) -> str:
    """Draw points of two counts on logarithmic axes, one color for each series; on the diagonal both are equal."""
    import altair as alt

    chart = (
        alt.Chart(points)
        .mark_point(filled=True, opacity=0.5, size=25)
        .encode(
            x=alt.X(f"{x}:Q", title=x_title, scale=alt.Scale(type="log")),
            y=alt.Y(f"{y}:Q", title=y_title, scale=alt.Scale(type="log")),
            color=_color(points, series, None, n_columns=2),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )
    return to_svg(chart)


def frontier_figure(points: pl.DataFrame, *, x: str, y: str, is_best: str, x_title: str, y_title: str) -> str:
    """Draw points of two losses, both better when smaller, with a line through those that no other beats."""
    import altair as alt

    base = alt.Chart(points).encode(
        x=alt.X(f"{x}:Q", title=x_title, scale=alt.Scale(domain=[0, 1])),
        y=alt.Y(f"{y}:Q", title=y_title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
    )
    best = points.filter(pl.col(is_best))
    line = base.mark_line(color=COLORS[1], interpolate="step-after").properties(data=best)
    dots = base.mark_point(filled=True, size=60).encode(
        color=alt.condition(alt.datum[is_best], alt.value(COLORS[1]), alt.value("#9aa5b1"))
    )
    return to_svg(alt.layer(line, dots).properties(width=WIDTH, height=HEIGHT))


def bar_figure(points: pl.DataFrame, *, x: str, y: str, x_title: str) -> str:
    """Draw one horizontal bar for each row, in the order given."""
    import altair as alt

    # Thousands as k and millions as M; but 50m is no way to write a twentieth.
    form = "~s" if max((value for value in points[x].to_list() if value is not None), default=0) >= THOUSAND else "~r"
    across = alt.X(f"{_field(x)}:Q", title=x_title, axis=alt.Axis(format=form, tickCount=6))
    return to_svg(_rows(points, y, across, is_bar=True))


def dot_figure(points: pl.DataFrame, *, x: str, y: str, x_title: str) -> str:
    """Draw one dot for each row on a logarithmic axis, which has no zero that a bar could start at."""
    import altair as alt

    axis = alt.Axis(format="~s", tickCount=5)
    across = alt.X(f"{_field(x)}:Q", title=x_title, scale=alt.Scale(type="log", nice=True), axis=axis)
    # Nothing at all has no place on a logarithmic axis.
    return to_svg(_rows(points.with_columns(pl.col(x).clip(1)), y, across, is_bar=False))


def _rows(points: pl.DataFrame, y: str, across: Any, *, is_bar: bool) -> Any:
    """Draw a mark for each row, beside its whole name."""
    import altair as alt

    chart = alt.Chart(points)
    marked = chart.mark_bar(color=COLORS[0]) if is_bar else chart.mark_point(color=COLORS[0], filled=True, size=80)
    # Readers' fonts are wider than the one that is measured here: room to the left, so that no name is clipped.
    longest = max((len(str(name)) for name in points[y].to_list()), default=0)
    down = alt.Y(f"{_field(y)}:N", title=None, sort=None, axis=alt.Axis(labelLimit=0, minExtent=9 * longest))
    return marked.encode(x=across, y=down).properties(width=WIDTH, height=28 * max(1, points.height))


def _field(name: str) -> str:
    """Escape what Vega-Lite would read as a path or a type in the name of a column."""
    return "".join(f"\\{mark}" if mark in ".[]:\\'\"" else mark for mark in name)


def _color(points: pl.DataFrame, series: str, title: str | None, *, n_columns: int) -> Any:
    """Assign each series a color in order of appearance, with a legend below the figure."""
    import altair as alt

    return alt.Color(
        f"{series}:N",
        title=title,
        sort=points[series].unique(maintain_order=True).to_list(),
        scale=alt.Scale(range=COLORS),
        # With room between: readers' fonts are wider or narrower than the one measured here.
        legend=alt.Legend(orient="bottom", columns=n_columns, columnPadding=40, labelLimit=0),
    )


def to_svg(chart: Any) -> str:
    """Render an Altair chart as SVG."""
    import vl_convert

    configured = (
        chart.configure(font="system-ui, sans-serif", background="transparent")
        .configure_view(stroke=None)
        .configure_axis(labelFontSize=12, titleFontSize=13, titleFontWeight="normal", gridColor="#e6e9ee")
        .configure_legend(labelFontSize=12, titleFontSize=13, titleFontWeight="normal")
    )
    return str(vl_convert.vegalite_to_svg(_drawable(configured.to_dict())))


def _drawable(spec: Any) -> Any:
    """Show what XML has no place for by signs: the renderer would end the whole process at the first of them."""
    if isinstance(spec, str):
        return spec.translate(SHOWN)
    if isinstance(spec, dict):
        return {_drawable(key): _drawable(value) for key, value in spec.items()}
    return [_drawable(one) for one in spec] if isinstance(spec, (list, tuple)) else spec


LINE_HEIGHT = 34
# Of dots at one place the smaller lies on the larger.
LARGEST_DOT, SMALLEST_DOT = 170, 40


def dot_plot(points: pl.DataFrame, *, x: str, y: str, series: str, x_title: str, n_columns: int = 3) -> str:
    """Draw a line for each y, in the order in which they first stand, with a dot for each series, x from 0 to 1."""
    import altair as alt

    things, names = (points[column].unique(maintain_order=True).to_list() for column in (y, series))
    span = (LARGEST_DOT - SMALLEST_DOT) / max(1, len(names) - 1)
    sizes = [LARGEST_DOT - index * span for index in range(len(names))]
    base = alt.Chart(points).encode(
        y=alt.Y(f"{y}:N", title=None, sort=things, axis=alt.Axis(labelLimit=0, grid=True)),
        x=alt.X(f"{x}:Q", title=x_title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
    )
    layers = [
        base.transform_filter(alt.datum[series] == name)
        .mark_point(filled=True, opacity=1, size=size)
        .encode(
            color=alt.Color(
                f"{series}:N",
                title=None,
                scale=alt.Scale(domain=names, range=COLORS),
                legend=alt.Legend(orient="bottom", columns=n_columns, columnPadding=40, labelLimit=0, symbolSize=90),
            )
        )
        for name, size in zip(names, sizes, strict=True)
    ]
    return to_svg(alt.layer(*layers).properties(width=WIDTH - 140, height=LINE_HEIGHT * len(things)))


PANEL_WIDTH, PANEL_HEIGHT = 190, 150
# Room between the entries of the legend: readers' fonts are wider or narrower than the one measured here.
PADDING = 40
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

    names = points[series].unique(maintain_order=True).to_list()
    color = alt.Color(
        f"{series}:N",
        title=None,
        sort=names,
        scale=alt.Scale(domain=names, range=COLORS),
        legend=alt.Legend(orient="bottom", columns=len(names), columnPadding=PADDING, labelLimit=0),
    )
    values = points[x].unique().sort().to_list()
    # A few values are their own ticks, written without needless digits and left out where there is no room.
    own = alt.Axis(values=values, format="~r", labelOverlap="greedy", labelSeparation=4)
    ticks = own if len(values) <= MOST_TICKS else alt.Axis(tickCount=5)
    across = alt.X(f"{x}:Q", title=x_title, scale=alt.Scale(type=x_scale, zero=False), axis=ticks)
    down = alt.Y(f"{y}:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5))
    charts = []
    for name in points[panel].unique(maintain_order=True).to_list():
        base = alt.Chart(points.filter(pl.col(panel) == name))
        marked = base.mark_line(point=True) if is_line else base.mark_point(filled=True, size=45, opacity=0.9)
        size = {"width": PANEL_WIDTH, "height": PANEL_HEIGHT}
        charts.append(marked.encode(x=across, y=down, color=color).properties(title=name, **size))
    return to_svg(alt.concat(*charts, columns=n_columns))


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
    color = _study_color(both["series"].unique(maintain_order=True).to_list())
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
            color=_study_color(series),
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
        color=_study_color(list(parts), "part", colors),
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


def _study_color(series: list[str], field: str = "series", colors: Sequence[str] = COLORS) -> Any:
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
