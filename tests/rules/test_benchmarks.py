"""Benchmarks run to their ends on few rows; what they measure there is printed, and judged by nobody."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tokumei.data.files.formats import read_frame

ROOT = Path(__file__).resolve().parents[2]
ADULT = ROOT.parent / "shared" / "data" / "adult"


def _few_of_adult() -> pl.DataFrame:
    return read_frame(ADULT / "adult.csv.gz").head(2_000)


# What of a benchmark makes it long, and how little is enough here.
SMALL: dict[str, dict[str, Any]] = {
    "checks": {"SIZES": {1_000: 20}, "LIMITS": {1_000: 1.0}},
    "counting": {"N_ROWS": 10_000},
    "describing": {"SHAPES": ((30, 20, 1.0),)},
    "dossiers": {"write_patients": 3_000},
    "history_steps": {"N_ROWS": 3_000, "N_CUSTOMERS": 100, "FEW_ROWS": 2_000, "FEW_CUSTOMERS": 200},
    "jobs": {"write_arx_example": 1_000},
    "large_tables": {"write_hospital": 3_000, "write_employment": 3_000},
    "left_out": {"SHARES": (0.0, 0.05), "TABLES": {}, "adult": _few_of_adult},
    "local_recoding": {"N_FEW": 1_000, "N_MANY": 5_000, "adult": lambda: None},
    "predicting": {"N_ROWS": 10_000, "N_FEW": 400, "N_VALUES": 300},
    "public_ranges": {"SIZES": (5,), "N_DRAWN": 2_000, "K_DRAWN": 5, "N_SMALL": 100, "adult": _few_of_adult},
    "releases": {"SIZES": (400,), "FOLDER": Path("none")},
    "refining": {"N_DRAWN": 2_000, "CASES": {"mondrian, k=50": (50, "grid"), "32 rounds, k=5": None}},
    "seasons": {"SIZES": {"pwscup2018": {"n_customers": "12"}, "pwscup2023": {"n_rows": "60"}}},
    "samples": {"N_DRAWN": 2, "FRACTIONS": (0.2,), "adult": _few_of_adult},
}
# These measure shares, which may be 0 or less, and only on Adult.
OF_ADULT = ("left_out", "public_ranges", "refining", "samples")


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_benchmark_measures_few_rows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name in OF_ADULT and not ADULT.is_dir():
        pytest.skip("Adult is not beside the checkout")
    benchmark = importlib.import_module(f"benchmarks.{name}")
    monkeypatch.setenv("TOKUMEI_JOBS", "arx")
    # Processes of a benchmark import it again.
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for constant, small in SMALL[name].items():
        value = partial(getattr(benchmark, constant), n_rows=small) if constant.startswith("write_") else small
        monkeypatch.setattr(benchmark, constant, value)
    figures = benchmark.run()
    assert figures
    # A command that failed is told beside its time.
    positive = [figure for figure in figures if figure.unit or name not in OF_ADULT]
    assert [str(figure) for figure in positive if not figure.value > 0 or "exit " in figure.note] == []


@pytest.mark.thorough
@pytest.mark.slow
def test_benchmark_of_scale_prints_its_whole_table() -> None:
    command = [sys.executable, "-m", "benchmarks", "scale", "--rows", "20000"]
    # Without Java, which is looked for on the path: sessions of Spark would take longer to start than all the rest,
    # and what they give is compared by other tests.
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=os.environ | environment)
    # 1 says that a goal was missed, which nobody has to reach on few rows.
    assert done.returncode in (0, 1), done.stderr
    expected = [
        "anonymize table, local",
        "anonymize table, duckdb",
        "local, ten times the rows take",
        "mondrian, local",
        "mondrian, duckdb",
        "20,000 purchases: DuckDB reads and writes them",
        "all, of a pass",
        "linkage, 2,000 rows of 20 customers, monthly",
        "households of a grocer",
        "one kind of item",
    ]
    expected += ["Adult, k=5, discernibility, 10% suppressed"] if ADULT.is_dir() else []
    assert [label for label in expected if label not in done.stdout] == [], done.stderr


def test_benchmarks_are_named_after_make_bench() -> None:
    def said(*words: str) -> str:
        done = subprocess.run(["make", "--dry-run", *words], cwd=ROOT, capture_output=True, text=True, check=True)
        return str(re.findall(r"-m benchmarks *(.*?) *$", done.stdout, re.MULTILINE)[0])

    assert said("bench") == ""
    assert said("bench", "scale", "ROWS=1000") == "scale --rows 1000"
    assert said("bench", "counting", "tables") == "counting tables"


@pytest.mark.parametrize(
    ("words", "expected"),
    [(["scales"], "unknown benchmark scales"), (["scale", "--rows"], "--rows: expected one argument")],
)
def test_benchmark_that_cannot_be_run_says_so(words: list[str], expected: str) -> None:
    done = subprocess.run([sys.executable, "-m", "benchmarks", *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0
    assert expected in done.stderr
