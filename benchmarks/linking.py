"""Linkage on made shops of many customers: `… linking --rows 1000000`, seconds of processors and peak memory."""

from __future__ import annotations

import os

from benchmarks.measure import Figure, in_new_process

N_ROWS = int(os.environ.get("BENCHMARK_ROWS", "100000"))

ATTACK = """
import time
from tokumei.anonymize.history.pseudonyms import Pseudonyms
from tokumei.attack.history.linkage import Linkage
from tokumei.attack.judge import judge
from tokumei.data.history import History
{shop}
release = Pseudonyms({lifetime}).anonymize(shop, seed=1)
known, seen = shop.known(0.25, seed=1), History(release.frame.sample(fraction=1, shuffle=True, seed=2))
started = time.process_time()
guesses = Linkage().guess(known, seen)
seconds = time.process_time() - started
"""
FOUND = """
seconds = judge(guesses, release.pseudonyms, shop.customers, shop.periods).found.value
"""
RETAIL = """
from tokumei.data.made.retail import make_retail
shop = History.of(make_retail({n_customers}, n_rows={n_rows}, seed=1))
"""
# Households that buy on thirty days of a year, mostly among 150 goods of their own of 30,000.
GROCER = """
import numpy as np, polars as pl
rng, n, n_customers, n_items = np.random.default_rng(1), {n_rows}, {n_customers}, 30_000
usual = 1 / (np.arange(n_items) + 60.0)
usual /= usual.sum()
own, who = rng.choice(n_items, (n_customers, 150), p=usual), rng.integers(0, n_customers, n)
item = np.where(rng.random(n) < 0.6, own[who, rng.integers(0, 150, n)], rng.choice(n_items, n, p=usual))
days = rng.integers(0, 365, (n_customers, 30))[who, rng.integers(0, 30, n)]
prices = np.round(np.exp(rng.normal(1, 0.7, n_items)), 2)
date, quantity = np.datetime64("2021-01-01") + days, rng.integers(1, 4, n)
columns = dict(customer=who, date=date, price=prices[item], quantity=quantity)
item = pl.Series("item", item * 317 % 9_999_999).cast(pl.String).str.zfill(7)
frame = pl.DataFrame(columns).with_columns(item, pl.format("H{{}}", "customer").alias("customer"))
shop = History.of(frame.sort("date", "customer", maintain_order=True))
"""
# Most customers buy once or a few times, and all items are of one kind.
ONE_KIND = """
import numpy as np, polars as pl
rng, n, n_customers = np.random.default_rng(1), {n_rows}, {n_customers}
who = np.concatenate([np.arange(n_customers), rng.integers(0, n_customers, n - n_customers)])
prices = np.round(np.exp(rng.normal(2.5, 0.4, n)), 2)
columns = dict(customer=who, date=np.datetime64("2021-01-01") + rng.integers(0, 365, n), price=prices)
frame = pl.DataFrame(columns).with_columns(
    pl.format("H{{}}", "customer").alias("customer"), item=pl.lit("disc"), quantity=pl.Series(rng.integers(1, 6, n)))
shop = History.of(frame.sort("date", "customer", maintain_order=True))
"""


def run() -> list[Figure]:
    """Attack three shops: a year under monthly pseudonyms, a grocer's households, and customers who buy one thing."""
    return [
        *_attacked("customers, monthly pseudonyms", RETAIL, N_ROWS, N_ROWS // 100, lifetime=1, minutes=15),
        *_attacked("households of a grocer", GROCER, N_ROWS * 3 // 2, max(20, N_ROWS // 400), lifetime=13, minutes=5),
        *_attacked(
            "customers, one kind of item", ONE_KIND, N_ROWS * 7 // 100, N_ROWS * 23 // 1000, lifetime=13, minutes=2
        ),
    ]


def _attacked(name: str, shop: str, n_rows: int, n_customers: int, *, lifetime: int, minutes: int) -> list[Figure]:
    code = ATTACK.format(shop=shop.format(n_rows=n_rows, n_customers=n_customers), lifetime=lifetime)
    seconds, memory = in_new_process(code)
    found, _ = in_new_process(code + FOUND)
    return [
        Figure(f"{n_rows:,} rows of {n_customers:,} {name}", seconds, "s", 60 * minutes, note=f"found {found:.3f}"),
        Figure("  most memory used, making the shop included", memory, "GB", 4),
    ]
