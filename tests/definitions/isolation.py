"""(c,t)-isolation (Chawla, Dwork, McSherry, Smith and Wee 2005): a point isolates a person at distance δ if fewer than
t people are within c·δ of it."""

from __future__ import annotations

import math
from statistics import pstdev

Point = tuple[float, ...]


def share_isolating(people: list[Point], points: list[Point], c: float, t: int) -> float:
    """The share of points that isolate somebody, each column in its standard deviations."""
    units = [pstdev(column) or 1.0 for column in zip(*people, strict=True)]

    def far(one: Point, other: Point) -> float:
        return math.dist(*([x / unit for x, unit in zip(which, units, strict=True)] for which in (one, other)))

    def isolates(point: Point) -> bool:
        distances = [far(point, person) for person in people]
        return any(sum(other <= c * one * (1 + 1e-9) for other in distances) < t for one in distances)

    return sum(map(isolates, points)) / len(points) if points else 0.0
