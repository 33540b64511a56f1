"""Where the numbers of points stand in a figure, so that none covers another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

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
