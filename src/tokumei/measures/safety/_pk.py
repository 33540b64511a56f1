"""What randomized values promise: how likely it is that anybody is linked to their record.

A table is Pk-anonymous if no link between a person and a record has a probability of more than 1/k (Ikarashi,
Kikuchi, Chida and Takahashi, k-anonymous Microdata Release via Post Randomization Method, 2015). The attacker is
given more than anyone could have: all n records of the original, how values were drawn, and the released table. Only
which released record is whose is unknown, so the release must be in an order that says nothing, and each record must
be drawn on its own. Then an assignment of people to records is as likely as the product of A[u, v] over all people,
u being their record and v the one assigned to them.

Swap the records v and v' of two people u and u'. An assignment becomes less likely at most by

    ρ = least A[u, v'] · A[u', v] / (A[u, v] · A[u', v'])

Each assignment that gives person i the record j has n − 1 such swaps, and every assignment that gives i another
record is the swap of exactly one of them. So those with i and j are at most 1/(1 + (n − 1)·ρ) of all, and the
table is Pk-anonymous with k = 1 + (n − 1)·ρ. No larger k is promised to all tables: where one person is u, all
others are u', and their records are v and v', the share is just that. What the attacker does not know of the
original only mixes such shares. Columns that are drawn independently multiply their ρ.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError


def pk_of_ratio(ratio: float, n_records: int) -> float:
    """Return the k of a table of which no record is more than `ratio` times as likely from one original than another.

    A swap changes two records, each by at most the ratio, so ρ is at least 1/ratio². The ratios of columns that are
    drawn independently multiply; where one is infinite, k is 1.
    """
    if math.isnan(ratio) or ratio < 1:
        raise InputError.of("a likelihood ratio of at least 1", option="ratio", value=ratio)
    return pk_of_odds((1 / ratio) ** 2, n_records)


def pk_of_odds(odds: float, n_records: int) -> float:
    """Return k = 1 + (n − 1)·ρ from the least odds ρ of a swap; 0 for no records."""
    if n_records < 0:
        raise InputError.of("a number of records", option="n_records", value=n_records)
    return 1 + (n_records - 1) * odds if n_records else 0.0


def retention_odds(retention: float, shares: npt.NDArray[np.float64]) -> float:
    """Return ρ of a column whose values are kept with one probability, or else drawn anew by these shares.

    A kept value v is p + (1 − p)·π as likely from v as (1 − p)·π from any other, so the two values that are drawn
    least often are the worst to swap. The same as the least odds of all swaps of the whole matrix.
    """
    if not 0 <= retention <= 1:
        raise InputError.of("a probability from 0 to 1", option="retention", value=retention)
    drawn = np.sort((1 - retention) * np.asarray(shares, np.float64))[:2]
    if len(drawn) < 2 or retention == 0:
        return 1.0
    return float(np.prod(drawn / (retention + drawn)))


def laplace_ratio(width: float, scale: float) -> float:
    """Return the likelihood ratio of Laplace noise on numbers of which any two differ by at most `width`."""
    _check_noise(width, scale)
    return _exp(width / scale)


def clamped_gaussian_ratio(width: float, deviation: float) -> float:
    """Return the likelihood ratio of normal noise on numbers in a range, the sum being put back into the range.

    The range is `width` wide. An end of it is released with probability ½ from that end and Φ(−width/σ) from the
    other; nothing in between is further apart. Without putting back, the ratio is infinite and k is 1.
    """
    from scipy.special import log_ndtr

    _check_noise(width, deviation)
    return _exp(-math.log(2) - float(log_ndtr(-width / deviation)))


def _check_noise(width: float, scale: float) -> None:
    if not 0 <= width < math.inf:
        raise InputError.of("the width of a bounded range", option="width", value=width)
    if not 0 < scale < math.inf:
        raise InputError.of("more than 0", option="scale", value=scale)


def _exp(power: float) -> float:
    try:
        return math.exp(power)
    except OverflowError:
        return math.inf
