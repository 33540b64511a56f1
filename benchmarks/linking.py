"""Linkage on made shops of many customers, from file to file: `… linking --rows 1000000`, seconds of processors.

And what it finds of releases with a structure, where the shared data is beside the checkout.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from benchmarks.measure import Figure, in_new_process

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
N_ROWS = int(os.environ.get("BENCHMARK_ROWS", "100000"))

# What an attacker has: what was published, and a quarter of the original rows. And who is who, to judge.
MADE = """
from pathlib import Path
from tokumei.data.files.histories import write_known_history
from tokumei.data.history import History
from tokumei.tasks.anonymize_history import anonymize_history
folder = Path({folder!r})
{shop}
write_known_history(shop.known(0.25, seed=1), folder / "T25.parquet")
release = anonymize_history(shop, method="pseudonyms", lifetime={lifetime}, seed=1)
release.save(folder / "A.parquet", published=folder / "S.parquet", truth=folder / "F.csv")
seconds = 0
"""
ATTACK = """
import time
from pathlib import Path
from tokumei.tasks.attack_history import attack_history
folder = Path({folder!r})
started = time.process_time()
attack_history(folder / "T25.parquet", folder / "S.parquet", "linkage").write(folder / "Fh.csv")
seconds = time.process_time() - started
"""
JUDGED = """
from pathlib import Path
from tokumei.tasks.attack_history import judge_files
folder = Path({folder!r})
seconds = judge_files(folder / "Fh.csv", folder / "F.csv").success["found"]["value"]
"""
RETAIL = """
from tokumei.data.made_retail import make_retail
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

# Of five releases of the 2017 set and of a grocer's households: whose pseudonyms change hands, or dates move.
STRUCTURED = """
import os
import numpy as np, polars as pl
from pathlib import Path
from tokumei.attacks.judge import judge, published, truth_of
from tokumei.attacks.linkage.attack import Linkage
from tokumei.contest.editions.pwscup2017.files import read_history, read_knowledge
from tokumei.data.history import History
from tokumei.methods.pipeline import pipeline_of
{shop}
noise = dict(method="perturb", days=31, quantities=0.5, prices=0.25, hides_times=True, whole_baskets=False)
exchange = dict(method="exchange-pseudonyms")
halved, yearly, monthly = (
    dict(method="pseudonyms", lifetime=n) | more for n, more in ((12, dict(risk_limit=0.9)), (12, {{}}), (1, {{}})))
gone = dict(method="delete", random=0.45, once=False, price_deviations=0.0)
steps = {{"exchanged": [exchange], "noisy, exchanged": [noise, exchange], "noisy, lives halved": [noise, halved],
          "45 % deleted, monthly": [gone, monthly], "dates moved by customer": [yearly]}}[{name!r}]
release = History(pipeline_of({{"step": steps}}).anonymize(shop, seed=1).frame)
if {name!r} == "dates moved by customer":
    days = np.random.default_rng(1).integers(-60, 61, len(shop.customers)).tolist()
    days = shop.frame["customer"].replace_strict(dict(zip(shop.customers, days)), return_dtype=pl.Int64)
    moved = pl.col("date") + pl.duration(days="days")
    release = History(release.frame.with_columns(days=days).with_columns(moved).drop("days"))
guesses = Linkage().guess(known, published(release, seed=1))
verdict = judge(guesses, truth_of(shop, release), shop.customers, shop.periods)
seconds = verdict.{measure}.value
"""
CONTEST = """
folder = Path({folder!r}) / "pwscup2017"
shop, known = read_history(folder / "T.csv.gz"), read_knowledge(folder / "T25.csv.gz")
"""
# Each line with what was found by rows of one month and one pseudonym for as long as it lives: 2017, grocer.
LINES = {
    "exchanged": ("found", 0.690, 0.288),
    "noisy, exchanged": ("found", 0.582, 0.274),
    "noisy, lives halved": ("found", 0.768, 1.000),
    "45 % deleted, monthly": ("row", 0.856, 0.227),
    "dates moved by customer": ("found", 0.271, 0.406),
}


def structured() -> list[Figure]:
    """Return what linkage finds of releases whose pseudonyms change hands, or whose dates move, a quarter known."""
    grocer = GROCER.format(n_rows=60_000, n_customers=300) + "known = shop.known(0.25, seed=1)"
    shops = {"2017": CONTEST.format(folder=str(SHARED)), "grocer": grocer}
    figures = []
    for name, (measure, *before) in LINES.items():
        for shop, was in zip(("2017", "grocer"), before, strict=True):
            made = STRUCTURED.format(shop=shops[shop], name=name, measure=measure)
            value, _ = in_new_process(made)
            figures.append(Figure(f"linkage, {shop}, {name}", value, measure, note=f"before {was:.3f}"))
    return figures


def run(n_rows: int = N_ROWS) -> list[Figure]:
    """Attack made shops, and structured releases where the shared data holds the 2017 set."""
    return [*made_shops(n_rows), *(structured() if (SHARED / "pwscup2017").is_dir() else ())]


def made_shops(n_rows: int) -> list[Figure]:
    """Attack three shops: a year under monthly pseudonyms, a grocer's households, and customers who buy one thing.

    The last two do not grow beyond a million rows. Of the last with monthly pseudonyms no more than 2,300 customers,
    whose pairs with all pseudonyms are still in memory together.
    """
    few, least = min(n_rows, 1_000_000), min(n_rows, 100_000)
    return [
        *_attacked("customers, monthly pseudonyms", RETAIL, n_rows, n_rows // 100, lifetime=1, minutes=15),
        *_attacked("households of a grocer", GROCER, few * 3 // 2, max(20, few // 400), lifetime=13, minutes=5),
        *_attacked("customers, one kind of item", ONE_KIND, few * 7 // 100, few * 23 // 1000, lifetime=13, minutes=2),
        *_attacked(
            "customers, one kind, monthly", ONE_KIND, least * 7 // 100, least * 23 // 1000, lifetime=1, gigabytes=1
        ),
    ]


def _attacked(
    name: str, shop: str, n_rows: int, n_customers: int, *, lifetime: int, minutes: int = 2, gigabytes: int = 4
) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        made = shop.format(n_rows=n_rows, n_customers=n_customers)
        in_new_process(MADE.format(folder=folder, shop=made, lifetime=lifetime))
        seconds, memory = in_new_process(ATTACK.format(folder=folder))
        found, _ = in_new_process(JUDGED.format(folder=folder))
    label = f"linkage, {n_rows:,} rows of {n_customers:,} {name}"
    return [
        Figure(label, seconds, "s", 60 * minutes, note=f"found {found:.3f}"),
        Figure("  most memory used", memory, "GB", gigabytes),
    ]
