"""What habits say: whether a pseudonym buys as the customer does in other months.

The customer's other months are those already matched. Their rows tell what the customer buys, in full as the
release has it. Each kind of habit gives one number for a pair; how much each is worth is learned from the months
that the rows alone have matched (a conditional logistic regression: whose month is this, of all customers?).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from tokumei.attack.linkage.fields import Floats, Ints

# What is counted as a habit, one value a row; what is not told is left out.
KINDS: dict[str, tuple[str, ...]] = {
    "item": ("item",),
    "item and quantity": ("item", "quantity"),
    "price": ("price",),
    "quantity": ("quantity",),
}
# How far a customer's own share is believed over everybody's.
OWN = 0.5
RIDGE = 0.5
N_STEPS = 20
# Learning ends when no weight changes by more.
ENOUGH = 1e-4
LONGEST_STEP = 2.0


class Habits:
    """The pseudonyms of all periods (slots) by what they buy."""

    def __init__(self, values: Sequence[Ints], row_slots: Ints, slot_periods: Ints, names: Ints) -> None:
        """Count the values of each kind in each slot; `row_slots` says the slot of each released row."""
        self.slot_periods = slot_periods
        self.names = names
        n_slots = len(slot_periods)
        self.tokens = [_tokens(codes, row_slots, n_slots) for codes in values]
        self.log_sizes = np.log(np.bincount(row_slots, minlength=n_slots))

    def all_features(self, matched: csr_array, before: tuple[csr_array, list[Floats]] | None = None) -> list[Floats]:
        """Give the features of each period; those of customers who are matched as `before` are taken from there."""
        periods = range(int(self.slot_periods.max(initial=-1)) + 1)
        if before is None:
            return [self.features(matched, period) for period in periods]
        changed = np.unique((matched - before[0]).nonzero()[0])
        found = [features.copy() for features in before[1]]
        for period in periods if len(changed) else ():
            found[period][changed] = self.features(matched[changed], period)
        return found

    def features(self, matched: csr_array, period: int) -> Floats:
        """Give what each customer's other months say on each slot of the period: customer, slot, feature.

        `matched` is customers by slots, 1 where they are matched.
        """
        here = np.flatnonzero(self.slot_periods == period)
        elsewhere = matched @ _diagonal(self.slot_periods != period)
        has_past = np.asarray(elsewhere.sum(axis=1)).ravel() > 0
        usual_size = _scale_rows(elsewhere) @ self.log_sizes
        size_gap = np.abs(usual_size[:, None] - self.log_sizes[here])
        # Who has a past could have bought the same again: the more values a slot has, the more its novelty says.
        novelty = np.outer(has_past, np.sqrt(_n_values(self.tokens[-1][here])))
        repeats = [_repeats(tokens, elsewhere, here) for tokens in self.tokens]
        return np.stack([*repeats, novelty, -size_gap * has_past[:, None], self._same_name(elsewhere, here)], axis=2)

    def _same_name(self, elsewhere: csr_array, here: Ints) -> Floats:
        """Give the share of the customer's other months under the very pseudonym."""
        n = len(self.names)
        by_name = csr_array((np.ones(n), (np.arange(n), self.names)), shape=(n, int(self.names.max()) + 1))
        shares: Floats = (_scale_rows(elsewhere) @ by_name).tocsc()[:, self.names[here]].toarray()
        return shares


def learn_weights(values: Floats, answers: Ints, log_prior: Floats) -> Floats:
    """Learn what each feature is worth from months that are matched for sure.

    `values` holds, for each such month, the features of every customer; `answers` whose month it is; `log_prior` how
    active each customer is.
    """
    n_features = values.shape[2]
    flat = values.reshape(-1, n_features)
    of_answers = values[np.arange(len(answers)), answers].sum(axis=0)
    weights: Floats = np.zeros(n_features)
    # Newton's steps: the loss is convex, and the ridge keeps its curvature from vanishing.
    for _ in range(N_STEPS):
        scores = values @ weights + log_prior
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        expected = np.matmul(chances[:, None, :], values)[:, 0]
        slope = expected.sum(axis=0) - of_answers + 2 * RIDGE * weights
        curvature = (flat * chances.reshape(-1, 1)).T @ flat - expected.T @ expected
        change = np.linalg.solve(curvature + 2 * RIDGE * np.eye(n_features), slope)
        # Far from the end a step may be too long by far.
        change /= max(1.0, np.abs(change).max() / LONGEST_STEP)
        weights = weights - change
        if np.abs(change).max() < ENOUGH:
            break
    return weights


def _repeats(tokens: csr_array, elsewhere: csr_array, here: Ints) -> Floats:
    """Give how much each customer's own values (down) recur in each slot (across), rare ones counting more.

    A sum of log likelihood ratios: the customer's share of the value, mixed with everybody's, over everybody's. Values
    of one slot go together, so the sum is worth less than its length.
    """
    common = np.asarray(tokens.sum(axis=0)).ravel() + 1
    own = _scale_rows((elsewhere @ tokens).tocsr())
    own.data = np.log1p(OWN / (1 - OWN) * own.data * common.sum() / common[own.indices])
    now = tokens[here]
    repeats: Floats = (own @ now.T).toarray() / np.sqrt(_n_values(now))
    return repeats


def _n_values(tokens: csr_array) -> Floats:
    return np.diff(tokens.indptr).astype(np.float64)


def habit_codes(released: pl.DataFrame) -> list[Ints]:
    """Give numbers to the values of each kind of habit that the release tells."""
    told = [kinds for kinds in KINDS.values() if all(released[kind].null_count() < released.height for kind in kinds)]
    return [
        (released.select(pl.struct(kinds).rank("dense")).to_series().to_numpy() - 1).astype(np.int64) for kinds in told
    ]


def _tokens(codes: Ints, slots: Ints, n_slots: int) -> csr_array:
    """Count each value in each slot, once a slot."""
    shape = (n_slots, int(codes.max(initial=0)) + 1)
    counts = csr_array((np.ones(len(codes)), (slots, codes)), shape=shape)
    counts.sum_duplicates()
    counts.data[:] = 1
    return counts


def _diagonal(is_kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> csr_array:
    n = np.arange(len(is_kept))
    return csr_array((is_kept.astype(float), (n, n)))


def _scale_rows(counts: csr_array) -> csr_array:
    """Make each row sum to 1, or 0 where it is empty."""
    sums = np.asarray(counts.sum(axis=1)).ravel()
    scaled = counts.tocsr().astype(float)
    scaled.data = scaled.data / np.repeat(np.maximum(sums, 1e-300), np.diff(scaled.indptr))
    return scaled
