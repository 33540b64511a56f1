"""Known purchases found again among the published rows: each is one of those that are equal to it, if any."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokumei.attacks.attribution.groups import Groups
from tokumei.attacks.attribution.sides import Floats, Ints, Sides, largest_within

# A purchase that so many published rows are equal to says nothing.
MOST_EQUAL = 500
# So many pairs of a purchase and a row are weighed at once; a pair that is hardly one is left out of all else.
MOST_PAIRS, HARDLY = 2_000_000, 0.01
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


@dataclass(frozen=True)
class Found:
    """Pairs of a known purchase and a published row that may be it, and the chance that it is."""

    purchase: Ints
    row: Ints
    chance: Floats
    # Whether most purchases were found with all their values; else only items and months agree.
    is_exact: bool


def find_purchases(sides: Sides, linked: Ints, groups: Groups | None = None) -> Found:
    """Find known purchases among the published rows: each is one of those that are equal to it, if any.

    Of equal rows, those under a pseudonym where more of the customer's purchases are found are likelier, and those
    under a pseudonym that is said to be the customer's (`linked`, of each row). Where groups are told, rows of others
    are none of a customer's.
    """
    key = "values"
    if np.isin(sides.known[key], sides.seen[key]).mean() < ENOUGH_FOUND:
        key = "kind"
    order = np.argsort(sides.seen[key], kind="stable")
    codes = sides.seen[key][order]
    first, end = (np.searchsorted(codes, sides.known[key], side) for side in ("left", "right"))
    n_equal = np.where(end - first <= MOST_EQUAL, end - first, 0)
    # Of very many the least usual alone, which say most.
    n_equal[n_equal > largest_within(n_equal, MOST_PAIRS)] = 0
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
    if groups is not None:
        start = start * groups.chance[owner, groups.of_name[sides.pseudonym[row]]]
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
