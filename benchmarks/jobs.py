"""Whole jobs from raw files by commands alone: how long each command takes, and how much memory.

Each command is a process of its own, as a user would start it. `python -m benchmarks jobs` runs all;
TOKUMEI_JOBS=grocery,cdnow runs some.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.measure import Figure
from benchmarks.raw_files import write_arx_example, write_cdnow, write_employment, write_grocery, write_hospital

# Nothing that anybody waits for may take longer, or need more memory than a laptop has to spare.
MOST_SECONDS, MOST_GIGABYTES = 120, 4
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
Step = tuple[str, list[str]]


def run() -> list[Figure]:
    jobs: dict[str, Callable[[Path], Iterator[Step]]] = {
        "employment": _employment,
        "arx": _arx,
        "cdnow": _cdnow,
        "grocery": _grocery,
        "hospital": _hospital,
    }
    if SHARED.exists():
        jobs |= {"adult": _adult, "online retail": _online_retail}
    wanted = os.environ.get("TOKUMEI_JOBS", ",".join(jobs)).split(",")
    figures = []
    for name in wanted:
        with tempfile.TemporaryDirectory() as folder:
            for label, arguments in jobs[name](Path(folder)):
                figures += _run_step(f"{name}: {label}", arguments)
    return figures


def _run_step(name: str, arguments: list[str]) -> list[Figure]:
    """Run one command; give its time, and its memory where that is too much."""
    started = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen([sys.executable, "-m", "tokumei", *arguments], stdout=said, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read().decode()
    seconds = time.perf_counter() - started
    gigabytes = used.ru_maxrss / 1024**2
    note = f"{used.ru_utime + used.ru_stime:.1f} s CPU, {gigabytes:.2f} GB"
    # 1 says that a requirement does not hold, which is an answer.
    if process.returncode not in (0, 1):
        note += f"; exit {process.returncode}: {' '.join(text.split())[-300:]}"
    print(f"    {name}: {seconds:.1f} s, {note}", flush=True)
    figures = [Figure(name, seconds, "s", MOST_SECONDS if process.returncode in (0, 1) else 0, note)]
    if gigabytes > MOST_GIGABYTES:
        figures.append(Figure(f"{name}, memory", gigabytes, "GB", MOST_GIGABYTES))
    return figures


def _employment(folder: Path) -> Iterator[Step]:
    raw, trees = folder / "raw.csv", folder / "trees"
    write_employment(raw)
    trees.mkdir()
    reading = ["--skip-rows", "5"]
    known = "年齢階級,性別,都道府県,学歴,職業"
    yield "describe", ["data", "describe", str(raw), *reading]
    for column in known.split(","):
        out = str(trees / f"{column}.csv")
        arguments = ["hierarchy", "build", "from-data", "--data", str(raw), "--column", column, "--out", out]
        yield f"hierarchy of {column}", [*arguments, *reading]
    yield from _of_table(folder, raw, reading, known, "年収", ["--hierarchies", str(trees)])


def _arx(folder: Path) -> Iterator[Step]:
    write_arx_example(folder / "arx")
    raw = folder / "arx" / "data.csv"
    yield "describe", ["data", "describe", str(raw)]
    trees = ["--hierarchies", str(folder / "arx" / "hierarchies")]
    yield from _of_table(folder, raw, [], "age,gender,zipcode", "disease", trees)


def _hospital(folder: Path) -> Iterator[Step]:
    raw = folder / "raw.csv"
    write_hospital(raw)
    yield "describe", ["data", "describe", str(raw)]
    yield from _of_table(folder, raw, [], "birth,sex,zip,ward", "illness", [])


def _adult(folder: Path) -> Iterator[Step]:
    raw = SHARED / "adult" / "adult.csv.gz"
    trees = ["--hierarchies", str(SHARED / "adult" / "hierarchies")]
    yield "describe", ["data", "describe", str(raw)]
    known = "age,sex,race,marital-status,education,native-country,workclass"
    yield from _of_table(folder, raw, [], known, "occupation", trees)


def _of_table(
    folder: Path, raw: Path, reading: list[str], known: str, sensitive: str, trees: list[str]
) -> Iterator[Step]:
    """Steps of work on a table: anonymize, audit, attack, measure, predict, compare."""
    release, rows = str(folder / "release.csv"), str(folder / "rows.txt")
    asked = ["--qi", known, "--k", "5", "--suppress", "0.02"]
    outputs = ["--keep", sensitive, "--out", release, "--rows", rows]
    yield "anonymize", ["anonymize", "table", str(raw), *asked, *outputs, *trees, *reading]
    yield "audit", ["audit", release, "--qi", known, "--sensitive", sensitive, "--k", "5"]
    pair = ["--original", str(raw), "--release", release, "--qi", known, "--sensitive", sensitive, "--rows", rows]
    yield "attack", ["attack", "table", *pair, *trees, *reading]
    yield "measure", ["measure", "table", *pair, *trees, *reading]
    yield "predict", ["predict", str(raw), "--qi", known, "--k", "5", *trees, *reading]
    page = ["--methods", "optimal,datafly", "--out", str(folder / "compared.html")]
    yield "compare", ["compare", str(raw), *asked, *page, *trees, *reading]


def _grocery(folder: Path) -> Iterator[Step]:
    raw = folder / "raw.csv"
    write_grocery(raw)
    columns = "customer=household_id,item=product_id,date=transaction_timestamp,price=sales_value"
    yield from _of_history(folder, raw, [], ["--columns", columns])


def _cdnow(folder: Path) -> Iterator[Step]:
    raw = folder / "raw.txt"
    write_cdnow(raw)
    form = ["--delimiter", "blanks", "--no-header"]
    reading = [*form, "--columns", "customer=1,date=2,quantity=3,price=4"]
    yield from _of_history(folder, raw, form, reading, has_items=False)


def _online_retail(folder: Path) -> Iterator[Step]:
    raw, clean = SHARED / "online_retail" / "online_retail_full.parquet", folder / "T.csv"
    yield "clean", ["data", "clean-retail", str(raw), "--out", str(clean)]
    yield from _of_history(folder, clean, [], [])


def _of_history(
    folder: Path, raw: Path, form: list[str], reading: list[str], *, has_items: bool = True
) -> Iterator[Step]:
    """Steps of work on a history: anonymize, attack, measure, generalize where there are items, report, sweep."""
    release, truth, seen = (str(folder / name) for name in ("release.csv", "truth.csv", "published.csv"))
    yield "describe", ["data", "describe", str(raw), *form]
    outputs = ["--out", release, "--truth", truth, "--published", seen]
    method = ["--method", "pseudonyms", "--set", "lifetime=6", "--seed", "1"]
    yield "anonymize", ["anonymize", "history", str(raw), *method, *outputs, *reading]
    guesses = str(folder / "guesses.csv")
    yield "attack", ["attack", "history", "s1", "--knowledge", str(raw), "--release", seen, "--out", guesses, *reading]
    pair = ["--original", str(raw), "--release", release, *reading]
    yield "measure", ["measure", "history", *pair]
    if has_items:
        merged = ["--method", "generalize", "--out", str(folder / "merged.csv"), "--seed", "1"]
        yield "generalize", ["anonymize", "history", str(raw), *merged, *reading]
    yield "report", ["report", *pair, "--out", str(folder / "report.html")]
    yield "sweep", ["sweep", str(raw), "--out", str(folder / "sweep"), *reading]
