"""Customers with like months, put into groups so that few rows must be cut to make their numbers of rows equal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tokumei.core.errors import CannotAnonymize
from tokumei.core.progress import step
from tokumei.core.text import Text
from tokumei.engines.item_sets import Ints

# Costs are kept for all pairs of a block, so that memory grows with the customers and not with their square.
BLOCK = 1_500
NEVER = np.iinfo(np.int64).max // 4


def group_like_months(n_rows: Ints, *, most_found: int, smallest: int, most_open: int) -> Ints:
    """Return the group of each customer, −1 if the customer is left open.

    `n_rows` has the rows of each customer in each month. Two groups at a time are merged, those that lose the fewest
    rows when every month is cut to its smallest customer, until open customers and groups together are at most
    `most_found` and the open ones at most `most_open`. What is smaller than `smallest` in the end is open. Groups
    without a common month are never merged: who is deleted whole is no better hidden than who is open.
    """

    def holds(sizes: Ints) -> bool:
        n_open = int(sizes[sizes < smallest].sum())
        return n_open + int((sizes >= smallest).sum()) <= most_found and n_open <= most_open

    labels = _merge(n_rows, holds)
    sizes = np.bincount(labels)
    if not holds(sizes):
        n_open, n_groups = int(sizes[sizes < smallest].sum()), int((sizes >= smallest).sum())
        raise CannotAnonymize(
            Text(
                "No grouping of customers by common months was found under the bound: {n:,} of {m:,} customers "
                "left open and {g:,} groups remain, where {a:,} in all and {b:,} open are allowed.",
                n=n_open,
                m=len(n_rows),
                g=n_groups,
                a=most_found,
                b=most_open,
            )
        )
    is_grouped = sizes[labels] >= smallest
    found = np.unique(labels[is_grouped])
    return np.where(is_grouped, np.searchsorted(found, labels), -1).astype(np.int64)


def _merge(n_rows: Ints, holds: Callable[[Ints], bool]) -> Ints:
    """Merge groups until their sizes hold, or no two of a block can be merged."""
    # Whoever has the same rows in every month is merged at no cost.
    profiles, kind = np.unique(n_rows, axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    sizes = np.bincount(kind, minlength=len(profiles))
    # Neighbors in this order buy in the same months, and about as much.
    order = np.lexsort((profiles.sum(axis=1), *(profiles > 0).T))
    blocks = [_Block(profiles, sizes, order[at : at + BLOCK]) for at in range(0, len(order), BLOCK)]
    into = np.arange(len(profiles))
    with step("grouping", len(profiles)) as bar:
        while blocks and not holds(sizes[sizes > 0]):
            block = min(blocks, key=lambda one: one.next_cost)
            if block.next_cost >= NEVER:
                break
            one, two = block.merge()
            sizes[one], sizes[two] = sizes[one] + sizes[two], 0
            into[two] = one
            bar.advance()
    while not np.array_equal(into, into[into]):
        into = into[into]
    labels: Ints = np.unique(into[kind], return_inverse=True)[1].reshape(-1)
    return labels


class _Block:
    """Some groups and what merging any two of them would cost, in rows."""

    def __init__(self, profiles: Ints, sizes: Ints, members: Ints) -> None:
        self._members = members
        self._least = profiles[members].astype(np.int64)
        self._sizes = sizes[members].astype(np.int64)
        self._is_left = np.ones(len(members), bool)
        self._costs = np.stack([self._costs_of(at) for at in range(len(members))])
        self._nearest = self._costs.argmin(axis=1)
        self._cheapest = self._costs.min(axis=1)

    @property
    def next_cost(self) -> int:
        """The fewest rows that a merge loses."""
        return int(self._cheapest.min())

    def merge(self) -> tuple[int, int]:
        """Merge the two groups that lose fewest rows; give both, the one that goes on first."""
        one = int(self._cheapest.argmin())
        two = int(self._nearest[one])
        self._least[one] = np.minimum(self._least[one], self._least[two])
        self._sizes[one] += self._sizes[two]
        self._is_left[two] = False
        self._costs[two, :] = self._costs[:, two] = NEVER
        fresh = self._costs_of(one)
        self._costs[one, :] = self._costs[:, one] = fresh
        is_nearer = fresh < self._cheapest
        self._cheapest[is_nearer], self._nearest[is_nearer] = fresh[is_nearer], one
        # Whoever was nearest to a group that changed may be nearer to another now.
        stale = np.flatnonzero(np.isin(self._nearest, (one, two)) & ~is_nearer)
        stale = np.union1d(stale, [one, two])
        self._nearest[stale] = self._costs[stale].argmin(axis=1)
        self._cheapest[stale] = self._costs[stale].min(axis=1)
        return int(self._members[one]), int(self._members[two])

    def _costs_of(self, at: int) -> Ints:
        """Return the rows lost by merging one group with each other; NEVER where no month would be left."""
        common = np.minimum(self._least[at], self._least).sum(axis=1)
        now = self._sizes * self._least.sum(axis=1)
        lost = now[at] + now - (self._sizes[at] + self._sizes) * common
        costs: Ints = np.where(self._is_left & (common > 0), lost, NEVER)
        costs[at] = NEVER
        return costs
