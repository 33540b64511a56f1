"""The workbench on 100,000 rows of 15 columns: the first risk picture and twelve releases, each in its process."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.measure import Figure

N_ROWS, N_MORE = 100_000, 8
# Seconds on two cores that do nothing else.
LIMITS = {"look": 3.0, "frontier": 60.0}
CALL = """
import json, sys
from tokumei.platform.workbench import work
getattr(work, sys.argv[1])(json.loads(sys.argv[2]))
"""


def run() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_people(folder / "people.csv")
        (folder / "piece.json").write_text(json.dumps({"file": "people.csv", "sample": ""}))
        figures = []
        for what, limit in LIMITS.items():
            started = time.perf_counter()
            asked = json.dumps({"folder": name, "kind": "table"})
            subprocess.run([sys.executable, "-c", CALL, what, asked], check=True)
            label = {"look": "first risk picture", "frontier": "twelve releases"}[what]
            figures.append(Figure(f"{label}, {N_ROWS:,} rows", time.perf_counter() - started, "s", limit))
        return figures


def write_people(path: Path) -> None:
    """Write made-up people: a name, six columns that others may know, an illness and more."""
    rng = np.random.default_rng(1)
    day = rng.integers(0, 10**6, N_ROWS)
    columns = {
        "name": [f"person{row}" for row in range(N_ROWS)],
        "age": rng.integers(0, 95, N_ROWS),
        "sex": rng.choice(["f", "m"], N_ROWS),
        "zip": rng.integers(10_000, 10_999, N_ROWS),
        "city": rng.choice(["Tokyo", "Osaka", "Kyoto", "Nara"], N_ROWS),
        "illness": rng.choice(["flu", "cold", "cancer", "none"], N_ROWS),
        "birth_date": [f"{1930 + one % 80}-{1 + one % 12:02d}-{1 + one % 28:02d}" for one in day],
    }
    columns |= {f"x{number}": rng.integers(0, 20 + 50 * number, N_ROWS) for number in range(N_MORE)}
    pl.DataFrame(columns).write_csv(path)
