"""The anonymizers of PWSCUP 2016: each gives M′ and T′ under pseudonyms, and which customer each row of M′ is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.seeds import generator
from tokumei.data.history import History
from tokumei.data.history_columns import SCHEMA
from tokumei.methods.history.dummies import Dummies

DAYS = 7
SPREAD = 0.2
EXCHANGED = 0.3
GROUP = 4
MOVED = 0.2
LARGEST_QUANTITY = 999_999
LARGEST_PRICE = 99_999.99


@dataclass(frozen=True)
class Draft:
    """A release before its purchases are shuffled: `rows` are the rows of M that M′'s are declared to be, from 0."""

    master: pl.DataFrame
    history: pl.DataFrame
    rows: npt.NDArray[np.int64]


Anonymizer = Callable[[pl.DataFrame, pl.DataFrame, int], Draft]


def pseudonyms(master: pl.DataFrame, history: pl.DataFrame, seed: int) -> Draft:
    """Change nothing but the names of the customers, which are numbered in a random order."""
    order = generator(seed, "pseudonyms").permutation(master.height)
    names = pl.DataFrame({"customer": master["customer"], "name": [f"p{number + 1}" for number in order]})

    def renamed(frame: pl.DataFrame) -> pl.DataFrame:
        with_names = frame.join(names, on="customer", how="left", maintain_order="left")
        return with_names.with_columns(customer="name").drop("name")

    # The lines of M′ must not tell whose they were.
    rows = np.argsort(order)
    return Draft(renamed(master)[rows], renamed(history), rows)


def perturb(master: pl.DataFrame, history: pl.DataFrame, seed: int) -> Draft:
    """Move each invoice by up to a week, and multiply prices and quantities by noise of about a fifth.

    Birth dates keep their decade only.
    """
    draft = pseudonyms(master, history, seed)
    rng = generator(seed, "perturb")
    invoice = history["invoice"].rank("dense").cast(pl.Int64).to_numpy() - 1
    days = pl.Series(rng.integers(-DAYS, DAYS, invoice.max() + 1, endpoint=True)[invoice]).cast(pl.Int32)
    prices, quantities = (np.exp(rng.normal(0, SPREAD, history.height)) for _ in range(2))
    moved = (pl.col("date").cast(pl.Int32) + days).cast(pl.Date)
    noisy = draft.history.with_columns(
        date=moved.clip(pl.col("date").min(), pl.col("date").max()),
        price=(history["price"] * pl.Series(prices)).round(2).clip(0.01, LARGEST_PRICE),
        quantity=(history["quantity"] * pl.Series(quantities)).round().clip(1, LARGEST_QUANTITY).cast(pl.Int64),
    )
    decades = pl.date(pl.col("birth").dt.year() // 10 * 10, 1, 1)
    return replace(draft, history=noisy, master=draft.master.with_columns(birth=decades))


def exchange_items(master: pl.DataFrame, history: pl.DataFrame, seed: int) -> Draft:
    """Swap item and price together among three rows of ten."""
    draft = pseudonyms(master, history, seed)
    rng = generator(seed, "exchange-items")
    chosen = rng.permutation(history.height)[: round(EXCHANGED * history.height)]
    source = np.arange(history.height)
    source[chosen] = rng.permutation(chosen)
    bought = {name: draft.history[name].gather(source) for name in ("item", "price")}
    return replace(draft, history=draft.history.with_columns(**bought))


def exchange_invoices(master: pl.DataFrame, history: pl.DataFrame, seed: int) -> Draft:
    """Perturb, and let customers in groups of four with about as many rows exchange invoices.

    One invoice in five goes to whoever is drawn in the group: of more, the declared customer would be no longer the
    nearest, and P would look false.
    """
    draft = perturb(master, history, seed)
    rng = generator(seed, "exchange-invoices")
    sizes = draft.history.group_by("customer").agg(n=pl.len()).sort("n", "customer")
    names = sizes["customer"].to_list()
    # The last group takes in those who are too few for one of their own.
    groups = np.minimum(np.arange(len(names)) // GROUP, max(0, len(names) // GROUP - 1))
    owner = draft.history["customer"].cast(pl.Enum(names)).to_physical().to_numpy()
    invoice = draft.history.select(pl.struct("customer", "invoice").rank("dense")).to_series().to_numpy() - 1
    draw, goes = rng.random(int(invoice.max()) + 1)[invoice], (rng.random(int(invoice.max()) + 1) < MOVED)[invoice]
    starts, ends = (np.searchsorted(groups, groups[owner], side) for side in ("left", "right"))
    buyer = np.where(goes, starts + (draw * (ends - starts)).astype(np.int64), owner)
    return replace(draft, history=draft.history.with_columns(customer=pl.Series(names).gather(buyer)))


def dummies(master: pl.DataFrame, history: pl.DataFrame, seed: int) -> Draft:
    """Add dummy rows so that groups of about four customers have the same items (Jaccard paper, method 2)."""
    n_customers = history["customer"].n_unique()
    method = Dummies(smallest=max(1, min(GROUP, n_customers)), clusters=max(1, n_customers // GROUP))
    changed = method.change(History(history.select(list(SCHEMA))), seed=seed).history.frame
    return pseudonyms(master, changed.select(history.columns), seed)


def yamaoka(master: pl.DataFrame, history: pl.DataFrame, seed: int) -> Draft:
    """Change nothing but the names, and lie about P: what the contest must see through."""
    draft = pseudonyms(master, history, seed)
    return replace(draft, rows=generator(seed, "yamaoka").permutation(master.height))


ANONYMIZERS: Mapping[str, Anonymizer] = {
    "pseudonyms": pseudonyms,
    "perturb": perturb,
    "exchange-items": exchange_items,
    "exchange-invoices": exchange_invoices,
    "dummies": dummies,
    "yamaoka": yamaoka,
}
