"""Figures of a contest: utility against safety, and who attacked whom with what success."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tokumei.reports.figures import COLORS, HEIGHT, WIDTH, to_svg

Box = tuple[float, float, float, float]
CELL = 34
LIGHT, DARK, GREY = "#eef3f8", COLORS[0], "#9aa5b1"
# Dots nearer than this share of an axis cover each other's names.
SAME_PLACE = 0.04
# A letter is at most so wide in most fonts, and a line of text and half a dot so high, in pixels.
LETTER, LINE, DOT = 9, 11, 5
# Where a label goes, the first side that is free.
SIDES: Mapping[str, Mapping[str, Any]] = {
    "right": {"align": "left", "dx": 8},
    "above": {"align": "center", "dy": -13},
    "higher": {"align": "center", "dy": -27},
    "left": {"align": "right", "dx": -8},
    "below": {"align": "center", "dy": 13},
    "lower": {"align": "center", "dy": 27},
}
# Readers' fonts may be wider than the one measured here, and would run into the title of the axis.
ROOM = 14


def standings_figure(points: pl.DataFrame, *, x_title: str, y_title: str) -> str:
    """Draw each team (columns team, utility, safety, is_ranked) by its two losses, both better when smaller.

    Teams that are not ranked are grey. Teams at nearly one place share a label; a label that would run into another
    or into a dot stands on another side of its own.
    """
    import altair as alt

    x = alt.X("utility:Q", title=x_title, scale=alt.Scale(zero=True, nice=True), axis=alt.Axis(tickCount=6))
    scale = alt.Scale(zero=True, nice=True)
    y = alt.Y("safety:Q", title=y_title, scale=scale, axis=alt.Axis(tickCount=6, titlePadding=ROOM))
    color = alt.condition(alt.datum.is_ranked, alt.value(COLORS[0]), alt.value(GREY))
    layers = [alt.Chart(points).mark_point(filled=True, size=70, opacity=1).encode(x=x, y=y, color=color)]
    labels = _labels(points)
    for side, look in SIDES.items():
        beside = labels.filter(pl.col("side") == side)
        if beside.height:
            names = alt.Chart(beside).mark_text(baseline="middle", fontSize=12, **look)
            layers.append(names.encode(x=x, y=y, text="team:N"))
    padding = {"left": 5, "top": 5, "right": 2 * ROOM, "bottom": 5}
    return to_svg(alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, padding=padding))


def _labels(points: pl.DataFrame) -> pl.DataFrame:
    """Join the names of teams whose dots would cover each other, and say on which side of its dot each label goes."""
    cells, span = [], {}
    for name in ("utility", "safety"):
        span[name] = max(points[name].to_numpy().max(initial=0.0), 1e-9)
        cells.append((pl.col(name) / (SAME_PLACE * span[name])).round().alias(f"{name}_cell"))
    joined = (
        points.with_columns(cells)
        .group_by("utility_cell", "safety_cell", maintain_order=True)
        .agg(pl.col("team").str.join(", "), pl.col("utility").max(), pl.col("safety").mean())
        .sort("utility", "safety")
    )
    dots = [
        (row["utility"] / span["utility"] * WIDTH, (1 - row["safety"] / span["safety"]) * HEIGHT, row["team"])
        for row in joined.rows(named=True)
    ]
    numbers_of_axis = (-WIDTH, 2 * WIDTH, HEIGHT + LINE / 2 + 1, 2 * HEIGHT)
    taken: list[Box] = [numbers_of_axis, *((x - DOT, x + DOT, y - DOT, y + DOT) for x, y, _ in dots)]
    sides: list[str] = []
    for x, y, text in dots:
        boxes = {side: _box(x, y, text, side) for side in SIDES}
        free = (side for side, box in boxes.items() if not any(_overlap(box, other) for other in taken))
        sides.append(next(free, "right"))
        taken.append(boxes[sides[-1]])
    return joined.with_columns(pl.Series("side", sides, dtype=pl.String))


def _box(x: float, y: float, text: str, side: str) -> Box:
    """Return about what a label covers on one side of its dot: left, right, top and bottom, in pixels."""
    look, width = SIDES[side], LETTER * len(text)
    x, y = x + look.get("dx", 0), y + look.get("dy", 0)
    left = x - {"left": 0.0, "center": 0.5, "right": 1.0}[look["align"]] * width
    return left, left + width, y - LINE / 2, y + LINE / 2


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def attack_figure(points: pl.DataFrame, *, attacker_title: str, target_title: str, success_title: str) -> str:
    """Draw the best success of each attacker on each release (columns attacker, target, success) as a matrix.

    Attackers and targets stand in the order in which they first occur. A pair that is not there stays empty.
    """
    import altair as alt

    attackers = points["attacker"].unique(maintain_order=True).to_list()
    targets = points["target"].unique(maintain_order=True).to_list()
    base = alt.Chart(points).encode(
        x=alt.X(
            "attacker:N",
            title=attacker_title,
            sort=attackers,
            axis=alt.Axis(labelAngle=-40, labelLimit=0, grid=False),
        ),
        y=alt.Y(
            "target:N", title=target_title, sort=targets, axis=alt.Axis(labelLimit=0, grid=False, titlePadding=ROOM)
        ),
    )
    cells = base.mark_rect(stroke="white").encode(
        color=alt.Color(
            "success:Q",
            title=success_title,
            scale=alt.Scale(domain=[0, 1], range=[LIGHT, DARK]),
            legend=alt.Legend(format="%", gradientLength=120),
        )
    )
    numbers = base.mark_text(fontSize=11).encode(
        text=alt.Text("success:Q", format=".2f"),
        color=alt.condition(alt.datum.success > 0.5, alt.value("white"), alt.value("#1c2530")),
    )
    size = {"width": max(3 * CELL, CELL * len(attackers)), "height": max(2 * CELL, CELL * len(targets))}
    return to_svg(alt.layer(cells, numbers).properties(**size))


def history_figure(points: pl.DataFrame, *, time_title: str, value_title: str, team_title: str) -> str:
    """Draw how each team's best score went (columns team, at, best), better when smaller.

    A team's best holds until the last time of all, however long ago its own last release was.
    """
    import altair as alt

    teams = points["team"].unique(maintain_order=True).to_list()
    last = points.group_by("team", maintain_order=True).last().with_columns(at=pl.lit(points["at"].max()))
    ticks = alt.Axis(format="%m/%d %H:%M", tickCount=6, labelOverlap="greedy", labelSeparation=14)
    base = alt.Chart(points).encode(
        x=alt.X("at:T", title=time_title, axis=ticks),
        y=alt.Y("best:Q", title=value_title, scale=alt.Scale(zero=True, nice=True), axis=alt.Axis(titlePadding=ROOM)),
        color=alt.Color(
            "team:N",
            title=team_title,
            sort=teams,
            scale=alt.Scale(range=COLORS),
            legend=alt.Legend(orient="bottom", columns=3, columnPadding=40, labelLimit=0),
        ),
    )
    held = pl.concat([points, last.select(points.columns)])
    lines = base.mark_line(interpolate="step-after").properties(data=held)
    dots = base.mark_point(filled=True, size=50, opacity=1)
    return to_svg(alt.layer(lines, dots).properties(width=WIDTH, height=HEIGHT))
