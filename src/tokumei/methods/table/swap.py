"""Numbers exchanged between rows of near rank."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.registry import part_name
from tokumei.core.seeds import generator
from tokumei.methods.perturbation import Original, Perturbed, in_random_order

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Swap:
    """Exchange each number with one whose rank is at most p percent of the rows away.

    Rank swapping (Moore 1996): from the smallest value up, each that was not exchanged yet changes places with one
    drawn evenly from those above it that were not either and whose rank is near enough; the last may find none and
    stays. Each column is exchanged on its own, so that it keeps exactly its values, while rows become mixtures. Missing
    values stay. It promises no k: how many rows can still be linked is for an attack to find out. Rows are released in
    an order drawn at random, and whoever knows the seed can undo all of it: keep it secret.

    Example: five rows with p=20, so that a value changes places with the next rank or stays

    | income   | 100 | 120 | 300 | 320 | 900 |
    |----------|-----|-----|-----|-----|-----|
    | released | 120 | 100 | 320 | 300 | 900 |
    """

    p: float = field(
        default=5.0,
        metadata={"help": "How far ranks may be apart, in percent of the rows; the next rank is near enough always."},
    )
    columns: tuple[str, ...] = field(
        default=(), metadata={"help": "The columns to exchange; the numeric quasi-identifiers if none."}
    )

    def perturb(self, original: Original, *, seed: int) -> Perturbed:
        """Exchange cells, column by column."""
        self.check_options()
        columns = original.chosen(self.columns, numeric=True)
        method = part_name(self)
        swapped = [self._swapped(original, name, generator(seed, method, name)) for name in columns]
        frame, rows = in_random_order(original.frame.with_columns(swapped), seed, method)
        return Perturbed(frame, rows, facts={"columns": columns, "window": self.window(original.n_rows)})

    def check_options(self) -> None:
        """Refuse a share of the rows beyond its ends."""
        if not 0 < self.p <= 100:
            raise InputError.of("a percentage above 0 and at most 100", option="p", value=self.p)

    def window(self, n_rows: int) -> int:
        """Return how far apart ranks may be, of so many."""
        return max(1, int(self.p * n_rows / 100))

    def _swapped(self, original: Original, column: str, rng: np.random.Generator) -> pl.Series:
        """Return a column whose cells changed places."""
        numbers = original.numbers(column)
        # Equal values get their ranks by lot, not by where they stand.
        drawn = rng.permutation(len(numbers))
        known = drawn[~np.isnan(numbers[drawn])]
        by_rank = known[np.argsort(numbers[known], kind="stable")]
        source = np.arange(len(numbers))
        source[by_rank] = by_rank[self.partners(len(by_rank), self.window(len(by_rank)), rng)]
        return original.frame[column].gather(source)

    def partners(self, n: int, window: int, rng: np.random.Generator) -> Ints:
        """Return for each rank the one it changes places with; itself if it stays."""
        return swapped_ranks(n, window, rng)


def swapped_ranks(n: int, window: int, rng: np.random.Generator) -> Ints:
    """Return for each rank the one it changes places with, at most `window` away; itself if it found none."""
    partner = list(range(n))
    luck = rng.random(n).tolist()
    # Those above the current rank that are near enough and were not exchanged; `index` says where each stands.
    near = list(range(1, min(window, n)))
    index = [rank - 1 for rank in range(n)]

    def leave(rank: int) -> None:
        last = near.pop()
        if last != rank:
            near[index[rank]] = last
            index[last] = index[rank]

    for rank in range(n):
        if rank + window < n:
            index[rank + window] = len(near)
            near.append(rank + window)
        if partner[rank] == rank and near:
            other = near[int(luck[rank] * len(near))]
            leave(other)
            partner[rank], partner[other] = other, rank
        if rank + 1 < n and partner[rank + 1] == rank + 1:
            # The next rank is the current one then, and no longer above itself.
            leave(rank + 1)
    return np.array(partner, np.int64)
