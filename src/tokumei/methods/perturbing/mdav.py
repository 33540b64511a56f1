"""Groups of at least k points that are near each other, made from the outside in."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tokumei.core.progress import step

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Machines differ in the last digits of a principal component; what they round alike they order alike.
PROJECTED_DECIMALS = 9
# About the square root of the points there usually are.
RUN = 128


def mdav(points: Floats, k: int) -> Ints:
    """Return the group of each point by MDAV (Domingo-Ferrer and Mateo-Sanz 2002); all have k to 2k − 1 points.

    While 3k points are left: take the one farthest from their mean and the one farthest from that, and group each with
    its k − 1 nearest. Of what is left then, the point farthest from the mean takes its k − 1 nearest if 2k or more are
    left, and the rest is the last group; fewer than k points are one group in any case. Of points equally far the one
    with the smaller coordinates comes first, so that the order of the points is of no matter but to equal ones.
    """
    n_points = len(points)
    group_of = np.zeros(n_points, np.int64)
    order = _by_coordinates(points)
    left = _Left(points[order])
    n_groups = 0
    with step("grouping rows", total=n_points) as bar:
        while left.n >= 3 * k:
            for group in left.take_two_groups(k):
                group_of[order[group]] = n_groups
                n_groups += 1
            bar.advance(2 * k)
        if left.n >= 2 * k:
            group_of[order[left.take_group(k)]] = n_groups
            n_groups += 1
        group_of[order[left.ids[: left.n]]] = n_groups
        bar.advance(left.n)
    return group_of


def mdav_in_blocks(points: Floats, k: int, block: int) -> Ints:
    """Return the group of each point by MDAV within blocks of at most so many points, but at least k.

    Blocks are of even size, in the order of the first principal component.
    """
    n_blocks = min(math.ceil(len(points) / block), max(1, len(points) // k))
    if n_blocks <= 1 or not points.shape[1]:
        return mdav(points, k)
    group_of = np.empty(len(points), np.int64)
    n_groups = 0
    # Sums of the same points must not depend on their order either.
    order = _by_coordinates(points)
    order = order[np.argsort(_first_component(points[order]), kind="stable")]
    with step("grouping blocks", total=n_blocks) as bar:
        for rows in np.array_split(order, n_blocks):
            groups = mdav(points[rows], k)
            group_of[rows] = groups + n_groups
            n_groups += int(groups.max()) + 1
            bar.advance()
    return group_of


class _Left:
    """The points that are in no group yet, packed at the front of arrays that are made once."""

    def __init__(self, points: Floats) -> None:
        self.n = len(points)
        # One attribute after the other in memory: each pass goes over whole columns.
        self.columns = np.ascontiguousarray(points.T)
        self.ids = np.arange(self.n)
        self._distances = np.empty(self.n)
        self._gaps = np.empty(self.n)

    def take_two_groups(self, k: int) -> tuple[Ints, Ints]:
        """Group the point farthest from the mean and the one farthest from that, each with its nearest."""
        one = self._farthest(self._distances_to(self._mean()))
        distances = self._distances_to(self.columns[:, one])
        # Nearer than any, so that it is in its own group and never its own counterpart, even if all points are equal.
        distances[one] = -1.0
        other = self._farthest(distances)
        distances[other] = math.inf
        ones = self._nearest(distances, k)
        distances = self._distances_to(self.columns[:, other])
        distances[ones], distances[other] = math.inf, -1.0
        others = self._nearest(distances, k)
        groups = self.ids[ones], self.ids[others]
        self._remove(np.concatenate([ones, others]))
        return groups

    def take_group(self, k: int) -> Ints:
        """Group the point farthest from the mean with its nearest."""
        one = self._farthest(self._distances_to(self._mean()))
        distances = self._distances_to(self.columns[:, one])
        distances[one] = -1.0
        taken = self._nearest(distances, k)
        group = self.ids[taken]
        self._remove(taken)
        return group

    def _mean(self) -> Floats:
        total: Floats = self.columns[:, : self.n].sum(axis=1)
        return total / self.n

    def _distances_to(self, center: Floats) -> Floats:
        """Return squared distances, in an array that the next call writes over."""
        distances, gaps = self._distances[: self.n], self._gaps[: self.n]
        distances[:] = 0.0
        for column, value in zip(self.columns, center.tolist(), strict=True):
            np.subtract(column[: self.n], value, out=gaps)
            np.multiply(gaps, gaps, out=gaps)
            np.add(distances, gaps, out=distances)
        return distances

    def _farthest(self, distances: Floats) -> int:
        farthest = np.flatnonzero(distances == distances.max())
        return int(farthest[np.argmin(self.ids[farthest])])

    def _nearest(self, distances: Floats, k: int) -> Ints:
        """Return the indices of the k nearest."""
        near = _near(distances, k)
        some = distances[near]
        bound = np.partition(some, k - 1)[k - 1]
        nearer, tied = near[some < bound], near[some == bound]
        n_wanted = k - len(nearer)
        if len(tied) > n_wanted:
            tied = tied[np.argpartition(self.ids[tied], n_wanted - 1)[:n_wanted]]
        return np.concatenate([nearer, tied])

    def _remove(self, indices: Ints) -> None:
        """Move the last points into the indices that become free."""
        start = self.n - len(indices)
        free = indices[indices < start]
        stays = np.ones(len(indices), bool)
        stays[indices[indices >= start] - start] = False
        moved = start + np.flatnonzero(stays)
        self.columns[:, free] = self.columns[:, moved]
        self.ids[free] = self.ids[moved]
        self.n = start


def _by_coordinates(points: Floats) -> Ints:
    """Return the order of the points by their first coordinate, then their second, and so on."""
    # np.lexsort takes its most important key last, and no keys at all are an error to it.
    return np.lexsort(points.T[::-1]) if points.shape[1] else np.arange(len(points))


def _near(distances: Floats, k: int) -> Ints:
    """Return indices among which the k nearest are, mostly few: selecting the k smallest of all is slow in numpy.

    Of k runs of distances each has one that is at most the k-th smallest of the runs' minima.
    """
    n_runs = len(distances) // RUN
    if n_runs < k:
        return np.arange(len(distances))
    minima = distances[: n_runs * RUN].reshape(n_runs, RUN).min(axis=1)
    return np.flatnonzero(distances <= np.partition(minima, k - 1)[k - 1])


def _first_component(points: Floats) -> Floats:
    """Return each point's index along the direction in which the points differ most."""
    centered = points - points.mean(axis=0)
    direction = np.linalg.eigh(centered.T @ centered)[1][:, -1]
    # The sign of an eigenvector is the library's choice.
    sign = math.copysign(1.0, direction[np.argmax(np.abs(direction))])
    indices: Floats = np.round(centered @ (direction * sign), PROJECTED_DECIMALS)
    return indices
