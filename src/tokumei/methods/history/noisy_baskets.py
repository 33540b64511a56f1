"""Noisy counts of what customers add to: exact noise for each, and a model of baskets of nothing but these counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from tokumei.core.errors import CannotAnonymize
from tokumei.core.text import Text
from tokumei.engines.item_sets import Floats, Ints
from tokumei.methods.history.basket_model import EDGES, BasketModel, ItemValues, brought_along
from tokumei.methods.synthetic.private_noise import Coins, discrete_gaussian

# Counts below so many deviations of their noise may be noise alone, and count as none.
LEAST_SURE = 3
N_BINS = len(EDGES) - 1
CENTS = 2


@dataclass(frozen=True, eq=False)
class Noise:
    """Exact noise for counts, to each of which a customer adds so many cells, each at its part of the budget."""

    cells: Mapping[str, int]
    rhos: Mapping[str, float]
    coins: Coins

    def sigma(self, name: str) -> float:
        """Return Δ/√(2ρ) with Δ = √cells."""
        return math.sqrt(self.cells[name]) / math.sqrt(2 * self.rhos[name])

    def check(self) -> None:
        """Refuse noise that is too large, before anything is spent."""
        discrete_gaussian(max(self.sigma(name) for name in self.rhos), 0, self.coins)

    def add(self, name: str, counts: Ints) -> Ints:
        """Add noise to counts."""
        return np.asarray(counts + discrete_gaussian(self.sigma(name), len(counts), self.coins))

    def count(self, name: str, cells: Any, n: int) -> Floats:
        """Count cells with noise."""
        exact = np.bincount(np.asarray(cells, np.int64), minlength=n)
        return self.add(name, exact).astype(np.float64)

    def named(
        self, name: str, values: pl.Series, declared: Sequence[str] | None, delta: float
    ) -> tuple[pl.Series, Floats]:
        """Count values with noise: those that are declared, else those that are common enough to be told."""
        counts = values.rename("value").value_counts(name="n").sort("value")
        if declared is None:
            noisy = self.add(name, counts["n"].to_numpy().astype(np.int64)).astype(np.float64)
            least = least_told(self.sigma(name), self.cells[name], delta)
            is_told = noisy >= least
            if not is_told.any():
                form = (
                    "With this budget {what} are told that about {n:,} customers have, and there are none. (It is "
                    "spent.)"
                )
                raise CannotAnonymize(Text(form, what=Text(name), n=math.ceil(least)))
            return counts["value"].filter(pl.Series(is_told)), noisy[is_told]
        all_of_them = pl.DataFrame({"value": declared}).unique(maintain_order=True)
        exact = all_of_them.join(counts, on="value", how="left", maintain_order="left")["n"].fill_null(0)
        noisy = self.add(name, exact.to_numpy().astype(np.int64)).astype(np.float64)
        return all_of_them["value"], merged(noisy, self.sigma(name))


def least_told(sigma: float, cells: int, delta: float) -> float:
    """Return the noisy count from which on a name is told.

    Example: with σ = 10, 20 names of a customer and δ′ = 1e-9, noise exceeds 10·z with chance 5e-11 where z = 6.47, so
    that names are told from a noisy count of 66.7 on.
    """
    from scipy.special import ndtri

    return 2 - sigma * float(ndtri(delta / cells))


def sure(noisy: Floats, sigma: float) -> Floats:
    """Return counts without those that may be noise alone; the largest stays."""
    kept = np.where(noisy >= LEAST_SURE * sigma, noisy, 0.0)
    if not kept.any():
        kept[np.argmax(noisy)] = 1.0
    return kept


def merged(noisy: Floats, sigma: float) -> Floats:
    """Return counts of which those that may be noise alone share their sum.

    Example: with σ = 10, of 100, 12, −4 and 4 the last three have 4 each.
    """
    is_small = noisy < LEAST_SURE * sigma
    shared = max(0.0, float(noisy[is_small].sum())) / max(1, int(is_small.sum()))
    made = np.where(is_small, shared, noisy)
    return made if made.any() else np.ones(len(noisy))


@dataclass(frozen=True, eq=False)
class Counted:
    """Everything that is known of the customers: counts with noise, and the names that these tell.

    names, items: customers by item. periods, months: customers by month. baskets: customers by their number, in bins.
    top: the items of which pairs are counted, in a triangle. All others: a basket or a purchase of each customer.
    """

    names: pl.Series
    items: Floats
    periods: pl.Series
    months: Floats
    baskets: Floats
    top: Ints
    pairs: Ints
    sizes: Floats
    weekdays: Floats
    hours: Floats | None
    returns: Floats
    prices: Floats | None
    quantities: Floats | None

    def model(self, noise: Noise, seed: int) -> tuple[BasketModel, float]:
        """Return a model of baskets that has these counts, and how many customers were counted."""
        at = self.periods.cast(pl.Int64).to_numpy()
        first = int(at.min())
        season = np.zeros(int(at.max()) - first + 1)
        season[at - first] = self.months
        basket_counts, pairs, n_pairs = self._together(noise.sigma("pairs"))
        alone, brings = brought_along(basket_counts, pairs, n_pairs)
        made = BasketModel(
            names=self.names,
            baskets=sure(self.baskets, noise.sigma("baskets")),
            sizes=sure(self.sizes, noise.sigma("sizes")),
            first_month=first,
            months=season,
            weekdays=sure(self.weekdays, noise.sigma("weekdays")),
            hours=None if self.hours is None else sure(self.hours, noise.sigma("hours")),
            returns=_chances_to_return(self.returns, noise.sigma("returns")),
            items=alone,
            brings=brings,
            season=None,
            prices=None if self.prices is None else _by_price(self.prices, noise.sigma("prices"), len(self.names)),
            quantities=None
            if self.quantities is None
            else _by_quantity(self.quantities, noise.sigma("quantities"), len(self.names)),
            decimals=CENTS,
        )
        return made.calibrated(basket_counts, pairs, seed), float(made.baskets.sum())

    def _together(self, sigma: float) -> tuple[Floats, Any, float]:
        """Return the baskets with each item, those with both of two, and all pairs of these baskets."""
        from scipy import sparse

        top, noisy = self.top, self.pairs.astype(np.float64)
        first, second = np.triu_indices(len(top))
        single = first == second
        # How many of these baskets have an item follows from how many customers do, which is counted more surely.
        scale = max(noisy[single].sum(), 1.0) / max(self.items[top].sum(), 1e-300)
        baskets = self.items * scale
        product = 2 * (baskets[top][first] * baskets[top][second])[~single].sum()
        n_pairs = max(0.0, 2 * noisy[~single].sum()) / max(product, 1e-300) * (baskets.sum() ** 2 - (baskets**2).sum())
        is_sure = ~single & (noisy >= LEAST_SURE * sigma)
        place_of = top[first[is_sure]], top[second[is_sure]]
        half = sparse.csr_array((noisy[is_sure], place_of), shape=(len(self.items), len(self.items)))
        pairs = sparse.csr_array(half + half.T)
        pairs.sort_indices()
        return baskets, pairs, n_pairs


def _chances_to_return(noisy: Floats, sigma: float) -> Floats:
    """Return the chance that an item was bought before, by the bin of how many baskets were before."""
    cells = noisy.reshape(N_BINS, 2)
    is_sure = cells.sum(axis=1) >= LEAST_SURE * sigma * math.sqrt(2)
    made, last = np.zeros(N_BINS), 0.0
    for at in range(N_BINS):
        if is_sure[at]:
            last = float(np.clip(cells[at, 1] / cells[at].sum(), 0, 1))
        made[at] = last
    return made


def _by_price(noisy: Floats, sigma: float, n_items: int) -> ItemValues:
    kept = np.where(noisy >= LEAST_SURE * sigma, noisy, 0.0)
    if not kept.any():
        kept[np.argmax(noisy.reshape(n_items, N_BINS).sum(axis=0))] = 1.0
    code, place = np.divmod(np.flatnonzero(kept), N_BINS)
    cents = EDGES / 10**CENTS
    return ItemValues.of(
        pl.DataFrame({"code": code, "low": cents[place], "high": cents[place + 1], "weight": kept[kept > 0]}), n_items
    )


def _by_quantity(noisy: Floats, sigma: float, n_items: int) -> ItemValues:
    kept = sure(noisy, sigma)
    place = np.flatnonzero(kept)
    low, high = EDGES[place].astype(np.float64), EDGES[place + 1].astype(np.float64)
    code = np.zeros(len(place), np.int64)
    return ItemValues.of(pl.DataFrame({"code": code, "low": low, "high": high, "weight": kept[place]}), n_items)
