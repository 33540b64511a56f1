"""What follows from published one-way and two-way counts: above all how small the smallest class is likely to be.

A class expected to have μ rows has n of them with the chance of a Poisson number, and none with chance e^−μ; then it is
no class. So k, the size of the smallest class that occurs, is above m if no class has 1 to m rows:

    P(k > m) = Π (1 − P(1 ≤ n ≤ m))

Where the expected sizes are themselves uncertain by a factor, the factor is taken to be log-normal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations

import numpy as np

from tokumei.core.progress import Cost
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.predictors.folding_cost import trees_of_tables, work_of
from tokumei.predictors.one_way import Floats, Kinds, Margin, MarginAtLevel, common_coarsening
from tokumei.predictors.predictor import Knowledge, Prediction
from tokumei.predictors.two_way import Folded, TwoWay, expected_rows, expected_sizes, way_between

# Below, the chances of 0, 1, … rows are added up; above, Wilson and Hilferty's cube root is right to three digits.
SUMMED_UP_TO = 50
# Of so many rows a Poisson number is 50 or less with a chance below 1e-60.
ALWAYS_MORE = 400
AT_ONCE = 10
LOG_FACTORIALS = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, SUMMED_UP_TO + 1)))])
FACTORS = 7
# So many nodes tell what all of them will take.
SAMPLED = 200


@dataclass(frozen=True)
class SmallestClass:
    """The distribution of k for classes of these expected sizes, `weights[i]` classes of size `sizes[i]`.

    `spread` is the standard deviation of the logarithm of a class's expected size, `most` a bound that k is known
    not to exceed.
    """

    sizes: Floats
    weights: Floats
    spread: float
    most: int

    def quantile(self, chance: float) -> int:
        """Return the least m such that k is at most m with at least this chance."""
        summed = self._summed_until(chance)
        if summed[-1] >= chance or self.most <= SUMMED_UP_TO:
            # One more than the number of sizes that are too unlikely; size 0 is not among them.
            return min(int(np.searchsorted(summed, chance)) + 1, self.most)
        below, at = SUMMED_UP_TO, self.most
        while at - below > 1:
            middle = (below + at) // 2
            if self.chance_up_to(middle) >= chance:
                at = middle
            else:
                below = middle
        return at

    def chance_up_to(self, m: int) -> float:
        """Return the chance that k is at most m."""
        if m >= self.most:
            return 1.0
        if m < 1:
            return 0.0
        if m <= SUMMED_UP_TO:
            return float(self._summed_until(2.0)[m - 1])
        sizes, shares = self._mixture
        return float(self._of_any(shares @ (poisson_up_to(m, sizes) - np.exp(-sizes))))

    def _summed_until(self, chance: float) -> Floats:
        """Return the chances that k is at most 1, 2, …, until one is reached or 50 are known; ten at a time."""
        sizes, shares = self._mixture
        if sizes.min() > ALWAYS_MORE:
            return np.zeros(SUMMED_UP_TO)
        known = self._known
        while len(known) < SUMMED_UP_TO and (not known or known[-1] < chance):
            n = np.arange(len(known) + 1, len(known) + AT_ONCE + 1)
            logs = np.log(sizes) * n[:, None, None] - sizes - LOG_FACTORIALS[n][:, None, None]
            # A row a number of rows, a column a class.
            up_to = np.cumsum(shares @ np.exp(logs), axis=0) + (self._left[-1] if self._left else 0.0)
            self._left[:] = [up_to[-1]]
            known += self._of_any(up_to).tolist()
        return np.array(known)

    @cached_property
    def _known(self) -> list[float]:
        return []

    @cached_property
    def _left(self) -> list[Floats]:
        """The chance of each class to have at most as many rows as the last chance known is of."""
        return []

    @cached_property
    def _mixture(self) -> tuple[Floats, Floats]:
        """The sizes times each factor, a row a factor, and the factors' shares, by Gauss and Hermite's rule."""
        if self.spread == 0:
            return self.sizes[None, :], np.ones(1)
        points, shares = _gauss_points()
        # So that the mean of the factors is 1.
        factors = np.exp(self.spread * points - self.spread**2 / 2)
        return factors[:, None] * self.sizes, shares

    def _of_any(self, chances: Floats) -> Floats:
        """Return the chance of at least one class, from the chance of each."""
        # A certain class would be the logarithm of 0.
        out: Floats = -np.expm1(np.log1p(-np.clip(chances, 0, 1 - 1e-15)) @ self.weights)
        return out


@cache
def _gauss_points() -> tuple[Floats, Floats]:
    """Return the points of Gauss and Hermite's rule and their shares."""
    points, shares = np.polynomial.hermite_e.hermegauss(FACTORS)
    return points, shares / shares.sum()


def poisson_up_to(m: int, means: Floats) -> Floats:
    """Return the chance of at most m rows, m well above 0, for each mean number of rows."""
    n = m + 1
    z = 3 * math.sqrt(n) * (np.cbrt(means / n) - (1 - 1 / (9 * n)))
    return normal_above(z)


def normal_above(z: Floats) -> Floats:
    """Return the chance that a normal number is above z, to seven digits also where it is tiny."""
    # Numerical Recipes (1992), 6.2: a Chebyshev fit of the complementary error function.
    x = np.abs(z) / math.sqrt(2)
    t = 1 / (1 + x / 2)
    polynomial = np.polynomial.polynomial.polyval(t, ERROR_FUNCTION)
    tail = t * np.exp(-x * x + polynomial) / 2
    return np.where(z >= 0, tail, 1 - tail)


ERROR_FUNCTION = (
    -1.26551223,
    1.00002368,
    0.37409196,
    0.09678418,
    -0.18628806,
    0.27886807,
    -1.13520398,
    1.48851587,
    -0.82215223,
    0.17087277,
)


Place = tuple[int, int]
"""An attribute by its number, and a level of it."""


@dataclass(frozen=True, eq=False)
class FittedMargins:
    """The published counts of one table, and what follows from them."""

    lattice: Lattice
    k_p: int
    caution: float
    margins: tuple[Margin, ...]
    tables: tuple[TwoWay, ...]
    spread: float
    n_classes_counted: int = 0

    @property
    def knowledge(self) -> Knowledge:
        """The counts: groups of values by attribute, and tables over parts, which are numbered groups of groups."""
        return {
            "method": "margins",
            "k_p": self.k_p,
            "caution": self.caution,
            "spread": self.spread,
            "attributes": {
                margin.attribute: [[names, size] for names, size in margin.named_groups] for margin in self.margins
            },
            "tables": [
                {
                    "attributes": [self.lattice.attributes[index] for index in (table.first, table.second)],
                    "parts": [table.first_parts.tolist(), table.second_parts.tolist()],
                    "rows": table.counts.tolist(),
                }
                for table in self.tables
            ],
        }

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return int(self.margins[0].sizes.sum())

    @cached_property
    def _folded(self) -> dict[Hashable, object]:
        """What nodes with some levels in common can use of each other."""
        return {}

    def predict(self, node: Node) -> Prediction:
        """Predict k, exactly where the published counts hold the node's classes."""
        present = [index for index, level in enumerate(node) if len(self._at(index, level).rows) > 1]
        most, is_known = self._bound(node, present)
        if is_known or most == 1:
            return Prediction.exactly(most)
        at = {index: self._at(index, node[index]) for index in present}
        pairs = {pair: self._pair_rows(*((index, node[index]) for index in pair)) for pair in combinations(present, 2)}
        dependent = {pair: rows for pair, rows in pairs.items() if rows is not None}
        folded = Folded({index: node[index] for index in present}, self._folded)
        kinds = {index: self._kinds(index, node[index]) for index in present}
        sizes, weights = expected_sizes(
            {index: each.rows for index, each in kinds.items()},
            dependent,
            folded,
            {index: each.n_labels for index, each in kinds.items()},
        )
        if any(margin.hides_labels for margin in at.values()):
            # Values are merged where they are fewer than k_p. How many they are is anybody's guess.
            most = max(min(most, self.k_p - 1), 1)
            return Prediction(SmallestClass(sizes, weights, self.spread, most).quantile(0.5), 1, most)
        smallest = SmallestClass(sizes, weights, self.spread, most)
        return Prediction(*(smallest.quantile(chance) for chance in (0.5, self.caution, 1 - self.caution)))

    def cost(self, nodes: Sequence[Node]) -> Cost:
        """Estimate what predicting these nodes takes, from some of them, before any is predicted."""
        indices = range(len(self.margins))
        n_labels = [margin.n_labels(0) for margin in self.margins]
        n_levels = [len(hierarchy.levels) for hierarchy in self.lattice.hierarchies]
        trees = trees_of_tables(self.tables, n_labels, n_levels)
        # Spread over all of them, from few classes to many.
        some = nodes[:: max(1, len(nodes) // SAMPLED)]
        sampled = [{index: len(self._kinds(index, node[index]).rows) for index in indices} for node in some]
        return work_of(trees, sampled, len(nodes)).cost(len(nodes))

    def _bound(self, node: Node, present: Sequence[int]) -> tuple[int, bool]:
        """Return a size that k is known not to exceed, and whether k is known to be just that.

        Any published count that is a class of the node or several together is such a size.
        """
        at = {index: self._at(index, node[index]) for index in present}
        bounds = [self.n_rows]
        is_known = not present
        for index in present:
            bounds.append(int(np.bincount(at[index].parts, self.margins[index].sizes).min()))
            is_known |= present == [index] and not at[index].is_split
        for index, table in enumerate(self.tables):
            if table.first in present and table.second in present:
                least, tells_all = self._table_bound(index, node[table.first], node[table.second])
                bounds.append(least)
                is_known |= tells_all and len(present) == 2
        return min(bounds), is_known

    # A lattice has many nodes, but few levels and pairs of them: these are kept.

    @cached_property
    def _at(self) -> Callable[[int, int], MarginAtLevel]:
        """What is known of the labels of an attribute at a level."""
        # A small count is 1 to k_p − 1: half-way in logarithms.
        small = math.sqrt(max(self.k_p - 1, 1))
        return cache(lambda index, level: self.margins[index].at(level, small))

    @cached_property
    def _kinds(self) -> Callable[[int, int], Kinds]:
        """The labels of an attribute at a level, those that are alike counted together."""

        def kinds(index: int, level: int) -> Kinds:
            parts = [part for each in self.tables for part in each.parts_of(index)]
            return self._at(index, level).kinds(parts)

        return cache(kinds)

    @cached_property
    def _pair_rows(self) -> Callable[[Place, Place], Floats | None]:
        """The rows expected of kinds of labels of two attributes, each given with its level; None if independent."""

        def pair_rows(first: Place, second: Place) -> Floats | None:
            way = way_between(self.tables, first[0], second[0])
            if way is None:
                return None
            return expected_rows(self.margins, way, self._kinds(*first).shares, self._kinds(*second).shares)

        return cache(pair_rows)

    @cached_property
    def _table_bound(self) -> Callable[[int, int, int], tuple[int, bool]]:
        """The smallest count of a table that no class at two levels exceeds, and whether it has all their classes."""

        def table_bound(index: int, first_level: int, second_level: int) -> tuple[int, bool]:
            table = self.tables[index]
            first, second = self._at(table.first, first_level), self._at(table.second, second_level)
            first_parts = common_coarsening(table.first_parts, first.parts)
            second_parts = common_coarsening(table.second_parts, second.parts)
            rows = table.coarsened(first_parts, second_parts).counts
            has_all = first_parts.max() == first.parts.max() and second_parts.max() == second.parts.max()
            return int(rows[rows > 0].min()), bool(has_all and not first.is_split and not second.is_split)

        return cache(table_bound)
