"""How many bits about the values are gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tokumei.measures.losses import Attribute, LevelCost


@dataclass(frozen=True)
class Entropy:
    """Share of the bits that tell a value, gone: 0 if untouched, 1 if none is left (non-uniform entropy).

    A record with value v under label L lost log(n_L / n_v) of its log(N / n_v) bits, n being numbers of records; the
    mean over an attribute is divided by the attribute's entropy. A suppressed record lost all its bits.

    Example: ages 20, 21, 35 and 35 become 20s, 20s, 30s and 30s. The ages tell 2, 2, 1 and 1 bits, 1.5 on average, and
    the bands 1 bit each: the loss is 1 − 1/1.5 = 1/3. People of 35 lost nothing, since the 30s have no other age.
    """

    name: ClassVar[str] = "entropy"

    def level_cost(self, attribute: Attribute, level: int) -> LevelCost:
        """Return the mean share of bits lost, and what each label still tells."""
        n_rows = max(1, attribute.n_rows)
        bits = _bits(attribute.leaf_sizes, n_rows)
        entropy = float(bits @ attribute.leaf_sizes) / n_rows
        left = _bits(attribute.label_sizes(level), n_rows)
        if entropy == 0:
            return LevelCost(0.0, np.zeros(len(left)))
        told = float(left @ attribute.label_sizes(level)) / n_rows
        return LevelCost(max(0.0, 1 - told / entropy), left / entropy)


def _bits(sizes: object, n_rows: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return −log2 of the share of records, and 0 where there is none."""
    counts = np.asarray(sizes, np.float64)
    return np.log2(n_rows / np.where(counts > 0, counts, n_rows))
