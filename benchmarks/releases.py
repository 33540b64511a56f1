"""Linking two releases of the same people, their truth being known: `python -m benchmarks releases`.

Halves of a made year of 5,000 and of 20,000 customers, and of `--rows` / 40 customers where that is given (the 85,000
of the docs by `--rows 3400000`, which takes minutes and gigabytes). Where the shared data is beside the checkout, the
halves of the 2017 year, and two shops that have half of its items each. `promised` is the expected precision of the
pairs that are said to be sure, `right` that which they have.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl

import tokumei as tk
from benchmarks.measure import Figure
from tokumei.contest.editions.pwscup2017.files import read_history
from tokumei.data.made_retail import make_retail

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "pwscup2017"
SIZES = (5_000, 20_000)
ROWS_EACH = 40
MOST_SECONDS, MOST_MEMORY = 1_800, 4
N_ROWS = int(os.environ.get("BENCHMARK_ROWS", "0"))
HEADS = ("releases", "in both", "linked", "sure", "promised", "right", "s", "GB")


def run() -> list[Figure]:
    """Print a line for each pair of releases as it is done."""
    print("  {:<44}{:>9}{:>8}{:>7}{:>10}{:>7}{:>6}{:>6}".format(*HEADS))
    figures = []
    for name, (first, second) in _pairs():
        names = first.join(second, on="customer", how="semi")["customer"].unique()
        truth = pl.DataFrame({"first": names, "second": "n" + names})
        started = time.process_time()
        renamed = tk.History(second.with_columns(customer="n" + pl.col("customer")))
        found = tk.attack(tk.History(first), renamed, "link-releases", truth=truth)
        seconds = time.process_time() - started
        told, linked = found.to_dict(), found.to_dict()["success"]["linked"]["value"]
        n_sure, sure = told["sure"], ""
        if n_sure:
            sure = f"{told['sure_right'] / n_sure:>10.3f}{told['success']['precision']['value']:>7.3f}"
        print(
            f"  {name:<44}{len(names):>9,}{linked:>8.3f}{n_sure:>7,}{sure:>17}{seconds:>6.0f}{_most_memory():>6.1f}",
            flush=True,
        )
        figures.append(Figure(f"{name}: linked in", seconds, "s", MOST_SECONDS))
    return [*figures, Figure("most memory used", _most_memory(), "GB", MOST_MEMORY)]


def _most_memory() -> float:
    """Return the most memory that the process had so far, in gigabytes: releases come in the order of their size."""
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    return int(peak.split()[1]) / 1024**2


def _pairs() -> Iterator[tuple[str, tuple[pl.DataFrame, pl.DataFrame]]]:
    if FOLDER.is_dir():
        rows = read_history(FOLDER / "T.csv.gz").frame
        yield "halves of the 2017 year", _halves(rows)
        items = rows["item"].unique().sort()
        is_first = pl.col("item").is_in(items.sample(fraction=0.5, seed=1).implode())
        yield "two shops of its items", (rows.filter(is_first), rows.filter(~is_first))
    for n_customers in (*SIZES, *([N_ROWS // ROWS_EACH] if N_ROWS else [])):
        rows = make_retail(n_customers, n_rows=n_customers * ROWS_EACH, seed=5).drop("invoice")
        yield f"halves of a made year, {n_customers:,} customers", _halves(rows)


def _halves(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    middle = rows["date"].sort()[rows.height // 2]
    return rows.filter(pl.col("date") < middle), rows.filter(pl.col("date") >= middle)
