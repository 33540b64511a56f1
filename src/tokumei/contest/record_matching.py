"""Whose record a released row is: how near rows are to people, and how likely theirs.

The sample attacks of several editions take the nearest person. `likely` learns from the release itself how far own
rows are off in each column, by turns with whose row each may be, after Fellegi and Sunter (1969).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float32]
Apart = npt.NDArray[np.int16]
TURNS = 4
# Numbers are off by parts of a standard deviation, and further off than one by as much as any.
PARTS = 20
# Before anything is learned, being off by so many parts, or having another value, is this much rarer; that stays worth
# so many rows.
NEAR, RARER, PRIOR_ROWS = 4, 4.0, 5.0
# Pairs of rows and people that are compared at once.
MOST_PAIRS = 2_000_000


def one_hot(people: pl.DataFrame, *others: pl.DataFrame) -> list[Floats]:
    """Return each table as numbers: a column for each value of a column of text, in all of them the same."""
    found: list[list[Floats]] = [[] for _ in (people, *others)]
    for name in people.columns:
        columns = [frame[name] for frame in (people, *others)]
        if people.schema[name].is_numeric():
            for one, cells in zip(found, columns, strict=True):
                one.append(cells.cast(pl.Float64).to_numpy())
            continue
        for value in pl.concat(columns).unique().sort().to_list():
            for one, cells in zip(found, columns, strict=True):
                one.append((cells == value).cast(pl.Float64).to_numpy())
    return [np.column_stack(one) for one in found]


def nearest(people: pl.DataFrame, rows: pl.DataFrame, n: int = 1) -> tuple[Floats, Ints]:
    """Return the n nearest people of each row, the nearest first, by Euclid's distance over numbers and values."""
    from scipy.spatial import cKDTree

    theirs, ours = one_hot(people, rows)
    distance, place = cKDTree(theirs).query(ours, k=list(range(1, n + 1)))
    return np.asarray(distance, np.float64), np.asarray(place, np.int64)


def likely(people: pl.DataFrame, rows: pl.DataFrame) -> Weights:
    """Return how much each row speaks for each person, rows × people, on the scale of logarithms; 0 says nothing."""
    names = [name for name in people.columns if people[name].n_unique() > 1]
    # Rows at even steps are as good as any to learn from.
    some = rows[:: max(1, people.height * rows.height // MOST_PAIRS)]
    columns = [_apart(people[name], some[name]) for name in names]
    sizes = [2 * PARTS + 1 if people.schema[name].is_numeric() else 2 for name in names]
    sure, weights = None, []
    for _ in range(TURNS):
        weights = [_weights(apart, n, sure) for (apart, _), n in zip(columns, sizes, strict=True)]
        told = _told(weights, columns)
        sure = np.exp(told - told.max(axis=1, keepdims=True))
        sure /= sure.sum(axis=1, keepdims=True)
    size = max(1, MOST_PAIRS // people.height)
    parts = (rows[start : start + size] for start in range(0, rows.height, size))
    return np.vstack([_told(weights, [_apart(people[name], part[name]) for name in names]) for part in parts])


def _told(weights: Sequence[Weights], columns: Sequence[tuple[Apart, Floats]]) -> Weights:
    found = np.zeros(columns[0][0].shape, np.float32)
    for said, (apart, rarity) in zip(weights, columns, strict=True):
        found += said[apart] + (apart == 0) * rarity
    return found


def _weights(apart: Apart, n: int, sure: Weights | None) -> Weights:
    """How much likelier own rows are so far apart than anybody's, by how sure it is whose each row is."""
    far = np.arange(n, dtype=np.float64)
    if n > 2:
        far = np.where(far <= PARTS, far, far - PARTS) / NEAR
    own = RARER**-far
    own *= PRIOR_ROWS / own.sum()
    if sure is not None:
        own += np.bincount(apart.ravel(), sure.ravel(), n)
    anybody = np.bincount(apart.ravel(), minlength=n) + 1.0
    found: Weights = np.log(own / own.sum() / (anybody / anybody.sum())).astype(np.float32)
    return found


def _apart(theirs: pl.Series, ours: pl.Series) -> tuple[Apart, Floats]:
    """Return how far each row and person are apart in a column, 0 if alike, and how much it tells to be alike."""
    if theirs.dtype.is_numeric():
        known, told = theirs.cast(pl.Float64).to_numpy(), ours.cast(pl.Float64).to_numpy()
        off = (told[:, None] - known) * PARTS / known.std()
        parts = np.clip(np.sign(off) * np.ceil(np.abs(off) - 1e-9), -PARTS, PARTS).astype(np.int16)
        return np.where(parts < 0, PARTS - parts, parts).astype(np.int16), np.zeros((len(told), 1))
    values = pl.concat([theirs, ours]).unique().sort()
    codes = pl.Enum(values)
    known, told = (cells.cast(codes).to_physical().to_numpy().astype(np.int64) for cells in (theirs, ours))
    shares = (np.bincount(known, minlength=len(values)) + 0.5) / (len(known) + 0.5 * len(values))
    alike = float((shares**2).sum())
    return (told[:, None] != known).astype(np.int16), np.log(alike / shares[told])[:, None]


def one_each(told: Weights) -> Ints:
    """Return a person for each row, no person twice, so that all rows together are likeliest."""
    from scipy.optimize import linear_sum_assignment

    found: Ints = np.asarray(linear_sum_assignment(-told)[1], np.int64)
    return found


def in_order(told: Weights) -> Ints:
    """Return the person of each row where rows stand in the order of people, some of whom have none.

    told: rows × people. The likeliest of all ways to go through both, one person after the other.
    """
    n_rows, n_people = told.shape
    best = np.full(n_rows + 1, -np.inf)
    best[0] = 0.0
    is_taken = np.zeros((n_people, n_rows), bool)
    for person in range(n_people):
        taken = best[:-1] + told[:, person]
        is_taken[person] = taken > best[1:]
        best[1:] = np.maximum(best[1:], taken)
    found, row = np.zeros(n_rows, np.int64), n_rows - 1
    for person in range(n_people - 1, -1, -1):
        if row >= 0 and is_taken[person, row]:
            found[row] = person
            row -= 1
    return found
