"""How exposed customers are to somebody who knows a few of their items."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from scipy import sparse

from tokumei.core.errors import InputError
from tokumei.engines.combinations import LARGEST_SIZE, Combinations, count_combinations
from tokumei.engines.item_sets import Floats, ItemSets, Matrix


@dataclass(frozen=True)
class Secrets:
    """What an attacker wants to learn of each customer: a row a customer, a column a secret, 1 where it is true."""

    names: tuple[str, ...]
    has: Matrix


@dataclass(frozen=True)
class Exposure:
    """The combination of known items that the fewest customers share, and the one that tells most of a secret.

    `confidence` is the largest share, among those who bought a combination, of those who also have one secret.
    """

    n_sharing: int = 0
    rarest: tuple[str, ...] = ()
    confidence: float = 0.0
    telling: tuple[str, ...] = ()
    told: str | None = None


def expose(sets: ItemSets, n_known: int, secrets: Secrets | None = None) -> Exposure:
    """Go through all combinations of up to `n_known` items that somebody bought.

    Where there are secrets, the combination of no items is one: what most have is learned by knowing nothing.
    """
    found = Exposure() if secrets is None else _knowing_nothing(sets, secrets)
    for size in range(1, n_known + 1):
        for block in count_combinations(sets.bought, size, None if secrets is None else secrets.has):
            found = _with_rarest(found, block, sets.items)
            if secrets is not None:
                found = _with_most_telling(found, block, sets.items, secrets)
            # Nothing that is counted further could be worse.
            if found.n_sharing == 1 and (secrets is None or found.confidence == 1):
                return found
    return found


def split_items(sets: ItemSets, secret: tuple[str, ...]) -> tuple[ItemSets, Secrets]:
    """Part the items that may be known from those that are secret; a secret item that nobody bought is left out."""
    is_secret = sets.items.is_in(list(secret)).to_numpy()
    known, hidden = np.flatnonzero(~is_secret), np.flatnonzero(is_secret)
    has = sparse.csr_array(sets.bought[:, hidden])
    rest = ItemSets(sets.customers, sets.items.gather(known), sparse.csr_array(sets.bought[:, known]))
    return rest, Secrets(tuple(sets.items.gather(hidden)), has)


def check_n_known(n_known: int, option: str) -> None:
    """Raise an InputError for a number of items whose combinations are not counted."""
    if not 1 <= n_known <= LARGEST_SIZE:
        raise InputError.of(f"from 1 to {LARGEST_SIZE} items", option=option, value=n_known)


def _knowing_nothing(sets: ItemSets, secrets: Secrets) -> Exposure:
    n_customers = len(sets.customers)
    n_alike: Floats = np.asarray(secrets.has.sum(axis=0)).reshape(-1)
    if not n_customers or not len(n_alike):
        return Exposure(n_customers)
    most = int(n_alike.argmax())
    if not n_alike[most]:
        return Exposure(n_customers)
    return Exposure(n_customers, confidence=float(n_alike[most]) / n_customers, told=secrets.names[most])


def _with_rarest(found: Exposure, block: Combinations, items: pl.Series) -> Exposure:
    index = int(block.n_buyers.argmin())
    n_sharing = int(block.n_buyers[index])
    if found.n_sharing and n_sharing >= found.n_sharing:
        return found
    return replace(found, n_sharing=n_sharing, rarest=tuple(items.gather(block.items[index]).sort()))


def _with_most_telling(found: Exposure, block: Combinations, items: pl.Series, secrets: Secrets) -> Exposure:
    shares = block.n_alike / block.n_buyers
    index = int(shares.argmax())
    if shares[index] <= found.confidence:
        return found
    telling, told = tuple(items.gather(block.items[index]).sort()), secrets.names[int(block.secret[index])]
    return replace(found, confidence=float(shares[index]), telling=telling, told=told)
