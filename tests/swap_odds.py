"""What randomized columns promise, straight from the definition: by all swaps of their transition matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tokumei.measures.safety.pk_anonymity import pk_of_odds

Matrix = npt.NDArray[np.float64]


def pk_of_matrices(matrices: Sequence[Matrix], n_records: int) -> float:
    """Return the k of a table whose columns were drawn independently, each by its transition matrix."""
    return pk_of_odds(math.prod(least_swap_odds(matrix) for matrix in matrices), n_records)


def least_swap_odds(matrix: Matrix) -> float:
    """Return the least A[u, v'] · A[u', v] / (A[u, v] · A[u', v']): row u of A has the chances of what u becomes."""
    possible = matrix[:, matrix.max(axis=0) > 0]
    if not possible.all() and possible.shape[1] > 1:
        # What could not have been released from u tells that the person is not u.
        return 0.0
    logs = np.log(possible)
    pairs = logs[:, :, None] - logs[:, None, :]
    return math.exp(-float((pairs.max(axis=0) - pairs.min(axis=0)).max()))
