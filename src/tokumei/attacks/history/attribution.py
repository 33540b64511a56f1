"""Whose purchase each published row is, for somebody who knows some purchases of everybody.

Knowledge: some rows of the original, items whole or cut to their first characters, nothing on how the release was made.
Aim: the buyer of every published row, whoever's pseudonym it stands under. Success: the buyer of a row that was not
known before.

Known purchases are found again among the published rows first, by all that both sides have in common; where a purchase
keeps its values and only its day was changed, by all but the day. A row that is found is its customer's. Of every other
row the customers are weighed by what the rows that were found say (`attribution.evidence`). What each kind of evidence
is worth is learned from the known purchases themselves: a third of them is weighed by what the others say (a
conditional logistic regression). So days count for much in a release that keeps baskets together, and for nothing in
one that has dealt them out.

Where purchases were dealt out among pseudonyms with equal numbers of rows, it is told first who shares which of them
(`attribution.groups`); their rows are shared out by what each of them buys (`attribution.dealing`).
"""

from __future__ import annotations

import numpy as np
import polars as pl

from tokumei.attacks.attribution.dealing import Given, are_dealt_out, share_out
from tokumei.attacks.attribution.evidence import USUAL, Evidence
from tokumei.attacks.attribution.groups import find_groups
from tokumei.attacks.attribution.judging import Attributed, judge_attribution
from tokumei.attacks.attribution.purchases import Found, find_purchases
from tokumei.attacks.attribution.sides import Bools, Floats, Ints, Sides, numbers_of
from tokumei.attacks.linkage.rows import learn_weights
from tokumei.core.seeds import generator
from tokumei.data.history import History, period_of
from tokumei.hierarchies.files import roll_together
from tokumei.hierarchies.hierarchy import Hierarchy

# One of so many known purchases is held back, to learn what the others say of it.
HELD_BACK = 3
# What the pseudonym that another attack names is worth where purchases have lost their values.
TRUSTED = 15.0
# And where they have not, under pseudonyms of one customer and under those that several share.
LINKED = (2.0, 0.0)
# A row is taken for a known purchase from here on, and learned from where it is nearly sure.
FOUND, SURE = 0.5, 0.8
ROWS_AT_ONCE = 20_000
# Few examples are learned from many times over; more than so many add nothing.
MOST_EXAMPLES = 4_000
# Where fewer known purchases are found for sure, the likeliest rows of all teach.
FEW_EXAMPLES = 20
NOBODY = -1e9
# Customers who are less likely a row's buyer are left out of all else.
HARDLY = 1e-3


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
    groups = find_groups(sides) if are_dealt_out(sides, pairs) else None
    if groups is not None:
        pairs = find_purchases(sides, linked, groups)
    found = _found(sides, pairs)
    weights = _learned(sides, pairs, linked)
    evidence = Evidence(sides, pairs, np.ones(len(sides.who), bool), linked)
    given = _weigh(evidence, weights)
    if groups is not None:
        is_open = (groups.size == 1)[groups.of_name[sides.pseudonym]]
        dealt = share_out(sides, groups, found).beside(found.select(~is_open[found.row]))
        given = given.select(is_open[given.row]).beside(dealt)
    taken, is_found = found.select(found.chance > FOUND), np.zeros(n_rows, bool)
    is_found[taken.row] = True
    customer, chance = _likeliest(given.select(~is_found[given.row]).beside(taken), n_rows)
    names = pl.Series(sides.customers, dtype=pl.String)
    said = names.gather(pl.Series(np.maximum(customer, 0))).set(pl.Series(customer < 0), None)
    return pl.DataFrame({"customer": said, "chance": chance, "is_found": is_found}, schema=schema)


def _weigh(evidence: Evidence, weights: Floats) -> Given:
    """Return whose each row may be by the evidence, known or not, and how likely it is so."""
    sides, parts = evidence.sides, []
    n_rows = len(sides.pseudonym)
    for first in range(0, n_rows, ROWS_AT_ONCE):
        rows = np.arange(first, min(first + ROWS_AT_ONCE, n_rows))
        who, features = evidence.features(rows)
        kind = evidence.is_shared[sides.pseudonym[rows]].astype(np.int64)
        scores = np.where(who >= 0, np.einsum("rf,frc->rc", weights[kind], features), NOBODY)
        chance = np.exp(scores - scores.max(axis=1, keepdims=True)) * (who >= 0)
        chance /= np.maximum(chance.sum(axis=1, keepdims=True), 1.0)
        row, place = np.nonzero(chance > HARDLY)
        parts.append((rows[row], who[row, place], chance[row, place]))
    return Given(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _found(sides: Sides, pairs: Found) -> Given:
    """Return which rows are taken for known purchases, and whose."""
    n_customers = len(sides.customers)
    cells, at = np.unique(pairs.row * n_customers + sides.who[pairs.purchase], return_inverse=True)
    chance = np.bincount(at, pairs.chance, len(cells))
    row, who = np.divmod(cells, n_customers)
    # One row is one purchase.
    total = np.bincount(row, chance, len(sides.pseudonym))
    return Given(row, who, chance / np.maximum(total, 1.0)[row])


def _likeliest(given: Given, n_rows: int) -> tuple[Ints, Floats]:
    """Return the likeliest buyer of each row, −1 for nobody, and the chance."""
    width = int(given.who.max(initial=0)) + 1
    cells, at = np.unique(given.row * width + given.who, return_inverse=True)
    total = np.bincount(at, given.chance, len(cells))
    order = np.lexsort((-cells, total, cells // width))
    last = np.flatnonzero(np.diff(cells[order] // width, append=-1))
    best = order[last]
    customer, sure = np.full(n_rows, -1, np.int64), np.zeros(n_rows)
    customer[cells[best] // width] = cells[best] % width
    sure[cells[best] // width] = np.minimum(total[best], 1.0)
    return customer, sure


def _linked(sides: Sides, published: History, guesses: pl.DataFrame | None) -> Ints:
    """Return the customer whose pseudonym each row stands under by another attack's guesses, −1 where it names none."""
    if guesses is None or not guesses.height:
        return np.full(len(sides.pseudonym), -1, np.int64)
    named = guesses.select("period", "pseudonym", "customer").drop_nulls().unique(["period", "pseudonym"], keep="none")
    named = named.filter(pl.col("customer").is_in(sides.customers))
    named = named.with_columns(pl.Series("number", numbers_of(named["customer"], sides.customers)))
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
