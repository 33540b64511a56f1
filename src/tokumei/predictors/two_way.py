"""Two-way tables of counts: which are worth publishing, and how many classes of which size they make expected.

Expected sizes are counted without going through the classes one by one. The attributes form a tree: given an
attribute's label, those on either side of it are independent. So a class is expected to have the rows of its first
label, times for each further label how much more often than by chance it goes with the label it hangs on. Sizes that
are nearly alike are counted together as the tree is folded up, so that a node of a billion classes takes no longer than
one of a thousand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt

from tokumei.predictors.one_way import Floats, Ints, LabelShares, Margin

Number = TypeVar("Number", np.int64, np.float64)
T = TypeVar("T")

# Akaike's: a table is worth its numbers where it explains more deviance than twice their number.
PENALTY = 2.0
# A count far above this says nothing of small classes, however well it is known.
TELLING_ROWS = 50


@dataclass(frozen=True, eq=False)
class TwoWay:
    """The rows of each part of one attribute by each part of another; a part is some of the margin's groups."""

    first: int
    second: int
    first_parts: Ints
    second_parts: Ints
    counts: Ints

    def parts_of(self, attribute: int) -> list[Ints]:
        """Return the part of each group of an attribute, if the table is of it."""
        return [
            parts
            for index, parts in ((self.first, self.first_parts), (self.second, self.second_parts))
            if index == attribute
        ]

    def turned(self) -> TwoWay:
        """Return the same table with rows and columns exchanged."""
        return TwoWay(self.second, self.first, self.second_parts, self.first_parts, self.counts.T)

    def holds(self, k_p: int) -> bool:
        """Whether no count but 0 is below k_p."""
        return bool(self.counts[self.counts > 0].min() >= k_p)

    def coarsened(self, first_parts: Ints, second_parts: Ints) -> TwoWay:
        """Return the table over coarser parts: counts of parts that become one are added up."""
        rows = added_up(self.counts, part_of_part(self.first_parts, first_parts))
        counts = added_up(rows.T, part_of_part(self.second_parts, second_parts)).T
        return TwoWay(self.first, self.second, first_parts, second_parts, counts)


def worth(table: TwoWay) -> float:
    """Return what a table explains beyond what so many numbers explain by chance; below 0 it is not worth them."""
    n_rows, n_columns = table.counts.shape
    return deviance(table.counts) - PENALTY * float((n_rows - 1) * (n_columns - 1))


def forest(tables: Iterable[TwoWay]) -> tuple[TwoWay, ...]:
    """Choose the tables worth most that close no circle (Chow and Liu's tree).

    A circle of tables could pin down small classes of three attributes; without one the largest possible size of
    any class is the smallest of the published counts that it lies in (Dobra and Fienberg 2000).
    """
    worths = [(worth(table), table) for table in tables]
    chosen: list[TwoWay] = []
    for gain, table in sorted(worths, key=lambda each: (-each[0], each[1].first, each[1].second)):
        if gain > 0 and way_between(chosen, table.first, table.second) is None:
            chosen.append(table)
    return tuple(chosen)


def expected_rows(margins: Sequence[Margin], way: Sequence[TwoWay], first: LabelShares, second: LabelShares) -> Floats:
    """Return the rows expected of the labels of two attributes together, along the tables from one to the other.

    Given the part of an attribute on the way, what comes before and what comes after it are independent.
    """
    rows = first.by_part(margins[way[0].first].sizes, way[0].first_parts)
    for table, following in zip(way, [*way[1:], None], strict=True):
        rows = rows @ _per_row(table.counts)
        sizes = margins[table.second].sizes
        after = second if following is None else LabelShares.of_parts(following.first_parts)
        rows = rows @ _per_row(after.by_part(sizes, table.second_parts).T)
    return rows


def way_between(tables: Sequence[TwoWay], start: int, goal: int) -> list[TwoWay] | None:
    """Return the tables from one attribute to another, each turned to lead on; None if there is no way."""
    both = [*tables, *(table.turned() for table in tables)]
    ways = [[table] for table in both if table.first == start]
    while ways:
        way = ways.pop()
        if way[-1].second == goal:
            return way
        been = {start, *(table.second for table in way)}
        ways += [[*way, table] for table in both if table.first == way[-1].second and table.second not in been]
    return None


def spread_beyond(margins: Sequence[Margin], tables: Sequence[TwoWay], counted: Iterable[TwoWay]) -> float:
    """Return how far counted pairs are from what the tables say, beyond chance, as the logarithm of a factor.

    Counts of mean μ that only chance moves are μ away in the mean of squares; if a factor moves them too, they are
    μ + (spread·μ)² away. Chance moves them less where published counts hold their sums.
    """
    beyond, weight = 0.0, 0.0
    for pair in counted:
        way = way_between(tables, pair.first, pair.second)
        free = 1 - _n_fixed(pair, way) / pair.counts.size
        if free <= 0:
            continue
        if way is None:
            expected = np.outer(pair.counts.sum(axis=1), pair.counts.sum(axis=0)) / pair.counts.sum()
        else:
            first, second = LabelShares.of_parts(pair.first_parts), LabelShares.of_parts(pair.second_parts)
            expected = expected_rows(margins, way, first, second)
        tells = expected >= 1
        means = expected[tells]
        weights = np.minimum(means, TELLING_ROWS)
        beyond += float(np.sum(weights * ((pair.counts[tells] - means) ** 2 - free * means) / means**2))
        weight += float(weights.sum())
    return math.sqrt(max(beyond / weight, 0)) if weight else 0.0


def _n_fixed(pair: TwoWay, way: Sequence[TwoWay] | None) -> int:
    """Return how many counts of a pair follow from the others, when its margins and a table of it are known."""
    n_rows, n_columns = pair.counts.shape
    known = way[0].counts.shape if way is not None and len(way) == 1 else (1, 1)
    return int(known[0] * known[1] + (n_rows - known[0]) + (n_columns - known[1]))


def deviance(counts: Ints | Floats) -> float:
    """Return how far rows and columns are from independent: G² = 2 Σ n ln(n / expected), 0 if they are."""
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    occurs = counts > 0
    return float(2 * np.sum(counts[occurs] * np.log(counts[occurs] / expected[occurs])))


def added_up(rows: npt.NDArray[Number], parts: Ints) -> npt.NDArray[Number]:
    """Add up the rows of a matrix that belong to one part."""
    out = np.zeros((int(parts.max()) + 1, rows.shape[1]), rows.dtype)
    np.add.at(out, parts, rows)
    return out


def _per_row(counts: Ints | Floats) -> Floats:
    """Divide each row by its sum."""
    out: Floats = counts / counts.sum(axis=1, keepdims=True)
    return out


def part_of_part(fine: Ints, coarse: Ints) -> Ints:
    """Return for each fine part the coarse part that it lies in; both hold the part of each group."""
    out = np.empty(int(fine.max()) + 1, np.int64)
    out[fine] = coarse
    return out


# Sizes within 1.6 % of each other are counted together, at their mean, and wider ones where more would be left.
LEAST_STEP = 1 / 64
MOST_SIZES = 256
MANY_SIZES = 16 * MOST_SIZES
# Smaller shares of the rows could not be told from 0.
LEAST_LOG = -600.0
# So many parts of nodes are kept for others.
MOST_FOLDED = 4_000

Pair = tuple[int, int]


@dataclass(frozen=True)
class Branch:
    """What hangs on an attribute: by label the logarithms of shares of all rows, and how many classes have each."""

    labels: Ints
    logs: Floats
    weights: Floats
    # The attributes that hang together here, each with its level: what the branch follows from.
    key: Hashable = ()


class Folded:
    """What was folded up for one node and serves others that have the same levels in some attributes."""

    def __init__(self, levels: Mapping[int, int], memory: dict[Hashable, object]) -> None:
        self.levels, self.memory = levels, memory
        if len(memory) > MOST_FOLDED:
            memory.clear()

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what was made under this key before, or make it."""
        if key not in self.memory:
            self.memory[key] = make()
        return cast("T", self.memory[key])

    def at(self, attribute: int) -> tuple[int, int]:
        """Return an attribute with its level."""
        return attribute, self.levels.get(attribute, 0)


def expected_sizes(
    rows: Mapping[int, Floats],
    pairs: Mapping[Pair, Floats],
    folded: Folded | None = None,
    n_alike: Mapping[int, Ints] | None = None,
) -> tuple[Floats, Floats]:
    """Return expected sizes of classes and how many classes have each.

    `rows` holds for each attribute the rows of its labels, all above 0; `pairs` for two attributes that depend on each
    other (the smaller number first) the rows of their labels together. Labels that are alike may stand as one, with
    their rows together; `n_alike` says how many each stands for. `folded` keeps what further nodes can use.
    """
    folded = Folded({}, {}) if folded is None else folded
    n_alike = {index: np.ones(len(own), np.int64) for index, own in rows.items()} if n_alike is None else n_alike
    n_rows = float(next(iter(rows.values())).sum())
    dependence = {
        pair: folded.once(("dependence", *map(folded.at, pair)), partial(deviance, counts))
        for pair, counts in pairs.items()
    }
    tree = spanning_tree(dependence)
    ratios = {pair: pairs[pair] * n_rows / np.outer(rows[pair[0]], rows[pair[1]]) for pair in tree}
    # Of each label by itself.
    shares = {index: np.log(own / n_alike[index] / n_rows) for index, own in rows.items()}
    logs, weights = np.zeros(1), np.ones(1)
    left = set(rows)
    while left:
        # Each label of a root is gone through; those of an end of the tree are not.
        root = min(left, key=lambda attribute: (int(n_alike[attribute].sum()), attribute))
        branch = _branch(root, None, shares, n_alike, ratios, left, folded)
        own = (branch.logs, branch.weights)
        # Ten thousand birth dates times all sizes so far would be millions: those that are alike come first.
        logs, weights = _product(logs, weights, *(_together(*own) if len(branch.logs) > MANY_SIZES else own))
    return n_rows * np.exp(np.maximum(logs, LEAST_LOG)), weights


def spanning_tree(dependence: Mapping[Pair, float]) -> list[Pair]:
    """Choose the pairs that depend on each other most and close no circle."""
    tree_of = {attribute: attribute for pair in dependence for attribute in pair}
    chosen = []
    for pair in sorted(dependence, key=lambda pair: (-dependence[pair], pair)):
        one, other = tree_of[pair[0]], tree_of[pair[1]]
        if one != other:
            chosen.append(pair)
            tree_of = {attribute: one if tree == other else tree for attribute, tree in tree_of.items()}
    return chosen


def _branch(
    attribute: int,
    parent: int | None,
    shares: Mapping[int, Floats],
    n_alike: Mapping[int, Ints],
    ratios: Mapping[Pair, Floats],
    left: set[int],
    folded: Folded,
) -> Branch:
    """Fold up an attribute and all that hangs on it, away from its parent."""
    left.discard(attribute)
    children = [
        (_branch(other, attribute, shares, n_alike, ratios, left, folded), ratio if pair[0] == attribute else ratio.T)
        for pair, ratio in ratios.items()
        if attribute in pair
        for other in pair
        if other not in (attribute, parent)
    ]
    own, weights = shares[attribute], n_alike[attribute].astype(np.float64)
    if not children:
        return Branch(np.arange(len(own)), own, weights, folded.at(attribute))
    key = (folded.at(attribute), *(child.key for child, _ in children))
    return folded.once(("branch", key), lambda: _folded_up(own, weights, children, key, folded))


def _folded_up(
    shares: Floats,
    n_alike: Floats,
    children: Sequence[tuple[Branch, Floats]],
    key: tuple[Hashable, ...],
    folded: Folded,
) -> Branch:
    """Combine each label of an attribute with all that hangs on it."""
    hanging = [
        folded.once(("child", key[0], child.key), partial(_under_each_label, child, ratio)) for child, ratio in children
    ]
    labels, all_logs, all_weights = [], [], []
    for label, share in enumerate(shares):
        logs, weights = np.array([share]), n_alike[label : label + 1]
        for of_child in hanging:
            logs, weights = _product(logs, weights, *of_child[label])
        labels.append(np.full(len(logs), label))
        all_logs.append(logs)
        all_weights.append(weights)
    return Branch(np.concatenate(labels), np.concatenate(all_logs), np.concatenate(all_weights), key)


def _under_each_label(child: Branch, ratio: Floats) -> list[tuple[Floats, Floats]]:
    """Return for each label of an attribute what hangs on it by one child."""
    found = []
    for times in ratio[:, child.labels]:
        occurs = times > 0
        found.append(_together(child.logs[occurs] + np.log(times[occurs]), child.weights[occurs]))
    return found


def _product(logs: Floats, weights: Floats, more_logs: Floats, more_weights: Floats) -> tuple[Floats, Floats]:
    """Combine each size with each."""
    return _together(np.add.outer(logs, more_logs).ravel(), np.multiply.outer(weights, more_weights).ravel())


def _together(logs: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Count sizes together that are nearly alike."""
    if len(logs) < 2:
        return logs, weights
    least = logs.min()
    step = max(LEAST_STEP, (logs.max() - least) / MOST_SIZES)
    indices = ((logs - least) / step).astype(np.int64)
    total: Floats = np.bincount(indices, weights).astype(np.float64)
    occurs = total > 0
    return np.bincount(indices, weights * logs)[occurs] / total[occurs], total[occurs]
