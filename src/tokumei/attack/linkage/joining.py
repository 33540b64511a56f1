"""Months joined: each round matches all months, then learns habits from them for the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from tokumei.attack.linkage.comparison import Floats, Ints, PeriodRows
from tokumei.attack.linkage.habits import Habits, learn_weights
from tokumei.attack.linkage.matching import match
from tokumei.attack.linkage.presence import Presence
from tokumei.core.progress import step
from tokumei.core.seeds import generator

# Months matched with at least this chance teach what habits are worth.
SURE = 0.9
# Cases times customers to learn from.
LEARNING_CELLS = 200_000


@dataclass(frozen=True)
class Slots:
    """The pseudonyms of all periods in one row: a slot is a pseudonym in a period."""

    names: pl.Series
    periods: Ints
    firsts: Ints  # The first slot of each period, and the number of slots.
    rows: pl.DataFrame
    row_slots: Ints

    @classmethod
    def of(cls, periods: Sequence[PeriodRows]) -> Slots:
        """Give each pseudonym of each period a number."""
        n_slots = [len(period.pseudonyms) for period in periods]
        n_rows = np.concatenate([period.n_released for period in periods])
        return cls(
            pl.concat([period.pseudonyms for period in periods]),
            np.repeat(np.arange(len(periods)), n_slots),
            np.append(0, np.cumsum(n_slots)),
            pl.concat([period.rows for period in periods]),
            np.repeat(np.arange(len(n_rows)), n_rows),
        )


def join_months(periods: Sequence[PeriodRows], slots: Slots, presence: Presence, *, n_rounds: int) -> Ints:
    """Give the pseudonym of each customer (down) in each period (across) by number, −1 where absent."""
    found: Ints = np.where(presence.n_known > 0, 0, -1)
    bonus: list[Floats] | None = None
    habits = Habits(slots.rows, slots.row_slots, slots.periods, slots.names)
    with step("joining months", total=n_rounds + 1) as bar:
        for n_done in range(n_rounds + 1):
            rates = presence.rates(found)
            odds = [presence.odds(p, rates) for p in range(len(periods))]
            if bonus is not None:
                odds = [one + other for one, other in zip(odds, bonus, strict=True)]
            matches = [match(one) for one in odds]
            found = np.stack([of for of, _ in matches], axis=1)
            bar.advance()
            if n_done < n_rounds:
                sure = np.stack([chances for _, chances in matches], axis=1)
                bonus = _learn_habits(habits, slots, found, sure, rates)
    return found


def _learn_habits(habits: Habits, slots: Slots, found: Ints, sure: Floats, rates: Floats) -> list[Floats]:
    """Give the log likelihood ratio of each customer's habits for each pseudonym of each period."""
    customers, periods = np.nonzero(found >= 0)
    shape = (len(found), int(slots.firsts[-1]))
    filled = slots.firsts[periods] + found[customers, periods]
    matched = csr_array((np.ones(len(customers)), (customers, filled)), shape=shape)
    features = [habits.features(matched, period) for period in range(found.shape[1])]
    cases = np.flatnonzero(sure[customers, periods] > SURE)
    if not len(cases):
        return [np.zeros(feature.shape[:2]) for feature in features]
    n_cases = max(1, LEARNING_CELLS // len(found))
    # Which cases are drawn is of no consequence, so the seed is no option.
    drawn = np.sort(generator(0, "linkage").permutation(cases)[:n_cases])
    weights = learn_weights(
        np.stack([features[periods[i]][:, found[customers[i], periods[i]]] for i in drawn]),
        customers[drawn],
        np.log(rates.mean(axis=1)),
    )
    return [_against_anybody(feature @ weights, rates[:, p]) for p, feature in enumerate(features)]


def _against_anybody(scores: Floats, rate: Floats) -> Floats:
    """Hold each score against that of a customer drawn by how often customers buy."""
    largest = scores.max(axis=0)
    anybody = np.log(rate @ np.exp(scores - largest) / rate.sum()) + largest
    against: Floats = scores - anybody
    return against
