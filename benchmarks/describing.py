"""Describing wide files: thousands of columns of numbers in text, as sensors and surveys have them."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.measure import Figure, in_new_process

# Columns, rows, and the most seconds of the processor that describing them may take.
SHAPES = ((3_000, 200, 1.0), (50_000, 20, 5.0))
WORK = """
import time
from tokumei.data.describe import describe_frame
from tokumei.data.files.formats import scan_frame
started = time.process_time()
described = describe_frame(scan_frame({path!r}))
seconds = time.process_time() - started
assert len(described["columns"]) == {n_columns}
assert described["columns"][1]["type"] == "Int64, as text"
"""


def run() -> list[Figure]:
    """Describe each file in a process of its own, by the time of the processor, which other work does not change."""
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for n_columns, n_rows, limit in SHAPES:
            path = Path(folder, f"{n_columns}.csv")
            rows = (",".join(str(row * column % 97) for column in range(n_columns)) for row in range(n_rows))
            path.write_text("\n".join([",".join(f"c{column}" for column in range(n_columns)), *rows]) + "\n")
            seconds, memory = in_new_process(WORK.format(path=str(path), n_columns=n_columns))
            note = f"{memory:.2g} GB"
            figures.append(Figure(f"describe {n_columns:,} columns, {n_rows} rows", seconds, "s of CPU", limit, note))
    return figures
