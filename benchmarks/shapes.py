"""Made shops of four shapes, and whose purchases are known there behind permuted groups: `python -m benchmarks shapes`.

| shop     | what a customer is known by |
|----------|-----------------------------|
| grocer   | 150 goods of one's own among 30,000, bought on few days |
| pharmacy | two to five medicines of one's own among 60, by month |
| songs    | 40 of one's own among 5,000, with neither price nor quantity |
| café     | two or three of twelve drinks, at one's own hours and on one's own days of the week |

A bound on purchases is about who knows no habits; how far habits go beyond is printed, a quarter and 5 % known.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import numpy as np
import polars as pl

import tokumei as tk
from benchmarks.measure import Figure

FIRST = dt.date(2021, 1, 1)


def grocer(n_customers: int = 300, n_rows: int = 60_000, *, seed: int = 1) -> tk.History:
    """Return households that buy on thirty days of a year, mostly among 150 goods of their own of 30,000."""
    rng, n_items = np.random.default_rng(seed), 30_000
    usual = 1 / (np.arange(n_items) + 60.0)
    usual /= usual.sum()
    own, who = rng.choice(n_items, (n_customers, 150), p=usual), rng.integers(0, n_customers, n_rows)
    item = np.where(
        rng.random(n_rows) < 0.6, own[who, rng.integers(0, 150, n_rows)], rng.choice(n_items, n_rows, p=usual)
    )
    days = rng.integers(0, 365, (n_customers, 30))[who, rng.integers(0, 30, n_rows)]
    prices = np.round(np.exp(rng.normal(1, 0.7, n_items)), 2)
    names = pl.Series("item", item * 317 % 9_999_999).cast(pl.String).str.zfill(7)
    return _history(who, days, names, price=prices[item], quantity=rng.integers(1, 4, n_rows))


def pharmacy(n_customers: int = 100, *, seed: int = 1) -> tk.History:
    """Return customers who take two to five of 60 medicines, and buy most of these every month."""
    rng, n_items = np.random.default_rng(seed), 60
    usual = 1 / (np.arange(n_items) + 5.0)
    prices = np.round(np.exp(rng.normal(2.5, 0.6, n_items)), 2)
    who, days, item = [], [], []
    for customer in range(n_customers):
        own = rng.choice(n_items, rng.integers(2, 6), replace=False, p=usual / usual.sum())
        for month in range(12):
            bought = own[rng.random(len(own)) < 0.8]
            who += [customer] * len(bought)
            item += bought.tolist()
            days += (30 * month + rng.integers(0, 28) + np.zeros(len(bought), np.int64)).tolist()
    codes = np.array(item)
    names = pl.Series("item", codes).cast(pl.String).str.zfill(4)
    return _history(np.array(who), np.array(days), names, price=prices[codes], quantity=np.ones(len(codes), np.int64))


def songs(n_customers: int = 100, n_rows: int = 8_000, *, seed: int = 1) -> tk.History:
    """Return people who play 40 songs of their own among 5,000, three times out of four."""
    rng, n_items = np.random.default_rng(seed), 5_000
    usual = 1 / (np.arange(n_items) + 20.0)
    usual /= usual.sum()
    own, who = rng.choice(n_items, (n_customers, 40), p=usual), rng.integers(0, n_customers, n_rows)
    item = np.where(
        rng.random(n_rows) < 0.75, own[who, rng.integers(0, 40, n_rows)], rng.choice(n_items, n_rows, p=usual)
    )
    names = pl.Series("item", item).cast(pl.String).str.zfill(5)
    return _history(who, rng.integers(0, 365, n_rows), names)


def cafe(n_customers: int = 100, *, seed: int = 1) -> tk.History:
    """Return guests of a café who come at hours and on days of their own, mostly for two or three of twelve drinks."""
    rng, n_items = np.random.default_rng(seed), 12
    prices = np.round(2 + 3 * rng.random(n_items), 1)
    who, days, item, hours = [], [], [], []
    for customer in range(n_customers):
        likes = rng.dirichlet(np.full(n_items, 0.15))
        on_day = rng.beta(0.4, 1.2, 7)
        usual_hour = rng.integers(7, 20)
        came = np.flatnonzero(rng.random(365) < on_day[(np.arange(365) + FIRST.weekday()) % 7])
        who += [customer] * len(came)
        days += came.tolist()
        item += rng.choice(n_items, len(came), p=likes).tolist()
        hours += np.clip(usual_hour + rng.integers(-1, 2, len(came)), 7, 20).tolist()
    codes, minutes = np.array(item), rng.integers(0, 60, len(hours))
    names = pl.Series("item", codes).cast(pl.String).str.zfill(2)
    times = pl.Series("time", [dt.time(hour, minute) for hour, minute in zip(hours, minutes.tolist(), strict=True)])
    quantity = np.ones(len(codes), np.int64)
    return _history(np.array(who), np.array(days), names, price=prices[codes], quantity=quantity, time=times)


SHAPES: dict[str, Callable[[], tk.History]] = {
    "grocer": lambda: grocer(100, 20_000),
    "pharmacy": pharmacy,
    "songs": songs,
    "café": cafe,
}


def run() -> list[Figure]:
    """Print a line for each shop as it is done."""
    heads = ("shop", "bound", "rows, 25 %", "shared", "blindly", "rows, 5 %", "shared", "blindly")
    print("  {:<12}{:>8}{:>12}{:>8}{:>9}{:>11}{:>8}{:>9}".format(*heads))
    for name, make in SHAPES.items():
        shop = make()
        release = tk.anonymize(shop, method="permute-groups", bound=0.3, seed=1)
        told = f"  {name:<12}{release.recipe.found['attribution_bound']:>8.3f}"
        for share, width in ((0.25, 12), (0.05, 11)):
            scores = tk.attack(shop, release, "attribution", share=share, draws=1, seed=1).scores
            shared = scores["shared"]
            told += f"{scores['rows'].value:>{width}.3f}{shared.value:>8.3f}{shared.baseline or 0:>9.3f}"
        print(told, flush=True)
    return []


def _history(who: np.ndarray, days: np.ndarray, item: pl.Series, **columns: object) -> tk.History:
    frame = pl.DataFrame({"customer": who, "date": np.datetime64(FIRST) + days, **columns}).with_columns(
        pl.format("H{}", "customer").alias("customer"), item
    )
    return tk.History.of(frame.sort("date", "customer", maintain_order=True))
