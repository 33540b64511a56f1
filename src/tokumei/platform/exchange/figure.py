"""The figure of k against class count, with k_p, x_p and the regions of the thesis's figures 48 to 52.

Everything is laid out here, in the coordinates of the drawing; the template only writes it down, and the script of the
page only moves the mark to where `mark_of` says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from tokumei.exchange.offer import Offer
from tokumei.exchange.request import Tried
from tokumei.platform.exchange.services.looking import Learned, Learning
from tokumei.platform.exchange.trying import most_allowed, points
from tokumei.predictors.predictor import most_that_hold

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 62, 28, 22, 52


# How wide a sign is drawn, in the units of the figure, and one of Japanese.
SIGN, WIDE_SIGN = 8.5, 15.0


@dataclass(frozen=True)
class Region:
    """A part of the drawing: `kind` names its color."""

    kind: str
    text: str
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> tuple[float, float]:
        """Where its text stands."""
        return round(self.x + self.width / 2, 1), round(self.y + self.height / 2 + 5, 1)

    @property
    def has_room(self) -> bool:
        """Whether its text fits."""
        wide = sum(WIDE_SIGN if sign > "\u2000" else SIGN for sign in self.text)
        return self.width > wide and self.height > SIGN * 2


@dataclass(frozen=True)
class RuledLine:
    """A line across the drawing, with what it is called."""

    kind: str
    text: str
    x1: float
    y1: float
    x2: float
    y2: float

    @property
    def is_far_right(self) -> bool:
        """Whether its text would leave the drawing at the right."""
        return self.x1 > 0.8 * WIDTH


@dataclass(frozen=True)
class Dot:
    """A node."""

    kind: str
    text: str
    x: float
    y: float


@dataclass(frozen=True)
class Tick:
    """A number at an axis."""

    text: str
    at: float


@dataclass(frozen=True)
class LogFigure:
    """A drawing: both axes are logarithmic."""

    most_classes: int
    most_k: float
    k_p: int
    x_p: int
    regions: Sequence[Region] = ()
    lines: Sequence[RuledLine] = ()
    dots: Sequence[Dot] = ()
    width: int = WIDTH
    height: int = HEIGHT
    edges: tuple[int, int, int, int] = field(default=(LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM))

    def x(self, class_count: float) -> float:
        """Where a class count stands."""
        share = math.log(max(class_count, 1)) / math.log(max(self.most_classes, 2))
        return round(LEFT + min(share, 1) * (WIDTH - LEFT - RIGHT), 1)

    def y(self, k: float) -> float:
        """Where a k stands; the largest is at the top."""
        share = math.log(max(k, 1)) / math.log(max(self.most_k, 2))
        return round(HEIGHT - BOTTOM - min(share, 1) * (HEIGHT - TOP - BOTTOM), 1)

    @property
    def x_ticks(self) -> list[Tick]:
        """The numbers below."""
        return [Tick(_short(number), self.x(number)) for number in _decades(self.most_classes)]

    @property
    def y_ticks(self) -> list[Tick]:
        """The numbers at the left."""
        return [Tick(_short(number), self.y(number)) for number in _decades(self.most_k)]


def offer_figure(offer: Offer, criterion: str) -> LogFigure:
    """Draw what an offer says of its nodes, by what is published alone."""
    k_p, x_p = offer.criterion(criterion).k, most_allowed(offer, criterion)
    found = points(offer, criterion)
    most_k = max([2.0 * k_p, *(point.k for point in found)])
    bare = LogFigure(max(point.class_count for point in found), most_k, k_p, x_p)
    dots = [
        Dot(
            point.zone,
            _("levels %(levels)s: %(classes)s classes, k about %(k)s")
            % {"levels": "-".join(map(str, point.node)), "classes": point.class_count, "k": round(point.k)},
            bare.x(point.class_count),
            bare.y(point.k),
        )
        for point in found
    ]
    return LogFigure(*_facts(bare), regions=_quadrants(bare), lines=_lines(bare), dots=dots)


def mark_of(figure: LogFigure, tried: Tried) -> dict[str, float | None]:
    """Return where tried levels stand: the point, its band, and T, the part of S₁ that the formula saves."""
    x, y = figure.x(tried.class_count), figure.y(tried.prediction.k)
    edge, line = figure.x(figure.x_p), figure.y(figure.k_p)
    has_t = x > edge and y > line
    return {
        "x": x,
        "y": y,
        "low": figure.y(tried.prediction.low),
        "high": figure.y(tried.prediction.high),
        "t_x": edge if has_t else None,
        "t_y": line if has_t else None,
        "t_width": round(x - edge, 1) if has_t else None,
        "t_height": round(y - line, 1) if has_t else None,
    }


def learning_figure(learning: Learning, learned: Learned) -> LogFigure | None:
    """Draw what was counted: true k, where the formula stopped promising, and where a steeper one would."""
    counted, k = learning.counted, learned.criterion.k
    if not counted:
        return None
    smallest: dict[int, float] = {}
    for each in counted:
        smallest[each.class_count] = min(smallest.get(each.class_count, each.k), each.k)
    x_n = most_that_hold(k, smallest)
    bare = LogFigure(
        max(4, *(each.class_count for each in counted)),
        max([2.0 * k, *(float(each.k) for each in counted), *(each.predicted for each in counted)]),
        k,
        max(1, learned.before_x_p),
    )
    failing = [each for each in counted if each.k < k]
    regions = []
    if failing:
        x_u, k_u = max(each.class_count for each in failing), min(each.k for each in failing)
        x_p = min(max(learned.before_x_p, x_n), x_u)
        regions.append(_box(bare, "s1", "S₁", x_n, x_u, k_u, k))
        regions.append(_box(bare, "s2", "S₂", x_n, x_p, k_u, k))
    if learned.after_x_p < learned.before_x_p:
        regions.append(_box(bare, "n", "N", max(learned.after_x_p, 1), learned.before_x_p, k, bare.most_k))
    dots = []
    for each in counted:
        text = _("levels %(levels)s: %(classes)s classes, k = %(k)s") % {
            "levels": "-".join(map(str, each.node)),
            "classes": each.class_count,
            "k": each.k,
        }
        x = bare.x(each.class_count)
        dots += [Dot("predicted", "", x, bare.y(each.low)), Dot("counted", text, x, bare.y(each.k))]
    lines = [*_lines(bare), _upright(bare, "x-n", "xₙ", x_n)]
    return LogFigure(*_facts(bare), regions=regions, lines=lines, dots=dots)


def _facts(figure: LogFigure) -> tuple[int, float, int, int]:
    return figure.most_classes, figure.most_k, figure.k_p, figure.x_p


def _quadrants(figure: LogFigure) -> list[Region]:
    """Return the four quadrants about (x_p, k_p), as in figure 52."""
    return [
        _box(figure, "alpha", _("promised, and holds"), 1, figure.x_p, figure.k_p, figure.most_k),
        _box(figure, "beta", _("a lost chance"), figure.x_p, figure.most_classes, figure.k_p, figure.most_k),
        _box(figure, "gamma", _("may fail"), 1, figure.x_p, 1, figure.k_p),
        _box(figure, "delta", _("rightly refused"), figure.x_p, figure.most_classes, 1, figure.k_p),
    ]


def _lines(figure: LogFigure) -> list[RuledLine]:
    left, _top, right, _bottom = figure.edges
    y = figure.y(figure.k_p)
    return [RuledLine("k-p", f"k_p = {figure.k_p}", left, y, right, y), _upright(figure, "x-p", "xₚ", figure.x_p)]


def _upright(figure: LogFigure, kind: str, text: str, class_count: int) -> RuledLine:
    _left, top, _right, bottom = figure.edges
    x = figure.x(class_count)
    return RuledLine(kind, f"{text} = {class_count}", x, top, x, bottom)


def _box(figure: LogFigure, kind: str, text: str, x1: float, x2: float, k1: float, k2: float) -> Region:
    """Return the region between two class counts and two k."""
    left, right, top, bottom = figure.x(x1), figure.x(x2), figure.y(k2), figure.y(k1)
    return Region(kind, text, left, top, round(max(right - left, 0), 1), round(max(bottom - top, 0), 1))


def _decades(most: float) -> list[int]:
    numbers = [10**power for power in range(int(math.log10(max(most, 1))) + 1)]
    step = max(1, math.ceil(len(numbers) / 6))
    return numbers[::step]


def _short(number: int) -> str:
    return f"{number:,}" if number < 10**4 else f"10{str(int(math.log10(number))).translate(_RAISED)}"


_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
