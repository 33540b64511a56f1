"""Attacking, measuring and predicting large tables by commands, beside merely reading the same file as text."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import Figure, reading_seconds, run_command
from benchmarks.raw_files import write_employment, write_hospital

SURVEY = "年齢階級,性別,都道府県,学歴,職業"


def run() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_hospital(folder / "hospital.csv")
        write_employment(folder / "survey.csv")
        hospital = _figures(
            "2 million patients", folder / "hospital.csv", "birth,sex,zip,ward", "illness", {"attack": 10, "predict": 5}
        )
        return hospital + _figures("221,630 × 6 of a survey", folder / "survey.csv", SURVEY, "年収", {"measure": 10}, 5)


def _figures(
    name: str, file: Path, known: str, sensitive: str, limits: dict[str, float], n_above: int = 0
) -> list[Figure]:
    """Anonymize a table once, then time each command on it."""
    release, rows = str(file.with_suffix(".release.csv")), str(file.with_suffix(".rows"))
    above = ["--skip-rows", str(n_above)]
    asked = ["--qi", known, "--k", "5", "--suppress", "0.02", "--keep", sensitive]
    _tokumei(["anonymize", "table", str(file), *asked, "--out", release, "--rows", rows, *above])
    pair = ["--original", str(file), "--release", release, "--qi", known, "--sensitive", sensitive, "--rows", rows]
    commands = {
        "attack": ["attack", "table", *pair, *above],
        "measure": ["measure", "table", *pair, *above],
        "predict": ["predict", str(file), "--qi", known, "--k", "5", *above],
    }
    floor = reading_seconds(file, n_above=n_above)
    figures = []
    for command, limit in limits.items():
        started = time.perf_counter()
        of_processor = _tokumei(commands[command])
        note = f"{of_processor:.1f} s of CPU"
        figures.append(Figure(f"{command}, {name}", time.perf_counter() - started, "s", limit, note))
        figures.append(Figure(f"{command}, {name}, CPU against Polars reading it", of_processor / floor, "times"))
    return figures


def _tokumei(arguments: list[str]) -> float:
    return run_command([sys.executable, "-m", "tokumei", *arguments])
