"""What is learned of how a release was made: how many rows it has of each customer, and how far fields still agree.

**Numbers of rows.** Unknown rows that stand in their places tell more than their number: between two known rows of one
basket all rows belong to it, and at its ends at most those up to the next known row of somebody else.

**Agreement.** Expectation maximization over who is whom and which row is which. It starts from the kinds of items and
the numbers of rows alone, which no noise on the other fields touches, and believes in several pseudonyms for each
customer at a time: whoever starts from fields that are believed to agree, or from single matches, is led by rows that
agree by accident to believe in them more and more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from tokumei.attacks.linkage.evidence import Agreement, Evidence, counts_once
from tokumei.attacks.linkage.fields import PRIOR, Epoch, FieldLevels, Floats, Ints
from tokumei.attacks.linkage.rows import OF_BASKETS, Side, basket_sizes
from tokumei.data.history import History

# Deletion is rarely even: this share of customers may have any number of rows.
UNEVEN = 0.05
RATE_BOUNDS = (0.001, 0.97)
TINY = 1e-12
# Months at the mean rate that make up for what is not known of a customer, where all seem to have one rate.
MOST_MADE_UP = 10_000


@dataclass(frozen=True)
class Expected:
    """The rows that each customer (down) is thought to have had in each month (across): known, mean and variance."""

    n_known: Ints
    mean: Floats
    variance: Floats
    share: float  # Of the original rows that are known.

    @classmethod
    def of(cls, knowledge: History, known: Side, share: float, shape: tuple[int, int]) -> Expected:
        """Estimate them from known rows and, where baskets stand together, from the gaps between."""
        n_known = np.zeros(shape, np.int64)
        np.add.at(n_known, (known.owner, known.month), 1)
        # So many unknown rows stand on average before the next known one, each row being known by chance.
        gap, spread = (1 - share) / share, (1 - share) / share**2
        mean: Floats = np.asarray(n_known * (1 + gap), np.float64)
        variance: Floats = np.asarray((n_known + 1) * spread, np.float64)
        found = _gaps(knowledge, known)
        if found is not None:
            inside, before, after = found
            mean, variance = n_known.astype(np.float64), np.zeros(shape, np.float64)
            cells = (known.owner, known.month)
            np.add.at(mean, cells, inside)
            for ends in (before, after):
                is_end = ~np.isnan(ends)
                rows = tuple(cell[is_end] for cell in cells)
                np.add.at(mean, rows, np.minimum(ends[is_end] / 2, gap))
                np.add.at(variance, rows, np.minimum(ends[is_end] * (ends[is_end] + 2) / 12, spread))
            # Baskets of which no row is known.
            variance += np.where(n_known > 0, 0.1 * spread, 0)
        return cls(n_known, mean, variance, share)


def _gaps(knowledge: History, known: Side) -> tuple[Floats, Floats, Floats] | None:
    """Return for each known row the unknown rows between it and the one before in its basket, and those at its ends.

    Ends are missing inside a basket. None where rows of one basket do not stand together, so that gaps tell nothing.
    """
    if knowledge.n_rows == len(known):
        return None
    frame = knowledge.frame.with_row_index("place").filter(pl.col("customer").is_not_null())
    basket = frame.select(pl.struct("customer", "date", "time").rank("dense")).to_series().to_numpy()
    places = frame["place"].to_numpy().astype(np.int64)
    is_same = basket[1:] == basket[:-1]
    if (np.flatnonzero(~is_same).size + 1) != len(np.unique(basket)):
        return None
    gaps = np.diff(places) - 1.0
    first, last = float(places[0]), float(knowledge.n_rows - 1 - places[-1])
    inside = np.append(0.0, np.where(is_same, gaps, 0.0))
    before = np.append(first, np.where(is_same, np.nan, gaps))
    after = np.append(np.where(is_same, np.nan, gaps), last)
    order = np.searchsorted(places, known.place)
    return inside[order], before[order], after[order]


@dataclass(frozen=True)
class CountEvidence:
    """Weighs the number of released rows of a month, zero included, against anybody's."""

    expected: Expected
    kept: float
    n_rows: Ints  # Released rows of each pseudonym (down) in each month (across).
    n_customers: int | None = None  # Of all, where only some are expected here.

    @cached_property
    def season(self) -> Floats:
        """Share of the customers who have a pseudonym in each month."""
        n_customers = len(self.expected.n_known) if self.n_customers is None else self.n_customers
        share: Floats = np.clip((self.n_rows > 0).sum(axis=0) / n_customers, *RATE_BOUNDS)
        return share

    def first_rates(self, epochs: Sequence[Epoch]) -> Floats:
        """Return the rates of `rates` from the months in which something is known.

        Of some months with purchases nothing is known. Where pseudonyms live for several months this would speak for
        absence month by month, so each month that is known stands for more than one there.
        """
        is_known = self.expected.n_known > 0
        if all(len(epoch.months) == 1 for epoch in epochs):
            return self.rates(is_known)
        n_made = _made_up(is_known.sum(axis=1), len(self.season))
        return self.rates(is_known, told=1 - self._all_missed, n_made=n_made)

    def rates(
        self, is_found: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], told: float = 1.0, n_made: float = 0.0
    ) -> Floats:
        """Return how likely each customer (down) buys in each month (across), from the months it is found in.

        told: the share of the months in which a customer buys that are found.
        n_made: made-up months at the mean rate of buying, besides.
        """
        season, n_found = self.season, is_found.sum(axis=1)
        # One month of buying at least is made up, so that a customer of one month is not thought absent.
        n_made = max(1 / season.mean(), n_made)
        rate = (n_found / told + n_made * season.mean()) / (len(season) + n_made)
        rates: Floats = np.clip(rate[:, None] * season / season.mean(), *RATE_BOUNDS)
        return rates

    def log_ratios(self, month: int, counts: Ints, rates: Floats) -> Floats:
        """Return the log likelihood ratio of each customer (down) having so many rows (across) in a month."""
        wanted, back = np.unique(counts, return_inverse=True)
        is_known = self.expected.n_known[:, month] > 0
        scores = np.empty((len(is_known), len(wanted)))
        scores[is_known] = self._seen(month, wanted, np.flatnonzero(is_known))
        scores[~is_known] = self._unseen(month, wanted, rates[~is_known, month])
        found: Floats = scores[:, back]
        return found

    def _seen(self, month: int, wanted: Ints, customers: Ints) -> Floats:
        """Weigh numbers of rows for customers of whom some rows of the month are known."""
        season = self.season[month]
        mean = self.kept * self.expected.mean[customers, month]
        variance = self.expected.variance[customers, month]
        spread = np.sqrt(self.kept**2 * variance + (1 - self.kept) * mean + 0.3 + (0.05 * mean) ** 2)
        upper, lower = ((wanted + half - mean[:, None]) / spread[:, None] for half in (0.5, -0.5))
        chance = normal_share(upper) - np.where(wanted == 0, 0.0, normal_share(lower))
        anybody = np.where(wanted == 0, 1 - season, season * self._usual(wanted))
        seen: Floats = np.log((1 - UNEVEN) * chance / anybody + UNEVEN)
        return seen

    def _unseen(self, month: int, wanted: Ints, rates: Floats) -> Floats:
        """Weigh numbers of rows for customers who buy at these rates, and of whom no row of the month is known."""
        season, rate = self.season[month], rates[:, None]
        missed = np.exp(self.log_missed * wanted)
        none = 1 - rate + rate * self._all_missed
        unseen: Floats = np.log(np.where(wanted == 0, (1 - rate) / (1 - season), rate * missed / season) / none + TINY)
        return unseen

    def odds(self, epoch: Epoch, rates: Floats) -> Floats:
        """Return the odds of customers (down) and pseudonyms of the epoch by the numbers of rows, against absence."""
        odds = np.zeros((len(rates), len(epoch.names)))
        for month in epoch.months:
            n_rows = self.n_rows[epoch.names, month]
            # Who has no row in the month is as good as absent there, and gains nothing.
            alive = np.flatnonzero(n_rows)
            scores = self.log_ratios(int(month), np.append(n_rows[alive], 0), rates)
            odds[:, alive] += scores[:, :-1] - scores[:, -1:]
        return odds

    def odds_of_pairs(self, epoch: Epoch, rates: Floats, customers: Ints, names: Ints) -> Floats:
        """Return the odds of some customers and pseudonyms of the epoch by their numbers of rows, against absence."""
        odds = np.zeros(len(customers))
        for month in epoch.months:
            values, of_name = np.unique(self.n_rows[epoch.names, month], return_inverse=True)
            scores = self.log_ratios(int(month), np.append(values, 0), rates)
            # Who has no row in the month is as good as absent there, and gains nothing.
            gained = np.where(values > 0, scores[:, :-1] - scores[:, -1:], 0.0)
            odds += gained[customers, of_name[names]]
        return odds

    @property
    def log_missed(self) -> float:
        """The log chance that nothing is known of somebody, for each released row."""
        return float(np.log1p(-self.expected.share) / self.kept)

    @cached_property
    def _all_missed(self) -> float:
        """The chance that nothing is known of somebody who has rows in a month."""
        grid = np.arange(1, int(self.n_rows.max()) + 1)
        return float((self._usual(grid) * np.exp(self.log_missed * grid)).sum())

    @cached_property
    def _counted(self) -> tuple[Ints, Ints]:
        """The numbers of rows of pseudonyms in a month, and how often each occurs."""
        return np.unique(self.n_rows[self.n_rows > 0], return_counts=True)

    def _usual(self, counts: Ints) -> Floats:
        """Return how often any pseudonym has so many rows in a month, smoothed."""
        values, n = self._counted
        width = 0.5 + 0.15 * values
        z = (counts[:, None] - values) / width
        density = np.exp(-(z**2) / 2) / (width * np.sqrt(2 * np.pi))
        usual: Floats = density @ (n / n.sum()) + 1e-9
        return usual


def _made_up(n_found: Ints, n_months: int) -> float:
    """Return how many months at the mean rate are worth as much as what is known of the rate of one customer.

    By the moments of a beta-binomial law: where customers differ no more than luck, they have one rate, and no number
    of months of one's own tells otherwise.

    >>> _made_up(np.array([5, 6, 7, 6]), 12) > 1000, round(_made_up(np.array([0, 12, 0, 12]), 12), 3)
    (True, 0.0)
    """
    mean = float(n_found.mean()) / n_months
    by_luck = mean * (1 - mean) / n_months
    if n_months < 2 or by_luck <= 0:
        return 0.0
    alike = (float(n_found.var()) / n_months**2 / by_luck - 1) / (n_months - 1)
    alike = min(max(alike, 1 / MOST_MADE_UP), 1.0)
    return (1 - alike) / alike


# After Hart (1968), as given by West (2005), "Better approximations to cumulative normal functions".
_HART = (
    (0.0352624965998911, 0.700383064443688, 6.37396220353165, 33.912866078383, 112.079291497871, 221.213596169931,
     220.206867912376),
    (0.0883883476483184, 1.75566716318264, 16.064177579207, 86.7807322029461, 296.564248779674, 637.333633378831,
     793.826512519948, 440.413735824752),
)  # fmt: skip


def normal_share(z: Floats) -> Floats:
    """Return the share of a normal distribution below z, to 14 decimals: scipy.special takes long to import."""
    # Beyond, nothing is left that a chance of 1e-11 could tell from zero.
    size = np.minimum(np.abs(z), 7.0)
    above, below = (np.polyval(coefficients, size) for coefficients in _HART)
    tail = np.exp(-(size**2) / 2) * above / below
    share: Floats = np.where(z > 0, 1 - tail, tail)
    return share


ROUNDS = 3
# Learning ends when no share changes by more.
ENOUGH = 0.003


@dataclass(frozen=True)
class Pairs:
    """Known rows beside the released rows of the same month and kind of those pseudonyms that may be their owner's."""

    known: Ints
    released: Ints
    link: Ints  # Which known row and candidate: number of the row · candidates + number of the candidate.

    @classmethod
    def of(cls, known: Side, released: Side, candidates: Ints, n_names: int) -> Pairs:
        """Find the rows; `candidates` has the pseudonyms of each customer (down), −1 where there are fewer."""
        width = int(max(known.kind.max(initial=0), released.kind.max(initial=0))) + 1
        keys = (released.month * width + released.kind) * n_names + released.owner
        wanted = candidates[known.owner]
        key = (known.month * width + known.kind)[:, None] * n_names + wanted
        first, last = np.searchsorted(keys, key), np.searchsorted(keys, key, side="right")
        n_rows = np.where(wanted >= 0, last - first, 0).ravel()
        link = np.repeat(np.arange(n_rows.size), n_rows)
        at = np.arange(len(link)) - np.repeat(np.cumsum(n_rows) - n_rows, n_rows)
        return cls(link // candidates.shape[1], first.ravel()[link] + at, link)


def learn_agreement(
    evidence: Evidence, known: Side, candidates: Ints, prior: Floats, others: Floats, start: Agreement, *, least: float
) -> Agreement:
    """Learn how often counterparts are at each level of each field.

    `candidates` are the pseudonyms thought possible for each customer (down), `prior` their log odds before the fields
    are looked at, by the same places, and `others` the log odds of anybody else. Candidates of a chance
    below `least` teach nothing.
    """
    fields, released = evidence.compared.fields, evidence.compared.released
    pairs = Pairs.of(known, released, candidates, len(evidence.compared.pseudonyms))
    cells = {name: _cells(field, known, released, name, pairs) for name, field in fields.items()}
    n_links, n_candidates = len(known) * candidates.shape[1], candidates.shape[1]
    names = candidates[known.owner].ravel()
    month, kind = np.repeat(known.month, n_candidates), np.repeat(known.kind, n_candidates)
    kept = (1 - evidence.deleted) / evidence.deleted
    scale = kept / np.maximum(evidence.n_rows[names, month], 1) / evidence.kind_shares[month, kind]
    owners = np.repeat(known.owner, n_candidates) * n_candidates + np.tile(np.arange(n_candidates), len(known))
    per_basket = (1 / basket_sizes(known))[pairs.known].astype(np.float32)
    agreement = dict(start)
    for _ in range(ROUNDS):
        ratio, once = np.ones(len(pairs.link), np.float32), np.ones(len(pairs.link), np.float32)
        is_once = any(counts_once(name, agreement) for name in fields)
        for name, field in fields.items():
            of_field = field.weigh(agreement[name]).ravel().take(cells[name])
            ratio *= of_field
            if is_once:
                once *= of_field**per_basket if counts_once(name, agreement) else of_field
        odds = np.bincount(pairs.link, ratio, n_links) * scale
        # Whose a basket is, is told by what it has in common once; which of their rows is which, by all that rows have.
        counted = np.bincount(pairs.link, once, n_links) * scale if is_once else odds
        gains = np.bincount(owners, np.log1p(counted), candidates.size).reshape(candidates.shape)
        chances = _softmax(prior + gains, others)
        chances[chances < least] = 0
        share = chances.ravel()[owners] * scale / (1 + odds)
        weight = ratio * share[pairs.link]
        # A basket that was moved tells once how far, however many its rows are.
        weights = {name: weight * per_basket if name in OF_BASKETS else weight for name in fields}
        before = agreement
        agreement = {name: _shares(field, cells[name], weights[name]) for name, field in fields.items()}
        if all(np.abs(agreement[name] - before[name]).max() < ENOUGH for name in fields):
            break
    return agreement


def _cells(field: FieldLevels, known: Side, released: Side, name: str, pairs: Pairs) -> Ints:
    """Return for pairs of rows the cell of the table of cases by levels; the last level is for missing information."""
    width = field.n_levels + 1
    levels = field.levels_of(known.codes[name][pairs.known], released.codes[name][pairs.released])
    return released.cases[name][pairs.released] * width + levels % np.int8(width)


def _shares(field: FieldLevels, cells: Ints, weight: Floats) -> Floats:
    """Return by band the share of weighted pairs at each level."""
    width = field.n_levels + 1
    by_value = np.bincount(cells, weight, len(field.chance) * width).reshape(-1, width)[:, :-1]
    counts = field.usual() * PRIOR
    np.add.at(counts, field.bands, by_value)
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares


def _softmax(scores: Floats, others: Floats) -> Floats:
    """Return the chance of each candidate, given the log odds of all others together."""
    largest = np.maximum(scores.max(axis=1), others)
    chances = np.exp(scores - largest[:, None])
    softmax: Floats = chances / (chances.sum(axis=1) + np.exp(others - largest))[:, None]
    return softmax
