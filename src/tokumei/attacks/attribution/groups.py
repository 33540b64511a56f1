"""Which customers share which pseudonyms, where purchases were dealt out among pseudonyms with equal numbers of rows.

Pseudonyms with as many rows in every month are a class: whoever deals out purchases among customers so that numbers of
rows tell nothing shows by them which pseudonyms go together. A customer of a class brings all purchases that were kept
into its pool, whatever pseudonym or day they were dealt to; so it is told by the pool whose customers share it:

| of a customer | in the pool of a month | is told by |
|---|---|---|
| k known purchases of the same values | K rows of these values | of b kept ones, the K − b others come by chance |
| purchases known on a day | rows on the day, or none | whether one was kept, or anybody else was there |

With a share κ kept and N rows in the pool of which a share q has the values everywhere, the likelihood ratio is
Σ_b Binomial(b; k, κ) · Poisson(K − b; (N − b) q) / Poisson(K; N q). That of a day which is there is
(p + (1 − p) p₀) / p₀ with p = 1 − (1 − κ)^k and p₀ the chance that somebody else was there; of one that is not, 1 − p.
κ is learned, so that days which were moved say nothing. A class has room for as many customers as it has pseudonyms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokumei.attacks.attribution.sides import Floats, Ints, Sides, largest_within

# Pairs of a known value and a class that has it which are weighed; of more, values that most have are left out.
MOST_PAIRS, MOST_CELLS = 8_000_000, 20_000_000
# The share of purchases that was kept, before anything is learned; and its ends.
USUALLY_KEPT, KEPT = 0.6, (0.02, 0.98)
# Of more equal purchases in a month, no more are counted as kept.
MOST_KEPT = 6
# How often chances are weighed and what is kept learned from them, and steps in which classes are filled.
ROUNDS, STEPS = 3, 100
# Weight of a pseudonym being that of nobody who is known, and of a customer being in no class.
STRANGER, ABSENT = 0.02, 0.01
# Chances that are less are not told apart, and odds beyond would not fit into numbers.
LEAST, LARGEST = 1e-12, 200.0


@dataclass(frozen=True)
class Groups:
    """Classes of pseudonyms, and how likely each customer (down) is one of those who share each class (across)."""

    of_name: Ints
    size: Ints
    chance: Floats


@dataclass(frozen=True)
class _Met:
    """Values that are known of customers, each beside the classes that have rows with it in the month."""

    who: Ints
    n_known: Ints  # Purchases of the customer that are known to have the value,
    of_class: Ints  # the class,
    n_there: Ints  # its rows with the value,
    pool: Floats  # all its rows of the month,
    usual: Floats  # and the share of everybody's rows of the month that have the value.
    n_of_customer: Floats  # Known purchases of each customer, whether any class has their value or none.

    @classmethod
    def of(cls, sides: Sides, kind: str, of_row: Ints, n_classes: int) -> _Met:
        """Find them."""
        seen, month = sides.seen[kind], sides.seen["month"]
        width = int(max(sides.known[kind].max(initial=0), seen.max(initial=0))) + 1
        keys, n_known = np.unique(sides.who * width + sides.known[kind], return_counts=True)
        who, value = np.divmod(keys, width)
        there, n_there = np.unique(seen * n_classes + of_row, return_counts=True)
        first, last = (np.searchsorted(there, (value + more) * n_classes) for more in (0, 1))
        n_met = last - first
        n_met[n_met > largest_within(n_met, MOST_PAIRS)] = 0
        line = np.repeat(np.arange(len(value)), n_met)
        at = first[line] + np.arange(len(line)) - np.repeat(np.cumsum(n_met) - n_met, n_met)
        of_value = np.zeros(width, np.int64)
        of_value[seen] = month
        n_months = int(month.max(initial=0)) + 1
        pool = np.bincount(of_row * n_months + month, minlength=n_classes * n_months).reshape(n_classes, n_months)
        own, of_class = of_value[value[line]], there[at] % n_classes
        usual = (np.bincount(seen, minlength=width)[value[line]] + 0.5) / (pool.sum(axis=0)[own] + 0.5)
        n_of_customer = np.bincount(who, n_known, len(sides.customers)).astype(np.float64)
        in_pool = pool[of_class, own].astype(np.float64)
        return cls(who[line], n_known[line], of_class, n_there[at], in_pool, usual, n_of_customer)

    def by_values(self, kept: Floats) -> tuple[Floats, Floats]:
        """Return the likelihood ratio of each pair, and which share of the purchases was kept."""
        log_factorial = np.cumsum(np.log(np.maximum(np.arange(max(self.n_there.max(initial=0), MOST_KEPT) + 1), 1)))
        known = np.minimum(self.n_known, MOST_KEPT)
        total, n_kept = np.zeros(len(known)), np.zeros(len(known))
        for number in range(int(known.max(initial=0)) + 1):
            gone = np.maximum(known - number, 0)
            ways = np.exp(log_factorial[known] - log_factorial[gone] - log_factorial[number])
            chance = np.where(known >= number, ways * kept**number * (1 - kept) ** gone, 0.0)
            mean = np.maximum(self.pool - number, 0.0) * self.usual
            chance *= _poisson(self.n_there - number, mean, log_factorial)
            total += chance
            n_kept += number * chance
        by_chance = _poisson(self.n_there, self.pool * self.usual, log_factorial)
        return total / np.maximum(by_chance, LEAST), n_kept / np.maximum(total, LEAST) / known

    def by_days(self, kept: Floats, n_a_day: float) -> tuple[Floats, Floats]:
        """Return the same of days, on which everybody has so many rows at once."""
        by_chance = 1 - np.exp(-self.pool * self.usual / n_a_day)
        own = 1 - (1 - kept) ** self.n_known
        either = own + (1 - own) * by_chance
        return either / np.maximum(by_chance, LEAST), kept / either


def _poisson(number: Ints, mean: Floats, log_factorial: Floats) -> Floats:
    at = np.maximum(number, 0)
    mean = np.maximum(mean, LEAST)
    chance: Floats = np.where(number >= 0, np.exp(at * np.log(mean) - mean - log_factorial[at]), 0.0)
    return chance


def find_groups(sides: Sides) -> Groups | None:
    """Return which customers share which pseudonyms, by all known purchases; None where they are very many."""
    _, of_name, size = np.unique(sides.alike, return_inverse=True, return_counts=True)
    of_name, n_classes, n_customers = of_name.astype(np.int64), len(size), len(sides.customers)
    if n_customers * n_classes > MOST_CELLS:
        return None
    of_row = of_name[sides.pseudonym]
    kinds = {kind: _Met.of(sides, kind, of_row, n_classes) for kind in ("values", "day")}
    # Rows of one day that a customer has: as many as are known of it, and of the others as many more as are not.
    n_days = len(np.unique(sides.who * (int(sides.known["day"].max(initial=0)) + 1) + sides.known["day"]))
    n_known = max(1, len(sides.who))
    n_a_day = 1 + (n_known / max(1, n_days) - 1) * max(1.0, len(of_row) / n_known)
    # Customers who share their pseudonym with nobody may keep more than others.
    is_shared = (size > 1).astype(np.int64)
    kept = {kind: np.full(2, USUALLY_KEPT) for kind in kinds}
    chance = np.zeros((n_customers, n_classes))
    for _ in range(ROUNDS):
        odds, shares = np.zeros((n_customers, n_classes)), {}
        for kind, met in kinds.items():
            of_each = kept[kind][is_shared[met.of_class]]
            ratio, shares[kind] = met.by_values(of_each) if kind == "values" else met.by_days(of_each, n_a_day)
            # Where a class has no row with a value, all purchases with it were left out, if they were the class's.
            odds += np.outer(met.n_of_customer, np.log1p(-kept[kind])[is_shared])
            met_more = np.log(np.maximum(ratio, LEAST)) - met.n_known * np.log1p(-of_each)
            odds += np.bincount(met.who * n_classes + met.of_class, met_more, odds.size).reshape(odds.shape)
        chance = _filled(odds, size, max(ABSENT, 1 - len(of_name) / n_customers))
        for kind, met in kinds.items():
            n_kept = chance[met.who, met.of_class] * met.n_known * shares[kind]
            n_all = met.n_of_customer @ chance
            n_each = np.bincount(is_shared[met.of_class], n_kept, 2), np.bincount(is_shared, n_all, 2)
            kept[kind] = np.clip(n_each[0] / np.maximum(n_each[1], LEAST), *KEPT)
    return Groups(of_name, size, chance)


def _filled(odds: Floats, size: Ints, absent: float) -> Floats:
    """Return the chance of each customer (down) to be in each class (across), which has room for so many."""
    largest = np.maximum(odds.max(axis=1), 0.0)
    weights = np.exp(np.maximum(odds - largest[:, None], -LARGEST))
    absence = absent * np.exp(-np.minimum(largest, LARGEST))
    of_class = np.ones(len(size))
    for _ in range(STEPS):
        of_customer = 1 / (absence + weights @ of_class)
        of_class = size / (STRANGER * size + of_customer @ weights)
    of_customer = 1 / (absence + weights @ of_class)
    chance: Floats = of_customer[:, None] * weights * of_class
    return chance
