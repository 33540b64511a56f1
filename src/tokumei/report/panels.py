"""Small figures beside each other, one for each panel, with one legend."""

from __future__ import annotations

from typing import Literal

import polars as pl

from tokumei.report.figures import COLORS, to_svg

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
