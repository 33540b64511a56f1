"""Local recoding (LeFevre, DeWitt and Ramakrishnan 2006; Xu et al. 2006): rows of a group get, column by column, the
closest label that covers the values of them all."""

from __future__ import annotations

from tests.definitions.cases import Tree, Value
from tests.definitions.generalizing import label, says_nothing

# What is written where nothing is said, not even whether there is a value.
NOTHING = "*"


def with_top(tree: Tree) -> Tree:
    """A hierarchy whose last level says nothing; one is added where there is none."""
    return tree if says_nothing(tree, len(tree) - 1) else [*tree, ["*"] * len(tree[0])]


def covers(tree: Tree, level: int, of: str, values: set[Value]) -> bool:
    """Whether the label of a leaf at a level stands for all the values."""
    own = label(tree, level, of)
    return all(label(tree, level, value) == own for value in values)


def is_true_of(tree: Tree, cell: Value, values: set[Value]) -> bool:
    """Whether a released cell, at whatever level it stands, is true of all the values."""
    if cell is None or cell == NOTHING:
        return cell == NOTHING or values == {None}
    found = [n for n, level in enumerate(tree) if cell in level]
    return any(covers(tree, n, tree[0][tree[n].index(cell)], values) for n in found)


def closest_label(tree: Tree, values: set[Value]) -> Value:
    """The finest label that covers the values; missing values alone stay missing, with others only `*` covers all."""
    if None in values:
        return None if values == {None} else NOTHING
    tree = with_top(tree)
    leaf = next(value for value in tree[0] if value in values)
    level = next(level for level in range(len(tree)) if covers(tree, level, leaf, values))
    return tree[level][tree[0].index(leaf)]


def ncp_of_cell(tree: Tree, cell: Value, is_gone: bool) -> float:
    """The share of leaves that a label covers, nothing while it is one; a suppressed cell costs all."""
    tree = with_top(tree)
    if is_gone or cell in (NOTHING, tree[-1][0]):
        return 1.0
    if cell is None:
        return 0.0
    n = max(level.count(cell) for level in tree)
    return n / len(tree[0]) if n > 1 else 0.0
