"""Describing wide files: thousands of columns of numbers in text, as sensors and surveys have them."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.measure import Figure, reading_seconds, run_command

# Columns, rows, and the most seconds of the processor that the command may take, from start to end.
SHAPES = ((3_000, 200, 1.0), (50_000, 20, 5.0))


def run() -> list[Figure]:
    """Describe each file by the command, in processor time, which other work hardly changes, beside Polars' reading."""
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for n_columns, n_rows, limit in SHAPES:
            path = Path(folder, f"{n_columns}.csv")
            rows = (",".join(str(row * column % 97) for column in range(n_columns)) for row in range(n_rows))
            path.write_text("\n".join([",".join(f"c{column}" for column in range(n_columns)), *rows]) + "\n")
            name = f"describe {n_columns:,} columns, {n_rows} rows"
            command = [sys.executable, "-m", "tokumei", "data", "describe", str(path)]
            seconds = min(run_command(command) for _ in range(3))
            floor = reading_seconds(path)
            figures.append(Figure(name, seconds, "s of CPU", limit))
            figures.append(Figure(f"{name}, against Polars reading it", seconds / floor, "times"))
    return figures
