"""How far the cells of released rows are from those they came from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from tokumei.core.score import Score
from tokumei.data.table import Table
from tokumei.measures.registry import Sees
from tokumei.measures.table_pair import Floats, Ints, TablePair


@dataclass(frozen=True)
class InformationLoss:
    """Mean absolute error of all cells, row by row: 0 if no cell was changed, 1 if every one is far off.

    U5 IL of PWSCUP 2015; sees X, Y and I. A quasi-identifier is off by 0 if equal and by 1 if not, a sensitive value by
    its distance in standard deviations of the original's column, at most 1; both choices are ours. Rows that are gone
    are not counted. The baseline is what the same row numbers in a random order are expected to give: a release that
    comes near it was made without regard to its rows, or tells false row numbers.

    Example: the standard deviations of s and t are 1 and 10. One q is another, one s moved by half a standard deviation
    and one t by far more than one: (1 + 0.5 + 1) / 16 = 5/32 over the 16 cells.

    | q | r | s | t  | released q | r | s   | t    |
    |---|---|---|----|------------|---|-----|------|
    | a | x | 0 | 10 | b          | x | 0   | 10   |
    | a | y | 0 | 30 | a          | y | 0.5 | 30   |
    | b | x | 2 | 10 | b          | x | 2   | 1000 |
    | b | y | 2 | 30 | b          | y | 2   | 30   |
    """

    sees: ClassVar[Sees] = Sees.ROWS

    def measure(self, original: Table, released: Table, rows: pl.Series) -> Score:
        """Compare each released row with the row of the original it came from."""
        pair = TablePair.of(original, released)
        declared = pair.checked_rows(rows)
        distances = pair.distances(declared)
        value = math.fsum(distances) / len(distances)
        return Score("information-loss", value, best=0, worst=1, baseline=_by_chance(pair, declared))


def _by_chance(pair: TablePair, declared: Ints) -> float:
    """Expect the error of a released row against any of the declared ones."""
    errors = []
    for codes, released_codes in zip(pair.codes[declared].T, pair.released_codes.T, strict=True):
        shares = np.bincount(codes, minlength=int(released_codes.max()) + 1) / pair.n_released
        errors.append(1 - math.fsum(shares[released_codes]) / pair.n_released)
    for index, spread in enumerate(pair.spreads):
        errors.append(_mean_gap(pair.amounts[declared, index], pair.released_amounts[:, index], float(spread)))
    return math.fsum(errors) / max(1, len(errors))


def _mean_gap(values: Floats, others: Floats, spread: float) -> float:
    """Return the mean over all pairs of their distance in spreads, at most 1, without making the pairs."""
    ordered = np.sort(values)
    n, middle = len(ordered), np.sort(others)
    if not spread:
        return math.fsum(middle != ordered[0]) / len(middle)
    # Taken from the first value, so that large amounts that differ little keep their digits.
    ordered, middle = (ordered - ordered[0]) / spread, (middle - ordered[0]) / spread
    below = np.concatenate([[0.0], np.cumsum(ordered)])
    left, here, right = (np.searchsorted(ordered, middle + step) for step in (-1.0, 0.0, 1.0))
    near = middle * (here - left) - (below[here] - below[left]) + (below[right] - below[here]) - middle * (right - here)
    return min(1.0, max(0.0, math.fsum(near + (n - (right - left))) / (n * len(middle))))
