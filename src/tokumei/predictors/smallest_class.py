"""How small the smallest class is likely to be, given how many rows each class is expected to have.

A class expected to have μ rows has n of them with the chance of a Poisson number, and none with chance e^−μ; then it
is no class. So k, the size of the smallest class that occurs, is above m if no class has 1 to m rows:

    P(k > m) = Π (1 − P(1 ≤ n ≤ m))

Where the expected sizes are themselves uncertain by a factor, the factor is taken to be log-normal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Below, the chances of 0, 1, … rows are added up; above, Wilson and Hilferty's cube root is right to three digits.
SUMMED_UP_TO = 50
FACTORS = 7


@dataclass(frozen=True)
class SmallestClass:
    """The distribution of k for classes of these expected sizes, `weights[i]` classes of size `sizes[i]`.

    `spread` is the standard deviation of the logarithm of a class's expected size, `most` a bound that k is known
    not to exceed.
    """

    sizes: Floats
    weights: Floats
    spread: float
    most: int

    def quantile(self, chance: float) -> int:
        """Return the least m such that k is at most m with at least this chance."""
        summed = self._summed
        if summed[-1] >= chance or self.most <= SUMMED_UP_TO:
            # One more than the number of sizes that are too unlikely; size 0 is not among them.
            return min(int(np.searchsorted(summed, chance)) + 1, self.most)
        below, at = SUMMED_UP_TO, self.most
        while at - below > 1:
            middle = (below + at) // 2
            if self.chance_up_to(middle) >= chance:
                at = middle
            else:
                below = middle
        return at

    def chance_up_to(self, m: int) -> float:
        """Return the chance that k is at most m."""
        if m >= self.most:
            return 1.0
        if m < 1:
            return 0.0
        if m <= SUMMED_UP_TO:
            return float(self._summed[m - 1])
        sizes, shares = self._mixture
        return float(self._of_any(shares @ (poisson_up_to(m, sizes) - np.exp(-sizes))))

    @cached_property
    def _summed(self) -> Floats:
        """The chance that k is at most 1, 2, …, 50."""
        sizes, shares = self._mixture
        n = np.arange(1, SUMMED_UP_TO + 1)
        logs = np.log(sizes) * n[:, None, None] - sizes - np.cumsum(np.log(n))[:, None, None]
        # A row a number of rows, a column a class.
        return self._of_any(np.cumsum(shares @ np.exp(logs), axis=0))

    @cached_property
    def _mixture(self) -> tuple[Floats, Floats]:
        """The sizes times each factor, a row a factor, and the factors' shares, by Gauss and Hermite's rule."""
        if self.spread == 0:
            return self.sizes[None, :], np.ones(1)
        points, shares = np.polynomial.hermite_e.hermegauss(FACTORS)
        # So that the mean of the factors is 1.
        factors = np.exp(self.spread * points - self.spread**2 / 2)
        return factors[:, None] * self.sizes, shares / shares.sum()

    def _of_any(self, chances: Floats) -> Floats:
        """Return the chance of at least one class, from the chance of each."""
        # A certain class would be the logarithm of 0.
        out: Floats = -np.expm1(np.log1p(-np.clip(chances, 0, 1 - 1e-15)) @ self.weights)
        return out


def poisson_up_to(m: int, means: Floats) -> Floats:
    """Return the chance of at most m rows, m well above 0, for each mean number of rows."""
    n = m + 1
    z = 3 * math.sqrt(n) * (np.cbrt(means / n) - (1 - 1 / (9 * n)))
    return normal_above(z)


def normal_above(z: Floats) -> Floats:
    """Return the chance that a normal number is above z, to seven digits also where it is tiny."""
    # Numerical Recipes (1992), 6.2: a Chebyshev fit of the complementary error function.
    x = np.abs(z) / math.sqrt(2)
    t = 1 / (1 + x / 2)
    polynomial = np.polynomial.polynomial.polyval(t, ERROR_FUNCTION)
    tail = t * np.exp(-x * x + polynomial) / 2
    return np.where(z >= 0, tail, 1 - tail)


ERROR_FUNCTION = (
    -1.26551223,
    1.00002368,
    0.37409196,
    0.09678418,
    -0.18628806,
    0.27886807,
    -1.13520398,
    1.48851587,
    -0.82215223,
    0.17087277,
)
