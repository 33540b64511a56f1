"""Numbers exchanged between rows of one block of ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokumei.methods.table.swap import Ints, Swap


@dataclass(frozen=True)
class BlockSwap(Swap):
    """Exchange numbers in pairs within blocks of ranks, each as wide as p percent of the rows.

    Tokumei's own, for tables on engines: in rank swapping (`swap`) each rank waits until all below it have found
    theirs, here all find their partners at once. Ranks are cut into blocks in which any two are near enough, at a place
    that is drawn, and the rows of a block are paired by lot; of an odd number one stays. No number moves further than
    `swap` would move it, but none crosses a border between blocks. Else it is as `swap` is: each column keeps its
    values, missing ones stay, no k is promised, and the seed is a secret.

    Example: five rows with p=20, so that blocks have two ranks; the first block begins with the smallest number or
    before it

    | income      | 100 | 120 | 300 | 320 | 900 |
    |-------------|-----|-----|-----|-----|-----|
    | either      | 120 | 100 | 320 | 300 | 900 |
    | or          | 100 | 300 | 120 | 900 | 320 |
    """

    def partners(self, n: int, window: int, rng: np.random.Generator) -> Ints:
        """Pair the ranks of each block by lot."""
        block = (np.arange(n) + rng.integers(window + 1)) // (window + 1)
        # Block after block, and by lot within each.
        drawn = np.lexsort((rng.random(n), block))
        starts = np.flatnonzero(np.diff(block[drawn], prepend=-1))
        at = np.arange(n) - np.repeat(starts, np.diff(starts, append=n))
        first = np.flatnonzero((at % 2 == 0)[:-1] & (block[drawn][:-1] == block[drawn][1:]))
        partner = np.arange(n)
        partner[drawn[first]], partner[drawn[first + 1]] = drawn[first + 1], drawn[first]
        return partner
