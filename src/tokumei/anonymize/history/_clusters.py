"""Customers with similar item sets, put into clusters as Ito, Kikuchi et al. (2016) do."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tokumei.counting.item_sets import Floats, Ints, Matrix, directions

# Far more than needed: the 400 customers of 2016 come to rest after about ten.
MOST_ROUNDS = 100
# Cosines are compared after rounding, so that the order in which a machine adds does not decide.
DIGITS = 9


def cluster(weights: Matrix, n_clusters: int, rng: np.random.Generator) -> Ints:
    """Put each row into one of the clusters by k-means with cosines; no cluster is left empty.

    It starts from rows drawn at random: of the usual starts this comes nearest to the numbers the paper prints.
    """
    rows = directions(weights)
    centers = rows[rng.choice(rows.shape[0], n_clusters, replace=False)]
    labels = np.full(rows.shape[0], -1, np.int64)
    for _ in range(MOST_ROUNDS):
        cosines = _cosines(rows, centers)
        nearest = _filled(np.argmax(cosines, axis=1), cosines, n_clusters)
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


def _filled(labels: Ints, cosines: Floats, n_clusters: int) -> Ints:
    """Give each empty cluster the row that fits its own cluster worst, of those that are not alone."""
    labels = labels.copy()
    for empty in np.flatnonzero(np.bincount(labels, minlength=n_clusters) == 0):
        fit = np.where(np.bincount(labels)[labels] > 1, cosines[np.arange(len(labels)), labels], np.inf)
        labels[np.argmin(fit)] = empty
    return labels


def _centers(rows: Matrix, labels: Ints, n_clusters: int) -> Matrix:
    """Give the direction of the sum of each cluster's rows."""
    member = sparse.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(n_clusters, len(labels)))
    return directions(sparse.csr_array(member @ rows))
