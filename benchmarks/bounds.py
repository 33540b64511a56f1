"""What bounds of permuted groups cost: predicted before a release, and measured on it: `python -m benchmarks bounds`.

On the 2017 set and the 2016 set where the shared data holds them, and on made shops of few and of many rows a customer.
Predicted by one seed, measured on releases by three others. Times are of all bounds of a shop: to predict them, and to
make one release for each and measure it.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import tokumei as tk
from benchmarks.linking import GROCER
from benchmarks.measure import Figure
from tokumei.core.errors import CannotAnonymize
from tokumei.core.text import counted
from tokumei.data.history import read_history
from tokumei.data.made_retail import make_retail
from tokumei.reports.evaluation import CONTEST_UTILITIES

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
# Customers and rows of made shops, each by a seed of its own.
MADE = {7: (100, 5_000), 5: (200, 8_000), 6: (500, 10_000), 8: (1_000, 10_000), 9: (400, 40_000)}
# Of this size only where it is asked for.
N_ROWS = int(os.environ.get("BENCHMARK_ROWS", "0"))
BOUNDS, SHARES = [0.35, 0.25, 0.2, 0.15], [1.0, 0.6]
SEEDS = (1, 2, 3)
LINE = "{:>10.3f}{:>11.3f}{:>7.3f}{:>7.3f}{:>10.3f}{:>+7.3f}{:>8.3f}"
HEADS = ("bound", "share", "rows cut", "predicted", "from", "to", "measured", "error", "spread", "most by")


def run() -> list[Figure]:
    """Print a line for each bound as it is done."""
    errors, within, ratios = [], [], []
    for name, shop in _shops():
        print(f"  {name}: {counted(len(shop.customers), 'customer')}, {counted(shop.n_rows, 'row')}")
        print("    {:>6}{:>7}{:>10}{:>11}{:>7}{:>7}{:>10}{:>7}{:>8}  {}".format(*HEADS))
        started = time.process_time()
        predicted = tk.predict(shop, bound=BOUNDS, attributed=SHARES)
        seconds, making = time.process_time() - started, 0.0
        seen: set[bytes] = set()
        for one in predicted.predicted:
            worst, interval = one.worst, one.interval
            if isinstance(one.groups, CannotAnonymize) or worst is None or interval is None:
                continue
            # A share of purchases that holds by itself changes nothing.
            if one.groups.labels.tobytes() in seen:
                continue
            seen.add(one.groups.labels.tobytes())
            losses = []
            for seed in SEEDS:
                started = time.process_time()
                release = tk.anonymize(shop, method=one.method, seed=seed)
                use = tk.measure(shop, release, measures=list(CONTEST_UTILITIES)).scores
                losses.append(max(score.value for score in use.values()))
                making += (time.process_time() - started) / len(SEEDS)
            measured = statistics.mean(losses)
            low, high = interval
            errors.append(abs(worst.value - measured))
            within += [low <= loss <= high for loss in losses]
            cut = one.groups.rows_cut / shop.n_rows
            numbers = (cut, worst.value, low, high, measured, worst.value - measured, max(losses) - min(losses))
            asked = f"    {one.method.bound:>6}{one.method.attributed:>7}"
            print(asked + LINE.format(*numbers) + f"  {worst.name}", flush=True)
        ratios.append(making / seconds)
        print(f"    predicted in {seconds:.1f} s, made and measured in {making:.1f} s")
    return [
        Figure("predicted use lost: largest error", max(errors), "", 0.05, f"of {len(errors)} bounds"),
        Figure("predicted use lost: mean error", statistics.mean(errors), "", 0.02),
        Figure("releases whose loss is not within its interval", 1 - statistics.mean(within), "", 0.05),
        Figure("predicting, of the time of making and measuring", 1 / statistics.mean(ratios), "", 1),
    ]


def _shops() -> Iterator[tuple[str, tk.History]]:
    for year in ("2017", "2016"):
        if (file := SHARED / f"pwscup{year}" / "T.csv.gz").exists():
            yield f"{year} set", read_history(file)
    for seed, (n_customers, n_rows) in MADE.items():
        yield "made shop", tk.History(make_retail(n_customers, n_rows=n_rows, seed=seed))
    made: dict[str, tk.History] = {}
    # Households that each buy goods of their own.
    exec(GROCER.format(n_rows=30_000, n_customers=300), {"History": tk.History}, made)
    yield "grocer", made["shop"]
    if N_ROWS:
        yield "made shop", tk.History(make_retail(max(60, N_ROWS // 90), n_rows=N_ROWS, seed=5))
