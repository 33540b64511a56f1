"""Every measure of a released table equals its plain definition."""

from __future__ import annotations

import random
from dataclasses import dataclass

import polars as pl
import pytest
from tests.definitions import table_utility
from tests.definitions.cases import Case, Row, Tree, random_case
from tests.definitions.generalizing import label, says_nothing
from tests.definitions.table_utility import Numbers, Spread

from tokumei.data.table import Table
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.registry import TABLE_UTILITIES

AMOUNTS = ["u", "v"]


@dataclass(frozen=True)
class Pair:
    """An original and its release, with the rows they came from."""

    columns: list[str]
    before: list[Row]
    after: list[Row]
    ours: Numbers
    theirs: Numbers
    came_from: list[int]

    def table(self, rows: list[Row], numbers: Numbers) -> Table:
        texts = {name: pl.Series([row[name] for row in rows], dtype=pl.String) for name in self.columns}
        frame = pl.DataFrame(texts | {name: pl.Series(values, dtype=pl.Float64) for name, values in numbers.items()})
        return Table.with_quasi_identifiers(frame, self.columns, sensitive=AMOUNTS)

    def measured(self, name: str) -> float:
        original, released = self.table(self.before, self.ours), self.table(self.after, self.theirs)
        return TABLE_UTILITIES.make(name).measure(original, released, pl.Series(self.came_from)).value


def drawn(seed: int) -> Pair | None:
    """A release with codes exchanged, amounts moved or made all alike, and rows gone; None for a table of no rows."""
    case, draw = random_case(seed), random.Random(seed)
    if not case.rows:
        return None
    n = len(case.rows)
    came_from = draw.sample(range(n), draw.randint(1, n))
    after = [dict(case.rows[row]) for row in came_from]
    for row in after:
        for name, tree in case.trees.items():
            if draw.random() < 0.3:
                row[name] = draw.choice([*tree[0], None])
    ours = {name: [float(draw.choice([0, 1, 2, 50])) for _ in range(n)] for name in AMOUNTS}
    step = draw.choice([0.0, 0.25, 3.0])
    theirs = {name: [ours[name][row] + draw.choice([-step, step]) for row in came_from] for name in AMOUNTS}
    if draw.random() < 0.2:
        theirs["u"] = [1.0] * len(came_from)
    return Pair(case.quasi_identifiers, case.rows, after, ours, theirs, came_from)


def test_indices_of_2015(times: int) -> None:
    for seed in range(120 * times):
        pair = drawn(seed)
        if pair is None:
            continue
        columns, before, after, ours, theirs = pair.columns, pair.before, pair.after, pair.ours, pair.theirs
        rows = (before, after, pair.came_from, columns, ours, theirs)
        plain = {
            "mean-mae": table_utility.mean_mae(ours, theirs),
            "cross-mean": table_utility.cross_mean(before, after, columns, ours, theirs),
            "cross-count": table_utility.cross_count(before, after, columns),
            "correlation-mae": table_utility.correlation_mae(ours, theirs),
            "information-loss": table_utility.information_loss(*rows),
            "row-count": 1 - len(after) / len(before),
            "aya": table_utility.aya(*rows),
        }
        for name, value in plain.items():
            assert pair.measured(name) == pytest.approx(value, abs=1e-9), (seed, name)
        original, released = pair.table(before, ours), pair.table(after, theirs)
        score = TABLE_UTILITIES.make("information-loss").measure(original, released, pl.Series(pair.came_from))
        assert score.baseline == pytest.approx(table_utility.information_loss_by_chance(*rows), abs=1e-9)


# Numbers as leaves, so that a label has a mean.
NUMBERS: list[Tree] = [
    [["1", "2", "10"], ["1-2", "1-2", "10"], ["*"] * 3],
    [["5"], ["*"]],
    [["3", "4", "5", "20"], ["low", "low", "high", "high"], ["*"] * 4],
]


def drawn_labels(seed: int) -> tuple[Case, list[Row]]:
    """A table of numbers, each cell of its release at a level of its own; some rows gone."""
    draw = random.Random(seed)
    trees = {name: draw.choice(NUMBERS) for name in ["q", "r", "w"][: draw.choice([1, 2, 2, 3])]}
    missing = draw.choice([0.0, 0.0, 0.3])
    rows: list[Row] = [
        {name: None if draw.random() < missing else draw.choice(tree[0]) for name, tree in trees.items()}
        for _ in range(draw.choice([1, 2, 4, 9]))
    ]
    highest = draw.choice([0, 1, 2])
    after = [
        {name: label(tree, draw.randint(0, min(highest, len(tree) - 1)), row[name]) for name, tree in trees.items()}
        for row in rows
        if draw.random() > 0.15
    ]
    return Case(rows, trees), after


def spread(row: Row, trees: dict[str, Tree]) -> dict[str, Spread]:
    """Each cell as its leaves, each alike; who says * means some value, not a missing one."""
    out: dict[str, Spread] = {}
    for name, tree in trees.items():
        cell = row[name]
        of_label = {level: [leaf for leaf in tree[0] if label(tree, level, leaf) == cell] for level in range(len(tree))}
        leaves = max(of_label.values(), key=len) if cell is not None else []
        assert leaves or cell is None or any(says_nothing(tree, level) for level in range(len(tree)))
        out[name] = {leaf: 1 / len(leaves) for leaf in leaves} if leaves else {None: 1.0}
    return out


def test_measures_that_read_labels_as_leaves(times: int) -> None:
    for seed in range(120 * times):
        case, after = drawn_labels(seed)
        columns = case.quasi_identifiers
        # A column of nothing but missing values is none of numbers.
        if not after or any(all(row[name] is None for row in case.rows) for name in columns):
            continue
        ours, theirs = ([spread(row, case.trees) for row in rows] for rows in (case.rows, after))
        frames = [
            pl.DataFrame({name: pl.Series([row[name] for row in rows], dtype=pl.String) for name in columns})
            for rows in (case.rows, after)
        ]
        original, released = (Table.with_quasi_identifiers(frame, columns) for frame in frames)
        trees = {name: Hierarchy.of_levels(name, tree) for name, tree in case.trees.items()}
        plain = {"crosstab-error": table_utility.crosstab_error(ours, theirs, columns)}
        plain["statistics"] = table_utility.statistics(ours, theirs, columns)
        if len(columns) > 1:
            plain["correlation-error"] = table_utility.correlation_error(ours, theirs, columns)
        for name, value in plain.items():
            part = TABLE_UTILITIES.make(name, hierarchies=trees, numeric=tuple(columns))
            found = part.measure(original, released, pl.Series([0] * len(after))).value
            assert found == pytest.approx(value, abs=1e-9), (seed, name)
