"""Full-domain generalization (Samarati 2001): every value of a column becomes its label at the column's level."""

from __future__ import annotations

from tests.definitions.cases import Case, Row, Tree, Value

Levels = dict[str, int]


def says_nothing(tree: Tree, level: int) -> bool:
    """A level above the leaves where everything has the one label of the top, which is no value itself."""
    top = set(tree[-1])
    return level > 0 and len(top) == 1 and set(tree[level]) == top and not top <= set(tree[0]) - {"*"}


def label(tree: Tree, level: int, value: Value) -> Value:
    """A missing value stays missing until nothing is said of any."""
    if value is None:
        return tree[level][0] if says_nothing(tree, level) else None
    return tree[level][tree[0].index(value)]


def generalized(case: Case, levels: Levels) -> list[Row]:
    return [row | {name: label(case.trees[name], levels[name], row[name]) for name in case.trees} for row in case.rows]


def classes(rows: list[Row], columns: list[str]) -> list[list[Row]]:
    """Rows with equal values, a missing value being a value of its own."""
    found: dict[tuple[Value, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in columns), []).append(row)
    return list(found.values())
