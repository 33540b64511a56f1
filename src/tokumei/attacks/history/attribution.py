"""Whose purchase each published row is, for somebody who knows some purchases of everybody.

Knowledge: some rows of the original, items whole or cut to their first characters, nothing on how the release was made.
Aim: the buyer of every published row, whoever's pseudonym it stands under. Success: the buyer of a row that was not
known before.

Known purchases are found again among the published rows first, by all that both sides have in common; where a purchase
keeps its values and only its day was changed, by all but the day. A row that is found is its customer's. Of every other
row the customers are weighed by what the rows that were found say: whose rows stand under the same pseudonym, or under
pseudonyms that share customers with it (a group); who has a known purchase on the same day, at the same time, or under
the pseudonym on that day (a basket); who buys the item; how much of everybody is left to find; and whose pseudonym
another attack says it is. What each of these is worth is learned from the known purchases themselves: a third of
them is weighed by what the others say (a conditional logistic regression). So days count for much in a release that
keeps baskets together, and for nothing in one that has dealt them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.attacks.judge import wilson_interval
from tokumei.attacks.linkage.rows import learn_weights
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.core.text import Text
from tokumei.data.history import History, period_of
from tokumei.hierarchies.files import roll_together
from tokumei.hierarchies.hierarchy import Hierarchy

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

VALUES = ("item", "price", "quantity")
ALL_KNOWN = Text("every published purchase was known before")
# One of so many known purchases is held back, to learn what the others say of it.
HELD_BACK = 3
# Customers who are weighed for a row, the likeliest by its pseudonym.
N_CANDIDATES = 64
# A purchase that so many published rows are equal to says nothing.
MOST_EQUAL = 500
# So many pairs of a purchase and a row are weighed at once; a pair that is hardly one is left out of all else.
MOST_PAIRS, HARDLY = 2_000_000, 0.01
# So many steps from pseudonyms to customers and on are looked at.
MOST_STEPS = 20_000_000
# Known purchases are found by all values if so many are, else by the item alone.
ENOUGH_FOUND = 0.5
# Days of a month on which a row might stand by chance.
DAYS = 25
ROUNDS = 3
# How often a purchase was not published, and another equal to it was in that month.
UNPUBLISHED = 0.02
# How much a pseudonym speaks for a customer of whom nothing is found under it yet, in purchases.
LEAST_FOUND = 0.1
# So large a share of a customer's purchases is expected under the pseudonym that another attack names.
BELIEVED = 0.25
# Pseudonyms under which so much of what is found is one customer's are weighed apart from those that several share.
ONE_CUSTOMER = 0.8
# A row is taken for a known purchase from here on, and learned from where it is nearly sure.
FOUND, SURE = 0.5, 0.8
ROWS_AT_ONCE = 20_000
# Few examples are learned from many times over; more than so many add nothing.
MOST_EXAMPLES = 4_000
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
# What the pseudonym that another attack names is worth where purchases have lost their values.
TRUSTED = 15.0
# And where they have not, under pseudonyms of one customer and under those that several share.
LINKED = (2.0, 0.0)
# A customer whom nothing speaks for.
LEAST = 1e-3
# How often a customer is of another group than the pseudonyms that another attack names are of.
UNLINKED = 0.05
# Where fewer known purchases are found for sure, the likeliest rows of all teach.
FEW_EXAMPLES = 20
NOBODY = -1e9


@dataclass(frozen=True)
class Sides:
    """Known and published rows with numbers for all values, equal values having equal numbers on both sides."""

    customers: list[str]
    who: Ints
    known: dict[str, Ints]
    pseudonym: Ints
    seen: dict[str, Ints]
    n_pseudonyms: int
    # Pseudonyms with as many rows in every month have the same number here.
    alike: Ints

    @classmethod
    def of(cls, knowledge: History, published: History) -> Sides:
        """Assign numbers; items are compared by as many characters as are known."""
        ours, theirs = knowledge.kept, published.kept
        shared = [name for name in VALUES if name not in knowledge.absent and name not in published.absent]
        if "item" in shared and ours.height:
            n_characters = ours.select(pl.col("item").str.len_chars().max()).item()
            theirs = theirs.with_columns(pl.col("item").str.slice(0, n_characters))
        columns = {
            "day": ["date"],
            "moment": ["date", "time"],
            "month": ["month"],
            "item": ["month"] if "item" not in shared else ["item"],
            "values": ["month", *shared],
            "kind": ["month", *(name for name in shared if name == "item")],
        }
        both = pl.concat([side.select("date", "time", *VALUES) for side in (ours, theirs)])
        both = both.with_columns(month=period_of(pl.col("date")), time=pl.col("time").fill_null(pl.time(0, 0)))
        codes = {
            name: both.select(pl.struct(of).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
            for name, of in columns.items()
        }
        n = ours.height
        customers, names = knowledge.customers, published.customers
        pseudonym = _numbers(theirs["customer"], names)
        return cls(
            customers,
            _numbers(ours["customer"], customers),
            {name: code[:n] for name, code in codes.items()},
            pseudonym,
            {name: code[n:] for name, code in codes.items()},
            len(names),
            _alike(pseudonym, codes["month"][n:], len(names), len(customers)),
        )


def _numbers(names: pl.Series, known: Sequence[str]) -> Ints:
    return names.cast(pl.Enum(known)).to_physical().cast(pl.Int64).to_numpy()


def _alike(pseudonym: Ints, month: Ints, n_names: int, n_customers: int) -> Ints:
    """Assign the same number to pseudonyms with the same numbers of rows in all months, unless very many have them."""
    n_months = int(month.max(initial=0)) + 1
    counts = np.bincount(pseudonym * n_months + month, minlength=n_names * n_months).reshape(n_names, n_months)
    _, number, n_alike = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
    number = number.reshape(-1).astype(np.int64)
    # Named by the first of them, so that numbers are those of pseudonyms.
    firsts = np.full(n_names, n_names, np.int64)
    np.minimum.at(firsts, number, np.arange(n_names))
    # Where customers have several pseudonyms, as many rows in a single month are soon a coincidence.
    is_whole = n_names <= 2 * n_customers
    tells = (n_alike[number] <= N_CANDIDATES) & (is_whole | ((counts > 0).sum(axis=1) > 1))
    return np.where(tells, firsts[number], np.arange(n_names))


@dataclass(frozen=True)
class Found:
    """Pairs of a known purchase and a published row that may be it, and the chance that it is."""

    purchase: Ints
    row: Ints
    chance: Floats
    # Whether most purchases were found with all their values; else only items and months agree.
    is_exact: bool


class Evidence:
    """What some known purchases say on whose the published rows are."""

    def __init__(self, sides: Sides, pairs: Found, is_used: Bools, linked: Ints) -> None:
        """Take the pairs of those purchases that are used, and the customer (or −1) of each row by another attack."""
        from scipy import sparse

        self.sides, self.linked = sides, linked
        n_customers = len(sides.customers)
        mine = is_used[pairs.purchase]
        purchase, row, chance = pairs.purchase[mine], pairs.row[mine], pairs.chance[mine]
        owner, name = sides.who[purchase], sides.pseudonym[row]
        met = sparse.csr_array((chance, (owner, name)), shape=(n_customers, sides.n_pseudonyms))
        group = near_pseudonyms(met)
        met_alike = sparse.csr_array((chance, (owner, sides.alike[name])), shape=(n_customers, sides.n_pseudonyms))
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
            name: np.unique(who * self.width[name] + known[name], return_counts=True)
            for name in ("day", "moment", "month", "item")
        }
        basket = (owner * sides.n_pseudonyms + name) * self.width["day"] + sides.seen["day"][row]
        keys, at = np.unique(basket, return_inverse=True)
        self.baskets: tuple[Ints, Floats] = (keys, np.bincount(at, chance, len(keys)).astype(np.float64))
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
        keys, counts = self.counts[kind]
        return _values_of(keys, counts.astype(np.float64), who * self.width[kind] + code)


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


def find_purchases(sides: Sides, linked: Ints) -> Found:
    """Find known purchases among the published rows: each is one of those that are equal to it, if any.

    Of equal rows, those under a pseudonym where more of the customer's purchases are found are likelier, and those
    under a pseudonym that is said to be the customer's (`linked`, of each row).
    """
    key = "values"
    if np.isin(sides.known[key], sides.seen[key]).mean() < ENOUGH_FOUND:
        key = "kind"
    order = np.argsort(sides.seen[key], kind="stable")
    codes = sides.seen[key][order]
    first, end = (np.searchsorted(codes, sides.known[key], side) for side in ("left", "right"))
    n_equal = np.where(end - first <= MOST_EQUAL, end - first, 0)
    # Of very many the least usual alone, which say most.
    n_equal[n_equal > _largest_within(n_equal, MOST_PAIRS)] = 0
    purchase = np.repeat(np.arange(len(sides.who)), n_equal)
    within = np.arange(len(purchase)) - np.repeat(np.cumsum(n_equal) - n_equal, n_equal)
    row = order[np.repeat(first, n_equal) + within]
    is_same_day = sides.known["day"][purchase] == sides.seen["day"][row]
    alone = n_equal[purchase] == 1
    # How often a purchase that can only be one row keeps its day: more than by chance, unless days were dealt out.
    kept = min(max(float(is_same_day[alone].mean()) if alone.any() else 0.5, 0.01), 0.99)
    start = np.where(is_same_day, kept / (1 - kept) * DAYS, 1.0)
    # Or the purchase was not published: a row of another day says so where days are kept.
    unpublished = UNPUBLISHED / (1 - kept)
    # Of pseudonyms alike, among which purchases may have been dealt out, all together are whose purchases are found.
    alike = sides.alike[sides.pseudonym]
    owner, name = sides.who[purchase], alike[row]
    n_customers = max(1, len(sides.customers))
    pair = name * n_customers + owner
    cells, at = np.unique(pair, return_inverse=True)
    # As many of a customer's purchases would be found under a pseudonym by chance.
    n_known, n_rows = np.bincount(sides.who, minlength=n_customers), np.bincount(alike)
    by_chance = LEAST_FOUND + n_known[owner] * n_rows[name] / len(sides.pseudonym)
    is_linked = np.isin(pair, (alike * n_customers + linked)[linked >= 0])
    expected = LEAST_FOUND + is_linked * (1 + n_known[owner] * BELIEVED)
    weight = expected / by_chance
    for _ in range(ROUNDS):
        chance = start * weight
        chance /= np.bincount(purchase, chance, len(sides.who))[purchase] + unpublished
        # One row is one purchase.
        chance /= np.maximum(np.bincount(row, chance, len(sides.pseudonym))[row], 1.0)
        # Whose purchases are found under a pseudonym is likelier to be right the next time.
        weight = (expected + np.bincount(at, chance, len(cells))[at]) / by_chance
    is_likely = chance > HARDLY
    return Found(purchase[is_likely], row[is_likely], chance[is_likely], key == "values")


def _largest_within(sizes: Ints, limit: int) -> int:
    """Return the largest size up to which all sizes together stay within a limit."""
    ordered = np.sort(sizes)
    n_within = int(np.searchsorted(np.cumsum(ordered), limit, "right"))
    return int(ordered[n_within - 1]) if n_within == len(ordered) else int(ordered[n_within]) - 1


def attribute(knowledge: History, published: History, guesses: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return for each published row that is left, in order, the customer believed to have bought it and the chance.

    guesses: the pseudonym of each customer and month as another attack guesses it, which is weighed with the rest. The
    column `is_found` marks the rows taken for purchases that are known.
    """
    n_rows = published.kept.height
    schema = {"customer": pl.String, "chance": pl.Float64, "is_found": pl.Boolean}
    if not n_rows or not knowledge.kept.height:
        empty = {"customer": [None] * n_rows, "chance": [0.0] * n_rows, "is_found": [False] * n_rows}
        return pl.DataFrame(empty, schema=schema)
    sides = Sides.of(knowledge, published)
    linked = _linked(sides, published, guesses)
    pairs = find_purchases(sides, linked)
    weights = _learned(sides, pairs, linked)
    evidence = Evidence(sides, pairs, np.ones(len(sides.who), bool), linked)
    customer, chance = np.full(n_rows, -1, np.int64), np.zeros(n_rows)
    for first in range(0, n_rows, ROWS_AT_ONCE):
        rows = np.arange(first, min(first + ROWS_AT_ONCE, n_rows))
        who, features = evidence.features(rows)
        kind = evidence.is_shared[sides.pseudonym[rows]].astype(np.int64)
        scores = np.where(who >= 0, np.einsum("rf,frc->rc", weights[kind], features), NOBODY)
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        best = scores.argmax(axis=1)
        customer[rows] = who[np.arange(len(rows)), best]
        chance[rows] = np.where(customer[rows] >= 0, scores[np.arange(len(rows)), best] / scores.sum(axis=1), 0.0)
    is_found = _give_found(sides, pairs, customer, chance)
    names = pl.Series(sides.customers, dtype=pl.String)
    said = names.gather(pl.Series(np.maximum(customer, 0))).set(pl.Series(customer < 0), None)
    return pl.DataFrame({"customer": said, "chance": chance, "is_found": is_found}, schema=schema)


def _give_found(sides: Sides, pairs: Found, customer: Ints, chance: Floats) -> Bools:
    """Give rows that are taken for a known purchase to its customer, and mark them."""
    n_customers = len(sides.customers)
    cells, at = np.unique(pairs.row * n_customers + sides.who[pairs.purchase], return_inverse=True)
    sure = np.bincount(at, pairs.chance, len(cells))
    is_one = sure > FOUND
    row, who = np.divmod(cells[is_one], n_customers)
    customer[row], chance[row] = who, np.minimum(sure[is_one], 1.0)
    is_found = np.zeros(len(customer), bool)
    is_found[row] = True
    return is_found


def _linked(sides: Sides, published: History, guesses: pl.DataFrame | None) -> Ints:
    """Return the customer whose pseudonym each row stands under by another attack's guesses, −1 where it names none."""
    if guesses is None or not guesses.height:
        return np.full(len(sides.pseudonym), -1, np.int64)
    named = guesses.select("period", "pseudonym", "customer").drop_nulls().unique(["period", "pseudonym"], keep="none")
    named = named.filter(pl.col("customer").is_in(sides.customers))
    named = named.with_columns(pl.Series("number", _numbers(named["customer"], sides.customers)))
    rows = published.kept.select(pseudonym="customer", period=period_of(pl.col("date")))
    found = rows.join(named, on=["period", "pseudonym"], how="left", maintain_order="left")["number"]
    return found.fill_null(-1).to_numpy()


def _learned(sides: Sides, pairs: Found, linked: Ints) -> Floats:
    """Learn what evidence is worth, under pseudonyms of one customer and shared ones (down), by kind (across).

    A third of the purchases that are found are weighed by what the others say. What another attack guesses is not: it
    was told of all of them.
    """
    usual = np.array(list(USUAL.values()))
    worth = np.stack([usual, usual])
    at = list(USUAL).index("linked")
    worth[:, at] = LINKED if pairs.is_exact else TRUSTED
    # The same for the same rows in any order: which third a purchase is of comes from its values.
    is_held = (sides.known["values"] * 7919 + sides.known["day"] * 104729 + sides.who) % HELD_BACK == 0
    asked = np.flatnonzero((pairs.chance >= SURE) & is_held[pairs.purchase])[:MOST_EXAMPLES]
    if len(asked) < FEW_EXAMPLES:
        asked = _likeliest_rows(sides, pairs, is_held)
    # What is found by its item alone is found by the other attack's guesses, and teaches little.
    if not len(asked) or is_held.all() or (not pairs.is_exact and (linked >= 0).any()):
        return worth
    evidence = Evidence(sides, pairs, ~is_held, linked)
    who, features = evidence.features(pairs.row[asked])
    features[at] = 0
    is_owner = who == sides.who[pairs.purchase[asked]][:, None]
    prior = np.where(who >= 0, np.tensordot(usual, features, 1), NOBODY)
    is_shared = evidence.is_shared[sides.pseudonym[pairs.row[asked]]]
    for kind, mine in enumerate((~is_shared, is_shared)):
        there = mine & is_owner.any(axis=1)
        if there.any():
            # What is learned is how far the usual worth is off, so that few examples leave it as it is.
            worth[kind] += learn_weights(features[:, there], is_owner[there].argmax(axis=1), prior[there])
    return worth


def _likeliest_rows(sides: Sides, pairs: Found, is_held: Bools) -> Ints:
    """Return for purchases that are held back the pair with the likeliest row: its values are theirs in any case."""
    # Of rows alike likely another one for each purchase, the same in any order of the rows.
    luck = sides.seen["day"][pairs.row] * 7919 + sides.pseudonym[pairs.row] * 104729
    luck = (luck + sides.known["day"][pairs.purchase] * 15485863) % 32452843
    order = np.lexsort((luck, -pairs.chance.round(6), pairs.purchase))
    _, firsts = np.unique(pairs.purchase[order], return_index=True)
    best = order[firsts]
    return best[is_held[pairs.purchase[best]]][:MOST_EXAMPLES]


# A claim is made where a customer is likelier than all others together, and a customer is laid open by so many rows.
CLAIMED, LAID_OPEN = 0.5, 0.8


@dataclass(frozen=True)
class Attributed:
    """How right an attacker is about whose purchases the published rows are; rows known before do not count.

    rows: share of the rows given to their buyer. Baseline: any customer at random.
    shared: the same of rows of customers who share pseudonyms with others, None where nobody does. Baseline: any
        customer at random of those who share pseudonyms, which is what is left to guess where groups are known.
    claims: share of the claims that are right, among rows for which one customer is likelier than all others together.
    customers: share of the customers four fifths of whose rows are given to them.
    """

    rows: Score
    shared: Score | None
    claims: Score
    customers: Score

    @property
    def scores(self) -> dict[str, Score]:
        """The scores by name, those that there are."""
        return {name: score for name, score in vars(self).items() if score is not None}


def judge_attribution(
    said: pl.DataFrame, sources: pl.Series, pseudonyms: pl.Series, knowledge: History, original: History
) -> Attributed:
    """Judge whom each published row was given to.

    said: of each published row, the customer and the chance, as `attribute` returns them.
    sources: the row of the original each purchase came from, missing where a method made it up.
    pseudonyms: the name each row is published under.
    """
    is_known = knowledge.frame["customer"].is_not_null()
    rows = pl.DataFrame(
        {
            "customer": said["customer"],
            "is_claim": said["chance"] >= CLAIMED,
            "owner": original.frame["customer"].gather(sources),
            "is_known": is_known.gather(sources).fill_null(False),
            "pseudonym": pseudonyms,
        }
    ).with_columns(is_right=(pl.col("customer") == pl.col("owner")).fill_null(False))
    rows = rows.join(sizes_of_groups(rows), on="owner", how="left")
    unknown = rows.filter(~pl.col("is_known"))
    asked, claims = unknown.drop_nulls("owner"), unknown.filter(pl.col("is_claim"))
    shared = asked.filter(pl.col("n_group") > 1)
    of_each = asked.group_by("owner").agg(share=pl.col("is_right").mean())
    n_open, n_customers = int((of_each["share"] >= LAID_OPEN).sum()), max(1, len(original.customers))
    in_group = float(shared.select((1 / pl.col("n_group")).mean()).item() or 0.0)
    return Attributed(
        _share_right("rows given to their buyer", asked, 1 / n_customers),
        _share_right("rows in groups given to their buyer", shared, in_group) if shared.height else None,
        _share_right("claims that are right", claims, None),
        Score(
            "customers with four fifths of their rows",
            n_open / max(1, of_each.height),
            best=0,
            worst=1,
            interval=wilson_interval(n_open, of_each.height),
            inputs={"customers": of_each.height, "right": n_open},
        ),
    )


def attribute_release(
    original: History,
    released: History,
    sources: pl.Series,
    known: History,
    guesses: pl.DataFrame | None = None,
    *,
    seed: int = 0,
    hierarchy: Hierarchy | None = None,
) -> tuple[Attributed, pl.DataFrame]:
    """Attack a release with one knowledge and judge it: the scores, and of each row its number, customer and chance.

    sources: the row of the original that the purchase of each released row came from.
    guesses: those of another attack at pseudonyms, which are weighed with the rest.
    """
    at = released.frame["customer"].is_not_null().arg_true().to_numpy()
    # In an order that tells nothing.
    at = at[generator(seed, "attribution", "publish").permutation(len(at))]
    seen = History(released.frame[at], f"{released.name}, published")
    part, shown = roll_together(known, seen, hierarchy)
    said = attribute(part, shown, guesses)
    judged = judge_attribution(said, sources.gather(at), seen.frame["customer"], known, original)
    return judged, said.select(pl.Series("row", at), "customer", "chance").sort("row")


def keeps_places(original: History, released: History) -> bool:
    """Whether a release has the rows of its original in place, as they were but for names, times and deleted rows.

    Where a value differs it cannot be seen whether it was changed or another row's was put there.
    """
    if released.n_rows != original.n_rows:
        return False
    sides = pl.concat([released.frame, original.frame.select(pl.all().name.suffix(" was"))], how="horizontal")
    changed = [pl.col(name).ne_missing(pl.col(f"{name} was")) for name in ("date", *VALUES)]
    is_kept = pl.col("customer").is_not_null()
    return not sides.select((is_kept & pl.any_horizontal(changed)).any()).item()


def sizes_of_groups(rows: pl.DataFrame) -> pl.DataFrame:
    """Count the customers (owner) whose purchases stand under common pseudonyms, directly or by others: n_group."""
    return _groups(rows).select("owner", n_group=pl.len().over("group").cast(pl.Int64))


def _groups(rows: pl.DataFrame) -> pl.DataFrame:
    """Put customers (owner) into one group whose purchases stand under common pseudonyms, directly or by others."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pairs = rows.select("owner", "pseudonym").drop_nulls().unique()
    owners, names = (pairs[column].unique().sort() for column in ("owner", "pseudonym"))
    at = _numbers(pairs["owner"], owners.to_list()), _numbers(pairs["pseudonym"], names.to_list()) + len(owners)
    n = len(owners) + len(names)
    _, group = connected_components(coo_array((np.ones(len(pairs)), at), shape=(n, n)), directed=False)
    return pl.DataFrame({"owner": owners, "group": group[: len(owners)]}, schema_overrides={"group": pl.Int64})


def told_by_value(rows: pl.DataFrame) -> tuple[float, float]:
    """Return the share of rows in groups that a value beside them gives to their buyer, and that of blind guessing.

    rows: owner, pseudonym and value of each. A row is given to a customer of its group by how many of the other rows of
    the value are the customer's; where no other row has the value, to any. The values of all others are known.
    """
    grouped = rows.drop_nulls(["owner", "pseudonym"])
    grouped = grouped.join(_groups(grouped), on="owner").with_columns(
        blind=1 / pl.col("owner").n_unique().over("group"),
        n_own=pl.len().over("group", "value", "owner") - 1,
        n_all=pl.len().over("group", "value") - 1,
    )
    grouped = grouped.filter(pl.col("blind") < 1)
    told = pl.when(pl.col("n_all") > 0).then(pl.col("n_own") / pl.col("n_all")).otherwise("blind")
    share, blind = grouped.select(told.mean().fill_null(0.0), pl.col("blind").mean().fill_null(0.0)).row(0)
    return float(share), float(blind)


def _share_right(name: str, rows: pl.DataFrame, baseline: float | None) -> Score:
    """Return the share of rows that are right; whose rows they are is drawn for the interval, customer by customer."""
    n_rows, n_right = rows.height, int(rows["is_right"].sum())
    share = n_right / max(1, n_rows)
    of_each = rows.group_by("owner").agg(n=pl.len(), right=pl.col("is_right").sum())
    # The rows of a customer are found together: as many single rows would be as uncertain. Added up in whole numbers,
    # so that the order of customers changes no digit.
    apart = sum((right * n_rows - n_right * n) ** 2 for n, right in of_each.select("n", "right").iter_rows())
    n_alike = min(n_right * (n_rows - n_right) * n_rows**2 / apart, n_rows) if apart else of_each.height
    inputs = {"rows": n_rows, "right": n_right}
    interval = wilson_interval(share * n_alike, n_alike)
    return Score(name, share, best=0, worst=1, interval=interval, baseline=baseline, inputs=inputs)
