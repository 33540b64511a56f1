"""What known purchases say on whose the published rows are, customer by customer.

Whose rows stand under the same pseudonym, or under pseudonyms that share customers with it (a group); who has a known
purchase on the same day, at the same time, or under the pseudonym on that day (a basket); who buys the item; how much
of everybody is left to find; and whose pseudonym another attack says it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from tokumei.attacks.attribution.purchases import Found
from tokumei.attacks.attribution.sides import N_CANDIDATES, Bools, Floats, Ints, Sides

# So many steps from pseudonyms to customers and on are looked at.
MOST_STEPS = 20_000_000
# Pseudonyms under which so much of what is found is one customer's are weighed apart from those that several share.
ONE_CUSTOMER = 0.8
# What each kind of evidence is worth before anything is learned.
USUAL = {
    "pseudonym": 1.0,
    "group": 0.5,
    "alike": 0.5,
    "day": 0.5,
    "day of few": 0.5,
    "moment": 1.0,
    "basket": 2.0,
    "item": 0.5,
    "left": 0.5,
    "linked": 0.0,
    "linked alike": 1.0,
}
# A customer whom nothing speaks for.
LEAST = 1e-3
# How often a customer is of another group than the pseudonyms that another attack names are of.
UNLINKED = 0.05


class Evidence:
    """What some known purchases say on whose the published rows are."""

    def __init__(self, sides: Sides, pairs: Found, is_used: Bools, linked: Ints) -> None:
        """Take the pairs of those purchases that are used, and the customer (or −1) of each row by another attack."""
        from scipy import sparse

        self.sides, self.linked = sides, linked
        shape = n_customers, _ = len(sides.customers), sides.n_pseudonyms
        mine = is_used[pairs.purchase]
        purchase, row, chance = pairs.purchase[mine], pairs.row[mine], pairs.chance[mine]
        owner, name = sides.who[purchase], sides.pseudonym[row]
        met = sparse.csr_array((chance, (owner, name)), shape=shape)
        group = near_pseudonyms(met)
        met_alike = sparse.csr_array((chance, (owner, sides.alike[name])), shape=shape)
        alike = _shares(met_alike, axis=0)[:, sides.alike]
        linked_alike = _linked_alike(sides, linked)
        self.candidates = likeliest(group + alike + linked_alike, linked, sides)
        self.group, self.alike, self.linked_alike = (
            _looked_up(table, self.candidates) for table in (group, alike, linked_alike)
        )
        self.own = _looked_up(met, self.candidates)
        is_mixed = self.own.max(axis=1) < ONE_CUSTOMER * met.sum(axis=0)
        # Few purchases found under a pseudonym may be one customer's by chance; those of all alike tell more.
        self.is_shared = is_mixed | ((self.alike.max(axis=1) < ONE_CUSTOMER) & (self.alike.max(axis=1) > 0))
        # Everything by keys of a customer and a value, with the number of known purchases.
        known = {name: codes[is_used] for name, codes in sides.known.items()}
        who = sides.who[is_used]
        self.width = {name: int(max(known[name].max(initial=0), sides.seen[name].max(initial=0))) + 1 for name in known}
        self.counts = {
            name: _counted(who * self.width[name] + known[name]) for name in ("day", "moment", "month", "item")
        }
        self.baskets = _counted(
            (owner * sides.n_pseudonyms + name) * self.width["day"] + sides.seen["day"][row], chance
        )
        self.n_known = np.bincount(who, minlength=n_customers).astype(np.float64)
        usual = np.bincount(sides.seen["item"], minlength=self.width["item"]) + 1.0
        self.usual = usual / usual.sum()

    def features(self, rows: Ints) -> tuple[Ints, Floats]:
        """Return for each row (down) the candidates (across, −1 for none) and what speaks for each of them."""
        sides, name = self.sides, self.sides.pseudonym[rows]
        who = self.candidates[name]
        day = sides.seen["day"][rows][:, None]
        item = sides.seen["item"][rows][:, None]
        basket = (who * sides.n_pseudonyms + name[:, None]) * self.width["day"] + day
        n_item = self._count("item", who, item)
        # A customer's own share of the item, mixed with everybody's, over everybody's.
        habit = np.log1p(n_item / (self.n_known[who] + 5) / self.usual[item])
        # Of those who are near to the pseudonym, how much of what is known of the day is whose.
        near = self.group[name] + self.alike[name]
        on_day = self._count("day", who, day) * near
        found = {
            "pseudonym": np.log1p(2 * self.own[name]),
            "group": np.log(self.group[name] + LEAST),
            "alike": np.log(self.alike[name] + LEAST),
            "day": np.log1p(self._count("day", who, day)),
            "day of few": np.log(on_day / np.maximum(on_day.sum(axis=1, keepdims=True), LEAST) + LEAST),
            "moment": np.log1p(self._count("moment", who, sides.seen["moment"][rows][:, None])),
            "basket": np.log1p(2 * _values_of(*self.baskets, basket)),
            "item": habit,
            "left": np.log(self._count("month", who, sides.seen["month"][rows][:, None]) + 0.5),
            "linked": (who == self.linked[rows][:, None]).astype(np.float64),
            "linked alike": np.log(self.linked_alike[name] + UNLINKED),
        }
        return who, np.stack([found[kind] for kind in USUAL]) * (who >= 0)

    def _count(self, kind: str, who: Ints, code: Ints) -> Floats:
        return _values_of(*self.counts[kind], who * self.width[kind] + code)


def _counted(keys: Ints, weights: Floats | None = None) -> tuple[Ints, Floats]:
    """Return the keys that there are, in order, and how often or with which weight in all."""
    found, at = np.unique(keys, return_inverse=True)
    return found, np.bincount(at, weights, len(found)).astype(np.float64)


def _values_of(keys: Ints, values: Floats, asked: Ints) -> Floats:
    """Look values up by their sorted keys; 0 where there is none."""
    if not len(keys):
        return np.zeros(asked.shape)
    at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.where(keys[at] == asked, values[at], 0.0)


def near_pseudonyms(met: Any) -> Any:
    """Return how near each customer is to each pseudonym: from it to a customer, to a pseudonym, to a customer.

    `met` holds how many known purchases of a customer (down) stand under a pseudonym (across). In a group whose
    purchases were dealt out, all its customers are about as near; otherwise its own customer alone.
    """
    of_name, of_customer = _shares(met, axis=0), _shares(met, axis=1)
    if (np.diff(of_name.indptr).astype(np.float64) ** 2).sum() > MOST_STEPS:
        return of_name
    between = of_name @ of_customer.T
    # Where little is found for sure, everybody is near everybody: then only whom a pseudonym leads to at once.
    if between.nnz * of_name.nnz / max(1, met.shape[0]) > MOST_STEPS:
        return of_name
    return between @ of_name


def _linked_alike(sides: Sides, linked: Ints) -> Any:
    """Return which share of the customers that another attack names under all pseudonyms alike each one is."""
    from scipy import sparse

    there = np.flatnonzero((linked >= 0) & (np.bincount(sides.alike)[sides.alike] > 1)[sides.pseudonym])
    shape, ones = (len(sides.customers), sides.n_pseudonyms), np.ones(len(there))
    met = sparse.csr_array((ones, (linked[there], sides.alike[sides.pseudonym[there]])), shape=shape)
    return _shares(met, axis=0)[:, sides.alike]


def _shares(met: Any, axis: int) -> Any:
    """Divide a sparse table by the sums along an axis."""
    sums = np.maximum(met.sum(axis=axis), LEAST)
    return met.multiply(1 / (sums[None, :] if axis == 0 else sums[:, None])).tocsc()


def likeliest(group: Any, linked: Ints, sides: Sides) -> Ints:
    """Return the candidates of each pseudonym (down), the nearest first; −1 for none."""
    near = group.tocoo()
    # Of what is shared among more than could be weighed, the rest is not looked at.
    is_near = near.data > 1 / (4 * N_CANDIDATES)
    customer, name, share = near.row[is_near].astype(np.int64), near.col[is_near].astype(np.int64), near.data[is_near]
    there = linked >= 0
    named = np.unique(sides.pseudonym[there] * len(sides.customers) + linked[there])
    # Whom another attack names is weighed, too, however near.
    name = np.concatenate([name, named // max(1, len(sides.customers))])
    customer = np.concatenate([customer, named % max(1, len(sides.customers))])
    is_named = np.concatenate([np.zeros(len(share)), np.ones(len(named))])
    share = np.concatenate([share, np.zeros(len(named))])
    pairs = pl.DataFrame({"name": name, "customer": customer, "share": share, "is_named": is_named})
    pairs = pairs.group_by("name", "customer").agg(pl.col("share", "is_named").max())
    pairs = pairs.sort("name", pl.col("is_named"), "share", "customer", descending=[False, True, True, False])
    pairs = pairs.with_columns(place=pl.int_range(pl.len()).over("name")).filter(pl.col("place") < N_CANDIDATES)
    width = int(pairs.select((pl.col("place") + 1).max()).item() or 1)
    candidates = np.full((sides.n_pseudonyms, width), -1, np.int64)
    candidates[pairs["name"].to_numpy(), pairs["place"].to_numpy()] = pairs["customer"].to_numpy()
    return candidates


def _looked_up(table: Any, candidates: Ints) -> Floats:
    """Return the cells of a sparse table of customers (down) and pseudonyms for each pseudonym's candidates."""
    n_names = len(candidates)
    cells = table.tocsc()
    cells.sort_indices()
    keys = np.repeat(np.arange(n_names), np.diff(cells.indptr)) * table.shape[0] + cells.indices
    asked = np.arange(n_names)[:, None] * table.shape[0] + candidates
    return np.where(candidates >= 0, _values_of(keys, cells.data, asked), 0.0)
