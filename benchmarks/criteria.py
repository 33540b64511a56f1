"""The attacks by likeness: how long they take on a large table, and what they find that equal labels miss.

100,000 people of fifteen columns, released with noise, by the three criteria. And 2,000 rows of Adult, noised,
exchanged and drawn anew: found by equal labels, by the distance that other tools take (numbers in standard deviations,
other values equal or not; each record one person's, so that all distances together are least), and by likeness.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import polars as pl
from scipy.optimize import linear_sum_assignment

import tokumei as tk
from benchmarks.adult import adult
from benchmarks.measure import Figure

N_ROWS, N_FEW = 100_000, 2_000
THREE = ("singling-out", "linkability", "inference")
CHANGES: dict[str, dict[str, Any]] = {"noise": {"columns": ["age"]}, "swap": {"columns": ["age"], "p": 5}, "pram": {}}


def people(n: int, rng: np.random.Generator) -> pl.DataFrame:
    """Fifteen columns: numbers that hang together, values in no order, and one to learn."""
    common = rng.normal(size=n)
    numbers = {f"n{index}": np.round(100 * (common * (index % 3) / 2 + rng.normal(size=n))) for index in range(8)}
    others = {f"c{index}": rng.integers(0, 4 + 4 * index, n).astype(str) for index in range(6)}
    return pl.DataFrame(numbers | others).with_columns(ill=pl.Series(rng.integers(0, 5, n).astype(str)))


def run() -> list[Figure]:
    rng = np.random.default_rng(1)
    frame, control = people(N_ROWS, rng), people(N_ROWS, rng)
    qi = [name for name in frame.columns if name != "ill"]
    noised = frame.with_columns(
        (pl.col(name) + pl.Series(rng.normal(0, 30, N_ROWS))).round() for name in qi if name[0] == "n"
    )
    table = tk.Table(frame, qi=qi, sensitive=["ill"])
    started = time.perf_counter()
    found = tk.attack(table, noised, list(THREE), in_order=True, control=control).scores
    figures = [Figure("the three criteria on 100,000 rows of 15 columns", time.perf_counter() - started, "s", 30)]
    for attack, scores in found.items():
        one = scores["success"]
        figures.append(
            Figure(f"  {attack}: risk", one.risk or 0.0, "", note=f"{one.value:.3f} found, {one.control:.3f} of others")
        )
    return [*figures, *changed()]


def changed() -> list[Figure]:
    """Compare what is found of Adult once its values were changed at random."""
    frame = adult()
    if frame is None:
        return []
    frame = frame.sample(N_FEW, seed=1)
    table = tk.Table(frame, qi=frame.columns)
    figures = []
    for method, options in CHANGES.items():
        release = tk.anonymize(table, method=method, seed=1, **options)
        exact = tk.attack(table, release, "record-linkage").scores["record-linkage"]["success"]
        found = tk.attack(table, release, "distance-linkage", people=0).scores["distance-linkage"]
        plain = by_plain_distance(frame, release)
        best = max(found["one-to-one"].value, found["success"].inputs["expected"])
        note = f"{exact.inputs['expected']:.3f} by equal labels, {plain:.3f} by plain distances"
        figures.append(Figure(f"rows of Adult found after {method}", best, "", note=note))
    return figures


def by_plain_distance(frame: pl.DataFrame, release: tk.TableRelease) -> float:
    """Return the share found by the assignment of least distance."""
    rows, released = release.rows, release.frame
    distance = np.zeros((frame.height, released.height))
    for name in frame.columns:
        one, other = frame[name].to_numpy(), released[name].to_numpy()
        if frame[name].dtype.is_numeric():
            distance += np.abs(one[:, None] - other[None, :].astype(float)) / one.std()
        else:
            distance += one[:, None] != other[None, :]
    people, records = linear_sum_assignment(distance)
    return float((np.asarray(rows)[records] == people).mean())
