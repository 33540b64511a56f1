"""Each step of a history, and steps one after the other, in memory and on DuckDB, in seconds of processors."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.measure import Figure, in_new_process
from tokumei.data.made_retail import write_retail

N_ROWS, N_CUSTOMERS = 1_000_000, 10_000
DELETE = {"method": "delete", "random": 0.1}
# Item sets of many customers take far longer than rows: of dummies a few customers tell what rows take.
FEW_ROWS, FEW_CUSTOMERS = 60_000, 600
DUMMIES = {"method": "dummies", "clusters": 60}
PERTURB, NAMES = {"method": "perturb"}, {"method": "pseudonyms", "lifetime": 2}
PIPELINES: dict[str, list[dict[str, Any]]] = {
    "pseudonyms": [NAMES],
    "delete": [DELETE],
    "delete, telling": [{**DELETE, "telling": 0.1}],
    "perturb": [PERTURB],
    "perturb, each row alone, no times": [{**PERTURB, "whole_baskets": False, "hides_times": True}],
    "delete, perturb, pseudonyms": [DELETE, PERTURB, NAMES],
    "perturb, delete, pseudonyms": [PERTURB, DELETE, NAMES],
    "dummies": [DUMMIES],
    "dummies, delete, perturb": [{**DUMMIES, "smallest": 1}, DELETE, PERTURB],
}
# The history is read before, and what is imported counts on DuckDB alone, as for whoever types a command.
IN_MEMORY = """
import time
import tokumei as tk
history = tk.History({file!r})
tk.anonymize(tk.History(history.frame.head(100)), pipeline={{"step": [{{"method": "delete"}}]}}, seed=1)
times = []
for _ in range(3):
    started = time.process_time()
    tk.anonymize(tk.History(history.frame), pipeline={pipeline!r}, seed=1)
    times.append(time.process_time() - started)
seconds = min(times)
"""
ON_DUCKDB = """
import time
started = time.process_time()
from pathlib import Path
from tokumei.methods.pipeline import pipeline_of
from tokumei.data.files.reading import AS_IT_IS
from tokumei.tasks.anonymize_history import write_history_on_engine
out = Path({file!r}).with_name("A.parquet")
write_history_on_engine({file!r}, pipeline_of({pipeline!r}), {{"out": out}}, out=out, engine="duckdb",
    reading=AS_IT_IS, seed=1)
seconds = time.process_time() - started
"""


def run() -> list[Figure]:
    figures = []
    with tempfile.TemporaryDirectory() as name:
        many, few = Path(name) / "many.parquet", Path(name) / "few.parquet"
        write_retail(many, N_CUSTOMERS, n_rows=N_ROWS, seed=1)
        write_retail(few, FEW_CUSTOMERS, n_rows=FEW_ROWS, seed=1)
        for title, steps in PIPELINES.items():
            file, n_rows = (few, FEW_ROWS) if title.startswith("dummies") else (many, N_ROWS)
            pipeline = json.loads(json.dumps({"step": steps}))
            for where, work in (("in memory", IN_MEMORY), ("on DuckDB", ON_DUCKDB)):
                seconds, memory = in_new_process(work.format(file=str(file), pipeline=pipeline))
                figures.append(Figure(f"{n_rows:,} rows: {title}, {where}", seconds, "s", note=f"{memory:.2f} GB"))
    return figures
