"""Whether two measures of the same releases say the same: what a contest's measure is worth for other uses."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError

Numbers = Sequence[float] | npt.NDArray[np.float64]


def pearson_correlation(values: Numbers, others: Numbers) -> float | None:
    """Return Pearson's correlation of two measures, from −1 to 1; None where one of them is constant."""
    if len(values) != len(others) or len(values) < 2:
        raise InputError.of("two values or more, as many of both", value=f"{len(values)} and {len(others)}")
    # Exact sums, so that the order of values cannot change a digit.
    centered = [np.asarray(one, np.float64) - math.fsum(one) / len(one) for one in (values, others)]
    sizes = [math.sqrt(math.fsum(one**2)) for one in centered]
    if not all(sizes):
        return None
    # Each by its own size, since the product of both may be too small for a number.
    found = math.fsum((centered[0] / sizes[0]) * (centered[1] / sizes[1]))
    return min(1.0, max(-1.0, found))


def least_significant_correlation(n: int, level: float = 0.05) -> float:
    """Return the size beyond which a correlation of n values is significant, tested on both sides."""
    if n < 3 or not 0 < level < 1:
        raise InputError.of("3 values or more and a level between 0 and 1", value=f"{n}, {level}")
    # Of scipy.special, since scipy.stats takes seconds to import.
    from scipy.special import stdtrit

    quantile = float(stdtrit(n - 2, 1 - level / 2))
    return quantile / math.sqrt(n - 2 + quantile**2)
