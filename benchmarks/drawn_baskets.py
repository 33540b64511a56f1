"""Purchases of nobody: what is left of order of magnitude, season and pairs of items, and a million rows.

Beside them stand as many customers drawn again with replacement, which nobody can beat, and items shuffled among all
rows, which keep every share of an item and no pair.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import tokumei as tk
from benchmarks.measure import Figure, in_new_process
from tokumei.data.made_retail import make_retail

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
HISTORIES = {"2016": DATA / "pwscup2016" / "T.csv.gz", "2017": DATA / "pwscup2017" / "T.csv.gz"}
N_ROWS = int(os.environ.get("BENCHMARK_ROWS", "1000000"))
ROWS_A_CUSTOMER = 50
SECONDS, GIGABYTES = 240, 4
# Pairs of items that most baskets hold, of the items that most do.
N_PAIRS, N_ITEMS = 200, 300
MEASURES = ("association-rules", "frequent-itemsets", "item-cf-top", "item-cf", "top-items", "rfm-table")
# All customers are fitted; what is released is attacked beside customers kept out.
WHOLE: dict[str, Any] = {"hold_out": 0.0, "anyway": True}
TIMED = """
import time
import tokumei as tk
history = tk.History({path!r})
started = time.process_time()
made = tk.anonymize(history, method={method!r}, anyway=True)
seconds = time.process_time() - started
made.frame.write_parquet({out!r})
"""


def run() -> list[Figure]:
    figures: list[Figure] = []
    for name, file in HISTORIES.items():
        if file.exists():
            figures += of_history(name, tk.History(file))
    return [*figures, *large()]


def of_history(name: str, original: tk.History) -> list[Figure]:
    random = np.random.default_rng(0)
    names = pl.Series(original.customers)
    again = pl.DataFrame({"customer": names.gather(random.integers(len(names), size=len(names)))}).with_row_index("new")
    again = again.join(original.frame, on="customer").with_columns(customer="c" + pl.col("new").cast(pl.String))
    releases = {
        "basket-chain": tk.anonymize(original, method="basket-chain", seed=1, **WHOLE).history,
        "customers drawn again": tk.History(again.select(original.frame.columns).sort("date")),
        "items shuffled": tk.History(original.frame.with_columns(pl.col("item").shuffle(seed=1))),
    }
    figures = []
    for way, release in releases.items():
        figures += [Figure(f"{name}, {way}: {what}", value, "") for what, value in kept(original, release).items()]
        lost = tk.measure(original, release, list(MEASURES)).scores
        figures += [Figure(f"{name}, {way}: {what} lost", score.value, "") for what, score in lost.items()]
    made = tk.anonymize(original, method="basket-chain", seed=1, anyway=True)
    for one in made.facts["audit"]["findings"]:
        figures.append(Figure(f"{name}, {one['attack']} beyond others, at least", one["low"], "", one["most"]))
    return figures


def kept(original: tk.History, release: tk.History) -> dict[str, float]:
    """Compare sizes, months, and how many baskets hold items and pairs."""
    baskets = [one.kept.select("customer", "date").n_unique() for one in (original, release)]
    months = [shares(one.kept.select(pl.col("date").dt.to_string("%Y-%m")).to_series()) for one in (original, release)]
    season = months[0].join(months[1], on="date", how="full", coalesce=True).fill_null(0)
    items, pairs = (joined(original, release, size) for size in (1, 2))
    top = pairs.sort("before", descending=True).head(N_PAIRS)
    return {
        "rows, of those of the original": release.kept.height / original.kept.height,
        "baskets, of those of the original": baskets[1] / baskets[0],
        "months, half the sum of differences of shares": float((season["n"] - season["n_right"]).abs().sum()) / 2,
        "items, correlation of shares of baskets": float(np.corrcoef(items["before"], items["after"])[0, 1]),
        "pairs, correlation of shares of baskets": float(np.corrcoef(pairs["before"], pairs["after"])[0, 1]),
        "best pairs, baskets that hold one, of the original's": float(top["after"].sum()) / float(top["before"].sum()),
    }


def shares(values: pl.Series) -> pl.DataFrame:
    return values.value_counts(name="n").with_columns(pl.col("n") / len(values))


def joined(original: tk.History, release: tk.History, size: int) -> pl.DataFrame:
    """Return the share of the baskets that hold each item or pair of the most bought, before and after."""
    common = original.kept.select("customer", "date", "item").unique()["item"].value_counts(sort=True)["item"]
    sides = []
    for one, name in ((original, "before"), (release, "after")):
        held = one.kept.select("customer", "date", "item").unique()
        n_baskets = held.select("customer", "date").n_unique()
        held = held.filter(pl.col("item").is_in(common.head(N_ITEMS).implode()))
        if size > 1:
            held = held.join(held.rename({"item": "other"}), on=["customer", "date"])
            held = held.filter(pl.col("item") < pl.col("other"))
        keys = ["item", "other"][:size]
        sides.append(held.group_by(keys).agg((pl.len() / n_baskets).alias(name)))
    return sides[0].join(sides[1], on=["item", "other"][:size], how="full", coalesce=True).fill_null(0)


def large() -> list[Figure]:
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "history.parquet", Path(folder) / "drawn.parquet"
        n_customers = max(2, N_ROWS // ROWS_A_CUSTOMER)
        made = make_retail(n_customers, n_rows=N_ROWS, seed=1)
        made.write_parquet(path)
        for method in ("basket-chain", "dp-baskets"):
            work = TIMED.format(path=str(path), method=method, out=str(out))
            seconds, memory = in_new_process(work)
            label = f"{N_ROWS:,} rows, {method}"
            figures.append(Figure(label, seconds, "s of the processor", SECONDS))
            figures.append(Figure(label, memory, "GB", GIGABYTES))
            of_large = kept(tk.History(made), tk.History(pl.read_parquet(out)))
            figures += [Figure(f"{label}: {what}", value, "") for what, value in of_large.items()]
    return figures
