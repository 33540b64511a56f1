"""The built-in players of PWSCUP 2015: simple ways to anonymize microdata, and one to cheat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from tokumei.core.seeds import generator
from tokumei.data.table import Table

# The spread of the logarithm of what amounts are multiplied by.
NOISE = 0.2
# How many people share their values in a group, and how many exchange theirs.
GROUP = 5
BLOCK = 50
# The share of people dropped because their traits are rare.
DROPPED = 0.2
# Amounts are written with two decimals, or none where the original has none, and have at most nine digits before.
LARGEST = 999_999_999.0
# Where rows come from, next to columns that may have any other name.
ROW = "\0row"


@dataclass(frozen=True)
class PlayedRelease:
    """The rows of Y, and the row of X that each is declared to be, counted from 0."""

    frame: pl.DataFrame
    rows: pl.Series


def shuffle(original: Table, seed: int) -> PlayedRelease:
    """Change nothing but the order of rows."""
    rows = pl.Series("row", generator(seed, "shuffle").permutation(original.n_rows))
    return PlayedRelease(original.frame[rows], rows)


def noise(original: Table, seed: int) -> PlayedRelease:
    """Multiply every amount by a number near 1."""
    moved = shuffle(original, seed)
    rng = generator(seed, "noise")
    factors = np.exp(NOISE * rng.standard_normal((len(original.sensitive), original.n_rows)))
    noisy = [
        _as_written(moved.frame[name] * pl.Series(by), original.frame[name])
        for name, by in zip(original.sensitive, factors, strict=True)
    ]
    return PlayedRelease(moved.frame.with_columns(noisy), moved.rows)


def swap(original: Table, seed: int) -> PlayedRelease:
    """Swap traits among people of similar amounts, each trait on its own, and add noise."""
    moved = noise(original, seed)
    rng = generator(seed, "swap")
    total = moved.frame.select(pl.sum_horizontal(original.sensitive)).to_series()
    order = total.arg_sort().to_numpy()
    swapped = []
    for name in original.quasi_identifiers:
        # A random number within each block of neighbors: sorting by it exchanges them among themselves.
        places = np.argsort(np.arange(len(order)) // BLOCK + rng.random(len(order)), kind="stable")
        taken = np.empty_like(order)
        taken[order] = order[places]
        swapped.append(moved.frame[name].gather(taken))
    return PlayedRelease(moved.frame.with_columns(swapped), moved.rows)


def average(original: Table, seed: int) -> PlayedRelease:
    """Put people of like traits in groups, and give all of a group its commonest traits and its mean amounts."""
    moved = shuffle(original, seed)
    # Traits with few values first: neighbors then agree in as many as can be.
    by = sorted(original.quasi_identifiers, key=lambda name: original.frame[name].n_unique())
    order = moved.frame.with_row_index(ROW).sort(*by, *original.sensitive, ROW)[ROW]
    n_groups = max(1, original.n_rows // GROUP)
    group = np.empty(original.n_rows, np.int64)
    group[order.to_numpy()] = np.minimum(np.arange(original.n_rows) // GROUP, n_groups - 1)
    grouped = moved.frame.with_columns(pl.Series(ROW, group))
    # Of values as common the least, so that the order of rows decides nothing.
    traits = [pl.col(name).mode().min().over(ROW) for name in original.quasi_identifiers]
    means = [pl.col(name).mean().over(ROW).round(2) for name in original.sensitive]
    return PlayedRelease(grouped.with_columns(*traits, *means).drop(ROW), moved.rows)


def drop(original: Table, seed: int) -> PlayedRelease:
    """Leave out the people whose traits are rarest, and add noise to the others."""
    moved = noise(original, seed)
    rarity = moved.frame.select(
        pl.sum_horizontal(-(pl.len().over(name) / pl.len()).log() for name in original.quasi_identifiers)
    ).to_series()
    n_kept = original.n_rows - int(DROPPED * original.n_rows)
    kept = rarity.arg_sort()[:n_kept].sort()
    return PlayedRelease(moved.frame[kept], moved.rows[kept])


def yamaoka(original: Table, seed: int) -> PlayedRelease:
    """Cheat: add noise, and declare the rows in an order that has nothing to do with the data."""
    moved = noise(original, seed)
    return PlayedRelease(moved.frame, moved.rows[generator(seed, "yamaoka").permutation(len(moved.rows))])


ANONYMIZERS: Mapping[str, Callable[[Table, int], PlayedRelease]] = {
    "shuffle": shuffle,
    "noise": noise,
    "drop": drop,
    "swap": swap,
    "average": average,
    "yamaoka": yamaoka,
}


def _as_written(amounts: pl.Series, like: pl.Series) -> pl.Series:
    """Round amounts as the original's are, and keep them in bounds."""
    decimals = 0 if (like == like.round()).all() else 2
    return amounts.round(decimals).clip(-LARGEST, LARGEST).alias(like.name)
