"""Small figures as SVG: shapes have classes for the stylesheet, and every number stands beside them as text.

The numbers of points are placed so that none covers another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from tokumei.core.text import JsonView

Place = tuple[float, float]
Box = tuple[float, float, float, float]
# Points nearer than this are seen as one, which has all of their numbers.
NEAR = 9.0
DOT = 7.0
SIGN, LINE = 7.0, 13.0


def labels(points: Sequence[tuple[int, Place]]) -> list[tuple[float, float, str]]:
    """Return the middle of each label's foot and its text, for points with their numbers."""
    together: list[tuple[Place, list[int]]] = []
    for number, point in points:
        for middle, numbers in together:
            if abs(middle[0] - point[0]) < NEAR and abs(middle[1] - point[1]) < NEAR:
                numbers.append(number)
                break
        else:
            together.append((point, [number]))
    taken = [(x - DOT, y - DOT, x + DOT, y + DOT) for (x, y), _ in together]
    placed = []
    for middle, numbers in together:
        text = ", ".join(map(str, numbers))
        foot = _free_place(middle, text, taken)
        taken.append(box(*foot, text))
        placed.append((*foot, text))
    return placed


def box(x: float, y: float, text: str) -> Box:
    """Return the box that a text takes up: left, top, right and bottom."""
    return x - SIGN * len(text) / 2, y - LINE + 2, x + SIGN * len(text) / 2, y + 2


def _free_place(point: Place, text: str, taken: Sequence[Box]) -> Place:
    """Look above, below and to the sides, then farther away, for the nearest place where nothing is."""
    aside = DOT + 3 + SIGN * len(text) / 2
    for ring in count():
        far = LINE * ring
        for right, down in ((0, -DOT - 4 - far), (0, DOT + LINE + far), (aside + far, 4), (-aside - far, 4)):
            foot = point[0] + right, point[1] + down
            room = box(*foot, text)
            if room[0] > 0 and room[1] > 0 and not any(_overlap(room, other) for other in taken):
                return foot
    raise AssertionError


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


# In the units of the figures, which the page scales to its width.
BAR, GAP, LABEL, WIDTH = 20, 8, 150, 640
SPARK_WIDTH, SPARK_HEIGHT = 132, 34
# Narrower, since several stand side by side.
PAIR_WIDTH = 400
# For the longest bar: so narrow that a phone shows labels, bars and numbers without scrolling.
BAR_ROOM = 170
PLOT_WIDTH, PLOT_HEIGHT, MARGIN = 640, 340, 56
BAND = 26
# Narrower than this, a band's label would not be read.
NARROWEST_LABEL = 7.4
LONGEST = 18
FEWEST_SIGNS = 4


def spark(picture: JsonView) -> SafeString:
    """Draw the small histogram of a column."""
    bars = [*picture["bars"], *([["…", picture["others"]]] if picture["others"] else [])]
    most = max((n for _, n in bars), default=0)
    if not most:
        return SafeString("")
    width = SPARK_WIDTH / len(bars)
    rects = format_html_join(
        "",
        '<rect x="{}" y="{}" width="{}" height="{}"><title>{}: {}</title></rect>',
        (
            (
                f"{at * width + 0.5:.1f}",
                f"{SPARK_HEIGHT - tall:.1f}",
                f"{width - 1:.1f}",
                f"{tall:.1f}",
                label,
                f"{n:,}",
            )
            for at, (label, n) in enumerate(bars)
            for tall in [max(1.0 if n else 0.0, SPARK_HEIGHT * n / most)]
        ),
    )
    said = ", ".join(f"{label} {n:,}" for label, n in bars)
    return format_html(
        '<svg class="spark" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>',
        SPARK_WIDTH,
        SPARK_HEIGHT,
        said,
        rects,
    )


def bars(rows: Sequence[tuple[str, float, str]], *, title: str, kind: str = "", label: int = LABEL) -> SafeString:
    """Draw horizontal bars: label, share of the longest from 0 to 1, and the number as text."""
    height = len(rows) * (BAR + GAP)
    most = max((value for _, value, _ in rows), default=0) or 1
    room = BAR_ROOM
    drawn = format_html_join(
        "",
        '<text class="label" x="{0}" y="{1}" text-anchor="end">{2}</text>'
        '<rect class="bar {3}" x="{4}" y="{5}" width="{6}" height="{7}"></rect><text x="{8}" y="{1}">{9}</text>',
        (
            (
                label - 8,
                top + 15,
                _short(name, label // 8),
                kind,
                label,
                top,
                f"{long:.1f}",
                BAR,
                f"{label + long + 6:.1f}",
                text,
            )
            for at, (name, value, text) in enumerate(rows)
            for top in [at * (BAR + GAP)]
            for long in [max(1.0, room * value / most)]
        ),
    )
    return _figure(drawn, label + BAR_ROOM + 110, height, title, kind="bars")


def before_and_after(rows: Sequence[tuple[str, float, float]], *, title: str) -> SafeString:
    """Draw shares of values before and after, two bars each; the longest takes the whole room."""
    most = max((max(before, after) for _, before, after in rows), default=0) or 1
    tall, room = 2 * 12 + GAP, (PAIR_WIDTH - LABEL - 60) / most
    drawn = format_html_join(
        "",
        '<text class="label" x="{0}" y="{1}" text-anchor="end">{2}</text>'
        '<rect class="bar before" x="{3}" y="{4}" width="{5}" height="11"></rect>'
        '<text class="small" x="{6}" y="{7}">{8}</text>'
        '<rect class="bar after" x="{3}" y="{9}" width="{10}" height="11"></rect>'
        '<text class="small" x="{11}" y="{12}">{13}</text>',
        (
            (
                *(LABEL - 8, top + 16, _short(label), LABEL),
                *(top, f"{max(0.5, room * before):.1f}", f"{LABEL + room * before + 6:.1f}", top + 10, f"{before:.1%}"),
                *(
                    top + 12,
                    f"{max(0.5, room * after):.1f}",
                    f"{LABEL + room * after + 6:.1f}",
                    top + 22,
                    f"{after:.1%}",
                ),
            )
            for at, (label, before, after) in enumerate(rows)
            for top in [at * tall]
        ),
    )
    return _figure(drawn, PAIR_WIDTH, len(rows) * tall, title)


def bands(levels: Sequence[JsonView], *, title: str, words: Sequence[str]) -> SafeString:
    """Draw a hierarchy as bands, the coarsest at the top: each label as wide as the values under it."""
    parts = []
    for at, (level, said) in enumerate(zip(reversed(levels), reversed(words), strict=True)):
        top = at * (BAND + 4)
        parts.append(format_html('<text class="label" x="0" y="{}">{}</text>', top + 17, said))
        in_all = sum(n for _, n in level["bands"]) or 1
        left, room = 96.0, WIDTH - 96.0
        if not level["bands"]:
            parts.append(
                format_html('<rect class="band many" x="{}" y="{}" width="{}" height="{}"/>', left, top, room, BAND)
            )
        for label, n in level["bands"]:
            wide = room * n / in_all
            shown = _fitting(label, wide)
            parts.append(
                format_html(
                    '<g><title>{}</title><rect class="band" x="{}" y="{}" width="{}" height="{}"/>'
                    '<text x="{}" y="{}" text-anchor="middle">{}</text></g>',
                    *(label, f"{left:.1f}", top, f"{max(wide - 1, 0.5):.1f}", BAND, f"{left + wide / 2:.1f}", top + 17),
                    shown,
                )
            )
            left += wide
    return _figure(format_html_join("", "{}", ((one,) for one in parts)), WIDTH, len(levels) * (BAND + 4), title)


def frontier(points: Sequence[JsonView], *, title: str, x_name: str, y_name: str) -> SafeString:
    """Draw releases as points that lead to their rows of the table: use lost to the right, people found upwards."""
    made = [(number, one) for number, one in enumerate(points, 1) if one.get("loss") is not None and "error" not in one]
    if not made:
        return SafeString("")
    x_most = min(1.0, 1.1 * max(one["loss"] for _, one in made)) or 1.0
    y_most = min(1.0, 1.15 * max(one["found"] for _, one in made)) or 1.0
    wide, tall = PLOT_WIDTH - MARGIN - 16, PLOT_HEIGHT - MARGIN - 10

    def place(one: JsonView) -> tuple[float, float]:
        return MARGIN + wide * one["loss"] / x_most, 10 + tall * (1 - one["found"] / y_most)

    best = sorted((one for _, one in made if one["is_on_frontier"]), key=lambda one: one["loss"])
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, best))
    axes = format_html(
        '<path class="axis" d="M{0} 10V{1}H{2}"/>'
        '<text class="tick" x="{0}" y="{3}" text-anchor="middle">0</text>'
        '<text class="tick" x="{2}" y="{3}" text-anchor="end">{4}</text>'
        '<text class="tick" x="{5}" y="18" text-anchor="end">{6}</text>'
        '<text class="axis-name" x="{7}" y="{8}" text-anchor="middle">{9} →</text>'
        '<text class="axis-name" x="{0}" y="{10}" dx="8">↑ {11}</text>',
        *(MARGIN, 10 + tall, MARGIN + wide, 28 + tall, f"{x_most:.0%}", MARGIN - 6, f"{y_most:.1%}"),
        *(MARGIN + wide / 2, PLOT_HEIGHT - 6, x_name, 22, y_name),
    )
    dots = format_html_join(
        "",
        '<a href="#release-{0}"><circle class="dot {1}" cx="{2}" cy="{3}" r="7"><title>{4}</title></circle></a>',
        (
            (number, "best" if one["is_on_frontier"] else "", f"{x:.1f}", f"{y:.1f}", _said(one))
            for number, one in made
            for x, y in [place(one)]
        ),
    )
    names = format_html_join(
        "",
        '<text class="small" x="{}" y="{}" text-anchor="middle">{}</text>',
        ((f"{x:.1f}", f"{y:.1f}", text) for x, y, text in labels([(number, place(one)) for number, one in made])),
    )
    path = format_html('<polyline class="frontier" points="{}"/>', line)
    return _figure(axes + path + dots + names, PLOT_WIDTH, PLOT_HEIGHT, title)


def _said(one: Mapping[str, object]) -> str:
    k = f", k {one['k']}" if "k" in one else ""
    return f"{one['method']}{k}: {one['loss']:.1%}, {one['found']:.2%}"


def _figure(drawn: SafeString, width: int, height: int, title: str, kind: str = "") -> SafeString:
    return format_html(
        '<div class="figure-scroll">'
        '<svg class="figure {}" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg></div>',
        kind,
        width,
        height,
        title,
        drawn,
    )


def _short(label: str, most: int = LONGEST) -> str:
    """Cut a label to so many characters, of which those of Japanese are two wide."""
    return label if _n_wide(label) <= most else label[: most - 1 if label.isascii() else most // 2] + "…"


def _fitting(label: str, room: float) -> str:
    """Cut a label to what fits in a band; nothing where so little would be left that many labels look alike."""
    fits = int(room / NARROWEST_LABEL)
    if _n_wide(label) <= fits:
        return label
    is_narrow = label.isascii()
    n_kept = (fits - 1) // (1 if is_narrow else 2)
    return f"{label[:n_kept]}…" if n_kept >= (FEWEST_SIGNS if is_narrow else FEWEST_SIGNS // 2) else ""


def _n_wide(label: str) -> int:
    return sum(1 if one.isascii() else 2 for one in label)
