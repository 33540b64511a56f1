"""The distribution of rows that agrees best with noisy marginals: a junction tree, fitted by mirror descent.

Private-PGM (McKenna, Sheldon and Miklau 2019): of all distributions that fit the counts equally well, the one of most
entropy is a graphical model whose cliques are the marginals that were counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from tokumei.methods.perturbing.perturbation import Floats, Ints

# Places of columns, in ascending order.
Clique = tuple[int, ...]
# A step is halved so often before the fit counts as done.
MOST_HALVINGS = 25


@dataclass(frozen=True, eq=False)
class Measurement:
    """A marginal with noise: the columns, the counts of its cells, and the deviation of each."""

    clique: Clique
    counts: Floats
    sigma: Floats | float


@dataclass(frozen=True, eq=False)
class JunctionTree:
    """Cliques that hold all that were asked for, joined so that the cliques with a column are connected.

    edges: each clique after the one it hangs on, with the columns they share; a root hangs on -1.
    """

    sizes: tuple[int, ...]
    cliques: tuple[Clique, ...]
    edges: tuple[tuple[int, int, Clique], ...]

    @classmethod
    def of(cls, sizes: Sequence[int], wanted: Iterable[Clique]) -> JunctionTree:
        """Join cliques: columns are eliminated one after the other, that with the smallest clique first."""
        cliques = _eliminated(sizes, wanted)
        edges: list[tuple[int, int, Clique]] = []
        seen: list[int] = []
        best = dict.fromkeys(range(len(cliques)), (0, -1))
        while best:
            # The spanning tree with the largest shared parts is a junction tree.
            place = max(best, key=lambda one: (best[one][0], -one))
            shared, parent = best.pop(place)
            both = tuple(sorted(set(cliques[place]) & set(cliques[parent]))) if shared else ()
            edges.append((place, parent if shared else -1, both))
            seen.append(place)
            for other in best:
                n = len(set(cliques[other]) & set(cliques[place]))
                if n > best[other][0]:
                    best[other] = (n, place)
        return cls(tuple(sizes), tuple(cliques), tuple(edges))

    @property
    def n_cells(self) -> int:
        """Number of cells of all cliques."""
        return sum(math.prod(self.sizes[one] for one in clique) for clique in self.cliques)

    def home_of(self, clique: Clique) -> int:
        """Return the smallest clique of the tree that holds some columns; -1 if none does."""
        homes = [place for place, one in enumerate(self.cliques) if set(clique) <= set(one)]
        return min(homes, key=lambda place: math.prod(self.sizes[one] for one in self.cliques[place]), default=-1)


def _eliminated(sizes: Sequence[int], wanted: Iterable[Clique]) -> list[Clique]:
    """Return the largest cliques of the graph in which every wanted one is complete and no circle lacks a chord."""
    near: list[set[int]] = [set() for _ in sizes]
    for clique in wanted:
        for one, other in combinations(clique, 2):
            near[one].add(other)
            near[other].add(one)
    left, found = set(range(len(sizes))), list[Clique]()
    while left:
        place = min(left, key=lambda one: (math.prod(sizes[other] for other in {one, *near[one]}), one))
        around = {place, *near[place]}
        if not any(around <= set(one) for one in found):
            found.append(tuple(sorted(around)))
        for one in near[place]:
            near[one] |= near[place] - {one}
            near[one].discard(place)
        left.discard(place)
    return found


def _spread(values: Floats, clique: Clique, onto: Clique) -> Floats:
    """Return a table over a clique in the shape of a larger one."""
    shape = iter(values.shape)
    return values.reshape([next(shape) if one in clique else 1 for one in onto])


def _summed(values: Floats, clique: Clique, onto: Clique) -> Floats:
    """Sum a table over all columns but some."""
    return np.asarray(values.sum(axis=tuple(at for at, one in enumerate(clique) if one not in onto)))


def _log_summed(values: Floats, clique: Clique, onto: Clique) -> Floats:
    axes = tuple(at for at, one in enumerate(clique) if one not in onto)
    if not axes:
        return values
    top = values.max(axis=axes, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(values - top).sum(axis=axes)) + top.squeeze(axes))


@dataclass(eq=False)
class GraphicalModel:
    """A distribution of rows over a junction tree; `beliefs` are the expected counts of each clique's cells."""

    tree: JunctionTree
    total: float
    potentials: list[Floats]
    beliefs: list[Floats] = field(default_factory=list)

    @classmethod
    def fit(
        cls,
        sizes: Sequence[int],
        measurements: Sequence[Measurement],
        *,
        n_steps: int,
        start: GraphicalModel | None = None,
    ) -> GraphicalModel:
        """Find the distribution whose marginals are nearest to the counts, each weighed by its noise.

        start: an earlier model, whose potentials are taken over where the new tree holds its cliques.
        """
        tree = JunctionTree.of(sizes, [one.clique for one in measurements])
        shapes = [tuple(sizes[one] for one in clique) for clique in tree.cliques]
        model = cls(tree, estimated_total(measurements), [np.zeros(shape) for shape in shapes])
        for clique, potential in () if start is None else zip(start.tree.cliques, start.potentials, strict=True):
            home = tree.home_of(clique)
            if home >= 0:
                model.potentials[home] = model.potentials[home] + _spread(potential, clique, tree.cliques[home])
        homes = [tree.home_of(one.clique) for one in measurements]
        model._descend(measurements, homes, n_steps)
        return model

    def _descend(self, measurements: Sequence[Measurement], homes: Sequence[int], n_steps: int) -> None:
        """Move potentials against the slope of the squared error, by steps that are halved until the error falls."""
        self.beliefs = self._propagated(self.potentials)
        error, slopes = self._error(self.beliefs, measurements, homes)
        size = 1.0 / max(self.total, 1.0)
        for _ in range(n_steps):
            size *= 2
            for _ in range(MOST_HALVINGS):
                moved = [one - size * slope for one, slope in zip(self.potentials, slopes, strict=True)]
                beliefs = self._propagated(moved)
                new, steeper = self._error(beliefs, measurements, homes)
                fall = sum(
                    float((slope * (now - then)).sum())
                    for slope, now, then in zip(slopes, self.beliefs, beliefs, strict=True)
                )
                if error - new >= 0.5 * fall:
                    break
                size /= 2
            else:
                return
            self.potentials, self.beliefs, slopes = moved, beliefs, steeper
            if error - new <= 1e-7 * error:
                return
            error = new

    def _error(
        self, beliefs: Sequence[Floats], measurements: Sequence[Measurement], homes: Sequence[int]
    ) -> tuple[float, list[Floats]]:
        """Return half the squared error in units of the noise, and its slope by the cells of each clique."""
        error = 0.0
        slopes = [np.zeros(one.shape) for one in beliefs]
        for one, home in zip(measurements, homes, strict=True):
            clique = self.tree.cliques[home]
            mine = _summed(beliefs[home], clique, one.clique)
            sigma = np.reshape(one.sigma, mine.shape) if isinstance(one.sigma, np.ndarray) else one.sigma
            away = (mine - one.counts.reshape(mine.shape)) / sigma
            error += float(np.square(away).sum()) / 2
            slopes[home] += _spread(away / sigma, one.clique, clique)
        return error, slopes

    def _propagated(self, potentials: Sequence[Floats]) -> list[Floats]:
        """Return the expected count of each clique's cells, by messages to the roots and back (sum-product)."""
        logs = list(potentials)
        up: dict[int, Floats] = {}
        cliques = self.tree.cliques
        for place, parent, shared in reversed(self.tree.edges):
            if parent >= 0:
                up[place] = _log_summed(logs[place], cliques[place], shared)
                logs[parent] = logs[parent] + _spread(up[place], shared, cliques[parent])
        for place, parent, shared in self.tree.edges:
            if parent >= 0:
                down = _log_summed(logs[parent], cliques[parent], shared)
                logs[place] = logs[place] + _spread(down - up[place], shared, cliques[place])
        found = []
        for one in logs:
            shares = np.exp(one - one.max())
            found.append(shares * (self.total / shares.sum()))
        return found

    def marginal(self, wanted: Clique) -> Floats:
        """Return the expected counts of the cells of some columns, in one clique or in several.

        In several: the product of each clique given what it shares with the one above, summed over all other columns.
        """
        home = self.tree.home_of(wanted)
        if home >= 0:
            return _summed(self.beliefs[home], self.tree.cliques[home], wanted)
        needed = self._needed(set(wanted))
        names = {
            column: at for at, column in enumerate(sorted({one for place in needed for one in self._clique(place)}))
        }
        factors: list[Floats | list[int]] = []
        for place, shared in needed.items():
            clique, values = self._clique(place), self.beliefs[place]
            whole = _spread(_summed(values, clique, shared), shared, clique)
            given = np.divide(values, whole, out=np.zeros_like(values), where=whole > 0)
            factors += [given, [names[one] for one in clique]]
        shares = np.einsum(*factors, [names[one] for one in wanted], optimize="greedy")  # type: ignore[arg-type]
        return np.asarray(shares * self.total)

    def _clique(self, place: int) -> Clique:
        return self.tree.cliques[place]

    def _needed(self, wanted: set[int]) -> dict[int, Clique]:
        """Return the cliques that connect some columns, each with what it shares with the one above."""
        needed: dict[int, Clique] = {}
        parents = {place: parent for place, parent, _ in self.tree.edges}
        for place, parent, shared in reversed(self.tree.edges):
            if place in [parents[one] for one in needed] or wanted & set(self._clique(place)) - set(shared):
                needed[place] = shared if parent >= 0 else ()
        # A root that only hands on what its one child has, too.
        for place in list(reversed(needed)):
            children = [one for one in needed if parents[one] == place]
            is_first = parents[place] not in needed
            if is_first and len(children) == 1 and wanted & set(self._clique(place)) <= set(needed[children[0]]):
                del needed[place]
        return {place: shared if parents[place] in needed else () for place, shared in needed.items()}

    def draw(self, n: int, random: np.random.Generator) -> list[Ints]:
        """Draw rows: by column the value of each; cells get their expected number of rows, within one."""
        drawn: dict[int, Ints] = {}
        for place, _, _ in self.tree.edges:
            clique = self.tree.cliques[place]
            for column in clique:
                if column in drawn:
                    continue
                known = tuple(one for one in clique if one in drawn)
                both = tuple(sorted((*known, column)))
                counts = _summed(self.beliefs[place], clique, both)
                counts = np.moveaxis(counts, both.index(column), -1).reshape(-1, self.tree.sizes[column])
                group = np.zeros(n, np.int64)
                if known:
                    shape = [self.tree.sizes[one] for one in known]
                    group = np.ravel_multi_index([drawn[one] for one in known], shape).astype(np.int64)
                drawn[column] = drawn_evenly(group, counts, random)
        return [drawn[column] for column in range(len(self.tree.sizes))]


def drawn_evenly(group: Ints, counts: Floats, random: np.random.Generator) -> Ints:
    """Draw a value for each row by the counts of its group, so that each value gets its share of the rows within one.

    Rows of a group stand in a random order at even distances on a line that the counts divide.
    """
    there, own = np.unique(group, return_inverse=True)
    shares = np.maximum(counts[there], 0)
    shares = np.where(shares.sum(axis=1, keepdims=True) > 0, shares, 1.0)
    upto = np.cumsum(shares, axis=1)
    upto /= upto[:, -1:]
    mixed = random.permutation(len(group))
    order = mixed[np.argsort(own[mixed], kind="stable")]
    sizes = np.bincount(own, minlength=len(there))
    place = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    at = (place + random.random(len(there))[own[order]]) / sizes[own[order]]
    line = (upto + np.arange(len(there))[:, None]).ravel()
    found = np.empty(len(group), np.int64)
    value = np.searchsorted(line, own[order] + at, side="right") - own[order] * shares.shape[1]
    found[order] = np.clip(value, 0, shares.shape[1] - 1)
    return found


def estimated_total(measurements: Sequence[Measurement]) -> float:
    """Return the number of rows that noisy marginals tell together, each weighed by its noise; at least 1."""
    sums, weights = [], []
    for one in measurements:
        variance = float(np.sum(np.square(np.broadcast_to(one.sigma, one.counts.shape))))
        sums.append(float(one.counts.sum()))
        weights.append(1 / variance)
    return max(1.0, float(np.average(sums, weights=weights)))


def counted(codes: Mapping[int, Ints] | Sequence[Ints], sizes: Sequence[int], clique: Clique) -> Ints:
    """Count the rows of each cell of some columns."""
    shape = [sizes[one] for one in clique]
    cells = np.ravel_multi_index([codes[one] for one in clique], shape)
    return np.bincount(cells, minlength=math.prod(shape)).reshape(shape)
