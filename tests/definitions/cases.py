"""Small random tables, as ugly as real ones: ties, missing values, one-leaf hierarchies, no rows and one row."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction

import polars as pl

from tokumei.hierarchies.hierarchy import Hierarchy

Value = str | None
Row = dict[str, Value]
# The labels of each leaf, level by level; level 0 has the leaves.
Tree = list[list[str]]

TREES: list[Tree] = [
    [["a"], ["*"]],
    [["a", "b"], ["*", "*"]],
    [["a", "b", "c"], ["ab", "ab", "c"], ["*", "*", "*"]],
    [["a", "b", "c", "d"], ["ab", "ab", "cd", "cd"], ["all", "all", "all", "all"]],
    [["a"], ["group"], ["*"]],
    # No level that says nothing.
    [["a", "b"], ["ab", "ab"], ["ab", "ab"]],
    [["a", "b", "c"]],
    # Levels that cross: neither of the two in the middle follows from the other.
    [["a", "b", "c", "d"], ["ab", "ab", "c", "d"], ["a", "bcd", "bcd", "bcd"], ["*", "*", "*", "*"]],
    [["a", "b", "c", "d"], ["ab", "ab", "cd", "cd"], ["abc", "abc", "abc", "d"], ["*", "*", "*", "*"]],
    # Labels that stand at two levels, in places and all of them.
    [["a", "b", "c", "d"], ["ab", "ab", "c", "d"], ["ab", "ab", "cd", "cd"], ["*", "*", "*", "*"]],
    [["a", "b", "c"], ["ab", "ab", "c"], ["*", "*", "*"], ["*", "*", "*"]],
]
QUASI_IDENTIFIERS = ["q", "r", "s"]
SENSITIVE = ["illness", "income"]


@dataclass(frozen=True)
class Case:
    """A table of some quasi-identifiers with their trees, and two sensitive columns."""

    rows: list[Row]
    trees: dict[str, Tree]

    @property
    def quasi_identifiers(self) -> list[str]:
        return list(self.trees)

    @property
    def frame(self) -> pl.DataFrame:
        return frame_of(self.rows, [*self.trees, *SENSITIVE])

    @property
    def hierarchies(self) -> dict[str, Hierarchy]:
        return {name: Hierarchy.of_levels(name, tree) for name, tree in self.trees.items()}


def random_case(seed: int) -> Case:
    """Draw a table; the same seed gives the same one."""
    draw = random.Random(seed)
    columns = QUASI_IDENTIFIERS[: draw.choice([1, 1, 2, 2, 3])]
    trees = {name: random_tree(draw) if draw.random() < 0.3 else draw.choice(TREES) for name in columns}
    n_rows = draw.choice([0, 1, 2, 3, 4, 5, 6, 8, 12])
    missing = draw.choice([0.0, 0.0, 0.2, 0.5])

    def value(values: list[str]) -> Value:
        return None if draw.random() < missing else draw.choice(values)

    rows = [
        {name: value(trees[name][0]) for name in columns}
        | {"illness": value(["flu", "cold", "ulcer"]), "income": value(["1", "2", "10"])}
        for _ in range(n_rows)
    ]
    return Case(rows, trees)


def random_tree(draw: random.Random) -> Tree:
    """Draw labels level by level, each from what is above it or anew: levels cross, and labels stand at several."""
    leaves = list("abcde"[: draw.randint(1, 5)])
    tree = [leaves]
    for _ in range(draw.randint(0, 3)):
        n_labels = draw.randint(1, len(set(tree[-1])))
        above = {one: draw.choice(["v", "w", "x", "y", "z"][:n_labels]) for one in [*tree[-1], *leaves]}
        tree.append([above[one] for one in (leaves if draw.random() < 0.3 else tree[-1])])
    return [*tree, ["*"] * len(leaves)] if draw.random() < 0.7 else tree


def frame_of(rows: list[Row], columns: list[str]) -> pl.DataFrame:
    return pl.DataFrame({name: pl.Series([row[name] for row in rows], dtype=pl.String) for name in columns})


def share(part: int, whole: int) -> Fraction:
    """A share without rounding; 0 of nothing."""
    return Fraction(part, whole) if whole else Fraction(0)
