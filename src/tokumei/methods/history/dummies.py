"""Dummy rows that give similar customers the same item set."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl

from tokumei.core.errors import InputError, PromiseBroken
from tokumei.core.seeds import generator
from tokumei.data.history import History
from tokumei.engines.changing import Rows
from tokumei.engines.history_rows import Frame
from tokumei.engines.item_sets import Floats, Ints, ItemSets
from tokumei.methods.history.similar_customers import balance, cluster
from tokumei.methods.history.steps import StepAnywhere

# As in the paper with 100 clusters of 400 customers: one in four is still found by the item set.
CUSTOMERS_A_CLUSTER = 4


@dataclass(frozen=True)
class Dummies(StepAnywhere):
    """Cluster customers by their items and add dummy rows until all of a cluster have bought the same items.

    | customer, item | released           |
    |----------------|--------------------|
    | u1, g1         | u1, g1             |
    |                | u1, g2 (dummy)     |
    | u2, g1         | u2, g1             |
    | u2, g2         | u2, g2             |

    A dummy stands in one of its customer's own invoices (its invoice, date and time), beside a row drawn at
    random, and takes price and quantity from a row of someone who did buy the item. No original row changes. The
    promise is about pseudonyms, and recounted on the release: whatever comes after must not set customers apart again.
    """

    clusters: int | Literal["best"] | None = field(
        default=None, metadata={"help": "Number of clusters; none: one for each four customers; best: the paper's c*."}
    )
    smallest: int = field(
        default=2, metadata={"help": "Fewest customers in a cluster; 1 leaves the clusters as k-means finds them."}
    )
    alpha: float | None = field(
        default=None,
        metadata={
            "help": "With clusters=best: what an added row weighs against all customers being found; none: one in the "
            "most rows that any number of clusters adds."
        },
    )

    def change_rows(self, rows: Rows, *, seed: int) -> Rows:
        """Add the dummy rows between the rows of their customers."""
        import narwhals as nw

        pairs = rows.collect(rows.rows.group_by("customer", "item").agg(n=nw.len().cast(nw.Int64)))
        n_of = {column: pairs.group_by(column).agg(pl.col("n").sum()) for column in ("customer", "item")}
        sets = ItemSets.of_pairs(pairs.drop("n"))
        if len(sets.customers) == 0:
            return rows
        labels = self.assign(sets, seed=seed)
        missing = missing_items(sets, labels)
        rows = rows.with_found({"clusters": len(np.unique(labels))})
        if missing.is_empty():
            return rows
        places = Places.drawn(missing, n_of, generator(seed, "dummies", "rows"))
        copies = rows.computed(f"{seed}-dummies", _copies(rows, missing, places))
        beside = rows.collect(copies.select("copy", "beside")).sort("copy")["beside"].to_numpy()
        return rows.with_copies(copies, *places.gaps(beside))

    def assign(self, sets: ItemSets, *, seed: int) -> Ints:
        """Return the cluster of each customer."""
        n_customers = len(sets.customers)
        n_clusters = max(1, n_customers // CUSTOMERS_A_CLUSTER) if self.clusters is None else self.clusters
        if self.alpha is not None and n_clusters != "best":
            raise InputError.of("clusters=best, which alpha is for", option="clusters", value=self.clusters)
        if self.alpha is not None and not 0 < self.alpha < math.inf:
            raise InputError.of("a weight above 0", option="alpha", value=self.alpha)
        if n_clusters == "best":
            n_clusters = _best_for(sets, self.alpha)
        if not 1 <= n_clusters <= n_customers:
            raise InputError.of(f"from 1 to {n_customers} clusters", option="clusters", value=n_clusters)
        if not 1 <= self.smallest <= n_customers // n_clusters:
            most = n_customers // n_clusters
            raise InputError.of(f"from 1 to {most} customers in a cluster", option="smallest", value=self.smallest)
        weights = sets.weights()
        labels = cluster(weights, n_clusters, generator(seed, "dummies", "clusters"))
        return balance(weights, labels, self.smallest)

    def check_promise(self, released: History) -> None:
        """Check that every item set is shared by as many pseudonyms as promised."""
        self.check_shared(released.kept.select("customer", "item").unique())

    def check_shared(self, pairs: pl.DataFrame) -> None:
        """Check it on pseudonyms and items, each pair once."""
        sets = pairs.group_by("customer").agg(pl.col("item").sort().str.join("\n"))
        n_sharing = sets.group_by("item").len()["len"].to_numpy()
        if n_sharing.min(initial=self.smallest) < self.smallest:
            raise PromiseBroken(f"An item set is shared by {n_sharing.min()} pseudonyms, fewer than {self.smallest}.")


def expected_dummies(n: int, c: int, b: float, h: float, *, as_printed: bool = False) -> float:
    """Predict the rows that are added: (b + h/2)·n²/c − b·n.

    n customers, c clusters, b items a customer, h = 2bµ items that two customers have in common. The paper prints
    the first term alone, which counts all rows after adding; its worked example subtracts the b·n there before.
    """
    after = (b + h / 2) * n**2 / c
    return after if as_printed else after - b * n


def expected_reid(n: int, c: int) -> float:
    """Predict the share of customers found by their item sets, c/n: one in each cluster, who bought the most."""
    return c / n


def best_clusters(n: int, b: float, h: float, alpha: float) -> float:
    """Return the number of clusters with the least α·Δm + Reid, c* = √(α(b + h/2)n³).

    α says how much one added row weighs against the whole of the customers being found.
    """
    return math.sqrt(alpha * (b + h / 2) * n**3)


def most_dummies(n: int, b: float, h: float) -> float:
    """Return the most rows any number of clusters adds: n·(s·b − s(s − 1)/2·h − b) with s = (b + h/2)/h, at most n.

    So many items has the union of a cluster of s customers who share h items two by two; beyond that s it would shrink.
    """
    s = min(n, (b + h / 2) / h) if h else n
    return n * (s * b - s * (s - 1) / 2 * h - b)


def _best_for(sets: ItemSets, alpha: float | None) -> int:
    """Return c* of a history's own n, b and h; without an α, with that which makes the most dummies one."""
    n = len(sets.customers)
    b = float(sets.n_items.mean())
    h = float((sets.n_buyers * (sets.n_buyers - 1)).sum()) / max(1, n * (n - 1))
    most = most_dummies(n, b, h)
    if alpha is None and most <= 0:
        return n
    return min(n, max(1, round(best_clusters(n, b, h, 1 / most if alpha is None else alpha))))


def missing_items(sets: ItemSets, labels: Ints) -> pl.DataFrame:
    """List customer and item for everything that others of the customer's cluster bought and it did not."""
    lacking = []
    for number in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == number)
        bought = sets.bought[members]
        union = np.flatnonzero(np.asarray(bought.sum(axis=0)))
        who, what = np.nonzero(bought[:, union].toarray() == 0)
        lacking.append((members[who], union[what]))
    customer, item = (np.concatenate(part) for part in zip(*lacking, strict=True))
    return pl.DataFrame({"customer": sets.customers.gather(customer), "item": sets.items.gather(item)})


@dataclass(frozen=True, eq=False)
class Places:
    """Where dummies come to stand: each beside one of its customer's rows, with the amounts of one of its item's.

    Both are counted among the rows that are not deleted, in their order, from 0.
    """

    of_customer: Ints
    of_item: Ints
    # Beyond the row that it stands beside, or before it if negative; less than half the way to the next.
    offset: Floats

    @classmethod
    def drawn(cls, missing: pl.DataFrame, n_of: Mapping[str, pl.DataFrame], rng: np.random.Generator) -> Places:
        """Draw the places of missing items, given how many rows each customer and each item has (`n`)."""
        of_customer, of_item = (_drawn_below(missing, n_of[column], column, rng) for column in ("customer", "item"))
        # Before or after with the same chance, so that neither the first nor the last row of an invoice must be real.
        offset = rng.choice([-0.5, 0.5], missing.height) * rng.random(missing.height)
        return cls(of_customer, of_item, offset)

    def gaps(self, beside: Ints) -> tuple[Ints, Ints]:
        """Return the row before which each dummy stands, from the one it is drawn to, and its number in the gap."""
        is_after = self.offset >= 0
        before = beside + is_after
        order = np.lexsort((np.where(is_after, self.offset, 1 + self.offset), before))
        gaps = before[order]
        starts = np.flatnonzero(np.append(True, gaps[1:] != gaps[:-1]))
        within = np.empty(len(order), np.int64)
        within[order] = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
        return before, within


def _drawn_below(missing: pl.DataFrame, sizes: pl.DataFrame, column: str, rng: np.random.Generator) -> Ints:
    found = missing.select(column).join(sizes, on=column, how="left", maintain_order="left")
    drawn: Ints = np.floor(rng.random(found.height) * found["n"].to_numpy()).astype(np.int64)
    return drawn


def _copies(rows: Rows, missing: pl.DataFrame, places: Places) -> Frame:
    """Find the drawn rows by their number among those of the customer, and of the item."""
    import narwhals as nw

    at = {"at_customer": pl.Series(places.of_customer), "at_item": pl.Series(places.of_item)}
    wanted = rows.labels(missing.select("customer", "item", copy=pl.int_range(pl.len(), dtype=pl.Int64), **at))
    row = nw.col("row").cast(nw.Int64)
    number = {f"at_{column}": row.rank("ordinal").over(column).cast(nw.Int64) - 1 for column in ("customer", "item")}
    there = rows.rows.select("customer", "item", "row", **number)
    owned = there.select("customer", "at_customer", beside="row")
    sold = there.select("item", "at_item", like="row")
    found = wanted.join(owned, on=["customer", "at_customer"], how="inner")
    found = found.join(sold, on=["item", "at_item"], how="inner")
    return found.select("copy", "item", "beside", "like")
