"""How many people of a whole population are alone by what is known, estimated from a sample of them."""

from __future__ import annotations

import math
from collections.abc import Sequence


def population_uniques(sizes: Sequence[int], population: int) -> float | None:
    """Estimate the number of population uniques by Pitman's model with Hoshino's (2001) simple estimator.

    sizes: how many rows each class of the sample has. None where the sample has too few small classes to tell.

    Of f1 classes of one and f2 of two among u classes and n rows: c = f1 (f1 - 1) / f2,
    theta = (n u c - f1 (n - 1) (2 u + c)) / (2 f1 u + f1 c - n c), alpha = (theta (f1 - n) + (n - 1) f1) / (n u), and
    Gamma(theta + 1) / Gamma(theta + alpha) N^alpha people are alone in a population of N.
    """
    n, u = sum(sizes), len(sizes)
    ones, twos = sum(size == 1 for size in sizes), sum(size == 2 for size in sizes)
    if population <= n or ones < 2 or not twos:
        return float(ones) if population <= n else 0.0 if not ones else None
    c = ones * (ones - 1) / twos
    below = 2 * ones * u + ones * c - n * c
    if below == 0:
        return None
    theta = (n * u * c - ones * (n - 1) * (2 * u + c)) / below
    alpha = (theta * (ones - n) + (n - 1) * ones) / (n * u)
    if not 0 < alpha < 1 or theta <= -alpha or theta + 1 <= 0:
        return None
    log = math.lgamma(theta + 1) - math.lgamma(theta + alpha) + alpha * math.log(population)
    return min(float(population), math.exp(log))
