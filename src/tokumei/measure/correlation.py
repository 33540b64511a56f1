"""Whether two measures of the same releases say the same: what a contest's measure is worth for other uses."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy.stats import t as student

from tokumei.core.errors import InputError


def pearson_correlation(values: Sequence[float], others: Sequence[float]) -> float | None:
    """Give Pearson's correlation of two measures, from −1 to 1; None where one of them never changes."""
    if len(values) != len(others) or len(values) < 2:
        raise InputError.of("two values or more, as many of both", value=f"{len(values)} and {len(others)}")
    mean, other_mean = math.fsum(values) / len(values), math.fsum(others) / len(others)
    from_mean = [value - mean for value in values]
    from_other_mean = [value - other_mean for value in others]
    spread = math.fsum(one * one for one in from_mean) * math.fsum(one * one for one in from_other_mean)
    if spread == 0:
        return None
    return math.fsum(a * b for a, b in zip(from_mean, from_other_mean, strict=True)) / math.sqrt(spread)


def least_significant_correlation(n: int, level: float = 0.05) -> float:
    """Give the size beyond which a correlation of n values is significant, tested on both sides."""
    if n < 3 or not 0 < level < 1:
        raise InputError.of("3 values or more and a level between 0 and 1", value=f"{n}, {level}")
    quantile = float(student.ppf(1 - level / 2, n - 2))
    return quantile / math.sqrt(n - 2 + quantile**2)
