"""ℓ-diversity (Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam 2007), its three kinds."""

from __future__ import annotations

import math
from collections import Counter

from tests.definitions.cases import Value


def known(values: list[Value], *, is_missing_a_value: bool) -> list[Value]:
    return [one for one in values if is_missing_a_value or one is not None]


def distinct(values: list[Value]) -> float:
    return len(set(values))


def entropy(values: list[Value]) -> float:
    """e to the entropy: −Σ p ln p ≥ ln ℓ."""
    if not values:
        return 0
    shares = [n / len(values) for n in Counter(values).values()]
    return math.exp(-sum(p * math.log(p) for p in shares))


def recursive(values: list[Value], c: float) -> float:
    """The largest ℓ with r₁ < c·(r_ℓ + … + r_m); "we say that 1-diversity is always satisfied"."""
    r = sorted(Counter(values).values(), reverse=True)
    return max((l for l in range(1, len(r) + 1) if l == 1 or r[0] < c * sum(r[l - 1 :])), default=0)  # noqa: E741
