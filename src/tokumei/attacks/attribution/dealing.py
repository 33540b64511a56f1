"""Whose purchases are whose where they were dealt out among customers who share pseudonyms with equal numbers of rows.

Neither the pseudonym nor the day of such a row tells its buyer. What is left: who shares the class
(`attribution.groups`), what each of them buys, and that each has as many rows in every month as each pseudonym of the
class. A row's chances are P(customer in class) · (n + a q) / ((N + a) q), with n of the customer's N purchases being of
the item, q everybody's share of it, and a the purchases that everybody's habits count for. Rows and customers of a
class and month are scaled in turn until all rows are given and everybody has as many; what customers were given counts
among their purchases the next time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokumei.attacks.attribution.groups import Groups
from tokumei.attacks.attribution.purchases import DAYS, Found
from tokumei.attacks.attribution.sides import Bools, Floats, Ints, Sides

# Pseudonyms are shared where so many of them have equal numbers of rows as others, and where less of what is found
# under each is one customer's, on fewer days as they were.
LEAST_ALIKE, MOST_OF_ONE, MOST_DAYS_KEPT = 1 / 3, 0.8, 0.6
# Purchases found under a pseudonym from which on they tell whether it is shared.
ENOUGH_FOUND = 1.5
# Customers who are less likely in a class are not weighed.
LEAST_CHANCE = 0.02
# How many purchases everybody's habits count for.
ANYBODYS = 3.0
# How often habits are learned from what customers are given, and steps in which rows are shared out.
ROUNDS, STEPS = 3, 40
# Whose share of a month is found already may have some rows more.
LEAST_SHARE = 0.05
TINY, SCALES = 1e-12, (1e-6, 1e6)


@dataclass(frozen=True)
class Given:
    """Published rows, customers who may have bought them, and the chance of each."""

    row: Ints
    who: Ints
    chance: Floats

    def select(self, some: Bools) -> Given:
        """Return some of them."""
        return Given(self.row[some], self.who[some], self.chance[some])

    def beside(self, other: Given) -> Given:
        """Return these and others."""
        parts = zip(vars(self).values(), vars(other).values(), strict=True)
        return Given(*(np.concatenate(part) for part in parts))


def are_dealt_out(sides: Sides, pairs: Found) -> bool:
    """Whether purchases were dealt out among pseudonyms with equal numbers of rows, and lost their days."""
    is_shared = np.bincount(sides.alike, minlength=sides.n_pseudonyms)[sides.alike] > 1
    if is_shared.mean() < LEAST_ALIKE or days_kept(sides, is_shared) > MOST_DAYS_KEPT:
        return False
    n_customers, name = len(sides.customers), sides.pseudonym[pairs.row]
    cells, at = np.unique(name * n_customers + sides.who[pairs.purchase], return_inverse=True)
    of_each = np.bincount(at, pairs.chance, len(cells))
    most, total = np.zeros(sides.n_pseudonyms), np.bincount(name, pairs.chance, sides.n_pseudonyms)
    np.maximum.at(most, cells // n_customers, of_each)
    tells = is_shared & (total >= ENOUGH_FOUND)
    return bool(tells.any()) and float(most[tells].sum()) < MOST_OF_ONE * float(total[tells].sum())


def days_kept(sides: Sides, is_shared: Bools) -> float:
    """Estimate how many known purchases keep their day, of those that only rows under some pseudonyms are like.

    Of n rows like a purchase in its month none is on its day by chance with e^(−n / 25), and if a share q kept its day,
    with (1 − q) e^(−n / 25).
    """
    known, seen = sides.known, sides.seen
    n_values = int(max(known["values"].max(initial=0), seen["values"].max(initial=0))) + 1
    of_shared = is_shared[sides.pseudonym]
    n_shared, n_open = (np.bincount(seen["values"][some], minlength=n_values) for some in (of_shared, ~of_shared))
    asked = np.flatnonzero((n_shared > 0)[known["values"]] & (n_open == 0)[known["values"]])
    if not len(asked):
        return 1.0
    width = int(max(known["day"].max(initial=0), seen["day"].max(initial=0))) + 1
    days = (side["values"] * width + side["day"] for side in (known, seen))
    is_met = np.isin(next(days)[asked], next(days))
    return max(0.0, 1 - float((~is_met).mean() / np.exp(-n_shared[known["values"][asked]] / DAYS).mean()))


def share_out(sides: Sides, groups: Groups, found: Given) -> Given:
    """Return whose each row of a shared class is that was not known before (`found` says which were, and whose)."""
    n_customers, month = len(sides.customers), sides.seen["month"]
    n_months, of_row = int(month.max(initial=0)) + 1, groups.of_name[sides.pseudonym]
    of_class, member = np.nonzero((groups.chance.T > LEAST_CHANCE) & (groups.size > 1)[:, None])
    first, last = (np.searchsorted(of_class, of_row, side) for side in ("left", "right"))
    row = np.repeat(np.arange(len(of_row)), last - first)
    place = np.arange(len(row)) - np.repeat(np.cumsum(last - first) - (last - first), last - first)
    who = member[first[row] + place]
    unknown = (1 - np.bincount(found.row, found.chance, len(of_row))).astype(np.float64)
    prior, item = groups.chance[who, of_row[row]], sides.seen["item"][row]
    cell = of_row * n_months + month
    each = np.bincount(cell, minlength=len(groups.size) * n_months) / np.repeat(groups.size, n_months)
    keys, at = np.unique(cell[row] * n_customers + who, return_inverse=True)
    share = groups.chance[keys % n_customers, keys // n_customers // n_months] * each[keys // n_customers]
    share -= _sums_by(keys, cell[found.row] * n_customers + found.who, found.chance)
    share = np.maximum(share, LEAST_SHARE)
    width = int(max(sides.known["item"].max(initial=0), sides.seen["item"].max(initial=0))) + 1
    bought, of_bought = np.unique(who * width + item, return_inverse=True)
    n_known = _sums_by(bought, sides.who * width + sides.known["item"], np.ones(len(sides.who)))
    n_all = np.bincount(sides.who, minlength=n_customers).astype(np.float64)
    usual = np.bincount(sides.seen["item"], minlength=width) + 0.5
    usual /= usual.sum()
    chance = np.zeros(len(row))
    for _ in range(ROUNDS):
        # What a customer is given of a row does not speak for the row itself.
        n_own = n_known[of_bought] + np.bincount(of_bought, chance, len(bought))[of_bought] - chance
        n_mine = (n_all + np.bincount(who, chance, n_customers))[who] - chance
        habit = (n_own + ANYBODYS * usual[item]) / (n_mine + ANYBODYS) / usual[item]
        chance = _scaled(prior * habit, row, unknown, at, share)
    return Given(row, who, chance)


def _sums_by(keys: Ints, asked: Ints, weights: Floats) -> Floats:
    """Add up weights by sorted keys; those of other keys are left out."""
    if not len(keys):
        return np.zeros(0)
    at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.bincount(at, weights * (keys[at] == asked), len(keys)).astype(np.float64)


def _scaled(weight: Floats, row: Ints, of_row: Floats, key: Ints, of_key: Floats) -> Floats:
    """Scale weights by rows and by keys until they add up to what either has, as near as can be, rows exactly."""
    factor = np.ones(len(of_key))
    for _ in range(STEPS):
        scaled = weight * factor[key]
        scaled *= (of_row / np.maximum(np.bincount(row, scaled, len(of_row)), TINY))[row]
        factor = np.clip(factor * of_key / np.maximum(np.bincount(key, scaled, len(of_key)), TINY), *SCALES)
    scaled = weight * factor[key]
    exactly: Floats = scaled * (of_row / np.maximum(np.bincount(row, scaled, len(of_row)), TINY))[row]
    return exactly
