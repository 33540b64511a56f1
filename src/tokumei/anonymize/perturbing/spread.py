"""How far numbers are apart."""

from __future__ import annotations

import math

import numpy as np

from tokumei.anonymize.perturbation import Floats


def standard_deviation(numbers: Floats) -> float:
    """Give the standard deviation of numbers, missing ones left out: exactly 0 if all are equal or none is there.

    The same in any order. Numbers are put on a scale from 0 to 1 first, since squares of very small ones would be 0.
    """
    known = np.sort(numbers[~np.isnan(numbers)])
    if not len(known) or known[0] == known[-1]:
        return 0.0
    width = known[-1] - known[0]
    # Never 0 for numbers that differ: callers take that for a column that tells nothing.
    return max(float(width * ((known - known[0]) / width).std()), math.ulp(0.0))
