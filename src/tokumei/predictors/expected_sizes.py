"""How many classes of a node are expected to have how many rows, without going through the classes one by one.

The attributes form a tree: given an attribute's label, those on either side of it are independent. So a class is
expected to have the rows of its first label, times for each further label how much more often than by chance it goes
with the label it hangs on. Sizes that are nearly alike are counted together as the tree is folded up, so that
a node of a billion classes takes no longer than one of a thousand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tokumei.predictors.margin import Floats, Ints
from tokumei.predictors.two_way import deviance

# Sizes within 1.6 % of each other are counted together, at their mean, and wider ones where more would be left.
LEAST_STEP = 1 / 64
MOST_SIZES = 256
MANY_SIZES = 16 * MOST_SIZES
# Smaller shares of the rows could not be told from 0.
LEAST_LOG = -600.0

Pair = tuple[int, int]


@dataclass(frozen=True)
class Branch:
    """What hangs on an attribute: by label the logarithms of shares of all rows, and how many classes have each."""

    labels: Ints
    logs: Floats
    weights: Floats


def expected_sizes(rows: Mapping[int, Floats], pairs: Mapping[Pair, Floats]) -> tuple[Floats, Floats]:
    """Return expected sizes of classes and how many classes have each.

    `rows` holds for each attribute the rows of its labels, all above 0; `pairs` for two attributes that depend on each
    other (the smaller number first) the rows of their labels together.
    """
    n_rows = float(next(iter(rows.values())).sum())
    tree = spanning_tree(pairs)
    ratios = {pair: pairs[pair] * n_rows / np.outer(rows[pair[0]], rows[pair[1]]) for pair in tree}
    logs, weights = np.zeros(1), np.ones(1)
    left = set(rows)
    while left:
        # Each label of a root is gone through; those of an end of the tree are not.
        root = min(left, key=lambda attribute: (len(rows[attribute]), attribute))
        branch = _branch(root, None, rows, ratios, n_rows, left)
        own = (branch.logs, branch.weights)
        # Ten thousand birth dates times all sizes so far would be millions: those that are alike come first.
        logs, weights = _product(logs, weights, *(_together(*own) if len(branch.logs) > MANY_SIZES else own))
    return n_rows * np.exp(np.maximum(logs, LEAST_LOG)), weights


def spanning_tree(pairs: Mapping[Pair, Floats]) -> list[Pair]:
    """Choose the pairs that depend on each other most and close no circle."""
    tree_of = {attribute: attribute for pair in pairs for attribute in pair}
    chosen = []
    dependence = {pair: deviance(rows) for pair, rows in pairs.items()}
    for pair in sorted(dependence, key=lambda pair: (-dependence[pair], pair)):
        one, other = tree_of[pair[0]], tree_of[pair[1]]
        if one != other:
            chosen.append(pair)
            tree_of = {attribute: one if tree == other else tree for attribute, tree in tree_of.items()}
    return chosen


def _branch(
    attribute: int,
    parent: int | None,
    rows: Mapping[int, Floats],
    ratios: Mapping[Pair, Floats],
    n_rows: float,
    left: set[int],
) -> Branch:
    """Fold up an attribute and all that hangs on it, away from its parent."""
    left.discard(attribute)
    children = [
        (_branch(other, attribute, rows, ratios, n_rows, left), ratio if pair[0] == attribute else ratio.T)
        for pair, ratio in ratios.items()
        if attribute in pair
        for other in pair
        if other not in (attribute, parent)
    ]
    shares = np.log(rows[attribute] / n_rows)
    if not children:
        return Branch(np.arange(len(shares)), shares, np.ones(len(shares)))
    parts = []
    for label, share in enumerate(shares):
        logs, weights = np.array([share]), np.ones(1)
        for child, ratio in children:
            times = ratio[label, child.labels]
            occurs = times > 0
            more = child.logs[occurs] + np.log(times[occurs])
            logs, weights = _product(logs, weights, *_together(more, child.weights[occurs]))
        parts.append(Branch(np.full(len(logs), label), logs, weights))
    return Branch(
        np.concatenate([part.labels for part in parts]),
        np.concatenate([part.logs for part in parts]),
        np.concatenate([part.weights for part in parts]),
    )


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
