"""How many rows must be written alike."""

from __future__ import annotations

from tokumei.anonymize.perturbation import Original
from tokumei.core.errors import InputError

# What statistical offices ask for at least; two would know each other's values from their mean.
USUAL_K = 3


def least_rows(k: int | None, original: Original) -> int:
    """Give the fewest rows that must be written alike: the option k, else the k asked for, else the usual one."""
    if k is None:
        return original.k or USUAL_K
    if k < 1:
        raise InputError.of("at least 1", column="k", value=k)
    return k
