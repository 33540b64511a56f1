"""How a release was made, learned from itself: what still agrees in the pairs that are surely matched.

Rows of one basket share their day and minute, so pairs found by date and time would prove only that those agree.
Date and time are therefore learned from pairs that were found without them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from tokumei.attack.linkage.comparison import FIELDS, N_LEVELS, UNTOLD, Floats, PeriodRows
from tokumei.attack.linkage.evidence import Agreement, Weighed, customer_evidence, pair_ratios, weigh_fields

Places = npt.NDArray[np.intp]

WHEN = ("date", "time")
ROUNDS = 3
# Enough to learn two dozen numbers from; the periods with the fewest pairs of rows are taken.
LEARNING_PAIRS = 8_000_000
# Log odds over the runner-up that make a match sure, and how many matches are taken even so.
SURE = 4.0
LEAST_MATCHES = 20
LARGEST_MATCH = 250_000
LEAST_DELETED = 0.002


def learn_agreement(periods: Sequence[PeriodRows], *, least_deleted: float = 0) -> Agreement:
    """Learn how often each field still agrees and how many rows are gone, at least so many."""
    chosen = _few_pairs(periods)
    agreement = Agreement.at_first()
    what = tuple(field for field in FIELDS if field not in WHEN)
    for _ in range(ROUNDS):
        by_what = _learn_once(chosen, agreement, what)
        agreement = Agreement({**agreement.levels, **{f: by_what.levels[f] for f in WHEN}}, agreement.deleted)
        by_all = _learn_once(chosen, agreement, FIELDS)
        agreement = Agreement({**by_all.levels, **{f: agreement.levels[f] for f in WHEN}}, by_all.deleted)
    return Agreement(agreement.levels, max(agreement.deleted, least_deleted))


def _few_pairs(periods: Sequence[PeriodRows]) -> list[PeriodRows]:
    usable = [period for period in periods if len(period.customers) and len(period.pseudonyms)]
    usable.sort(key=lambda period: period.n_pairs)
    n_pairs = np.cumsum([period.n_pairs for period in usable])
    return usable[: max(1, int(np.searchsorted(n_pairs, LEARNING_PAIRS, side="right")))]


def _learn_once(periods: Sequence[PeriodRows], agreement: Agreement, fields: Collection[str]) -> Agreement:
    """Match by these fields, and see how all fields agree in the matches."""
    # A made-up half pair at each level keeps every share above zero.
    seen = {field: np.full(N_LEVELS[field], 0.5) for field in FIELDS}
    n_kept, n_known = 1.0, 1.0 + agreement.deleted
    for period in periods:
        weighed = weigh_fields(period, agreement, fields)
        for customer, pseudonym in _sure_matches(customer_evidence(period, agreement, fields)):
            rows = slice(*(int(i) for i in period.customer_starts[customer : customer + 2]))
            columns = slice(*(int(i) for i in period.pseudonym_starts[pseudonym : pseudonym + 2]))
            if (rows.stop - rows.start) * (columns.stop - columns.start) > LARGEST_MATCH:
                continue
            known, released = _counterparts(weighed, agreement.deleted, rows, columns)
            n_kept, n_known = n_kept + len(known), n_known + rows.stop - rows.start
            for name, counts in seen.items():
                field = period.fields[name]
                levels = field.levels[field.known[rows][known], field.released[columns][released]]
                counts += np.bincount(levels[levels != UNTOLD], minlength=len(counts))
    deleted = max(LEAST_DELETED, 1 - n_kept / n_known)
    return Agreement({field: counts / counts.sum() for field, counts in seen.items()}, float(deleted))


def _sure_matches(evidence: Floats) -> list[tuple[int, int]]:
    """Give the pairs that are best for both sides and by far, or else the surest few."""
    best = evidence.argmax(axis=1)
    mutual = np.flatnonzero(evidence[:, best].argmax(axis=0) == np.arange(len(best)))
    margin = np.minimum(_lead(evidence)[mutual], _lead(evidence.T)[best[mutual]])
    margin = np.minimum(margin, evidence[mutual, best[mutual]])
    order = np.argsort(-margin, kind="stable")
    n = max(min(LEAST_MATCHES, len(order)), int((margin > SURE).sum()))
    return [(int(mutual[i]), int(best[mutual[i]])) for i in order[:n]]


def _lead(scores: Floats) -> Floats:
    """Give how far the largest of each row is above the second, or above nothing."""
    padded = np.concatenate([scores, np.zeros((len(scores), 1))], axis=1)
    top = np.partition(padded, -2, axis=1)[:, -2:]
    lead: Floats = top[:, 1] - top[:, 0]
    return lead


def _counterparts(weighed: Weighed, deleted: float, rows: slice, columns: slice) -> tuple[Places, Places]:
    """Pair the known rows of a customer with the released rows of a pseudonym, each at most once."""
    ratio = pair_ratios(weighed, rows, columns).astype(np.float64)
    gain = np.log((1 - deleted) * ratio / ratio.shape[1]) - np.log(deleted)
    known, released = linear_sum_assignment(np.maximum(gain, 0), maximize=True)
    is_pair = gain[known, released] > 0
    return known[is_pair], released[is_pair]
