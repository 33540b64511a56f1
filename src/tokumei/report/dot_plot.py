"""Several numbers of one kind for each of some things, as dots on a line."""

from __future__ import annotations

import polars as pl

from tokumei.report.figures import COLORS, WIDTH, to_svg

LINE_HEIGHT = 34
# Of dots at one place the smaller lies on the larger.
LARGEST_DOT, SMALLEST_DOT = 170, 40


def dot_figure(points: pl.DataFrame, *, x: str, y: str, series: str, x_title: str, n_columns: int = 3) -> str:
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
