"""Noise that hides one person in a count."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from tokumei.methods.local.task import Floats, Ints

Noise = Literal["geometric", "laplace"]


def noisy_counts(counts: Ints, epsilon: float, sensitivity: int, noise: Noise, random: np.random.Generator) -> Floats:
    """Add noise to counts of which one person changes at most so many by one each.

    The ratio of the chances of any outcome with and without the person is then at most e^ε. Geometric noise is whole:
    the difference of two waiting times, with chance proportional to e^(−ε|z|/sensitivity). Laplace noise has the
    density proportional to that.
    """
    if noise == "laplace":
        return counts + random.laplace(0.0, sensitivity / epsilon, len(counts))
    # 1 − e^(−x) without losing digits where x is small.
    chance = -math.expm1(-epsilon / sensitivity)
    return (counts + random.geometric(chance, len(counts)) - random.geometric(chance, len(counts))).astype(np.float64)
