"""How long `refine` takes on Adult and on 100,000 rows drawn from it, how much memory, and what it proves."""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

import tokumei as tk
from benchmarks.adult import COLUMNS, HIERARCHIES, adult
from benchmarks.measure import Figure, in_new_process
from tokumei.hierarchies.hierarchy import SUPPRESSED, Hierarchy
from tokumei.tasks.preparing import given_hierarchies

Ints = npt.NDArray[np.int64]

N_DRAWN = 100_000
N_ROUNDS, LEAST_SHARE, K_OF_ROUNDS = 32, 0.05, 5
ROUNDED = ["sex", "age", "race", "education", "workclass"]
# Seconds and gigabytes on two cores; programs are solved for at most 60 seconds, the rest is counting.
MOST_SECONDS, MOST_MEMORY = 120.0, 1.0
CASES: dict[str, tuple[int, Literal["grid", "tight"]] | None] = {
    "mondrian, k=5": (5, "grid"),
    "mondrian, k=50": (50, "grid"),
    "mondrian, k=5, tight": (5, "tight"),
    f"{N_ROUNDS} rounds, k={K_OF_ROUNDS}": None,
}


def run() -> list[Figure]:
    if adult() is None:
        return []
    return [figure for n_rows in (None, N_DRAWN) for name in CASES for figure in _measured(name, n_rows)]


def _measured(name: str, n_rows: int | None) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.json"
        code = f"from benchmarks.refining import attack\nseconds = attack({name!r}, {n_rows!r}, {str(found)!r})"
        seconds, memory = in_new_process(code)
        scores, programs = json.loads(found.read_text())
    note = ", ".join(f"{key} {score['value']:.3f}" for key, score in scores.items())
    left = {key: n for key, n in programs.items() if key != "inexact"}
    title = f"Adult{f' drawn to {n_rows:,} rows' if n_rows else ''}, {name}"
    return [
        Figure(f"{title}: refine", seconds, "s", MOST_SECONDS, f"{note}; programs {left}"),
        Figure("  and the whole process", memory, "GB", MOST_MEMORY),
    ]


def attack(name: str, n_rows: int | None, out: str) -> float:
    """Make a release and attack it, write what was found, and return the seconds that the attack took."""
    frame = adult()
    assert frame is not None
    if n_rows is not None:
        frame = frame.sample(n_rows, with_replacement=True, seed=1)
    case = CASES[name]
    if case is None:
        frame = frame.select(pl.col(ROUNDED).cast(pl.String))
        table = tk.Table(frame, qi=ROUNDED, hierarchies=HIERARCHIES)
        release = _recoded_in_rounds(frame, given_hierarchies(HIERARCHIES, ROUNDED))
        found = tk.attack(table, release, "refine", rounds="any", k=K_OF_ROUNDS, in_order=True)
    else:
        table = tk.Table(frame, qi=COLUMNS, hierarchies=HIERARCHIES, numeric=["age"])
        k, ranges = case
        made = tk.anonymize(table, k=k, method="mondrian", seed=1, ranges=ranges)
        found = tk.attack(table, made, "refine")
    scores = {key: one.as_dict() for key, one in found.scores["refine"].items()}
    deduced: Any = found.tried[0].deduced
    Path(out).write_text(json.dumps([scores, deduced.facts["programs"]]))
    return float(found.facts["seconds"])


def _recoded_in_rounds(frame: pl.DataFrame, trees: dict[str, Hierarchy]) -> pl.DataFrame:
    """Recode locally as ARX does: each round takes the finest levels that release enough of the rows left over."""
    codes = [
        [level.codes[_leaves(frame[name], trees[name])].astype(np.int64) for level in trees[name].levels]
        for name in frame.columns
    ]
    nodes = sorted(itertools.product(*(range(len(one)) for one in codes)), key=lambda node: (sum(node), node))
    labels = {name: np.full(frame.height, SUPPRESSED, object) for name in frame.columns}
    left = np.arange(frame.height)
    for _ in range(N_ROUNDS):
        rounds = ((node, _in_large_classes(codes, node, left)) for node in nodes)
        node, found = next(one for one in rounds if len(one[1]) >= LEAST_SHARE * len(left))
        for name, level, own in zip(frame.columns, node, codes, strict=True):
            told = np.array(trees[name].levels[level].labels, object)
            labels[name][found] = told[own[level][found]]
        left = np.setdiff1d(left, found)
        if len(left) < K_OF_ROUNDS:
            break
    return pl.DataFrame({name: pl.Series(one.tolist(), dtype=pl.String) for name, one in labels.items()})


def _leaves(values: pl.Series, tree: Hierarchy) -> Ints:
    at = {leaf: index for index, leaf in enumerate(tree.leaves)}
    return np.array([at[value] for value in values.to_list()])


def _in_large_classes(codes: Sequence[Sequence[Ints]], node: Sequence[int], rows: Ints) -> Ints:
    """Return those of the rows whose class at a node has k of them."""
    own = [one[level][rows] for one, level in zip(codes, node, strict=True)]
    class_of = np.ravel_multi_index(own, [int(one[level].max()) + 1 for one, level in zip(codes, node, strict=True)])
    large: Ints = rows[np.bincount(class_of)[class_of] >= K_OF_ROUNDS]
    return large
