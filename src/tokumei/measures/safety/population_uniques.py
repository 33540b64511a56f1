"""How many people are alone in a whole population, estimated from the sizes of the classes of a sample.

| estimator | model | source |
|---|---|---|
| `pitman` | class sizes by Pitman's sampling formula, fitted by maximum likelihood | Hoshino 2001 |
| `zayatz` | the population's classes have the sizes of the sample's | Zayatz 1991 |
| `snb` | class sizes by a negative binomial shifted by one, fitted to classes of one and of two | Chen, McNulty 1998 |

The rule of Dankar, El Emam, Neisa and Roffey (2012) chooses: Pitman's up to a tenth of the population, above it the
smaller of Zayatz's and SNB's; where the one it asks for has no answer, Zayatz's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares
from scipy.special import digamma, gammaln, polygamma

from tokumei.core.errors import InputError
from tokumei.core.text import Json

Floats = npt.NDArray[np.float64]
# Above this share of the population Pitman's model is not asked.
LARGEST_PITMAN_FRACTION = 0.1
MOST_STEPS, MOST_HALVINGS = 100, 60
CONVERGED = 1e-11
# SNB's two equations are met to this share of the counts, or it has no answer.
NEAR_ENOUGH = 1e-6
ESTIMATORS = ("pitman", "zayatz", "snb")


@dataclass(frozen=True)
class PopulationUniques:
    """What each estimator says of how many people are alone in the population; None where it has no answer."""

    population: int
    n_sampled: int
    n_alone_in_sample: int
    estimates: Mapping[str, float | None]
    # The estimator that the rule takes: of ESTIMATORS, or `counted` where the sample is everybody or nobody is alone.
    chosen: str | None

    @property
    def alone(self) -> float | None:
        """People who are alone in the population, by the chosen estimator."""
        if self.chosen == "counted":
            return float(self.n_alone_in_sample)
        return None if self.chosen is None else self.estimates[self.chosen]

    @property
    def share_of_alone(self) -> float | None:
        """Of those alone in the sample, the share who are alone in the population, too.

        Somebody of the population is in the sample with chance n / N, so that n / N of those alone there are in it.
        """
        if self.alone is None or not self.n_alone_in_sample:
            return None
        fraction = min(1.0, self.n_sampled / self.population)
        return min(1.0, self.alone * fraction / self.n_alone_in_sample)

    def as_dict(self) -> Json:
        """Return the estimates as JSON shows them: people, and their share of the population."""
        return {
            "population": self.population,
            "fraction": min(1.0, self.n_sampled / self.population),
            "alone_in_sample": self.n_alone_in_sample,
            "estimates": {
                name: None if alone is None else {"alone": alone, "share": alone / self.population}
                for name, alone in self.estimates.items()
            },
            "chosen": self.chosen,
            "alone": self.alone,
            "share": None if self.alone is None else self.alone / self.population,
            "share_of_alone": self.share_of_alone,
        }


@dataclass(frozen=True)
class SizeCounts:
    """How many classes of a sample have each size."""

    sizes: Floats
    n_classes_of: Floats

    @classmethod
    def of(cls, sizes: npt.ArrayLike) -> SizeCounts:
        """Count the sizes of classes."""
        found, counts = np.unique(np.asarray(sizes, np.int64), return_counts=True)
        return cls(found.astype(np.float64), counts.astype(np.float64))

    @property
    def n_rows(self) -> float:
        """Rows of the sample."""
        return float(self.sizes @ self.n_classes_of)

    @property
    def n_classes(self) -> float:
        """Classes of the sample."""
        return float(self.n_classes_of.sum())

    def of_size(self, size: int) -> float:
        """Classes that have so many rows."""
        return float(self.n_classes_of[self.sizes == size].sum())


def population_uniques(sizes: npt.ArrayLike, population: int) -> PopulationUniques:
    """Estimate how many people are alone among a population of whom the classes of a sample have these sizes.

    >>> found = population_uniques([1] * 30 + [2] * 10 + [4] * 10 + [5] * 2, 10_000)
    >>> found.chosen, round(found.alone)
    ('pitman', 7)
    """
    if population < 1:
        raise InputError.of("at least 1 person", option="population_size", value=population)
    counts = SizeCounts.of(sizes)
    n, n_alone = int(counts.n_rows), int(counts.of_size(1))
    if population <= n or not n_alone:
        return PopulationUniques(population, n, n_alone, dict.fromkeys(ESTIMATORS, float(n_alone)), "counted")
    found = {
        "pitman": pitman_uniques(counts, population),
        "zayatz": zayatz_uniques(counts, population),
        "snb": snb_uniques(counts, population),
    }
    return PopulationUniques(population, n, n_alone, found, _choose(found, n / population))


def _choose(found: Mapping[str, float | None], fraction: float) -> str:
    """Return the estimator that the rule of Dankar et al. takes."""
    if fraction <= LARGEST_PITMAN_FRACTION:
        return "zayatz" if found["pitman"] is None else "pitman"
    snb, zayatz = found["snb"], found["zayatz"]
    return "snb" if snb is not None and zayatz is not None and snb <= zayatz else "zayatz"


def zayatz_uniques(counts: SizeCounts, population: int) -> float:
    """Estimate as if the classes of the population had the sizes of the sample's.

    Of a class of i, the sample of n has exactly one with chance H(i). Whoever is alone in the sample is so in the
    population with chance c1 H(1) / Σ c_i H(i), of c_i classes of i; n / N of those are in the sample.
    """
    n = counts.n_rows
    drawn = np.arange(int(counts.sizes.max()) - 1, dtype=np.float64)
    # The others of the class are left out one by one; where fewer stay out than must, the chance is 0.
    left_out = np.maximum(population - n - drawn, 0.0) / (population - 1 - drawn)
    with np.errstate(divide="ignore"):
        stay_out = np.concatenate([[0.0], np.cumsum(np.log(left_out))])
    one_of = counts.sizes * n / population * np.exp(stay_out[counts.sizes.astype(np.int64) - 1])
    n_alone = counts.of_size(1)
    share = n_alone * (n / population) / float(counts.n_classes_of @ one_of)
    return min(float(population), n_alone * share * population / n)


def pitman_uniques(counts: SizeCounts, population: int) -> float | None:
    """Estimate by Pitman's model: Γ(θ + 1) / Γ(θ + α) N^α; None where no θ and α are likeliest."""
    fitted = fit_pitman(counts)
    if fitted is None:
        return None
    theta, alpha = fitted
    log = math.lgamma(theta + 1) - math.lgamma(theta + alpha) + alpha * math.log(population)
    return math.exp(log) if log <= math.log(population) else None


def fit_pitman(counts: SizeCounts) -> tuple[float, float] | None:
    """Return the likeliest θ and α of Pitman's model, by Newton's method with steps that never lose likelihood.

    The likelihood of n rows in u classes is Π(θ + iα), i < u, over Π(θ + i), i < n, times Π(j − α), j < s, of each
    class of s rows. An α below 0 says that the population has no more than −θ/α classes.
    """
    n, sizes, n_of = counts.n_rows, counts.sizes, counts.n_classes_of
    at = np.arange(1.0, counts.n_classes)

    def likelihood(theta: float, alpha: float) -> float:
        rows = gammaln(theta + n) - gammaln(theta + 1)
        classes = n_of @ (gammaln(sizes - alpha) - gammaln(1 - alpha))
        return float(np.log(theta + at * alpha).sum() - rows + classes)

    def is_valid(theta: float, alpha: float) -> bool:
        return alpha < 1 and theta > -alpha and theta + at[-1] * alpha > 0

    if len(at) < 2 or len(sizes) == 1:
        return None
    start = hoshino_start(counts)
    theta, alpha = start if start is not None and is_valid(*start) else (counts.n_classes / math.log(n + 1), 0.1)
    best = likelihood(theta, alpha)
    for _ in range(MOST_STEPS):
        each = 1 / (theta + at * alpha)
        slope = np.array(
            [
                each.sum() - digamma(n + theta) + digamma(theta + 1),
                at @ each - n_of @ (digamma(sizes - alpha) - digamma(1 - alpha)),
            ]
        )
        both = -float(at @ each**2)
        bend = np.array(
            [
                [polygamma(1, theta + 1) - polygamma(1, n + theta) - (each**2).sum(), both],
                [both, -(at**2 @ each**2) - n_of @ (polygamma(1, 1 - alpha) - polygamma(1, sizes - alpha))],
            ]
        )
        # Where the likelihood is not bent downwards, uphill by each parameter's own scale.
        is_peak = bend[0, 0] < 0 and float(np.linalg.det(bend)) > 0
        move = np.linalg.solve(bend, -slope) if is_peak else slope / np.abs(np.diag(bend))
        share = 1.0
        for _ in range(MOST_HALVINGS):
            new = (theta + share * float(move[0]), alpha + share * float(move[1]))
            if is_valid(*new) and (value := likelihood(*new)) >= best - 1e-9 * max(1.0, abs(best)):
                break
            share /= 2
        else:
            return None
        theta, alpha, best = *new, value
        if share == 1 and is_peak and abs(move[0]) <= CONVERGED * max(1.0, theta) and abs(move[1]) <= CONVERGED:
            return theta, alpha
    return None


def hoshino_start(counts: SizeCounts) -> tuple[float, float] | None:
    """Return Hoshino's simple θ and α of Pitman's model, from the classes of one and of two; None where they have none.

    Of f1 classes of one and f2 of two among u classes and n rows: c = f1 (f1 - 1) / f2,
    θ = (n u c - f1 (n - 1) (2 u + c)) / (2 f1 u + f1 c - n c) and α = (θ (f1 - n) + (n - 1) f1) / (n u).
    """
    n, u, ones, twos = counts.n_rows, counts.n_classes, counts.of_size(1), max(1.0, counts.of_size(2))
    c = ones * (ones - 1) / twos
    below = 2 * ones * u + ones * c - n * c
    if below == 0:
        return None
    theta = (n * u * c - ones * (n - 1) * (2 * u + c)) / below
    return theta, (theta * (ones - n) + (n - 1) * ones) / (n * u)


def snb_uniques(counts: SizeCounts, population: int) -> float | None:
    """Estimate by a negative binomial shifted by one: K β^α, of K classes; None where α and β cannot be found.

    A class of the population has 1 + NB(α, β) people. Of a sampled share f, with D = 1 − (1 − f)(1 − β), classes of
    one are expected K f (β/D)^α (1 + α(1 − f)(1 − β)/D), and of two K f² α (1 − β) β^α / (2 D^(α+2)) (2 − (1 − α)
    (1 − f)(1 − β)); α and β are those that give the counted ones.
    """
    ones, twos, fraction = counts.of_size(1), counts.of_size(2), counts.n_rows / population
    if not ones or not twos:
        return None
    n_classes = shlosser_classes(counts, fraction)
    if not math.isfinite(n_classes) or n_classes < counts.n_classes:
        return None

    def off(given: Floats) -> Floats:
        alpha, beta = math.exp(given[0]), 1 / (1 + math.exp(-given[1]))
        rest = (1 - fraction) * (1 - beta)
        below = 1 - rest
        power = math.exp(alpha * (math.log(beta) - math.log(below)))
        expected_ones = n_classes * fraction * power * (1 + alpha * rest / below)
        expected_twos = n_classes * fraction**2 * alpha * (1 - beta) * power * (2 - (1 - alpha) * rest) / (2 * below**2)
        return np.array([expected_ones / ones - 1, expected_twos / twos - 1])

    for start in ((0.0, 0.0), (-1.0, -3.0), (-3.0, -6.0), (1.0, -3.0), (2.0, 2.0)):
        found = least_squares(off, start, bounds=([-25.0, -30.0], [15.0, 30.0]), xtol=1e-14, ftol=1e-14, gtol=1e-14)
        if np.abs(found.fun).max() <= NEAR_ENOUGH:
            alpha, beta = math.exp(found.x[0]), 1 / (1 + math.exp(-found.x[1]))
            return min(float(population), n_classes * math.exp(alpha * math.log(beta)))
    return None


def shlosser_classes(counts: SizeCounts, fraction: float) -> float:
    """Estimate how many classes the population has, by Shlosser's estimator as Haas and Stokes (1998) modified it."""
    i, n_of, q, rest = counts.sizes, counts.n_classes_of, fraction, 1 - fraction
    by_two = float(n_of @ (i * q**2 * (1 - q**2) ** (i - 1))) / float(n_of @ (rest**i * ((1 + q) ** i - 1)))
    seen = float(n_of @ rest**i) / float(n_of @ (i * q * rest ** (i - 1)))
    return counts.n_classes + counts.of_size(1) * by_two * seen**2
