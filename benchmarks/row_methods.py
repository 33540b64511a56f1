"""Methods that change rows, in memory and on DuckDB: the same release of the same file, in a process of its own each.

`python -m benchmarks row_methods --rows 1000000` sets the size; methods whose time goes into groups take a twentieth of
the rows.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.measure import Figure, in_new_process
from tokumei.data.made_survey import make_survey

N_ROWS = int(os.environ.get("BENCHMARK_ROWS", "1000000"))
FEWER, GROUPING = 20, ("microaggregate", "mondrian")
COLUMNS, NUMERIC = ("sex", "age_band", "region", "income", "spending"), ("income", "spending")
METHODS = {
    "sample": "share=0.3",
    "pram": "retain=0.5",
    "noise": "scale=0.5",
    "block-swap": "p=1.0",
    "microaggregate": "k=5",
    "mondrian": "",
}
TIMED = """
import time
from pathlib import Path
from tokumei.methods.registry import TABLE_ANONYMIZERS
from tokumei.tasks.request import ReleaseRequest
from tokumei.tasks.write_table import anonymize_to_files
method = TABLE_ANONYMIZERS.make({method!r}, {options})
request = ReleaseRequest(method=method, numeric={numeric!r}, k={k}, seed=1)
started = time.process_time()
anonymize_to_files({path!r}, {columns!r}, dict(out=Path({out!r})), request, engine={engine!r})
seconds = time.process_time() - started
"""


def run() -> list[Figure]:
    figures = []
    with tempfile.TemporaryDirectory() as name:
        survey = make_survey(30_000, seed=1).select(COLUMNS)
        for method, options in METHODS.items():
            n_rows = N_ROWS // FEWER if method in GROUPING else N_ROWS
            path, out = Path(name) / "people.parquet", Path(name) / "out.parquet"
            drawn = survey.sample(n_rows, with_replacement=True, seed=0)
            # Numbers of which most stand once, as money does.
            cents = pl.int_range(pl.len()).shuffle(0) % 1000
            drawn.with_columns((pl.col(NUMERIC) * 1000 + cents) / 1000).write_parquet(path)
            for engine in ("local", "duckdb"):
                told: dict[str, Any] = {"path": str(path), "out": str(out), "engine": engine}
                told |= {"columns": COLUMNS, "numeric": NUMERIC, "k": 5 if method == "mondrian" else None}
                code = TIMED.format(method=method, options=options, **told)
                seconds, memory = min(in_new_process(code) for _ in range(2))
                label = f"{n_rows:,} × {len(COLUMNS)}: {method}, {'in memory' if engine == 'local' else engine}"
                figures.append(Figure(label, seconds, "s", note=f"{memory:.2f} GB"))
    return figures
