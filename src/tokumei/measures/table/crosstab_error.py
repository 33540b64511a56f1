"""How far cross tables of a generalized release are off."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import ClassVar

import numpy as np
import polars as pl
from scipy import sparse

from tokumei.core.score import Score
from tokumei.data.table import Table
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.registry import Sees
from tokumei.measures.table.spread import Floats, Labeled, SpreadColumn, pair_counts, spread_columns


@dataclass(frozen=True)
class CrosstabError:
    """Share of rows that lie in the wrong cell of two-way tables: 0 if every table is the same, 1 if none overlaps.

    Sees X and Y. Each two columns make a table of shares, and the error of one is half the sum of |share − released
    share| over its cells, the total variation; the score is the mean over all tables, the worst table is among the
    inputs. A column that is alone is compared by its own shares. A released label counts as its leaves, each alike, so
    that a generalized release is compared cell by cell with the original, where `cross-count` finds no label in common.
    Columns of more than fifty values are cut into tenths of the original's numbers, or into the most frequent values
    and the rest. Rows that are gone change shares only.

    Example: (f, A), (f, A), (m, B), (m, B) is released as (f, *), (f, *), (m, B), (m, B). The table should have 1/2 in
    (f, A) and in (m, B); the release has 1/4 in (f, A), 1/4 in (f, B) and 1/2 in (m, B). The error is (1/4 + 1/4) / 2,
    a quarter of the rows.
    """

    hierarchies: Mapping[str, Hierarchy] = field(
        default_factory=dict, metadata={"help": "Of the columns whose labels come from one."}
    )
    numeric: tuple[str, ...] = field(default=(), metadata={"help": "Columns of numbers among those that are text."})

    sees: ClassVar[Sees] = Sees.BOTH

    def measure(self, original: Table, released: Table, rows: pl.Series) -> Score:  # noqa: ARG002
        """Compare the shares in all cells of all tables."""
        columns = spread_columns(original, released, self.hierarchies, self.numeric)
        if len(columns) == 1:
            # Not with itself: a label would be spread over both, as if they were independent.
            errors = {columns[0].name: _error_alone(columns[0])}
        else:
            errors = {f"{one.name}, {other.name}": _error(one, other) for one, other in combinations(columns, 2)}
        worst = max(errors, key=lambda name: errors[name], default="")
        value = math.fsum(errors.values()) / max(1, len(errors))
        return Score(
            "crosstab-error", value, best=0, worst=1, inputs={"worst": worst, "worst_error": errors.get(worst, 0)}
        )


def _error_alone(one: SpreadColumn) -> float:
    before = _shares(one.original, one.original_shares)
    return _variation(before, _shares(one.released, one.released_shares))


def _error(one: SpreadColumn, other: SpreadColumn) -> float:
    before = _cells((one.original, one.original_shares), (other.original, other.original_shares))
    return _variation(before, _cells((one.released, one.released_shares), (other.released, other.released_shares)))


def _variation(before: Floats, after: Floats) -> float:
    # What lies nowhere, as a range without a value, is in no cell of the original either.
    nowhere = max(0.0, 1 - math.fsum(after.ravel()))
    return min(1.0, (math.fsum(np.abs(before - after).ravel()) + (nowhere if nowhere > 1e-9 else 0.0)) / 2)


def _shares(labeled: Labeled, shares: Floats) -> Floats:
    """Return the share of rows in each bin of a column, with the shares of its labels in them."""
    counts = np.bincount(labeled.codes, minlength=labeled.sets.n_labels).astype(np.float64)
    found: Floats = shares.T @ counts
    return found / len(labeled.codes)


def _cells(one: tuple[Labeled, Floats], other: tuple[Labeled, Floats]) -> Floats:
    """Return the share of rows in each cell of two columns' bins, each with the shares of its labels in them."""
    (ours, our_shares), (theirs, their_shares) = one, other
    label, other_label, counts = pair_counts(ours.codes, theirs.codes, theirs.sets.n_labels)
    shape = (ours.sets.n_labels, theirs.sets.n_labels)
    table = sparse.csr_array(sparse.coo_array((counts.astype(np.float64), (label, other_label)), shape=shape))
    cells: Floats = our_shares.T @ np.asarray(table @ their_shares)
    return cells / len(ours.codes)
