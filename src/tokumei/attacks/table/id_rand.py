"""The attacker who knows quasi-identifiers, and then draws."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from tokumei.attacks.nearest import NOBODY, SharedClasses, as_guess
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.data.table import Table
from tokumei.measures.table_pair import TablePair


@dataclass(frozen=True)
class IdRand:
    """Draw one of the people with the quasi-identifiers of a released row (E1 IdRand of PWSCUP 2015).

    Knowledge: the original; sees X and Y. Aim: whose each released row is. Success: the row is that person's; 0 nobody,
    1 all. Where nobody has these values there is no guess.

    Example: four people have the values a, b, a and c; the first, the second and the last are released as a, b and d.
    The first is drawn from two, the second is the only b, and nobody has d: (1/2 + 1 + 0) / 3 = 1/2 is expected to be
    found. Drawing anybody would find 1/4.
    """

    def guess(self, knowledge: Table, published: Table, *, seed: int) -> pl.Series:
        """Draw a row of the class of each published row."""
        classes = SharedClasses.of(TablePair.of(knowledge, published))
        order = np.argsort(classes.known, kind="stable")
        n_candidates = classes.n_candidates
        first = np.searchsorted(classes.known[order], classes.published)
        drawn = generator(seed, "id-rand").integers(0, np.maximum(n_candidates, 1))
        index = np.minimum(first + drawn, len(order) - 1)
        return as_guess(np.where(n_candidates > 0, order[index], NOBODY))

    def expect(self, knowledge: Table, published: Table, rows: pl.Series) -> Score:
        """Return the share of rows that guesses are expected to find: what no luck of a draw can change.

        `rows` holds the true row of each published row, counted from 0.
        """
        pair = TablePair.of(knowledge, published)
        classes = SharedClasses.of(pair)
        is_there = classes.known[pair.checked_rows(rows)] == classes.published
        chances = np.where(is_there, 1 / np.maximum(classes.n_candidates, 1), 0.0)
        value = math.fsum(chances) / len(chances)
        return Score("id-rand", value, best=0, worst=1, baseline=1 / pair.n_rows)
