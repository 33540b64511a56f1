"""Losses of a generalized table, cell by cell or class by class, as their papers define them."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.definitions.cases import Case, Row, Tree, Value
from tests.definitions.generalizing import Levels, classes, generalized, label, says_nothing

# The cost of a cell: of a column, at a level, for a value, and whether the record is suppressed.
Cell = Callable[[Case, str, int, Value, bool], float]


def mean_over_cells(case: Case, levels: Levels, suppressed: set[int], cell: Cell) -> float:
    """The mean over attributes of the mean over records; a suppressed record's cells cost all they can."""
    if not case.rows:
        return 0.0
    costs = [
        cell(case, name, levels[name], row[name], number in suppressed)
        for name in case.trees
        for number, row in enumerate(case.rows)
    ]
    return sum(costs) / len(costs)


def prec(case: Case, name: str, level: int, value: Value, is_gone: bool) -> float:
    """Level / height (Sweeney 2002)."""
    return 1.0 if is_gone else level / max(1, len(case.trees[name]) - 1)


def ncp(case: Case, name: str, level: int, value: Value, is_gone: bool) -> float:
    """The share of leaves that a label covers, nothing while it is one (Xu et al. 2006)."""
    tree = case.trees[name]
    if is_gone or says_nothing(tree, level):
        return 1.0
    if value is None:
        return 0.0
    n = len(leaves_of(tree, level, value))
    return n / len(tree[0]) if n > 1 else 0.0


def dis(case: Case, name: str, level: int, value: Value, is_gone: bool) -> float:
    """The height of a label in its value tree, over that of the tree (Muramoto, Kamidoi and Wakabayashi 2007)."""
    tree = case.trees[name]
    groups = all_groups(tree)
    tallest = max(height(one, groups) for one in groups)
    if is_gone:
        return 1.0
    return height(group(tree, level, value), groups) / max(1, tallest)


def group(tree: Tree, level: int, value: Value) -> frozenset[Value]:
    """The values with the label that a value has at a level; None is the missing value."""
    own = label(tree, level, value)
    return frozenset(one for one in [*tree[0], None] if label(tree, level, one) == own)


def all_groups(tree: Tree) -> set[frozenset[Value]]:
    return {group(tree, level, value) for level in range(len(tree)) for value in [*tree[0], None]}


def height(of: frozenset[Value], groups: set[frozenset[Value]]) -> int:
    """How many steps lead down from a group, each to a smaller one within it."""
    return max((1 + height(one, groups) for one in groups if one < of), default=0)


def leaves_of(tree: Tree, level: int, value: str) -> list[str]:
    own = label(tree, level, value)
    return [leaf for leaf in tree[0] if label(tree, level, leaf) == own]


def entropy(case: Case, levels: Levels, suppressed: set[int]) -> float:
    """Of the bits that tell a value, the share that its label no longer tells (Gionis and Tassa 2009)."""
    if not case.rows:
        return 0.0
    losses = []
    n = len(case.rows)
    for name, tree in case.trees.items():
        values = [row[name] for row in case.rows]
        labels = [label(tree, levels[name], value) for value in values]
        bits = sum(math.log2(n / values.count(value)) for value in values)
        kept = [own for number, own in enumerate(labels) if number not in suppressed]
        told = sum(math.log2(n / labels.count(own)) for own in kept)
        losses.append(1 - told / bits if bits else 0.0)
    return sum(losses) / len(losses)


def price(case: Case, levels: Levels, suppressed: set[int], prices: dict[str, dict[str, float]]) -> float:
    """The share of what all values fetched that their labels no longer fetch (Oguri and Sonehara 2014).

    A label without a price, a missing value and a suppressed record fetch nothing.
    """
    before = sum(prices[name].get(row[name] or "", 0.0) for row in case.rows for name in case.trees)
    kept = kept_rows(case, levels, suppressed)
    after = sum(prices[name].get(row[name] or "", 0.0) for row in kept for name in case.trees)
    return 1 - after / before if before else 0.0


def discernibility(case: Case, levels: Levels, suppressed: set[int]) -> float:
    """|class|² over the classes kept, N for each suppressed record (Bayardo and Agrawal 2005)."""
    kept = kept_rows(case, levels, suppressed)
    return sum(len(one) ** 2 for one in classes(kept, case.quasi_identifiers)) + len(suppressed) * len(case.rows)


def average_class_size(case: Case, levels: Levels, suppressed: set[int]) -> float:
    """Records per class, those suppressed being one class (LeFevre, DeWitt and Ramakrishnan 2006)."""
    n = len(classes(kept_rows(case, levels, suppressed), case.quasi_identifiers)) + bool(suppressed)
    return len(case.rows) / max(1, n)


def kept_rows(case: Case, levels: Levels, suppressed: set[int]) -> list[Row]:
    rows = generalized(case, levels)
    return [row for number, row in enumerate(rows) if number not in suppressed]
