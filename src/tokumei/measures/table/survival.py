"""Whether a release tells the same of how long people go without an event: survival curves and Cox regressions.

The functions take plain columns; the edition of 2026 scores by them.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import MissingExtra

Floats = npt.NDArray[np.float64]
Columns = Mapping[str, Floats]


def survival_at(times: Floats, events: Floats, at: Floats) -> Floats:
    """Share of people still without the event after each moment, after Kaplan and Meier (1958).

    events: 1 where the time ends with the event, 0 where nothing is known of the person afterwards.

    >>> survival_at(np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 1.0]), np.array([0.0, 1.0, 2.5, 3.0])).round(4)
    array([1.    , 0.6667, 0.6667, 0.    ])
    """
    moments, place = np.unique(times, return_inverse=True)
    n_events = np.bincount(place, weights=events, minlength=len(moments))
    n_at_risk = len(times) - np.concatenate([[0], np.cumsum(np.bincount(place, minlength=len(moments)))[:-1]])
    left = np.concatenate([[1.0], np.cumprod(1 - n_events / n_at_risk)])
    found: Floats = left[np.searchsorted(moments, at, side="right")]
    return found


def survival_gap(one: tuple[Floats, Floats], other: tuple[Floats, Floats], end: float) -> float:
    """Area between two survival curves up to an end, by trapezoids between the moments that either has."""
    moments = np.concatenate([one[0], other[0]])
    grid = np.unique(np.concatenate([moments[moments <= end], [0.0, end]]))
    return float(np.trapezoid(np.abs(survival_at(*one, grid) - survival_at(*other, grid)), grid))


@dataclass(frozen=True)
class CoxFit:
    """What a Cox regression found: coefficients, ends of their 95 % intervals, and whether it can be relied on."""

    coefficients: Floats
    low: Floats
    high: Floats
    is_sound: bool

    def order(self, columns: Columns, times: Floats, events: Floats) -> float:
        """Share of pairs of people whom the model orders as their times did (Harrell's concordance)."""
        from lifelines.utils import concordance_index

        risk = np.exp(np.column_stack(list(columns.values())) @ self.coefficients)
        return float(concordance_index(times, -risk, events))


def fit_cox(columns: Columns, times: Floats, events: Floats) -> CoxFit:
    """Fit Cox's proportional hazards with Efron's ties and no penalty; one that did not settle is not sound."""
    try:
        import pandas as pd
        from lifelines import CoxPHFitter
        from lifelines.exceptions import ConvergenceError, ConvergenceWarning
    except ImportError:
        raise MissingExtra("A Cox regression", "editions") from None
    nothing = np.full(len(columns), np.nan)
    frame = pd.DataFrame({**columns, "\0time": times, "\0event": events})
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            fitted = CoxPHFitter(penalizer=0.0).fit(frame, duration_col="\0time", event_col="\0event")
        except (ConvergenceError, ValueError, ZeroDivisionError, np.linalg.LinAlgError):
            return CoxFit(nothing, nothing, nothing, False)
    coefficients, errors = fitted.params_.to_numpy(), fitted.standard_errors_.to_numpy()
    low, high = fitted.confidence_intervals_.to_numpy().T
    is_sound = not any(issubclass(one.category, ConvergenceWarning) for one in warned)
    is_sound &= bool(np.isfinite(coefficients).all() and np.isfinite(errors).all() and (errors > 0).all())
    return CoxFit(coefficients, low, high, is_sound)


def same_conclusions(one: CoxFit, other: CoxFit) -> Floats:
    """How far two fits tell the same of each coefficient: 1 if their intervals are the same, 0 if apart.

    It is the mean share of each interval that lies in the other (Karr et al. 2006), and 0 where one coefficient is
    significant at 5 % and the other is not, or both are with opposite signs.
    """
    matter = [(fit.low > 0) | (fit.high < 0) for fit in (one, other)]
    shared = np.maximum(0.0, np.minimum(one.high, other.high) - np.maximum(one.low, other.low))
    overlap = np.clip(0.5 * (shared / (one.high - one.low) + shared / (other.high - other.low)), 0.0, 1.0)
    turned = matter[0] & matter[1] & (np.sign(one.coefficients) != np.sign(other.coefficients))
    found: Floats = np.where((matter[0] != matter[1]) | turned, 0.0, overlap)
    return found
