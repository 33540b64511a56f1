"""Which sets of columns single people out: distinction, separation, and the smallest sets that are unique to a row.

Distinction is the share of different combinations of values among all rows, separation the share of pairs of rows that
are told apart (Motwani and Xu, 2007, as ARX has them). A minimal sample unique is a set of columns by which one row is
alone while it is not by any smaller part of the set (Manning, Haglin and Keane, 2008: SUDA2).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tokumei.core.progress import step
from tokumei.core.seeds import generator

# So many columns together at most; more columns than this are not combined.
LARGEST_SET, MOST_COLUMNS = 3, 12
# Rows times sets that are looked at; with more, rows are drawn at random.
MOST_LOOKS = 10_000_000
MOST_LISTED = 10
# A table of counts with so many cells is quicker than sorting.
MOST_CELLS = 4_000_000


@dataclass(frozen=True)
class ColumnSet:
    """Some columns, and how far they tell rows apart together."""

    columns: tuple[str, ...]
    distinction: float
    separation: float
    n_unique: int


@dataclass(frozen=True)
class Separation:
    """Sets of columns, the sharpest first, and the minimal sample uniques among the rows that were looked at."""

    columns: Sequence[str]
    left_out: Sequence[str]
    sets: Sequence[ColumnSet]
    n_rows: int
    is_sample: bool
    largest_set: int
    n_minimal: dict[int, int]
    n_rows_unique: int
    # Share of all minimal sample uniques that hold a column.
    by_column: dict[str, float]
    # Rows counted from 0, with SUDA's score: the more and the smaller the sets, the higher.
    riskiest: Sequence[tuple[int, float]]


def separate(frame: pl.DataFrame, columns: Sequence[str], *, seed: int = 0) -> Separation:
    """Look at all sets of up to three columns, and at all columns together."""
    chosen = list(columns[:MOST_COLUMNS])
    sizes = range(1, min(LARGEST_SET, len(chosen)) + 1)
    n_sets = sum(math.comb(len(chosen), size) for size in sizes)
    n_rows = min(frame.height, max(1_000, MOST_LOOKS // max(1, n_sets)))
    is_sample = n_rows < frame.height
    drawn = np.arange(frame.height)
    if is_sample:
        drawn = np.sort(generator(seed, "separation").choice(frame.height, n_rows, replace=False))
    codes = [_codes(frame[name].gather(drawn) if is_sample else frame[name]) for name in chosen]
    sets: list[ColumnSet] = []
    unique: dict[tuple[int, ...], np.ndarray] = {}
    scores = np.zeros(n_rows)
    n_minimal = dict.fromkeys(sizes, 0)
    by_column = np.zeros(len(chosen))
    with step("looking at sets of columns", n_sets) as bar:
        for size in sizes:
            for members in itertools.combinations(range(len(chosen)), size):
                alone, counts = _alone([codes[one] for one in members])
                smaller = [unique[part] for part in itertools.combinations(members, size - 1) if part]
                minimal = alone & ~np.logical_or.reduce(smaller) if smaller else alone
                if size < sizes[-1]:
                    unique[members] = alone
                sets.append(_set_of([chosen[one] for one in members], counts, n_rows))
                n_found = int(minimal.sum())
                n_minimal[size] += n_found
                by_column[list(members)] += n_found
                scores[minimal] += suda_weight(size, len(chosen), sizes[-1])
                bar.advance()
    if len(chosen) > LARGEST_SET:
        sets.append(_set_of(chosen, _alone(codes)[1], n_rows))
    total = sum(n_minimal.values())
    order = np.argsort(-scores, kind="stable")[:MOST_LISTED]
    return Separation(
        columns=chosen,
        left_out=list(columns[MOST_COLUMNS:]),
        sets=sorted(sets, key=lambda one: (-one.distinction, -one.separation, len(one.columns))),
        n_rows=n_rows,
        is_sample=is_sample,
        largest_set=sizes[-1] if chosen else 0,
        n_minimal=n_minimal,
        n_rows_unique=int((scores > 0).sum()),
        by_column={name: float(n) / total if total else 0.0 for name, n in zip(chosen, by_column, strict=True)},
        riskiest=[(int(drawn[at]), float(scores[at])) for at in order if scores[at] > 0],
    )


def suda_weight(size: int, n_columns: int, largest: int) -> float:
    """Return what one minimal sample unique adds to a row's score: the product of n_columns - i for i from its size on.

    >>> suda_weight(1, 4, 3), suda_weight(2, 4, 3), suda_weight(3, 4, 3)
    (6.0, 2.0, 1.0)
    """
    return float(math.prod(n_columns - at for at in range(size, largest)))


def _codes(column: pl.Series) -> np.ndarray:
    """Return a number for each value of a column; a missing value is a value of its own."""
    return column.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()


def _alone(codes: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return for each row whether its combination is unique, and how many rows each combination has."""
    packed, n_cells = codes[0], int(codes[0].max(initial=0)) + 1
    for one in codes[1:]:
        width = int(one.max(initial=0)) + 1
        if n_cells * width > np.iinfo(np.int64).max // 2:
            packed = np.unique(packed, return_inverse=True)[1]
            n_cells = int(packed.max(initial=0)) + 1
        packed, n_cells = packed * width + one, n_cells * width
    if n_cells > MOST_CELLS:
        packed = pl.Series(packed).rank("dense").cast(pl.Int64).to_numpy()
    counts = np.bincount(packed)
    return counts[packed] == 1, counts[counts > 0]


def _set_of(columns: Sequence[str], counts: np.ndarray, n_rows: int) -> ColumnSet:
    pairs = n_rows * (n_rows - 1) / 2
    together = float((counts.astype(np.float64) * (counts - 1) / 2).sum())
    distinction = len(counts) / n_rows if n_rows else 0.0
    separation = 1 - together / pairs if pairs else 0.0
    return ColumnSet(tuple(columns), distinction, separation, int((counts == 1).sum()))
