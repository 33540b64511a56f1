"""Values that are kept with one probability and otherwise drawn evenly from all values of their attribute.

The probability that the value u is released as v is r + (1 − r)/m where v = u and (1 − r)/m elsewhere, with r the
probability to keep and m the number of values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError
from tokumei.measures.safety._pk import pk_of_odds, retention_odds
from tokumei.methods.perturbation import check_enough, last_that_holds

Floats = npt.NDArray[np.float64]


def retention_pk(retain: float, n_values: Sequence[int], n_records: int) -> float:
    """Return the k of Pk-anonymity of columns with these numbers of values, each kept with the same probability."""
    # Only the two values that are drawn least often matter, and here all are drawn alike.
    odds = (retention_odds(retain, np.full(min(n, 2), 1 / max(n, 1))) for n in n_values)
    return pk_of_odds(math.prod(odds), n_records)


def largest_retention(pk: float, n_values: Sequence[int], n_records: int) -> float:
    """Return the largest probability to keep a value that gives Pk-anonymity with k = `pk`."""
    if retention_pk(1.0, n_values, n_records) >= pk or not n_records:
        return 1.0
    check_enough(pk, n_records)
    # At 0 the released values tell nothing, and k is the number of records.
    return last_that_holds(lambda retain: retention_pk(retain, n_values, n_records) >= pk, 0.0, 1.0)


def estimated_counts(counts: npt.ArrayLike, retain: Sequence[float]) -> Floats:
    """Estimate the counts of the original from those of the release, without bias.

    `counts` has an axis for each column, over all values that could be drawn, and `retain` the probability with which
    each column's values were kept. Undoes each matrix: an original count is (released − (1 − r)·total/m)/r. The
    estimates add up to the number of rows; of rare values they may be below 0, which is no fault: cut off, they would
    be biased.
    """
    estimate = np.asarray(counts, np.float64)
    if estimate.ndim != len(retain):
        raise InputError.of(f"a probability for each of {estimate.ndim} axes", option="retain", value=list(retain))
    for axis, kept in enumerate(retain):
        if not 0 < kept <= 1:
            raise InputError.of(
                "a probability above 0, since values drawn anew tell nothing", option="retain", value=kept
            )
        drawn = (1 - kept) * estimate.mean(axis=axis, keepdims=True)
        estimate = (estimate - drawn) / kept
    return estimate
