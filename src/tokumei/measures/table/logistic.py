"""Logistic regressions of a yes or no by numbers, with what each coefficient is sure of.

The functions take plain columns; several editions score by them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit
from scipy.stats import norm

Floats = npt.NDArray[np.float64]
# A deviance that moves by less has settled; few regressions take more than ten steps.
SETTLED, MOST_STEPS = 1e-8, 100
SMALLEST = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class LogisticFit:
    """Coefficients of a logistic regression and their standard errors, in the order of the columns."""

    coefficients: Floats
    errors: Floats

    @property
    def odds(self) -> Floats:
        """How many times the odds rise with one more of each column."""
        return np.exp(self.coefficients)

    @property
    def p_values(self) -> Floats:
        """Wald's test of each coefficient, of both sides; no number where an error is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(2 * norm.sf(np.abs(self.coefficients / self.errors)), np.float64)

    def influences(self, columns: Floats, is_one: Floats) -> Floats:
        """Return by how much each row, were it left out, would move the odds ratios: about, rows × columns."""
        chances = expit(columns @ self.coefficients)
        information = (columns * (chances * (1 - chances))[:, None]).T @ columns
        found: Floats = -(columns * (is_one - chances)[:, None]) @ np.linalg.pinv(information) * self.odds
        return found


def fit_logistic(columns: Floats, is_one: Floats) -> LogisticFit:
    """Fit by iterated weighted least squares; columns that say the same share their part.

    columns: a row each, the constant among them if there is to be one.

    >>> fit_logistic(np.ones((4, 1)), np.array([1.0, 1.0, 1.0, 0.0])).odds.round(6)
    array([3.])
    """
    chances = (is_one + 0.5) / 2
    linear, deviance = np.log(chances / (1 - chances)), _deviance(is_one, chances)
    coefficients, spread = np.zeros(columns.shape[1]), np.zeros(columns.shape[1])
    for _ in range(MOST_STEPS):
        weights = chances * (1 - chances)
        response = linear + (is_one - chances) / weights
        root = np.sqrt(weights)
        inverse = np.linalg.pinv(columns * root[:, None], rcond=1e-15)
        coefficients, spread = inverse @ (response * root), (inverse**2).sum(axis=1)
        linear = columns @ coefficients
        chances = np.clip(expit(linear), SMALLEST, 1 - SMALLEST)
        before, deviance = deviance, _deviance(is_one, chances)
        if abs(before - deviance) <= SETTLED:
            break
    return LogisticFit(coefficients, np.sqrt(spread))


def _deviance(is_one: Floats, chances: Floats) -> float:
    return float(-2 * (is_one * np.log(chances) + (1 - is_one) * np.log(1 - chances)).sum())
