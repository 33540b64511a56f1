"""What one who can solve anything learns from the counts that margins publish."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.engines.class_counts import ClassCounts
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.predictors.margins import Margins
from tokumei.predictors.predictor import Knowledge

Ints = npt.NDArray[np.int64]

LATTICE = Lattice.of(
    [Hierarchy.of_levels("a", [["x", "y", "z"], ["p", "p", "q"], ["*"] * 3])]
    + [Hierarchy.of_levels(name, [["0", "1"], ["*", "*"]]) for name in "bc"]
)
CELLS = [(a, b, c) for a in "xyz" for b in "01" for c in "01"]
N_ROWS = 8

# A few cells with several rows each, so that tables depend and their counts may be published.
rows_of_cells = st.lists(st.tuples(st.integers(0, 11), st.integers(1, 4)), min_size=1, max_size=5).map(
    lambda drawn: [cell for cell, n_rows in drawn for _ in range(n_rows)] + [drawn[0][0]] * N_ROWS
)


@cache
def all_tables() -> Ints:
    """All ways to put eight rows into twelve classes: eleven bars between as many stars."""
    bars = np.array(list(combinations(range(N_ROWS + 11), 11)))
    ends = np.hstack([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), N_ROWS + 11)])
    return np.diff(ends, axis=1) - 1


def possible_tables(knowledge: Knowledge) -> Ints:
    """All tables that have the published counts; a leaf of no group has no row."""
    tables = all_tables()
    is_possible = np.ones(len(tables), bool)
    group_of: dict[str, list[int]] = {}
    for index, (name, groups) in enumerate(knowledge["attributes"].items()):
        members = [leaves for leaves, _ in groups]
        group_of[name] = [next((g for g, leaves in enumerate(members) if cell[index] in leaves), -1) for cell in CELLS]
        for group, n_rows in [*enumerate(n_rows for _, n_rows in groups), (-1, 0)]:
            is_possible &= tables[:, np.array(group_of[name]) == group].sum(axis=1) == n_rows
    for table in knowledge["tables"]:
        # A cell without a group has no row, so that any part will do for it.
        rows, columns = (
            np.array(parts)[group_of[name]] for name, parts in zip(table["attributes"], table["parts"], strict=True)
        )
        for (row, column), n_rows in np.ndenumerate(np.array(table["rows"])):
            is_possible &= tables[:, (rows == row) & (columns == column)].sum(axis=1) == n_rows
    return tables[is_possible]


def classes_of(node: Node) -> list[npt.NDArray[np.bool_]]:
    """Which cells are in each class of a node."""
    label_of = [
        dict(zip(h.leaves, h.labels_at(level), strict=True)) for h, level in zip(LATTICE.hierarchies, node, strict=True)
    ]
    labels = [tuple(names[leaf] for names, leaf in zip(label_of, cell, strict=True)) for cell in CELLS]
    return [np.array([each == label for each in labels]) for label in sorted(set(labels))]


def fit(rows: list[int], k_p: int) -> Knowledge:
    columns = {name: [CELLS[row][index] for row in rows] for index, name in enumerate(LATTICE.attributes)}
    counts = ClassCounts.of_groups(LATTICE.attributes, pl.DataFrame(columns | {"n": [1] * len(rows)}))
    return Margins(k_p=k_p).fit(LATTICE, counts).knowledge


@pytest.mark.slow
@settings(max_examples=cases(60))
@given(rows_of_cells, st.integers(2, 3))
def test_no_class_is_shown_to_be_small_by_what_is_published(drawn: list[int], k_p: int) -> None:
    rows = drawn[:N_ROWS]
    knowledge = fit(rows, k_p)
    published = [n_rows for groups in knowledge["attributes"].values() for _, n_rows in groups]
    published += [n_rows for table in knowledge["tables"] for counts in table["rows"] for n_rows in counts if n_rows]
    assert min(published) >= k_p
    tables = possible_tables(knowledge)
    assert (tables == np.bincount(rows, minlength=12)).all(axis=1).any()
    # Every class that may have rows may have k_p of them, whatever is added up and subtracted.
    for node in LATTICE:
        for inside in classes_of(node):
            largest = tables[:, inside].sum(axis=1).max()
            assert largest == 0 or largest >= k_p


def test_two_tables_of_three_attributes_are_published_where_they_depend() -> None:
    # x goes with 0 and 0, z with 1 and 1: two tables say so, and with a third they would not be decomposable. x and y
    # are one group, of which either may have all.
    knowledge = fit([0] * 4 + [11] * 4, 2)
    assert [table["attributes"] for table in knowledge["tables"]] == [["a", "b"], ["a", "c"]]
    assert len(possible_tables(knowledge)) == 5
