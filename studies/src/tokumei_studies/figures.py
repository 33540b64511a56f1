"""Figures that studies share, beside those of reports."""

from __future__ import annotations

import polars as pl

from tokumei.reports.figures import COLORS, HEIGHT, WIDTH, to_svg


def curves_figure(
    points: pl.DataFrame, *, x: str, y: str, series: str, x_title: str, y_title: str, label: str | None = None
) -> str:
    """Draw one line for each series through its points in the order of the frame, from 0 to 1 upwards.

    `label` names a column that is written beside each point.
    """
    import altair as alt

    names = points[series].unique(maintain_order=True).to_list()
    base = alt.Chart(points.with_row_index("place")).encode(
        x=alt.X(f"{x}:Q", title=x_title, axis=alt.Axis(format="~g", tickCount=12)),
        y=alt.Y(f"{y}:Q", title=y_title, scale=alt.Scale(domain=[0, 1])),
        order="place:Q",
        color=alt.Color(
            f"{series}:N",
            title=None,
            sort=names,
            scale=alt.Scale(range=COLORS),
            legend=alt.Legend(orient="bottom", columns=3, columnPadding=40, labelLimit=0),
        ),
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

    names = points[series].unique(maintain_order=True).to_list()
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
            color=alt.Color(
                f"{series}:N",
                title=None,
                sort=names,
                scale=alt.Scale(range=[COLORS[0], COLORS[2], COLORS[4]]),
                legend=alt.Legend(orient="bottom", columns=3, columnPadding=40, labelLimit=0),
            ),
        )
    )
    line = alt.Chart(ends).mark_line(color="#cc0000", strokeWidth=1.5).encode(x=f"{x}:Q", y=f"{y}:Q")
    return to_svg(alt.layer(line, dots).properties(width=WIDTH, height=HEIGHT))


def grouped_bars_figure(points: pl.DataFrame, *, group: str, y: str, series: str, x_title: str, y_title: str) -> str:
    """Draw a bar for each series in each group, side by side, from 0 to 1."""
    import altair as alt

    names = points[series].unique(maintain_order=True).to_list()
    chart = (
        alt.Chart(points)
        .mark_bar()
        .encode(
            x=alt.X(f"{group}:N", title=x_title, sort=None, axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset(f"{series}:N", sort=names),
            y=alt.Y(f"{y}:Q", title=y_title, scale=alt.Scale(domain=[0, 1])),
            color=alt.Color(
                f"{series}:N",
                title=None,
                sort=names,
                scale=alt.Scale(range=COLORS),
                legend=alt.Legend(orient="bottom", columns=2, columnPadding=40, labelLimit=0),
            ),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )
    return to_svg(chart)
