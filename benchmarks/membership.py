"""Who is told to be in a released history, by purchases and by customers: `python -m benchmarks membership`.

On the 2017 set where the shared data holds it, and on a made shop. Half of the customers, drawn by a seed, are in the
release; the others are the control. Somebody knows a quarter of everybody's purchases. `told` is the share of those in
the release who are told at a threshold that one in a hundred of those outside passes, by the worst attacker of each
kind, chosen by one half of the customers and counted by the other. There is no goal: the table says what each defence
gives.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import polars as pl

import tokumei as tk
from benchmarks.defences import DEFENCES
from benchmarks.measure import Figure
from tokumei.contest.editions.pwscup2017.files import read_history
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.data.made_retail import make_retail

FILE = Path(__file__).resolve().parents[2] / "shared" / "data" / "pwscup2017" / "T.csv.gz"
N_ROWS = int(os.environ.get("BENCHMARK_ROWS", "40000"))
HEADS = ("defence", "told by rows", "by customer", "area by rows", "by customer", "worst", "s")


def run(n_rows: int = N_ROWS, *, draws: int = 3) -> list[Figure]:
    """Print the table of each history, a line for each defence as it is done."""
    if FILE.is_file():
        _print("the 2017 set", read_history(FILE), draws)
    else:
        print("  the 2017 set: skipped, the shared data is not beside the checkout")
    _print("a made shop", tk.History(make_retail(max(420, n_rows // 80), n_rows=n_rows, seed=5)), draws)
    return []


def halves(history: tk.History, seed: int = 1) -> tuple[tk.History, tk.History]:
    """Split a history into those who are in the release and those who are not, customer by customer."""
    names = history.customers
    drawn = {names[at] for at in generator(seed, "membership", "split").permutation(len(names))[: len(names) // 2]}
    is_in = pl.col("customer").is_in(sorted(drawn))
    inside, outside = (history.kept.filter(one) for one in (is_in, ~is_in))
    return tk.History(inside, "inside"), tk.History(outside, "outside")


def _print(name: str, history: tk.History, draws: int) -> None:
    inside, outside = halves(history)
    print(f"  {name}: {len(inside.customers)} customers in the release, {len(outside.customers)} outside")
    print("  {:<27}{:>22}{:>22}{:>22}{:>22}  {:<34}{:>4}".format(*HEADS))
    for defence, steps in DEFENCES.items():
        started = time.perf_counter()
        release = tk.anonymize(inside, pipeline={"step": steps}, seed=1)
        found = tk.attack(inside, release, "membership", control=outside, draws=draws, seed=1).scores
        cells = [_told(found[f"{kind} by {way}"]) for kind in ("success", "auc") for way in ("rows", "customer")]
        seconds = time.perf_counter() - started
        worst = found["success"].inputs["by"]
        print(
            f"  {defence:<27}" + "".join(f"{cell:>22}" for cell in cells) + f"  {worst:<34}{seconds:>4.0f}", flush=True
        )


def _told(score: Score) -> str:
    low, high = score.interval or (score.value, score.value)
    return f"{score.value:.3f} [{low:.3f}, {high:.3f}]"
