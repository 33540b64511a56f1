"""Which row of an original a released row is nearest to: within a class, by one number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.data.table import Table
from tokumei.measures.table_pair import Floats, Ints, TablePair

NOBODY = -1


@dataclass(frozen=True, eq=False)
class SharedClasses:
    """The classes of both tables by their quasi-identifiers: equal numbers are equal values."""

    known: Ints
    published: Ints

    @classmethod
    def of(cls, pair: TablePair) -> SharedClasses:
        """Assign numbers to the classes of both tables."""
        both = np.concatenate([pair.codes, pair.released_codes])
        if both.shape[1] == 0:
            # Without a quasi-identifier everyone looks the same.
            number = np.zeros(len(both), np.int64)
        else:
            number = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)
        return cls(number[: pair.n_rows], number[pair.n_rows :])

    @property
    def n_candidates(self) -> Ints:
        """For each published row the number of known rows in its class."""
        n_classes = int(max(self.known.max(), self.published.max())) + 1
        return np.bincount(self.known, minlength=n_classes)[self.published]


def nearest_rows(classes: SharedClasses, values: Floats, published_values: Floats) -> Ints:
    """Return for each published row the known row of its class with the nearest value, or NOBODY in an empty class.

    Of two values as near the lower is taken, of equal values the first row.
    """
    # By class, then by value, then by row: one key tells class and value.
    distinct = np.unique(np.concatenate([values, published_values]))
    keys = classes.known * len(distinct) + np.searchsorted(distinct, values)
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    wanted = classes.published * len(distinct) + np.searchsorted(distinct, published_values)
    above = np.searchsorted(sorted_keys, wanted)
    # The last lower key, and the first row that has it.
    below = np.searchsorted(sorted_keys, sorted_keys[np.maximum(above - 1, 0)])
    gaps, indices = [], []
    for index, is_there in ((below, above > 0), (np.minimum(above, len(order) - 1), above < len(order))):
        row = order[index]
        is_there = is_there & (classes.known[row] == classes.published)
        gaps.append(np.where(is_there, np.abs(values[row] - published_values), np.inf))
        indices.append(np.where(is_there, row, NOBODY))
    nearest: Ints = np.where(gaps[0] <= gaps[1], indices[0], indices[1])
    return nearest


def as_guess(rows: npt.NDArray[np.int64]) -> pl.Series:
    """Return rows as a guess: NOBODY is missing."""
    guess = pl.Series("row", rows, dtype=pl.Int64)
    return guess.set(guess == NOBODY, None)


def sensitive_index(table: Table, column: str, number: int) -> int:
    """Give the index, among the sensitive columns, of the one that is named, or else of the table's column of a number.

    Columns are counted from 1, as the contest of 2015 did.
    """
    if not column:
        if number > len(table.frame.columns):
            raise InputError.of(f"a column to compare, as there is no column {number}", file=table.name)
        column = table.frame.columns[number - 1]
    if column not in table.sensitive:
        raise InputError.of(f"a sensitive column: {', '.join(table.sensitive)}", file=table.name, value=column)
    return table.sensitive.index(column)
