"""Counting ten million rows against Polars' own group-by, and rolling up twenty thousand classes."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import polars as pl

from benchmarks.measure import Figure, best_seconds, in_new_process, run_command
from tokumei.data.made_survey import make_survey
from tokumei.engines.count import count_classes
from tokumei.hierarchies.builders.from_data import FromData

N_ROWS = 10_000_000
N_COLUMNS = 9

POLARS = """
import time
import polars as pl
columns = {columns!r}
started = time.perf_counter()
pl.scan_parquet({path!r}).group_by(columns).len().collect()
seconds = time.perf_counter() - started
"""

TOKUMEI = """
import time
from tokumei.engines.count import count_classes
started = time.perf_counter()
count_classes({path!r}, {columns!r})
seconds = time.perf_counter() - started
"""


def run() -> list[Figure]:
    survey = make_survey(30_000, seed=1)
    columns = survey.columns[:N_COLUMNS]
    table = survey.select(pl.col(columns).cast(pl.String))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.parquet")
        pl.concat([table.sample(N_ROWS // 10, with_replacement=True, seed=part) for part in range(10)]).write_parquet(
            path
        )
        polars, ours = [
            min(in_new_process(code.format(path=path, columns=columns)) for _ in range(3)) for code in (POLARS, TOKUMEI)
        ]
    counts = count_classes(table, columns)
    maps = counts.maps(FromData().build(column, counts.domain(column)).recoding(1) for column in columns)
    roll_up = best_seconds(lambda: counts.roll_up(maps), repeat=50)
    help_seconds = best_seconds(lambda: run_command([sys.executable, "-m", "tokumei", "--help"]))
    return [
        Figure("10 M rows, nine columns: Polars' own group-by", polars[0], "s", note=f"{polars[1]:.2f} GB"),
        Figure("10 M rows, nine columns: tokumei count", ours[0], "s"),
        Figure("  ratio to Polars", ours[0] / polars[0], "×", 2),
        Figure("  most memory used", ours[1], "GB", 4),
        Figure(f"roll-up of {counts.n_classes:,} classes to a coarser node", roll_up * 1000, "ms", 3),
        Figure("tokumei --help, as a whole process", help_seconds, "s", 0.5),
    ]
