"""Whether the goods often bought together still are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.data.history import History

Itemset = tuple[int, ...]
Matrix = sparse.csr_array[Any, tuple[int, int]]

# Customer and day are packed into one number; all dates of Python's calendar fit, counted from year 1.
DAY_BITS = 22
FIRST_DAY = 719_162
SETS_AT_ONCE = 2_000


@dataclass(frozen=True)
class FrequentItemsets:
    """Share of the frequent itemsets of the original that the release no longer has: 0 if none, 1 if all.

    An invoice is what one customer, in a release one pseudonym, bought on one day (PWSCUP 2018). Frequent are the
    `n_sets` itemsets that most invoices hold, of those that as many hold the smaller ones first; or, where
    `least_support` is given, all that at least such a share of the invoices of its own side holds. A single item counts
    as a set. Where the original has none, nothing is lost.

    The papers name neither number. A fixed support cannot be what the report on PWSCUP 2018 used: dates drawn from
    ranges tear invoices apart, so that a release has ten times as many and hardly any set in 1 % of them. The 200 most
    frequent sets lose .23 to .25 on releases whose customers are in groups, where its table 6 prints .202 to .243 for
    nine teams.
    """

    least_support: float | None = field(
        default=None,
        metadata={"help": "Share of the invoices that must hold an itemset for it to be frequent, in place of n_sets."},
    )
    largest_size: int = field(default=3, metadata={"help": "Most items of a set; larger sets are not looked for."})
    n_sets: int = field(default=200, metadata={"help": "How many of the most frequent itemsets are compared."})

    def measure(self, original: History, released: History) -> Score:
        """Compare the frequent itemsets of both."""
        self.check_options()
        items = original.kept["item"].unique().sort()
        # Items that only the release has are left out: no itemset of the original holds them.
        before, after = (invoice_items(history, items) for history in (original, released))
        if self.least_support is None:
            sets = most_frequent_itemsets(before, self.n_sets, self.largest_size)
            n_lost = len(set(sets) - set(most_frequent_itemsets(after, self.n_sets, self.largest_size)))
        else:
            sets = frequent_itemsets(before, n_least_of(self.least_support, before.shape[0]), self.largest_size)
            # Only the original's sets are counted: a release that is one invoice of everything has too many to list.
            n_lost = len(sets) - count_frequent(after, sets, n_least_of(self.least_support, after.shape[0]))
        return Score("frequent-itemsets", n_lost / len(sets) if sets else 0.0, best=0, worst=1)

    def check_options(self) -> None:
        """Refuse numbers beyond their ends."""
        if self.least_support is not None and not 0 < self.least_support <= 1:
            raise InputError.of("a share above 0, at most 1", option="least_support", value=self.least_support)
        for name in ("largest_size", "n_sets"):
            if getattr(self, name) < 1:
                raise InputError.of("1 or more", option=name, value=getattr(self, name))


def n_least_of(least_support: float, n_invoices: int) -> int:
    """Return how many invoices make a share of them."""
    return max(1, math.ceil(least_support * n_invoices - 1e-9))


def most_frequent_itemsets(invoices: Matrix, n_sets: int, largest_size: int) -> list[Itemset]:
    """Find the sets that most invoices hold; of equally many, smaller ones and then those of earlier items first."""
    by_item = np.sort(invoices.sum(axis=0))[::-1]
    # So many single items already are as frequent: larger sets count only where they are more so, and are few.
    enough = int(by_item[n_sets - 1]) if len(by_item) >= n_sets else 0
    sets = frequent_itemsets(invoices, enough + 1, largest_size)
    if enough:
        sets += [(int(item),) for item in np.flatnonzero(invoices.sum(axis=0) == enough)]
    held = n_holding(invoices, sets)
    order = sorted(range(len(sets)), key=lambda index: (-held[index], len(sets[index]), sets[index]))
    return [sets[index] for index in order[:n_sets]]


def invoice_items(history: History, items: pl.Series) -> Matrix:
    """Mark which items each invoice, all rows of one customer and day, holds."""
    kept = history.kept
    customer = kept["customer"].cast(pl.Enum(kept["customer"].unique())).to_physical().to_numpy().astype(np.int64)
    day = kept["date"].cast(pl.Int32).to_numpy().astype(np.int64)
    invoices, invoice = np.unique((customer << DAY_BITS) | (day + FIRST_DAY), return_inverse=True)
    item = kept["item"].cast(pl.Enum(items), strict=False).to_physical()
    is_listed = item.is_not_null().to_numpy()
    cells = invoice[is_listed].astype(np.int32), item.drop_nulls().to_numpy().astype(np.int32)
    counts = sparse.coo_array((np.ones(len(cells[0]), np.int32), cells), shape=(len(invoices), len(items))).tocsr()
    # An item that stands twice in an invoice is in it once.
    counts.data[:] = 1
    return counts


class TooManySets(Exception):
    """So many itemsets are so frequent that they are not listed."""


def frequent_itemsets(invoices: Matrix, n_least: int, largest_size: int, most_sets: int | None = None) -> list[Itemset]:
    """Find all sets of at most `largest_size` items that at least `n_least` invoices hold, as ascending positions.

    Level by level, exactly: one sparse product counts how often each frequent set meets each frequent item, and only
    items behind the last of a set extend it, so that every set is made once. More than `most_sets` of one size are
    TooManySets.
    """
    frequent = np.flatnonzero(invoices.sum(axis=0) >= n_least)
    holds_item: Matrix = invoices[:, frequent]
    last: npt.NDArray[np.integer] = np.arange(len(frequent))
    holds_set, sets = holds_item, last[:, None]
    found = [sets]
    while len(sets) and sets.shape[1] < largest_size:
        together = (holds_set.T.tocsr() @ holds_item).tocoo()
        base, item = together.coords
        is_frequent = (together.data >= n_least) & (item > last[base])
        base, item = base[is_frequent], item[is_frequent]
        if most_sets is not None and len(base) > most_sets:
            raise TooManySets
        holds_set = holds_set.tocsc()[:, base].multiply(holds_item.tocsc()[:, item]).tocsr()
        sets, last = np.column_stack([sets[base], item]), item
        found.append(sets)
    return [tuple(row) for level in found for row in frequent[level].tolist()]


def count_frequent(invoices: Matrix, sets: Sequence[Itemset], n_least: int) -> int:
    """Count the sets that at least `n_least` invoices hold."""
    return int((n_holding(invoices, sets) >= n_least).sum())


def n_holding(invoices: Matrix, sets: Sequence[Itemset]) -> npt.NDArray[np.int64]:
    """Return for each set the number of invoices that hold it."""
    by_item = invoices.tocsc()
    out = np.zeros(len(sets), np.int64)
    for size in {len(one) for one in sets}:
        of_size = [index for index, one in enumerate(sets) if len(one) == size]
        for start in range(0, len(of_size), SETS_AT_ONCE):
            indices = of_size[start : start + SETS_AT_ONCE]
            some = np.array([sets[index] for index in indices])
            held = by_item[:, some[:, 0]]
            for items in some[:, 1:].T:
                held = held.multiply(by_item[:, items]).tocsc()
            out[indices] = held.sum(axis=0)
    return out
