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

    An invoice is what one customer, in a release one pseudonym, bought on one day (PWSCUP 2018). An itemset is
    frequent where at least a share `least_support` of the invoices of its own side hold all its items. The papers
    name neither the support nor the size; a single item counts as a set. Where the original has none, nothing is lost.
    """

    least_support: float = field(
        default=0.01, metadata={"help": "Share of the invoices that must hold an itemset for it to be frequent."}
    )
    largest_size: int = field(default=3, metadata={"help": "Most items of a set; larger sets are not looked for."})

    def measure(self, original: History, released: History) -> Score:
        """Compare the frequent itemsets of both."""
        if not 0 < self.least_support <= 1:
            raise InputError.of("a share above 0, at most 1", column="least_support", value=self.least_support)
        if self.largest_size < 1:
            raise InputError.of("at least one item", column="largest_size", value=self.largest_size)
        items = original.kept["item"].unique().sort()
        # Items that only the release has are left out: no itemset of the original holds them.
        before, after = (invoice_items(history, items) for history in (original, released))
        sets = frequent_itemsets(before, self._n_least(before), self.largest_size)
        # Only the original's sets are counted: a release that is one invoice of everything has too many to list.
        n_lost = len(sets) - count_frequent(after, sets, self._n_least(after))
        return Score("frequent-itemsets", n_lost / len(sets) if sets else 0.0, best=0, worst=1)

    def _n_least(self, invoices: Matrix) -> int:
        return max(1, math.ceil(self.least_support * invoices.shape[0] - 1e-9))


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


def frequent_itemsets(invoices: Matrix, n_least: int, largest_size: int) -> list[Itemset]:
    """Find all sets of at most `largest_size` items that at least `n_least` invoices hold, as ascending positions.

    Level by level, exactly: one sparse product counts how often each frequent set meets each frequent item, and only
    items behind the last of a set extend it, so that every set is made once.
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
        holds_set = holds_set.tocsc()[:, base].multiply(holds_item.tocsc()[:, item]).tocsr()
        sets, last = np.column_stack([sets[base], item]), item
        found.append(sets)
    return [tuple(row) for level in found for row in frequent[level].tolist()]


def count_frequent(invoices: Matrix, sets: Sequence[Itemset], n_least: int) -> int:
    """Count the sets that at least `n_least` invoices hold."""
    by_item = invoices.tocsc()
    n_frequent = 0
    for size in {len(one) for one in sets}:
        same_size = np.array([one for one in sets if len(one) == size])
        for start in range(0, len(same_size), SETS_AT_ONCE):
            some = same_size[start : start + SETS_AT_ONCE]
            held = by_item[:, some[:, 0]]
            for items in some[:, 1:].T:
                held = held.multiply(by_item[:, items]).tocsc()
            n_frequent += int((held.sum(axis=0) >= n_least).sum())
    return n_frequent
