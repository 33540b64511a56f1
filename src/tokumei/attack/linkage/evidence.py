"""What the rows say on whether a pseudonym is a customer.

A known purchase of a customer was either deleted, and then says nothing, or it is one of the rows of the
customer's pseudonym, each as likely as the other. How likely is told by how far the fields agree.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from tokumei.attack.linkage.comparison import FIELDS, N_LEVELS, FieldComparison, Floats, PeriodRows, Ratios

Weighed = list[tuple[FieldComparison, Ratios]]

# Before anything is seen, fields are believed to agree mostly.
FIRST_AGREEMENT = 0.7
FIRST_DELETED = 0.1
# Pairs of rows looked at in one go: 4 bytes each, in two arrays.
BLOCK_PAIRS = 2_000_000


@dataclass(frozen=True)
class Agreement:
    """How the release was made, as far as matched rows show it."""

    levels: dict[str, Floats]  # By field, the share of counterparts at each level.
    deleted: float  # Share of known rows without a counterpart.

    @classmethod
    def at_first(cls) -> Agreement:
        """Believe that most values are as they were."""
        rest = {field: (1 - FIRST_AGREEMENT) / (n - 1) for field, n in N_LEVELS.items()}
        return cls({f: np.array([FIRST_AGREEMENT] + [rest[f]] * (N_LEVELS[f] - 1)) for f in FIELDS}, FIRST_DELETED)


def customer_evidence(period: PeriodRows, agreement: Agreement, fields: Collection[str] = FIELDS) -> Floats:
    """Give the log likelihood ratio of each customer with known rows (down) being each pseudonym (across)."""
    if not len(period.customers):
        return np.zeros((0, len(period.pseudonyms)))
    weighed = weigh_fields(period, agreement, fields)
    n_known, n_released = int(period.customer_starts[-1]), period.rows.height
    by_row = np.empty((n_known, len(period.pseudonyms)), np.float32)
    n_block = max(1, BLOCK_PAIRS // max(1, n_released))
    for start in range(0, n_known, n_block):
        block = slice(start, min(n_known, start + n_block))
        ratio = pair_ratios(weighed, block, slice(0, n_released))
        summed = np.add.reduceat(ratio, period.pseudonym_starts[:-1], axis=1)
        by_row[block] = np.log(agreement.deleted + (1 - agreement.deleted) * summed / period.n_released)
    return np.add.reduceat(by_row, period.customer_starts[:-1], axis=0).astype(np.float64)


def weigh_fields(period: PeriodRows, agreement: Agreement, fields: Collection[str]) -> Weighed:
    """Give each field with the likelihood ratios of its pairs of values."""
    return [(period.fields[f], period.fields[f].weigh(agreement.levels[f])) for f in fields]


def pair_ratios(weighed: Weighed, known: slice, released: slice) -> Ratios:
    """Multiply the likelihood ratios of the fields for each pair of rows."""
    ratio = np.ones((known.stop - known.start, released.stop - released.start), np.float32)
    for field, table in weighed:
        ratio *= table[field.known[known]].take(field.released[released], axis=1)
    return ratio
