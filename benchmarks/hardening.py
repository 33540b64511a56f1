"""Hardening a release of a shop of discs, its memory and seconds of processors: `python -m benchmarks hardening`.

Two thousand customers, most of whom buy once and a few many times in eighteen months, of four thousand discs; dates,
quantities and prices moved, and names exchanged every month. Everything is tried with everything known, and a quarter.
"""

from __future__ import annotations

from benchmarks.measure import Figure, in_new_process

DISCS = """
import time
import numpy as np, polars as pl
import tokumei as tk
rng, n_customers, n_items = np.random.default_rng(1), 2_000, 4_000
who = np.repeat(np.arange(n_customers), 1 + rng.negative_binomial(0.5, 0.16, n_customers))
is_first = np.r_[True, who[1:] != who[:-1]]
day = rng.integers(0, 90, n_customers)[who] + np.where(is_first, 0, rng.integers(1, 455, len(who)))
n_discs = rng.geometric(0.45, len(who))
who, day = np.repeat(who, n_discs), np.repeat(day, n_discs)
usual = 1 / (np.arange(n_items) + 20.0)
usual /= usual.sum()
own = rng.choice(n_items, (n_customers, 8), p=usual)
is_own = rng.random(len(who)) < 0.35
item = np.where(is_own, own[who, rng.integers(0, 8, len(who))], rng.choice(n_items, len(who), p=usual))
price = np.round(np.exp(rng.normal(2.5, 0.25, n_items)), 2)[item]
columns = dict(customer=who, date=np.datetime64("1997-01-01") + day, item=item, price=price, quantity=1)
names = [pl.format("C{}", "customer").alias("customer"), pl.format("D{}", "item").alias("item")]
frame = pl.DataFrame(columns).with_columns(names).sort("date", "customer", maintain_order=True)
shop = tk.History(frame)
noise = dict(method="perturb", days=31, quantities=0.5, prices=0.25, hides_times=True, whole_baskets=False)
release = tk.anonymize(shop, pipeline={"step": [noise, dict(method="exchange-pseudonyms")]}, seed=1)
started = time.process_time()
"""
HARDEN = DISCS + "tk.harden(release, bound=0.35, seed=1)\nseconds = time.process_time() - started\n"
# What the strongest attack takes by itself, which is tried many times.
LINKAGE = (
    DISCS
    + """
from tokumei.attacks.judge import published
from tokumei.attacks.linkage.attack import Linkage
Linkage().guess(shop.known(1.0, seed=0, item_characters=None), published(release.history, seed=0))
seconds = time.process_time() - started
"""
)


def run() -> list[Figure]:
    """Harden the release, and attack it once."""
    seconds, memory = in_new_process(HARDEN)
    once, of_once = in_new_process(LINKAGE)
    return [
        Figure("hardening a release of 2,000 customers of a shop of discs", seconds / once, "attacks by linkage"),
        Figure("  most memory used", memory, "GB", 1, f"by linkage alone {of_once:.2f} GB"),
    ]
