"""Things that stand in runs, one run after another, worked on all at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tokumei.methods.local.task import Bools, Ints


def starts_of_runs(values: npt.NDArray[np.integer]) -> Bools:
    """Mark where a value differs from the one before."""
    is_start = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=is_start[1:])
    return is_start


def lengths_of(starts: Ints, n: int) -> Ints:
    """Return the lengths of the runs that start here and fill n indices."""
    return np.diff(starts, append=n)


def spread(starts: Ints, n: int) -> Ints:
    """Return for each of n indices the number of its run."""
    return np.repeat(np.arange(len(starts)), lengths_of(starts, n))


def within_run(values: Ints, starts: Ints) -> Ints:
    """Add up what stands before each index in its own run."""
    before = np.cumsum(values) - values
    return before - np.repeat(before[starts], lengths_of(starts, len(values)))
