"""β-likeness (Cao and Karras 2012): no value gains more than β in a class over its share of all rows."""

from __future__ import annotations

import math

from tests.definitions.cases import Value


def basic(own: list[Value], everybody: list[Value]) -> float:
    gains = [0.0]
    for value in set(own):
        p, q = everybody.count(value) / len(everybody), own.count(value) / len(own)
        gains.append((q - p) / p if p else math.inf)
    return max(gains)


def enhanced(own: list[Value], everybody: list[Value]) -> float:
    """A gain is also bounded by −ln p: beyond, no β is enough."""
    gains = [0.0]
    for value in set(own):
        p, q = everybody.count(value) / len(everybody), own.count(value) / len(own)
        gain = (q - p) / p if p else math.inf
        gains.append(math.inf if p and gain > -math.log(p) + 1e-9 else gain)
    return max(gains)
