"""A small lattice whose levels cross, tables over it, and offers of them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from tokumei.core.seeds import generator
from tokumei.exchange.counted_table import CountedTable
from tokumei.exchange.documents import Criterion
from tokumei.exchange.offer import Offer, Words
from tokumei.exchange.offering import OfferTerms, make_offer
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice

SECRET = b"what lots and noise are drawn by"
WORDS = Words("A shop", "Research", "No attempt to find anybody.", "We share how many customers are of which age.")

# Six ages in three pairs and in two triples, which cross.
AGE = Hierarchy.of_levels("age", [list("123456"), list("aabbcc"), list("xxxyyy"), ["*"] * 6])
SEX = Hierarchy.of_levels("sex", [["f", "m"], ["*"] * 2])
TOWN = Hierarchy.of_levels("town", [list("pqrs"), list("nnss"), ["*"] * 4])
LATTICE = Lattice.of([AGE, SEX, TOWN])
CELLS = list(product(AGE.leaves, SEX.leaves, TOWN.leaves))


def people(n_rows: int, seed: int) -> pl.DataFrame:
    """Make people of skewed ages and towns that go with each other somewhat."""
    rng = generator(seed, "people")
    shares = np.outer(rng.dirichlet([1.0] * 6), rng.dirichlet([2.0] * 8)).ravel() * rng.uniform(0.5, 2, 48)
    drawn = rng.choice(len(CELLS), n_rows, p=shares / shares.sum())
    return pl.DataFrame([CELLS[cell] for cell in drawn], schema=["age", "sex", "town"], orient="row")


def offer_of(frame: pl.DataFrame, k: int = 3, **terms: Any) -> tuple[Offer, CountedTable]:
    """Make an offer of people, by margins unless told otherwise."""
    criteria, secret = terms.pop("criteria", [Criterion("own", k)]), terms.pop("secret", SECRET)
    table = CountedTable(LATTICE, frame)
    # Hardly any noise, so that what is tested is the rule.
    decided = OfferTerms(criteria, **{"predictor": "margins", "epsilon": 100.0, **terms})
    offer, _ = make_offer("people", WORDS, table, decided, secret)
    return offer, table


def node(levels: Mapping[str, int]) -> tuple[int, ...]:
    """Return a node of the small lattice; what is not named is at the top."""
    return LATTICE.node(LATTICE.levels(LATTICE.top) | dict(levels))


def planted(seed: int) -> pl.DataFrame:
    """Make people of whom few are missing anywhere, but for one place where one or two stand among many."""
    rng = generator(seed, "planted")
    counts = rng.integers(3, 7, (6, 2, 4))
    # Pairs and triples of ages part at the third and the fourth.
    age, sex, town = int(rng.integers(2, 4)), int(rng.integers(2)), int(rng.integers(4))
    # One or two of an age, of an age and a sex, of a sex and a town, or in one cell.
    where: Any = [(age,), (age, sex), (slice(None), sex, town), (age, sex, town)][seed % 4]
    few = np.zeros_like(counts[where]).ravel()
    few[int(rng.integers(few.size))] = 1 + seed % 2
    counts[where] = few.reshape(counts[where].shape)
    cells = [cell for cell, n_rows in zip(CELLS, counts.ravel(), strict=True) for _ in range(n_rows)]
    return pl.DataFrame(cells, schema=["age", "sex", "town"], orient="row")
