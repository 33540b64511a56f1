"""Who is there at all: the odds of each pair against absence, before habits are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tokumei.attack.linkage.comparison import Floats, Ints, PeriodRows
from tokumei.attack.linkage.counts import RowCounts
from tokumei.attack.linkage.evidence import Agreement, customer_evidence

RATE_BOUNDS = (0.001, 0.95)


@dataclass(frozen=True)
class Presence:
    """What rows and their numbers say on every customer in every period."""

    scores: list[Floats]  # By period: customers (down) and pseudonyms (across), log likelihoods.
    n_known: Ints  # Known rows of each customer (down) in each period (across).
    all_deleted: Floats  # Log chance of that many known rows and none released, for a customer who bought.
    season: Floats  # Pseudonyms in each period, as a share of the customers.

    @classmethod
    def of(cls, periods: Sequence[PeriodRows], agreement: Agreement, n_customers: int) -> Presence:
        """Weigh the rows of all periods."""
        n_pseudonyms = np.array([len(period.pseudonyms) for period in periods])
        n_released = sum(period.rows.height for period in periods)
        n_known = np.zeros((n_customers, len(periods)), np.int64)
        for p, period in enumerate(periods):
            n_known[period.customers, p] = period.n_known
        # The share known, from known rows per released row and the share that was not deleted.
        share = min(1.0, int(n_known.sum()) / n_released * (1 - agreement.deleted))
        counts = RowCounts(share, agreement.deleted, n_released / n_pseudonyms.sum())
        scores = []
        for p, period in enumerate(periods):
            score = counts.log_known_given_released(n_known[:, p], period.n_released) - np.log(n_pseudonyms[p])
            score[period.customers] += customer_evidence(period, agreement)
            scores.append(score)
        return cls(scores, n_known, counts.log_known_and_all_deleted(n_known), n_pseudonyms / n_customers)

    def rates(self, found: Ints) -> Floats:
        """Give how likely each customer (down) buys in each period (across), from the periods it is found in."""
        n_periods = len(self.season)
        # One made-up month of buying, at the mean rate, keeps a customer of one month from being thought absent.
        rate = ((found >= 0).sum(axis=1) + 1) / (n_periods + 1 / self.season.mean())
        rates: Floats = np.clip(rate[:, None] * self.season / self.season.mean(), *RATE_BOUNDS)
        return rates

    def odds(self, period: int, rates: Floats) -> Floats:
        """Give the log odds of each customer being each pseudonym of the period against being absent."""
        rate = rates[:, period]
        unseen = np.log((1 - rate) / rate + np.exp(self.all_deleted[:, period]))
        absent = np.where(self.n_known[:, period] > 0, self.all_deleted[:, period], unseen)
        return self.scores[period] - absent[:, None]
