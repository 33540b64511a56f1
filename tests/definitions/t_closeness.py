"""t-closeness (Li, Li and Venkatasubramanian 2007): the earth mover's distance of a class from all rows.

The distance is the least work that turns the one distribution into the other, found here as a linear program; the
three kinds differ only in how far two values are from each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from scipy.optimize import linprog
from tests.definitions.cases import Tree, Value

Far = Callable[[Value, Value], float]


def equal(one: Value, other: Value) -> float:
    return float(one != other)


def ordered(values: list[Value]) -> Far:
    """Values in a row, a missing one last; from the first to the last is 1."""
    numbers = sorted({value for value in values if value is not None}, key=float)
    row = [*numbers, *([None] if None in values else [])]
    steps = max(1, len(row) - 1)
    return lambda one, other: abs(row.index(one) - row.index(other)) / steps


def hierarchical(tree: Tree) -> Far:
    """The level of the lowest common label over the height; a missing value meets others at the top only."""
    tree = tree if len(set(tree[-1])) == 1 and len(tree) > 1 else [*tree, ["*"] * len(tree[0])]

    def far(one: Value, other: Value) -> float:
        if one == other:
            return 0.0
        if one is None or other is None:
            return 1.0
        leaves = tree[0]
        height = len(tree) - 1
        level = next(n for n in range(len(tree)) if tree[n][leaves.index(one)] == tree[n][leaves.index(other)])
        return level / height

    return far


def distance(own: list[Value], everybody: list[Value], far: Far) -> float:
    """The work of moving the shares of a class to those of everybody."""
    if not own or not everybody:
        return 0.0
    values = sorted(set(own) | set(everybody), key=lambda value: (value is None, value))
    mine, theirs = Counter(own), Counter(everybody)
    n = len(values)
    cost = [far(one, other) for one in values for other in values]
    leaves, arrives = np.zeros((n, n * n)), np.zeros((n, n * n))
    for i in range(n):
        leaves[i, i * n : (i + 1) * n] = 1
        arrives[i, i::n] = 1
    shares = [mine[one] / len(own) for one in values] + [theirs[one] / len(everybody) for one in values]
    # The last line follows from the others.
    found = linprog(cost, A_eq=np.vstack([leaves, arrives])[:-1], b_eq=shares[:-1])
    assert found.fun is not None
    return float(found.fun)
