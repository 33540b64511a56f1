"""What the numbers of rows say: how many rows of a customer are known, how many a pseudonym has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, nbinom

from tokumei.attack.linkage.comparison import Floats, Ints

# Deletion is rarely even: this share of customers may have any number of rows.
UNEVEN = 0.05
TINY = 1e-12


@dataclass(frozen=True)
class RowCounts:
    """How rows became known and got deleted, both taken to happen to each row by chance."""

    known: float  # Share of the original rows that are known.
    deleted: float  # Share of the original rows that are not released.
    mean: float  # Rows of a customer in a month of the release.

    def log_known_given_released(self, n_known: Ints, n_released: Ints) -> Floats:
        """Give the log chance of so many known rows (down) for a customer with so many released ones (across)."""
        known, known_codes = np.unique(n_known, return_inverse=True)
        released, released_codes = np.unique(n_released, return_inverse=True)
        table = np.stack([self._known_given_released(known, int(n)) for n in released], axis=1)
        return np.log(table)[known_codes][:, released_codes]

    def _known_given_released(self, n_known: Ints, n: int) -> Floats:
        grid = np.arange(int(n_known.max(initial=0)) + 1)
        of_released = binom.pmf(grid[: n + 1], n, self.known)
        # Without a belief about the original number, n + 1 chances to be deleted precede and follow the kept rows.
        odds = self.known * self.deleted / max(TINY, 1 - self.deleted)
        of_deleted = nbinom.pmf(grid, n + 1, 1 / (1 + odds))
        even = np.convolve(of_released, of_deleted)[n_known]
        share = self.known / max(TINY, 1 - self.deleted)
        uneven = 1 / (1 + share * (n + 1))
        chance: Floats = (1 - UNEVEN) * even + UNEVEN * uneven * (1 - uneven) ** n_known + TINY
        return chance

    def log_known_and_all_deleted(self, n_known: Ints) -> Floats:
        """Give the log chance that an active customer has so many known rows and none in the release."""
        mean = max(self.mean / max(TINY, 1 - self.deleted), 1.0)
        goes_on = 1 - 1 / (mean + 1)  # Rows of a customer in a month are about geometric.
        gone = goes_on * self.deleted
        left = 1 - gone * (1 - self.known)
        chance: Floats = (1 - goes_on) / goes_on * ((gone * self.known / left) ** n_known / left - (n_known == 0))
        return np.log(chance + TINY)
