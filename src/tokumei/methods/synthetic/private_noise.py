"""Concentrated differential privacy: what noise costs, exact noise for counts, and a private choice.

A mechanism is ρ-zCDP if for all α > 1 the Rényi divergence of order α between its outcomes with and without one person
is at most ρ·α (Bun and Steinke 2016). What several mechanisms spend adds up, whatever is chosen in between by what the
earlier ones said.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError
from tokumei.methods.perturbing.perturbation import Floats, Ints

# Beyond, whole numbers of 64 bits no longer hold the chances of the noise.
LARGEST_SIGMA = 5_000.0
# Below, the variance is kept to a finer fraction of a whole number.
SMALL_SIGMA, FINER = 50.0, 64
HALVINGS = 200
# Scores are compared on this grid, and beyond this exponent a choice has no chance.
GRID, FARTHEST = 2**20, 200


def bun_steinke_epsilon(rho: float, delta: float) -> float:
    """Return the ε of ρ-zCDP at a δ by the first bound, ρ + 2·√(ρ·ln(1/δ)) (Bun and Steinke 2016, prop. 1.3)."""
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


def delta_of(rho: float, epsilon: float) -> float:
    """Return the δ of ρ-zCDP at an ε: the least of e^((α−1)(αρ−ε)) · (1−1/α)^α / (α−1) over α > 1.

    Canonne, Kamath and Steinke (2020), corollary 13. Its logarithm falls and then rises in α; the slope is
    (2α−1)·ρ − ε + ln(1−1/α).
    """
    low, high = 1.0 + 1e-12, (epsilon + 1) / (2 * rho) + 2
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        slope = (2 * middle - 1) * rho - epsilon + math.log1p(-1 / middle)
        low, high = (middle, high) if slope < 0 else (low, middle)
    order = high
    log = (order - 1) * (order * rho - epsilon) + order * math.log1p(-1 / order) - math.log(order - 1)
    return min(1.0, math.exp(log))


def rho_of(epsilon: float, delta: float) -> float:
    """Return the largest ρ whose mechanisms are (ε, δ)-differentially private; found by halving from below."""
    low, high = 0.0, epsilon + 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if middle > 0 and delta_of(middle, epsilon) <= delta else (low, middle)
    return low


def epsilon_of(rho: float, delta: float) -> float:
    """Return the least ε at which a ρ-zCDP mechanism is (ε, δ)-differentially private; found by halving from above."""
    if rho <= 0:
        return 0.0
    low, high = 0.0, bun_steinke_epsilon(rho, delta)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if delta_of(rho, middle) <= delta else (middle, high)
    return high


def gaussian_rho(sigma: float, sensitivity: float) -> float:
    """Return what Gaussian noise spends: ρ = Δ²/(2σ²), for counts that one person moves by Δ at most (L2 norm)."""
    return sensitivity**2 / (2 * sigma**2)


def selection_rho(epsilon: float) -> float:
    """Return what a choice by the exponential mechanism spends: ρ = ε²/8 (Cesar and Rogers 2021)."""
    return epsilon**2 / 8


class Coins:
    """Uniform whole numbers from a seed by SHAKE-256, from which exact noise is made.

    A generator made for simulations would do for chance but not for secrets: from some of its numbers the others
    follow.
    """

    def __init__(self, seed: int, *purpose: str) -> None:
        self._key = hashlib.blake2b("\0".join([str(seed), *purpose]).encode(), digest_size=32).digest()
        self._n_blocks = 0

    def _words(self, n: int) -> npt.NDArray[np.uint64]:
        self._n_blocks += 1
        block = hashlib.shake_256(self._key + self._n_blocks.to_bytes(8, "big")).digest(8 * n)
        return np.frombuffer(block, np.uint64)

    def below(self, end: int, n: int) -> Ints:
        """Draw whole numbers from 0 to less than `end`, all equally likely; words beyond its last multiple are not."""
        last = 2**64 // end * end - 1
        found = self._words(n).copy()
        while (bad := np.flatnonzero(found > np.uint64(last))).size:
            found[bad] = self._words(len(bad))
        return (found % np.uint64(end)).astype(np.int64)

    def with_chance_of_exp(self, numerators: Ints, denominator: int) -> npt.NDArray[np.bool_]:
        """Return for each number x/d whether a coin with chance e^(−x/d) shows heads, without a float.

        For x ≤ d coins of chances x/d, x/2d, x/3d … are thrown until one shows tails; the number of heads is even with
        chance e^(−x/d), whose series this is. For more, a coin of chance 1/e is thrown for each whole number, too.
        """
        wholes, rests = np.divmod(numerators, denominator)
        is_heads = np.ones(len(numerators), np.bool_)
        for turn in range(1, int(wholes.max(initial=0)) + 1):
            going = np.flatnonzero(is_heads & (wholes >= turn))
            if not len(going):
                break
            is_heads[going] = self._fraction(np.full(len(going), denominator), denominator)
        going = np.flatnonzero(is_heads)
        is_heads[going] = self._fraction(rests[going], denominator)
        return is_heads

    def _fraction(self, numerators: Ints, denominator: int) -> npt.NDArray[np.bool_]:
        n_heads = np.zeros(len(numerators), np.int64)
        going, turn = np.arange(len(numerators)), 1
        while len(going):
            going = going[self.below(denominator * turn, len(going)) < numerators[going]]
            n_heads[going] += 1
            turn += 1
        return np.asarray(n_heads % 2 == 0)


def discrete_gaussian(sigma: float, n: int, coins: Coins) -> Ints:
    """Draw whole numbers with chance proportional to e^(−z²/2σ²), exactly (Canonne, Kamath and Steinke 2020, alg. 3).

    Added to counts that one person moves by Δ (L2 norm) it is Δ²/(2σ²)-zCDP, as Gaussian noise would be, and has no
    digits that tell the count. A two-sided geometric number of scale t = ⌊σ⌋ + 1 is taken with chance
    e^(−(|z| − σ²/t)²/2σ²). σ² is rounded up to a fraction, so that no noise is smaller than was asked.
    """
    if not 0 < sigma <= LARGEST_SIGMA:
        expected = f"more epsilon, or fewer rows of a person: noise of at most {LARGEST_SIGMA:,.0f} rows a count"
        raise InputError.of(expected, option="epsilon", value=f"noise of {sigma:,.0f}")
    below = FINER if sigma < SMALL_SIGMA else 1
    above = math.ceil(sigma**2 * below)
    scale = math.isqrt(above // below) + 1
    found = np.zeros(n, np.int64)
    going = np.arange(n)
    while len(going):
        drawn = _two_sided_geometric(scale, len(going), coins)
        distance = np.abs(drawn) * (below * scale) - above
        is_taken = coins.with_chance_of_exp(distance * distance, 2 * above * below * scale * scale)
        found[going[is_taken]] = drawn[is_taken]
        going = going[~is_taken]
    return found


def _two_sided_geometric(scale: int, n: int, coins: Coins) -> Ints:
    """Draw whole numbers with chance proportional to e^(−|z|/scale)."""
    found = np.zeros(n, np.int64)
    going = np.arange(n)
    while len(going):
        rest = coins.below(scale, len(going))
        is_taken = coins.with_chance_of_exp(rest, scale)
        whole = np.zeros(len(going), np.int64)
        counting = np.flatnonzero(is_taken)
        while len(counting):
            counting = counting[coins.with_chance_of_exp(np.ones(len(counting), np.int64), 1)]
            whole[counting] += 1
        size = rest + scale * whole
        is_negative = coins.below(2, len(going)) == 1
        # Else zero would come twice.
        is_taken &= ~(is_negative & (size == 0))
        found[going[is_taken]] = np.where(is_negative, -size, size)[is_taken]
        going = going[~is_taken]
    return found


def chosen_privately(scores: Sequence[float] | Floats, sensitivity: float, epsilon: float, coins: Coins) -> int:
    """Choose the place of a high score by the exponential mechanism (McSherry and Talwar 2007).

    Each has a chance proportional to e^(ε·score/2Δ) where one person moves every score by Δ at most: ε-differentially
    private, and ε²/8-zCDP. Places are drawn evenly and taken with chance e^(−ε·(best − score)/2Δ). Scores are rounded
    to a grid first, which moves each by one step more, and coins are exact, so that no digit of a float tells anything.
    """
    grid = [round(score / sensitivity * GRID) for score in scores]
    best, weight = max(grid), math.floor(epsilon * GRID)
    denominator = 2 * (GRID + 2) * GRID
    exponents = np.array([min((best - one) * weight, FARTHEST * denominator) for one in grid], np.int64)
    while True:
        places = coins.below(len(grid), len(grid))
        is_taken = coins.with_chance_of_exp(exponents[places], denominator)
        if is_taken.any():
            return int(places[np.argmax(is_taken)])
