"""How many random cases a property is tried on: fewer in every run, all that were asked for with `--many`."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from typing import TypeVar

Case = TypeVar("Case")

# Set by `--many` before any test is read, in the processes of xdist too.
VARIABLE = "TOKUMEI_TEST_MANY"
# One in so many cases of a test that has hundreds is tried in every run, and never fewer than so many.
SHARE, LEAST = 10, 25
# The same where each case runs many searches.
COSTLY_SHARE, COSTLY_LEAST = 6, 8
# What a property that says nothing is tried on.
IN_EVERY_RUN, OF_MANY = 25, 100


def has_many() -> bool:
    """Whether all cases are asked for."""
    return VARIABLE in os.environ


def cases(n: int) -> int:
    """Return how many of n cases to try now."""
    return n if has_many() else max(LEAST, n // SHARE)


def costly_cases(n: int) -> int:
    """Return how many of n cases to try now, each of which takes as long as a whole test."""
    return n if has_many() else max(COSTLY_LEAST, n // COSTLY_SHARE)


def with_many(*further: Case) -> tuple[Case, ...]:
    """Return what a test is tried on beside its other cases, where all are asked for."""
    return further if has_many() else ()


def one_in(n: int, found: Sequence[Case], *key: object) -> Sequence[Case]:
    """Return one in n of the cases of a sweep, others for each key: every case is tried with some key in every run."""
    return found if has_many() else found[zlib.crc32(repr(key).encode()) % min(n, len(found) or 1) :: n]
