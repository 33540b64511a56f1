"""Predicting the k of every node of two million rows that nearly all differ, beside the k that counting gives.

And `predict` and `compare` of a table one of whose columns has 17,503 values, of which nearly all are of one row.
"""

from __future__ import annotations

import time

import numpy as np
import polars as pl

import tokumei as tk
from benchmarks.measure import Figure
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice
from tokumei.predictors.compare import compare, predictors_for

N_ROWS = 2_000_000
N_FEW, N_VALUES = 20_000, 17_503
# Values of each column, how many of them are one label at each level below the top, and how uneven they are.
COLUMNS = {
    "sex": (2, (), 1),
    "age": (100, (5, 20), 1),
    "town": (2_000, (10, 100, 1_000), 3),
    "job": (40, (5,), 2),
    "education": (16, (4,), 2),
    "origin": (5, (), 4),
}


def run() -> list[Figure]:
    rng = np.random.default_rng(1)
    columns, hierarchies = [], []
    for name, (n_values, steps, power) in COLUMNS.items():
        shares = rng.random(n_values) ** power + 1e-4
        values = [f"{value:04}" for value in range(n_values)]
        drawn = rng.choice(n_values, N_ROWS, p=shares / shares.sum())
        columns.append(pl.Series(name, values).gather(drawn))
        levels = [[f"{step}.{value // step}" for value in range(n_values)] for step in steps]
        hierarchies.append(Hierarchy.of_levels(name, [values, *levels, ["*"] * n_values]))
    lattice = Lattice.of(hierarchies)
    counts = count_classes(pl.DataFrame(columns), list(lattice.attributes))
    started = time.perf_counter()
    compared = compare(lattice, counts, predictors_for(10))
    seconds = time.perf_counter() - started
    note = f"{counts.n_classes:,} classes, {len(compared.nodes)} nodes, two predictors"
    return [Figure("predict and count all nodes of 2 million rows", seconds, "s", 5, note), *many_values()]


def many_values() -> list[Figure]:
    """Time `predict` and `compare` where one column has very many values that depend on the others."""
    rng = np.random.default_rng(1)
    sex, town = rng.integers(0, 2, N_FEW), rng.integers(0, 6, N_FEW)
    income = np.concatenate([np.arange(N_VALUES), rng.integers(0, N_VALUES, N_FEW - N_VALUES)])
    # Women and some towns have the higher incomes, so that the columns hang together.
    order = np.lexsort([sex * 2 + town + 6 * rng.random(N_FEW)])
    people = {"sex": sex[order], "town": town[order], "income": np.sort(income), "age": rng.integers(18, 78, N_FEW)}
    people |= {"visits": rng.poisson(3, N_FEW), "school": rng.integers(0, 25, N_FEW)}
    table = tk.Table(people, qi=list(people))
    figures = []
    for name, job, most in (("predict", tk.predict, 15), ("compare", tk.compare, 30)):
        started = time.perf_counter()
        done = job(table, k=5)
        rows, values = f"{N_FEW:,} rows", f"{N_VALUES:,} values"
        skipped = ", ".join(done.to_dict()["skipped"]) if name == "predict" else ""
        seconds = time.perf_counter() - started
        figures.append(
            Figure(f"{name} {rows} with a column of {values}", seconds, "s", most, f"skipped: {skipped or 0}")
        )
    return figures
