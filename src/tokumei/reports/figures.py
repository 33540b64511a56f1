"""Figures as SVG text, drawn here and shown anywhere without a script.

First come those of reports: lines, crowds, frontiers, bars and dots; then those of a contest: utility against safety,
who found whom, and how scores went.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, wraps
from typing import Any, ParamSpec

import polars as pl

from tokumei.core.text import Json, JsonView

# Told apart by people who see colors differently (Okabe and Ito, 2008; the last two by Tol, 2021): as many as a report
# has attacks, since colors that come again are read as the same line.
COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#882255", "#999933"]
THOUSAND = 1000
WIDTH, HEIGHT = 640, 320
# Characters that no XML may have: Unicode has pictures of the first 32, and one sign for all that cannot be shown.
SHOWN = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"} | dict.fromkeys(
    (0xFFFE, 0xFFFF), 0xFFFD
)

# What stands in place of a figure in both languages, where nothing is installed that draws.
NO_FIGURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="72" viewBox="0 0 640 72" font-size="14" '
    'font-family="system-ui, sans-serif"><rect width="640" height="72" fill="#eef3f8"/>'
    "<text x=\"16\" y=\"30\">Figures need the extra 'charts': pip install 'tokumei[charts]'</text>"
    '<text x="16" y="54">図の表示には追加機能 charts が必要です：pip install \'tokumei[charts]\'</text></svg>'
)
DRAWING = {"altair", "vl_convert"}
Asked = ParamSpec("Asked")


def drawn(figure: Callable[Asked, str]) -> Callable[Asked, str]:
    """Return the function with a note for its figure where the extra that draws is not installed: pages have tables."""

    @wraps(figure)
    def draw(*asked: Asked.args, **named: Asked.kwargs) -> str:
        try:
            return figure(*asked, **named)
        except ModuleNotFoundError as error:
            if error.name not in DRAWING:
                raise
            return NO_FIGURE

    return draw


@drawn
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
            color=color_by(names_of(points, series), series, title=series_title, n_columns=3),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )
    return to_svg(chart)


@drawn
def crowd_figure(points: pl.DataFrame, *, x: str, y: str, series: str, x_title: str, y_title: str) -> str:
    """Draw points of two counts on logarithmic axes, one color for each series; on the diagonal both are equal."""
    import altair as alt

    chart = (
        alt.Chart(points)
        .mark_point(filled=True, opacity=0.5, size=25)
        .encode(
            x=alt.X(f"{x}:Q", title=x_title, scale=alt.Scale(type="log")),
            y=alt.Y(f"{y}:Q", title=y_title, scale=alt.Scale(type="log")),
            color=color_by(names_of(points, series), series, n_columns=2),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )
    return to_svg(chart)


@drawn
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


@drawn
def bar_figure(points: pl.DataFrame, *, x: str, y: str, x_title: str) -> str:
    """Draw one horizontal bar for each row, in the order given."""
    import altair as alt

    # Thousands as k and millions as M; but 50m is no way to write a twentieth.
    form = "~s" if max((value for value in points[x].to_list() if value is not None), default=0) >= THOUSAND else "~r"
    across = alt.X(f"{_field(x)}:Q", title=x_title, axis=alt.Axis(format=form, tickCount=6))
    return to_svg(_rows(points, y, across, is_bar=True))


@drawn
def dot_figure(points: pl.DataFrame, *, x: str, y: str, x_title: str) -> str:
    """Draw one dot for each row on a logarithmic axis, which has no zero that a bar could start at."""
    import altair as alt

    axis = alt.Axis(format="~s", tickCount=5)
    across = alt.X(f"{_field(x)}:Q", title=x_title, scale=alt.Scale(type="log", nice=True), axis=axis)
    # Nothing at all has no place on a logarithmic axis.
    return to_svg(_rows(points.with_columns(pl.col(x).clip(1)), y, across, is_bar=False))


def _rows(points: pl.DataFrame, y: str, across: object, *, is_bar: bool) -> Any:
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


def color_by(
    series: list[str],
    field: str,
    *,
    n_columns: int | None = None,
    title: str | None = None,
    colors: Sequence[str] = COLORS,
    **legend: Any,
) -> Any:
    """Assign each series a color in the order given, with a legend below the figure.

    n_columns: entries of the legend beside each other; as many as fit if not given.
    """
    import altair as alt

    if n_columns is None:
        n_columns = max(1, min(len(series), LETTERS // (max(map(len, series), default=1) + 8)))
    # With room between: readers' fonts are wider or narrower than the one measured here.
    look: Json = {"orient": "bottom", "columns": n_columns, "columnPadding": 40, "labelLimit": 0} | legend
    scale = alt.Scale(domain=series, range=list(colors)[: max(1, len(series))])
    return alt.Color(f"{field}:N", title=title, sort=series, scale=scale, legend=alt.Legend(**look))


def names_of(points: pl.DataFrame, column: str) -> list[str]:
    """Return the different values of a column, in the order in which they first stand."""
    return points[column].unique(maintain_order=True).to_list()


def to_svg(chart: Any) -> str:
    """Render an Altair chart as SVG."""
    configured = (
        chart.configure(font="system-ui, sans-serif", background="transparent")
        .configure_view(stroke=None)
        .configure_axis(labelFontSize=12, titleFontSize=13, titleFontWeight="normal", gridColor="#e6e9ee")
        .configure_legend(labelFontSize=12, titleFontSize=13, titleFontWeight="normal")
    )
    return _rendered(json.dumps(_drawable(configured.to_dict())))


@lru_cache(maxsize=32)
def _rendered(spec: str) -> str:
    """Render a chart; the documents of one release show the same pictures, which are dear to draw."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec))


def _drawable(spec: object) -> Any:
    """Show what XML has no place for by signs: the renderer would end the whole process at the first of them."""
    if isinstance(spec, str):
        return spec.translate(SHOWN)
    if isinstance(spec, dict):
        return {_drawable(key): _drawable(value) for key, value in spec.items()}
    return [_drawable(one) for one in spec] if isinstance(spec, (list, tuple)) else spec


# Room between the numbers of an axis and its title, for readers whose fonts are wider.
ROOM = 14
BAR, LYING = 13, 9
# How wide a letter of an axis is in most fonts, and a Japanese character, in pixels.
NARROW, WIDE = 7, 13
# So many letters fit below a figure.
LETTERS = 115


@drawn
def grouped_bar_figure(points: pl.DataFrame, *, x_title: str, y_title: str, is_log: bool = False) -> str:
    """Draw for each group a bar of each series side by side (columns group, series, value), in the order given.

    Bars lie where the names of groups have no room under upright ones.
    """
    import altair as alt

    groups, series = names_of(points, "group"), names_of(points, "series")
    scale = alt.Scale(type="symlog", constant=1) if is_log else alt.Scale(zero=True, nice=True)
    ticks = [0, 1, 10, 100, 1_000, 10_000, 100_000] if is_log else alt.Undefined
    each = max(WIDTH / max(1, len(groups)), BAR * (len(series) + 1))
    widest = max(map(text_width, groups), default=0)
    look: Json = {"labelAngle": 0, "labelLimit": 0, "grid": False}
    values: Json = {"title": y_title, "scale": scale, "axis": alt.Axis(values=ticks, titlePadding=ROOM)}
    bars = alt.Chart(points).mark_bar().encode(color=color_by(series, "series"))
    shown = alt.Chart(points).encode(text=alt.Text("value:Q", format=",.3~g"))
    if widest > each:
        places = {
            "y": alt.Y("group:N", title=x_title, sort=groups, axis=alt.Axis(**look, minExtent=widest)),
            "yOffset": alt.YOffset("series:N", sort=series),
            "x": alt.X("value:Q", **values),
        }
        size: dict[str, float] = {"width": WIDTH, "height": LYING * len(groups) * (len(series) + 1)}
        words = shown.mark_text(align="left", dx=3, fontSize=9)
    else:
        places = {
            "x": alt.X("group:N", title=x_title, sort=groups, axis=alt.Axis(**look)),
            "xOffset": alt.XOffset("series:N", sort=series),
            "y": alt.Y("value:Q", **values),
        }
        size = {"width": each * len(groups), "height": HEIGHT}
        words = shown.mark_text(dy=-5, fontSize=9)
    return to_svg(alt.layer(bars.encode(**places), words.encode(**places)).properties(**size))


def text_width(text: str) -> int:
    """Return how wide a name at an axis is in most fonts, in pixels."""
    return sum(NARROW if sign.isascii() else WIDE for sign in text)


Box = tuple[float, float, float, float]
CELL = 34
LIGHT, DARK, GREY = "#eef3f8", COLORS[0], "#9aa5b1"
# Dots nearer than this share of an axis cover each other's names.
SAME_PLACE = 0.04
# A letter is at most so wide in most fonts, and a line of text and half a dot so high, in pixels.
LETTER, LINE, DOT = 9, 11, 5
# Where a label goes, the first side that is free.
SIDES: Mapping[str, JsonView] = {
    "right": {"align": "left", "dx": 8},
    "above": {"align": "center", "dy": -13},
    "higher": {"align": "center", "dy": -27},
    "left": {"align": "right", "dx": -8},
    "below": {"align": "center", "dy": 13},
    "lower": {"align": "center", "dy": 27},
}


@drawn
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


@drawn
def attack_figure(points: pl.DataFrame, *, attacker_title: str, target_title: str, success_title: str) -> str:
    """Draw the best success of each attacker on each release (columns attacker, target, success) as a matrix.

    Attackers and targets stand in the order in which they first occur. A pair that is not there stays empty.
    """
    import altair as alt

    attackers = names_of(points, "attacker")
    targets = names_of(points, "target")
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


@drawn
def history_figure(points: pl.DataFrame, *, time_title: str, value_title: str, team_title: str) -> str:
    """Draw how each team's best score went (columns team, at, best), better when smaller.

    A team's best holds until the last time of all, however long ago its own last release was.
    """
    import altair as alt

    teams = names_of(points, "team")
    last = points.group_by("team", maintain_order=True).last().with_columns(at=pl.lit(points["at"].max()))
    ticks = alt.Axis(format="%m/%d %H:%M", tickCount=6, labelOverlap="greedy", labelSeparation=14)
    base = alt.Chart(points).encode(
        x=alt.X("at:T", title=time_title, axis=ticks),
        y=alt.Y("best:Q", title=value_title, scale=alt.Scale(zero=True, nice=True), axis=alt.Axis(titlePadding=ROOM)),
        color=color_by(teams, "team", title=team_title, n_columns=3),
    )
    held = pl.concat([points, last.select(points.columns)])
    lines = base.mark_line(interpolate="step-after").properties(data=held)
    dots = base.mark_point(filled=True, size=50, opacity=1)
    return to_svg(alt.layer(lines, dots).properties(width=WIDTH, height=HEIGHT))
