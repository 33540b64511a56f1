"""δ-disclosure privacy (Brickell and Shmatikov 2008): |log₂ q/p| < δ for every class and every value there is."""

from __future__ import annotations

import math

from tests.definitions.cases import Value


def largest_difference(own: list[Value], everybody: list[Value]) -> float:
    found = [0.0]
    for value in set(everybody) if own else ():
        p, q = everybody.count(value) / len(everybody), own.count(value) / len(own)
        found.append(abs(math.log2(q / p)) if q else math.inf)
    return max(found)
