"""How far statistics and correlations of a generalized release are off.

A label counts as its leaves, each alike (`measures/table/spread.py`); so it does in `measures/table/crosstab_error.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import ClassVar

import numpy as np
import polars as pl

from tokumei.core.score import Score
from tokumei.data.table import Table
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.registry import Sees
from tokumei.measures.table.spread import Floats, Labeled, SpreadColumn, numeric_columns, pair_counts, weighted_mean

# Less weight than this on a number is rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Statistics:
    """Shift of mean, variance, median, least and greatest of each column of numbers: 0 if none moved, 1 if all did far.

    Sees X and Y. A shift is in standard deviations of the original's column, that of the variance in variances of it,
    at most 1; the score is the mean over the statistics of all columns, and each shift is among its inputs. A released
    label counts as the numbers it stands for, each alike, so that a generalized column has statistics as well. Missing
    values are left out. Domingo-Ferrer and Torra (2001) compare a release by such statistics.

    Example: ages 20, 20, 24, 24 have mean and spread 22 and 2, variance 4, median 20, ends 20 and 24. Released as 20-24
    each counts as half 20, half 24: nothing moves, 0. Released as 20 four times the mean moves by one spread, the
    variance by all of it and the greatest by more: (1 + 1 + 0 + 0 + 1) / 5 = 3/5.
    """

    hierarchies: Mapping[str, Hierarchy] = field(
        default_factory=dict, metadata={"help": "Of the columns whose labels come from one."}
    )
    numeric: tuple[str, ...] = field(default=(), metadata={"help": "Columns of numbers among those that are text."})

    sees: ClassVar[Sees] = Sees.BOTH

    def measure(self, original: Table, released: Table, rows: pl.Series) -> Score:  # noqa: ARG002
        """Compare five statistics of each column of numbers."""
        shifts: dict[str, dict[str, float]] = {}
        for column in numeric_columns(original, released, self.hierarchies, self.numeric, 1):
            before = _statistics(column.numbers, column.weights(column.original))
            after = _statistics(column.numbers, column.weights(column.released))
            units = dict.fromkeys(before, math.sqrt(before["variance"])) | {"variance": before["variance"]}
            shifts[column.name] = {name: _shift(before[name], after[name], units[name]) for name in before}
        found = [shift for each in shifts.values() for shift in each.values()]
        return Score("statistics", math.fsum(found) / len(found), best=0, worst=1, inputs={"shifts": shifts})


def _statistics(numbers: Floats, weights: Floats) -> dict[str, float]:
    """Return the five statistics of weighted numbers, which are in order; NaN where there are none."""
    is_there = weights > ROUNDING
    numbers, weights = numbers[is_there], weights[is_there]
    if not len(numbers):
        return dict.fromkeys(("mean", "variance", "median", "least", "greatest"), math.nan)
    mean = weighted_mean(numbers, weights)
    below = np.cumsum(weights)
    middle = int(np.searchsorted(below, below[-1] / 2 - ROUNDING * below[-1]))
    return {
        "mean": mean,
        "variance": weighted_mean((numbers - mean) ** 2, weights),
        "median": float(numbers[middle]),
        "least": float(numbers[0]),
        "greatest": float(numbers[-1]),
    }


def _shift(before: float, after: float, unit: float) -> float:
    gap = abs(after - before)
    if math.isnan(gap):
        # Nothing is left of a column that had numbers.
        return 0.0 if math.isnan(before) and math.isnan(after) else 1.0
    return min(1.0, gap / unit) if unit else float(gap > 0)


@dataclass(frozen=True)
class CorrelationError:
    """Mean absolute error of the correlations of columns of numbers, halved: 0 if all are the same, 1 if turned round.

    Sees X and Y. Pearson's correlation of each two columns of numbers, quasi-identifiers or sensitive, where
    `correlation-mae` of PWSCUP 2015 takes sensitive columns alone. A released label counts as the numbers it stands
    for, each alike and without regard to other columns, so that generalizing weakens correlations. Rows with a missing
    value are left out of a pair; a column that never varies is correlated with nothing. The largest error is among the
    inputs.

    Example: (1, 1), (2, 2), (3, 3), (4, 4) has correlation 1. With the second column released as 1-2, 1-2, 3-4, 3-4 its
    means are 1.5, 1.5, 3.5, 3.5 and its variance is 5/4 as before, so the correlation is 1 / (5/4) = 4/5 and the error
    (1 − 4/5) / 2 = 1/10.
    """

    hierarchies: Mapping[str, Hierarchy] = field(
        default_factory=dict, metadata={"help": "Of the columns whose labels come from one."}
    )
    numeric: tuple[str, ...] = field(default=(), metadata={"help": "Columns of numbers among those that are text."})

    sees: ClassVar[Sees] = Sees.BOTH

    def measure(self, original: Table, released: Table, rows: pl.Series) -> Score:  # noqa: ARG002
        """Compare the correlation of each two columns of numbers."""
        found = self.correlations(original, released)
        errors = {", ".join(pair): abs(before - after) / 2 for pair, (before, after) in found.items()}
        worst = max(errors, key=lambda name: errors[name])
        value = math.fsum(errors.values()) / len(errors)
        return Score("correlation-error", value, best=0, worst=1, inputs={"worst": worst, "worst_error": errors[worst]})

    def correlations(self, original: Table, released: Table) -> dict[tuple[str, str], tuple[float, float]]:
        """Return the correlation of each two columns of numbers in the original and in the release."""
        columns = numeric_columns(original, released, self.hierarchies, self.numeric, 2)
        return {
            (one.name, other.name): (
                _correlation(one, other, one.original, other.original),
                _correlation(one, other, one.released, other.released),
            )
            for one, other in combinations(columns, 2)
        }


def _correlation(one: SpreadColumn, other: SpreadColumn, ours: Labeled, theirs: Labeled) -> float:
    """Correlate two columns, their pairs of labels counted first: then the order of rows cannot change a digit."""
    (means, variances), (other_means, other_variances) = one.moments(ours), other.moments(theirs)
    label, other_label, counts = pair_counts(ours.codes, theirs.codes, theirs.sets.n_labels)
    is_there = ~np.isnan(means[label]) & ~np.isnan(other_means[other_label])
    label, other_label, n = label[is_there], other_label[is_there], counts[is_there].astype(np.float64)
    if not len(n):
        return 0.0
    x, y, total = means[label], other_means[other_label], n.sum()
    x, y = x - (n @ x) / total, y - (n @ y) / total
    size, other_size = math.sqrt(n @ (x**2 + variances[label])), math.sqrt(n @ (y**2 + other_variances[other_label]))
    # Not the product of both, which may be too small for a number.
    found = float(((x / size) * n) @ (y / other_size)) if size and other_size else 0.0
    return min(1.0, max(-1.0, found))
