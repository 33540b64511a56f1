"""Figures as SVG text, drawn here and shown anywhere without a script."""

from __future__ import annotations

from typing import Any

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
