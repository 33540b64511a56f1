"""From a raw file of a million rows to its dossier by commands, beside merely reading the same file as text."""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path

import polars as pl

from benchmarks.measure import Figure, best_seconds, run_command
from benchmarks.raw_files import write_patients

# Seconds on two cores that do nothing else.
LIMITS = {"inspect": 10.0, "job new": None, "run": 60.0}


def run() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        file, job = str(Path(name) / "patients.csv"), str(Path(name) / "job.toml")
        write_patients(Path(file))
        commands = {
            "inspect": ["inspect", file],
            "job new": ["job", "new", file, "--out", job],
            # As it is written: an audit, a search over six columns, two attacks, every measure, the report.
            "run": ["run", job, "--out", str(Path(name) / "dossier")],
        }
        floor = best_seconds(lambda: pl.read_csv(file, infer_schema=False), repeat=3)
        figures = []
        for command, arguments in commands.items():
            work = partial(run_command, [sys.executable, "-m", "tokumei", *arguments])
            seconds = best_seconds(work, repeat=1)
            figures.append(Figure(f"{command}, 1 million patients", seconds, "s", LIMITS[command]))
            figures.append(Figure(f"{command}, against reading the file", seconds / floor, "times"))
        return figures
