"""The best generalization of Adult, of a million and of ten million rows; audits against pycanon."""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.adult import COLUMNS, FOLDER, HIERARCHIES, adult, write_resampled
from benchmarks.measure import Figure, best_seconds, in_new_process, run_command
from tokumei.engines.count import count_classes
from tokumei.hierarchies.files import read_hierarchies
from tokumei.measures.audit import audit
from tokumei.measures.losses import LOSSES
from tokumei.measures.safety.class_sizes import KAnonymity
from tokumei.methods.recipes import Goal
from tokumei.methods.tables import decide

# Seconds in this process with the counts in memory, as (loss, suppression, limit, those of ARX where they are known).
# The latter were measured warm, on two cores of another machine.
SEARCHES = [
    ("prec", 0.0, 0.1, 0.085),
    ("ncp", 0.0, 0.1, None),
    ("discernibility", 0.0, 0.1, 0.054),
    ("prec", 0.02, 0.6, 1.08),
    ("ncp", 0.02, 0.6, 0.99),
    ("discernibility", 0.02, 1.0, None),
    ("prec", 0.1, 0.6, None),
    ("ncp", 0.1, 0.6, 1.3),
    ("discernibility", 0.1, 1.0, 2.02),
]

FROM_PARQUET = """
import time
from tokumei.methods.recipes import Goal
from tokumei.methods.tables import decide
from tokumei.engines.count import count_classes
from tokumei.hierarchies.files import read_hierarchies
from tokumei.measures.losses import LOSSES
from tokumei.measures.safety.class_sizes import KAnonymity
started = time.perf_counter()
hierarchies = read_hierarchies({hierarchies!r}, {columns!r})
counts = count_classes({path!r}, {columns!r})
decide(counts, hierarchies, Goal([KAnonymity(5)], loss=LOSSES.make({loss!r}), suppression={suppression!r}))
seconds = time.perf_counter() - started
"""

PYCANON = """
import time
import pandas as pd
from pycanon import anonymity
table = pd.read_parquet({path!r})
started = time.perf_counter()
anonymity.{measure}(table, {columns!r}{sensitive})
seconds = time.perf_counter() - started
"""


def run() -> list[Figure]:
    table = adult()
    if table is None:
        return []
    figures = searches(table)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures += _whole_process(folder)
        figures += _from_parquet(table, folder)
        figures += _audits(table, folder)
    return figures


def searches(table: pl.DataFrame | None) -> list[Figure]:
    """Search Adult for the best levels by each loss, if the table is there."""
    if table is None:
        return []
    hierarchies = read_hierarchies(HIERARCHIES, COLUMNS)
    counts = count_classes(table, COLUMNS)
    figures = []
    for loss, suppression, limit, of_arx in SEARCHES:
        goal = Goal([KAnonymity(5)], loss=LOSSES.make(loss), suppression=suppression)
        seconds = best_seconds(partial(decide, counts, hierarchies, goal), repeat=3)
        note = "" if of_arx is None else f"ARX {of_arx:g} s elsewhere, {of_arx / seconds:.1f} ×"
        figures.append(Figure(f"Adult, k=5, {loss}, {suppression:.0%} suppressed: search", seconds, "s", limit, note))
    return figures


def _whole_process(folder: Path) -> list[Figure]:
    figures = []
    for suppression, limit in ((0.0, 1.0), (0.02, 1.7)):
        command = [sys.executable, "-m", "tokumei", "anonymize", "table", str(FOLDER / "adult.csv.gz")]
        command += ["--qi", ",".join(COLUMNS), "--hierarchies", str(HIERARCHIES), "--k", "5", "--json"]
        command += ["--suppress", str(suppression), "--out", str(folder / "release.csv"), "--force"]
        seconds = best_seconds(partial(run_command, command))
        figures.append(Figure(f"tokumei anonymize table, {suppression:.0%}: whole process", seconds, "s", limit))
    return figures


def _from_parquet(table: object, folder: Path) -> list[Figure]:
    figures = []
    asked = [
        (1_000_000, [("prec", 0.0, 1.5), ("ncp", 0.02, 1.5), ("discernibility", 0.02, 5.0)]),
        (10_000_000, [("prec", 0.0, 6.0), ("ncp", 0.02, 6.0)]),
    ]
    for n_rows, searches in asked:
        path = folder / f"{n_rows}.parquet"
        write_resampled(table, n_rows, path)  # type: ignore[arg-type]
        for loss, suppression, limit in searches:
            code = FROM_PARQUET.format(
                path=str(path), columns=COLUMNS, hierarchies=str(HIERARCHIES), loss=loss, suppression=suppression
            )
            seconds, memory = min(in_new_process(code) for _ in range(2))
            label = f"{n_rows:,} rows from Parquet, {loss}, {suppression:.0%}"
            figures.append(Figure(label, seconds, "s", limit))
            if n_rows > 1_000_000:
                figures.append(Figure("  most memory used", memory, "GB", 3))
    return figures


def _audit(source: Any) -> object:
    return audit(count_classes(source, COLUMNS[:-1], sensitive=["salary-class"]))


def _audits(table: object, folder: Path) -> list[Figure]:
    figures = []
    write_resampled(table, 1_000_000, folder / "million.parquet")  # type: ignore[arg-type]
    sources: list[tuple[str, Any, float]] = [("Adult", table, 0.1), ("1 M rows", folder / "million.parquet", 1.0)]
    for label, source, limit in sources:
        work = partial(_audit, source)
        figures.append(Figure(f"audit with every measure, {label}", best_seconds(work, repeat=3), "s", limit))
    ours = figures[-1].value
    for measure, sensitive in (("k_anonymity", ""), ("t_closeness", ", ['salary-class']")):
        code = PYCANON.format(
            path=str(folder / "million.parquet"), columns=COLUMNS[:-1], measure=measure, sensitive=sensitive
        )
        seconds, _ = in_new_process(code)
        figures.append(Figure(f"  pycanon's {measure} alone", seconds, "s", note=f"{seconds / ours:.1f} × our audit"))
    return figures
