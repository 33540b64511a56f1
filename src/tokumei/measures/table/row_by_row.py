"""How far a table's released rows are from those of its original: the measures of PWSCUP 2015.

They compare counts, means and correlations, cells row by row, and the declared row numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.text import Text
from tokumei.data.table import Table
from tokumei.measures.registry import Sees
from tokumei.measures.table.pair import Floats, Ints, TablePair


@dataclass(frozen=True)
class RowCount:
    """Share of rows that are gone: 0 if all are released, 1 if none is.

    U6 nrow of PWSCUP 2015; sees Y, since how many rows X has is announced. The contest took the number itself.

    Example: of four rows three are released, so 1/4 is gone. More rows than the original has are refused.
    """

    sees: ClassVar[Sees] = Sees.RELEASE

    def measure(self, original: Table, released: Table, rows: pl.Series) -> Score:  # noqa: ARG002
        """Compare the numbers of rows."""
        if released.n_rows > original.n_rows:
            expected = Text("at most the original's {n:,} rows", n=original.n_rows)
            raise InputError.of(expected, file=released.name, value=f"{released.n_rows:,}")
        return Score("row-count", 1 - released.n_rows / max(1, original.n_rows), best=0, worst=1)


@dataclass(frozen=True)
class MeanMae:
    """Mean absolute error of the means of sensitive columns: 0 if none moved, 1 if all moved by a standard deviation.

    U1 meanMAE of PWSCUP 2015; sees X and Y. The contest left the unit open: here each column's error is in standard
    deviations of the original's column and at most 1, so that large amounts do not drown small ones.

    Example: s is 0, 0, 2, 2 with a standard deviation of 1, t is 10, 30, 10, 30. If s is released as 0, 0, 2, 4, its
    mean moves from 1 to 1.5. If t is released as 30, 30, 10, 10, its mean stays. The error is (0.5 + 0) / 2 = 1/4.
    """

    sees: ClassVar[Sees] = Sees.BOTH

    def measure(self, original: Table, released: Table, rows: pl.Series) -> Score:  # noqa: ARG002
        """Compare the mean of each sensitive column."""
        pair = TablePair.of(original, released).with_sensitive(1)
        # Exact sums, so that the order of rows cannot change a digit.
        means, released_means = (
            np.array([math.fsum(column) / len(column) for column in amounts.T])
            for amounts in (pair.amounts, pair.released_amounts)
        )
        errors = pair.in_spreads(means - released_means)
        return Score("mean-mae", math.fsum(errors) / max(1, len(errors)), best=0, worst=1)


@dataclass(frozen=True)
class CrossCount:
    """Absolute error of cross-tabulated counts per row: 0 if every count is the same, 1 if no cell has rows in both.

    U3 crossCnt of PWSCUP 2015; sees X and Y. Each two quasi-identifiers make a table of counts. The contest left open
    which tables and which unit: here the error of a table is the sum of |count − released count| over its cells divided
    by the rows of both, and the mean is over the tables of all pairs. A row that is gone is missed in every table.

    Example: rows (a, x), (a, y), (b, x) and (b, y) are released as (a, y), (a, y) and (b, x). The counts 1, 1, 1, 1
    became 0, 2, 1, 0, and with four and three rows the error is (1 + 1 + 0 + 1) / 7 = 3/7.
    """

    sees: ClassVar[Sees] = Sees.BOTH

    def measure(self, original: Table, released: Table, rows: pl.Series) -> Score:  # noqa: ARG002
        """Compare the counts in all cells of all tables."""
        pair = TablePair.of(original, released)
        errors = []
        for cells, released_cells in pair.cross_tables():
            n_cells = int(max(cells.max(), released_cells.max())) + 1
            gaps = np.bincount(cells, minlength=n_cells) - np.bincount(released_cells, minlength=n_cells)
            errors.append(int(np.abs(gaps).sum()) / (pair.n_rows + pair.n_released))
        return Score("cross-count", math.fsum(errors) / max(1, len(errors)), best=0, worst=1)


@dataclass(frozen=True)
class CrossMean:
    """Mean absolute error of cross-tabulated means: 0 if every cell keeps its means, 1 if all are off or empty.

    U2 crossMean of PWSCUP 2015; sees X and Y. Each two quasi-identifiers make a table whose cells hold the mean of
    every sensitive column. The contest left open which tables and which unit: here all pairs, and the mean is over all
    cells that the original fills, each error in standard deviations of the original's column and at most 1. A cell that
    the release leaves empty is off by 1.

    Example: the standard deviations of s and t are 1 and 10. Four cells have two means each. The first s moved by half
    a standard deviation, and the last cell is empty, where both means are off by 1: (0.5 + 1 + 1) / 8 = 5/16.

    | q | r | s | t  | released s | released t |
    |---|---|---|----|------------|------------|
    | a | x | 0 | 10 | 0.5        | 10         |
    | a | y | 0 | 30 | 0          | 30         |
    | b | x | 2 | 10 | 2          | 10         |
    | b | y | 2 | 30 | gone       | gone       |
    """

    sees: ClassVar[Sees] = Sees.BOTH

    def measure(self, original: Table, released: Table, rows: pl.Series) -> Score:  # noqa: ARG002
        """Compare the means in all cells of all tables."""
        pair = TablePair.of(original, released).with_sensitive(1)
        # Rows in the order of their amounts: then the order they came in cannot change a digit of a sum.
        order, released_order = _by_amounts(pair.amounts), _by_amounts(pair.released_amounts)
        errors: list[float] = []
        for cells, released_cells in pair.cross_tables():
            n_cells = int(max(cells.max(), released_cells.max())) + 1
            counts, means = _cell_means(cells[order], pair.amounts[order], n_cells)
            released_counts, released_means = _cell_means(
                released_cells[released_order], pair.released_amounts[released_order], n_cells
            )
            off = pair.in_spreads(means - released_means)
            off[released_counts == 0] = 1
            errors.extend(off[counts > 0].ravel().tolist())
        return Score("cross-mean", math.fsum(errors) / max(1, len(errors)), best=0, worst=1)


def _by_amounts(amounts: Floats) -> Ints:
    return np.lexsort(amounts.T) if amounts.shape[1] else np.arange(len(amounts))


def _cell_means(cells: Ints, amounts: Floats, n_cells: int) -> tuple[Ints, Floats]:
    """Return how many rows each cell has and the mean of each column there, 0 where there is none."""
    counts = np.bincount(cells, minlength=n_cells)
    means = np.zeros((n_cells, amounts.shape[1]))
    for index, column in enumerate(amounts.T):
        means[:, index] = np.bincount(cells, column, n_cells) / np.maximum(counts, 1)
    return counts, means


Numbers = Sequence[float] | npt.NDArray[np.float64]


def pearson_correlation(values: Numbers, others: Numbers) -> float | None:
    """Return Pearson's correlation of two measures, from −1 to 1; None where one of them is constant."""
    if len(values) != len(others) or len(values) < 2:
        raise InputError.of("two values or more, as many of both", value=f"{len(values)} and {len(others)}")
    # Exact sums, so that the order of values cannot change a digit.
    centered = [np.asarray(one, np.float64) - math.fsum(one) / len(one) for one in (values, others)]
    sizes = [math.sqrt(math.fsum(one**2)) for one in centered]
    if not all(sizes):
        return None
    # Each by its own size, since the product of both may be too small for a number.
    found = math.fsum((centered[0] / sizes[0]) * (centered[1] / sizes[1]))
    return min(1.0, max(-1.0, found))


def least_significant_correlation(n: int, level: float = 0.05) -> float:
    """Return the size beyond which a correlation of n values is significant, tested on both sides."""
    if n < 3 or not 0 < level < 1:
        raise InputError.of("3 values or more and a level between 0 and 1", value=f"{n}, {level}")
    # Of scipy.special, since scipy.stats takes seconds to import.
    from scipy.special import stdtrit

    quantile = float(stdtrit(n - 2, 1 - level / 2))
    return quantile / math.sqrt(n - 2 + quantile**2)


@dataclass(frozen=True)
class CorrelationMae:
    """Mean absolute error of the correlations of sensitive columns, halved: 0 if all are the same, 1 if all turn round.

    U4 corMAE of PWSCUP 2015; sees X and Y. Pearson's correlation of each two sensitive columns; one that never varies
    is correlated with nothing, 0. Halved is our choice, since correlations are up to 2 apart.

    Example: s is 0, 0, 2, 2 and t is 10, 10, 30, 30, so their correlation is 1. If t is released as 10, 30, 10, 30, it
    is 0 and the error 1/2. As 30, 30, 10, 10 it is −1 and the error 1, and as 7, 7, 7, 7 it is 0 again and the error
    1/2.
    """

    sees: ClassVar[Sees] = Sees.BOTH

    def measure(self, original: Table, released: Table, rows: pl.Series) -> Score:  # noqa: ARG002
        """Compare the correlation of each two sensitive columns."""
        pair = TablePair.of(original, released).with_sensitive(2)
        before, after = _correlations(pair.amounts), _correlations(pair.released_amounts)
        errors = [abs(one - other) / 2 for one, other in zip(before, after, strict=True)]
        return Score("correlation-mae", math.fsum(errors) / max(1, len(errors)), best=0, worst=1)


def _correlations(amounts: Floats) -> list[float]:
    if len(amounts) == 1:
        # One row never varies.
        return [0.0 for _ in combinations(amounts.T, 2)]
    return [pearson_correlation(one, other) or 0.0 for one, other in combinations(amounts.T, 2)]


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


# Declared rows are far if a larger share of the others is nearer.
FAR = 0.75


@dataclass(frozen=True)
class Aya:
    """About the share of declared row numbers that are false: 0 if all declared rows are near, 1 if chance is as near.

    E5 AYA of PWSCUP 2015, made to find releases after Yamaoka, in which nothing but the row numbers is shuffled; sees
    X, Y and I. Its formula was not published; this one is ours. Each released row is held against its declared row and
    against others of the original, by the mean error of its cells (see information-loss). The declared row is far
    where more than three quarters of the others are nearer, ties by half: so is any row in one case of four. The index
    is four times the share of rows declared far, at most 1. Honest noise, however strong, seldom moves a row that far.

    Example: eight amounts, 0 to 6 and 1000, are released with 0 changed to 0.1 and the others as they are. That row is
    declared to be the one with 1000, while all seven others of the original are nearer to it, so it is far. The others
    are declared truly: 1 of 8 is far, and the index is 4/8.
    """

    n_compared: int = field(
        default=100, metadata={"help": "How many other rows each is held against; all if there are fewer."}
    )

    sees: ClassVar[Sees] = Sees.ROWS

    def __post_init__(self) -> None:
        if self.n_compared < 1:
            raise InputError.of("at least 1", option="n_compared", value=self.n_compared)

    def measure(self, original: Table, released: Table, rows: pl.Series) -> Score:
        """Hold each released row against its declared row and against others."""
        pair = TablePair.of(original, released)
        declared = pair.checked_rows(rows)
        to_declared = pair.distances(declared)
        # Others stand at the same steps after each declared row. A team sets neither the steps nor the order of X.
        n_others = min(self.n_compared, pair.n_rows - 1)
        steps = np.unique(1 + np.arange(n_others) * (pair.n_rows - 1) // max(1, n_others))
        n_nearer = np.zeros(pair.n_released)
        for step in steps:
            to_other = pair.distances((declared + step) % pair.n_rows)
            # Equal sums of rounded parts must count as equal.
            n_nearer += np.where(np.abs(to_other - to_declared) < 1e-12, 0.5, to_other < to_declared)
        # A row of which no cell was changed is near, though many may be like it.
        is_far = (n_nearer > FAR * len(steps)) & (to_declared > 0)
        share = int(is_far.sum()) / pair.n_released
        return Score("aya", min(1.0, share / (1 - FAR)), best=0, worst=1, inputs={"n_compared": len(steps)})
