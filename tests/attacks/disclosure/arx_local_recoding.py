"""ARX's local recoding as it can be told in forty lines: rounds of one node each, for the rows that are left over."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

import tokumei as tk
from tokumei.core.seeds import generator
from tokumei.hierarchies.hierarchy import Hierarchy

Node = tuple[int, ...]
Row = tuple[str | None, ...]


@dataclass(frozen=True)
class Recoded:
    """The original and what became of it, row by row, and the nodes of the rounds."""

    original: pl.DataFrame
    release: pl.DataFrame
    hierarchies: Mapping[str, Hierarchy]
    k: int
    nodes: Sequence[Node]

    def attacked(self, **options: Any) -> Any:
        columns = self.original.columns
        table = tk.Table(self.original, qi=columns)
        given: dict[str, Any] = {"hierarchies": dict(self.hierarchies), "in_order": True, "rounds": "any"}
        return tk.attack(table, self.release, "refine", **(given | options))


def label(tree: Hierarchy | None, value: str | None, level: int) -> str | None:
    """Write a value at a level; a column without a hierarchy has its values and `*`."""
    if tree is None:
        return value if level == 0 else "*"
    if value is None:
        return tree.label_of_missing(level)
    return tree.labels_at(level)[tree.leaves.index(value)]


def recode(original: pl.DataFrame, trees: Mapping[str, Hierarchy], k: int, seed: int, *, is_finest: bool) -> Recoded:
    """Release in rounds: of a node what has k rows or more, the rest by a later one; at last rows are suppressed.

    A round takes a node that holds some class: any at random or, if levels are finest, one below which none does.
    """
    draw = generator(seed, "rounds")
    columns = original.columns
    heights = [trees[name].height if name in trees else 1 for name in columns]
    rows: list[Row] = [tuple(row) for row in original.select(pl.all().cast(pl.String)).rows()]
    lattice = list(itertools.product(*(range(height + 1) for height in heights)))

    def written_at(node: Node, row: Row) -> Row:
        return tuple(label(trees.get(name), value, at) for name, value, at in zip(columns, row, node, strict=True))

    written = {node: [written_at(node, row) for row in rows] for node in lattice}
    out: list[Row] = [("*",) * len(columns)] * len(rows)
    left, nodes = list(range(len(rows))), []
    for _ in range(int(draw.integers(1, 6))):
        sizes = {node: Counter(written[node][row] for row in left) for node in lattice}
        holding = [node for node in lattice if max(sizes[node].values(), default=0) >= k]
        if is_finest:
            holding = [one for one in holding if not any(_is_finer(other, one) for other in holding)]
        # Mostly fine levels, as the least loss would have it.
        holding.sort(key=lambda node: (sum(node), draw.random()))
        if not holding:
            break
        node = holding[min(len(holding) - 1, int(draw.geometric(0.3)) - 1)]
        nodes.append(node)
        for row in left:
            if sizes[node][written[node][row]] >= k:
                out[row] = written[node][row]
        left = [row for row in left if sizes[node][written[node][row]] < k]
    release = pl.DataFrame([list(one) for one in zip(*out, strict=True)], schema=dict.fromkeys(columns, pl.String))
    return Recoded(original, release, trees, k, nodes)


def _is_finer(one: Node, other: Node) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def random_case(seed: int, *, is_finest: bool, most_leaves: int = 7) -> Recoded:
    """Make a table of few columns and up to 60 rows, its hierarchies and its release.

    Columns are categories in two scripts, numbers, dates and constants; values are tied, and some are missing.
    """
    draw = generator(seed, "case")
    n, n_columns = int(draw.integers(8, 61)), int(draw.integers(1, 4))
    original: dict[str, list[str | None]] = {}
    trees: dict[str, Hierarchy] = {}
    for at in range(n_columns):
        name, n_leaves = f"列{at}" if at % 2 else f"column{at}", int(draw.integers(1, most_leaves + 1))
        leaves = _leaves(draw, n_leaves)
        chance = draw.dirichlet(np.full(n_leaves, 0.8))
        values: list[str | None] = draw.choice(leaves, n, p=chance).tolist()
        if draw.random() < 0.25:
            values = [None if draw.random() < 0.1 else value for value in values]
        original[name] = values
        if draw.random() < 0.85:
            trees[name] = _tree(draw, name, leaves)
    frame = pl.DataFrame(original, schema=dict.fromkeys(original, pl.String))
    # A flat column without any value could not be read.
    trees |= {
        name: Hierarchy.of_levels(name, [["one"], ["*"]]) for name in frame.columns if frame[name].null_count() == n
    }
    return recode(frame, trees, 2 + seed % 4, seed, is_finest=is_finest)


def _leaves(draw: Any, n: int) -> list[str]:
    kind = int(draw.integers(4))
    if kind == 0:
        return [str(20 + at) for at in range(n)]
    if kind == 1:
        return [f"2024-01-{at + 1:02d}" for at in range(n)]
    if kind == 2:
        return list("東京都大阪府京")[:n] if n <= 3 else [f"{at}丁目" for at in range(n)]
    return [f"value {at}" for at in range(n)]


def _tree(draw: Any, name: str, leaves: Sequence[str]) -> Hierarchy:
    """Put leaves into groups, and these again; now and then a label stands at two levels, or no level says nothing."""
    columns: list[list[str]] = [list(leaves)]
    of = list(range(len(leaves)))
    for level in range(int(draw.integers(0, 3))):
        n_above = int(draw.integers(1, max(of) + 2))
        above = draw.integers(0, n_above, max(of) + 1).tolist()
        own = [above[code] for code in of]
        names = {code: f"[{20 + 10 * code}, {30 + 10 * code}[{'’' * level}" for code in set(own)}
        of = [sorted(set(own)).index(code) for code in own]
        alone = {code: columns[-1][own.index(code)] for code in set(own) if own.count(code) == 1}
        is_kept = draw.random() < 0.5
        columns.append([alone.get(code, names[code]) if is_kept else names[code] for code in own])
    if draw.random() < 0.85:
        columns.append(["*"] * len(leaves))
    return Hierarchy.of_levels(name, columns)
