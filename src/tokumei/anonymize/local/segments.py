"""Things that stand in runs, one run after another, worked on all at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tokumei.anonymize.local.task import Bools, Ints

DIGIT_BITS = 16


def order_by(columns: Sequence[npt.NDArray[np.integer]]) -> Ints:
    """Give the order of rows by columns of whole numbers from 0 on, the last column counting most; ties stay.

    It goes by 16 bits at a time, which numpy sorts by radix, several times faster than whole numbers.
    """
    order: Ints | None = None
    for column in columns:
        n_bits = int(column.max()).bit_length() if len(column) else 0
        for shift in range(0, n_bits, DIGIT_BITS):
            digit = (column >> shift).astype(np.uint16)
            if order is None:
                order = np.argsort(digit, kind="stable")
            else:
                order = order[np.argsort(digit[order], kind="stable")]
    return np.arange(len(columns[-1])) if order is None else order


def starts_of_runs(values: npt.NDArray[np.integer]) -> Bools:
    """Say where a value differs from the one before."""
    is_start = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=is_start[1:])
    return is_start


def lengths_of(starts: Ints, n: int) -> Ints:
    """Give the lengths of the runs that start here and fill n indices."""
    return np.diff(starts, append=n)


def spread(starts: Ints, n: int) -> Ints:
    """Give for each of n indices the number of its run."""
    return np.repeat(np.arange(len(starts)), lengths_of(starts, n))


def within_run(values: Ints, starts: Ints) -> Ints:
    """Add up what stands before each index in its own run."""
    before = np.cumsum(values) - values
    return before - np.repeat(before[starts], lengths_of(starts, len(values)))
