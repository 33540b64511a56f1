"""What a pseudonym buys tells of whom it is, too, where the counterparts of known purchases were deleted.

A known purchase that was deleted is a purchase of the same customer still: its item is one that the customer buys more
often than others do. That the customer behind a pseudonym buys an item is, against anybody,

    (1 − own) + own · (the item's share of the pseudonym's rows) / (its share of all rows)

where `own` is the share of purchases that are repeats of the customer's own goods. It is learned from the release
alone: how well the other days of a pseudonym foretell the items of one of its days. Of films, which nobody rates
twice, it is nothing, and of songs nearly all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tokumei.attacks.linkage.fields import Epoch, Floats, Ints, Ratios
from tokumei.attacks.linkage.rows import Compared, Side

# Steps by which the share of repeats is learned, the share it starts from, and the least that is worth a look.
ROUNDS, FIRST, LEAST = 40, 0.3, 0.02
# Pairs of a customer's and a pseudonym's items held at once.
CHUNK_PAIRS = 2_000_000


@dataclass(frozen=True)
class Taste:
    """The items of each pseudonym, and how much likelier each makes a purchase of it by the customer behind."""

    own: float  # The share of purchases that are repeats.
    keys: Ints  # Item · pseudonyms + pseudonym, in order,
    ratios: Floats  # and the likelihood ratio of each; of all other pairs it is 1 − own.
    n_names: int

    @classmethod
    def of(cls, compared: Compared) -> Taste | None:
        """Learn it from the released rows; None where next to nothing is bought again."""
        released, n_names = compared.released, len(compared.pseudonyms)
        items = items_of(released)
        if not len(items):
            return None
        keys, back, n_times = np.unique(items * n_names + released.owner, return_inverse=True, return_counts=True)
        share = np.bincount(items).astype(np.float64) / len(items)
        sizes = np.bincount(released.owner, minlength=n_names)
        # Other days of the same pseudonym: rows of one day are one visit.
        days = _days(released)
        _, of_day, in_day = np.unique(days, return_inverse=True, return_counts=True)
        _, of_both, in_both = np.unique(days * len(keys) + back, return_inverse=True, return_counts=True)
        others = sizes[released.owner] - in_day[of_day]
        again = (n_times[back] - in_both[of_both]) / np.maximum(others, 1) / share[items]
        own = _own_share(again[others > 0])
        if own < LEAST:
            return None
        ratios = 1 - own + own * n_times / sizes[keys % n_names] / share[keys // n_names]
        return cls(own, keys, ratios, n_names)

    def look_up(self, items: Ints, names: Ints) -> Floats:
        """Return the ratios of some pairs of items and pseudonyms."""
        wanted = items * self.n_names + names
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        found: Floats = np.where(self.keys[at] == wanted, self.ratios[at], 1 - self.own)
        return found

    def of_rows(self, items: Ints, names: Ints) -> Ratios:
        """Return the ratios of known rows (down), by their items, and pseudonyms (across)."""
        values, back = np.unique(items, return_inverse=True)
        found = self.look_up(np.repeat(values, len(names)), np.tile(names, len(values)))
        return found.reshape(len(values), -1)[back].astype(np.float32)

    def weigh(self, known: Side, n_customers: int, epochs: Sequence[Epoch]) -> Floats:
        """Weigh customers (down) against pseudonyms (across) by what is known to be bought in the same epoch."""
        n_items = int(max(items_of(known).max(initial=0), self.keys.max(initial=0) // self.n_names)) + 1
        by_item, names = self.keys // self.n_names, self.keys % self.n_names
        worth = np.log(self.ratios) - np.log1p(-self.own)
        scores = np.zeros((n_customers, self.n_names))
        for epoch in epochs:
            here = known.select(np.isin(known.month, epoch.months))
            cells, n_times = np.unique(here.owner * n_items + items_of(here), return_counts=True)
            customers, items = cells // n_items, cells % n_items
            is_there = np.isin(names, epoch.names)
            of_item, name, worths = by_item[is_there], np.searchsorted(epoch.names, names[is_there]), worth[is_there]
            first: Ints = np.searchsorted(of_item, items)
            last: Ints = np.searchsorted(of_item, items, side="right")
            n_known = np.bincount(here.owner, minlength=n_customers)
            # Of this epoch alone: of many pieces, scores of all pairs are large.
            table = np.repeat(n_known * np.log1p(-self.own), len(epoch.names))
            chunk = np.cumsum(last - first) // CHUNK_PAIRS
            for some in np.split(np.arange(len(cells)), np.flatnonzero(np.diff(chunk)) + 1):
                n = last[some] - first[some]
                one = np.repeat(some, n)
                other = np.arange(len(one)) + np.repeat(first[some] - np.cumsum(n) + n, n)
                at = customers[one] * len(epoch.names) + name[other]
                table += np.bincount(at, n_times[one] * worths[other], len(table))
            scores[:, epoch.names] = table.reshape(n_customers, -1)
        return scores


def items_of(side: Side) -> Ints:
    """Return the item of each row, as far as it is known."""
    return np.asarray(side.codes.get("item", side.kind), np.int64)


def _days(released: Side) -> Ints:
    """Return a number for each pseudonym and day."""
    days = np.asarray(released.codes.get("date", released.month), np.int64)
    return released.owner * (int(days.max(initial=0)) + 1) + days


def _own_share(again: Floats) -> float:
    """Return the share of repeats that makes the items of days likeliest, by expectation maximization.

    again: for each row how much more often the other days of its pseudonym have its item than all rows do.

    >>> round(_own_share(np.array([0.0, 0.0, 1e9, 1e9])), 3)
    0.5
    >>> _own_share(np.array([1e9, 1e9, 1e9]))  # of three repeats of three nobody knows that there is nothing else
    0.75
    """
    own, n = FIRST, len(again)
    for _ in range(ROUNDS if n else 0):
        own = float((own * again / (1 - own + own * again)).mean())
    return min(own, n / (n + 1)) if n else 0.0
