"""Customers with similar item sets, put into clusters as Ito, Kikuchi et al. (2016) do."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tokumei.engines.item_sets import Floats, Ints, Matrix, directions

# Far more than needed: the 400 customers of 2016 come to rest after about ten.
MOST_ROUNDS = 100
# Cosines are compared after rounding, so that the order in which a machine adds does not decide.
DIGITS = 9
# Cosines that are held at once: of many customers with all centers they would not fit.
MOST_COSINES = 20_000_000


def cluster(weights: Matrix, n_clusters: int, rng: np.random.Generator) -> Ints:
    """Put each row into one of the clusters by k-means with cosines; no cluster is left empty.

    It starts from rows drawn at random: of the usual starts this comes nearest to the numbers the paper prints.
    """
    rows = directions(weights)
    centers = rows[rng.choice(rows.shape[0], n_clusters, replace=False)]
    labels = np.full(rows.shape[0], -1, np.int64)
    for _ in range(MOST_ROUNDS):
        nearest = _filled(*_nearest(rows, centers), n_clusters)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        centers = _centers(rows, labels, n_clusters)
    return labels


def balance(weights: Matrix, labels: Ints, smallest: int) -> Ints:
    """Move customers out of the largest cluster until every cluster has the smallest size.

    Each time the customer of the largest cluster who is most like *any* cluster that is still too small moves there;
    the center of a cluster moves with everyone who joins.
    """
    rows = directions(weights)
    labels = labels.copy()
    sizes = np.bincount(labels)
    while sizes.min() < smallest:
        source, small = int(sizes.argmax()), np.flatnonzero(sizes < smallest)
        members = np.flatnonzero(labels == source)
        joined = np.flatnonzero(np.isin(labels, small))
        centers = _centers(rows[joined], np.searchsorted(small, labels[joined]), len(small))
        mover, to = np.unravel_index(int(_cosines(rows[members], centers).argmax()), (len(members), len(small)))
        labels[members[mover]] = small[to]
        sizes[small[to]] += 1
        sizes[source] -= 1
    return labels


def _cosines(rows: Matrix, centers: Matrix) -> Floats:
    return np.round((rows @ centers.T).toarray(), DIGITS)


def _nearest(rows: Matrix, centers: Matrix) -> tuple[Ints, Floats]:
    """Return the center nearest to each row, and their cosine, some rows at a time."""
    labels, fits = np.empty(rows.shape[0], np.int64), np.empty(rows.shape[0])
    n_at_once = max(1, MOST_COSINES // centers.shape[0])
    for first in range(0, rows.shape[0], n_at_once):
        some = slice(first, first + n_at_once)
        cosines = _cosines(rows[some], centers)
        labels[some], fits[some] = cosines.argmax(axis=1), cosines.max(axis=1)
    return labels, fits


def _filled(labels: Ints, fits: Floats, n_clusters: int) -> Ints:
    """Fill each empty cluster with the row that fits its own cluster worst, among those not alone."""
    labels = labels.copy()
    for empty in np.flatnonzero(np.bincount(labels, minlength=n_clusters) == 0):
        # Whoever was moved is alone now, so that how it fits does not matter.
        labels[np.argmin(np.where(np.bincount(labels)[labels] > 1, fits, np.inf))] = empty
    return labels


def _centers(rows: Matrix, labels: Ints, n_clusters: int) -> Matrix:
    """Return the direction of the sum of each cluster's rows."""
    member = sparse.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(n_clusters, len(labels)))
    return directions(sparse.csr_array(member @ rows))
