"""An original table and its release, ready to be compared: codes of quasi-identifiers, amounts of sensitive columns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.data.table import Table

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# The squares of larger numbers, added up, would be no numbers any more.
LARGEST_AMOUNT = 1e100


@dataclass(frozen=True, eq=False)
class TablePair:
    """Both tables as arrays, one row a person: what is equal has an equal code, in either table.

    A missing quasi-identifier is a value of its own; a sensitive value must be a number.
    """

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    codes: Ints
    released_codes: Ints
    amounts: Floats
    released_amounts: Floats

    @classmethod
    def of(cls, original: Table, released: Table) -> TablePair:
        """Check that the tables have the same columns in the same roles, and some rows; encode them."""
        for role, ours, theirs in (
            ("quasi-identifiers", original.quasi_identifiers, released.quasi_identifiers),
            ("sensitive columns", original.sensitive, released.sensitive),
        ):
            if ours != theirs:
                expected = Text("the {role} of the original: {names}", role=Text(role), names=", ".join(ours) or "none")
                raise InputError.of(expected, file=released.name, value=", ".join(theirs))
        for table in (original, released):
            if not table.n_rows:
                raise InputError.of("a row or more", file=table.name, value="no rows")
        # First what may fail, since it costs least.
        amounts, released_amounts = (
            _columns([_numbers(table, name) for name in original.sensitive], table.n_rows)
            for table in (original, released)
        )
        codes = _encode(original, released)
        return cls(
            tuple(original.quasi_identifiers),
            tuple(original.sensitive),
            codes[: original.n_rows],
            codes[original.n_rows :],
            amounts,
            released_amounts,
        )

    def with_sensitive(self, at_least: int) -> TablePair:
        """Return the pair if it has enough sensitive columns; of none nothing is measured, which is not a perfect 0."""
        if len(self.sensitive) < at_least:
            raise InputError.of(f"sensitive columns of numbers, {at_least} or more", value=len(self.sensitive))
        return self

    @property
    def n_rows(self) -> int:
        """Number of rows of the original."""
        return len(self.codes)

    @property
    def n_released(self) -> int:
        """Number of rows of the release."""
        return len(self.released_codes)

    @cached_property
    def spreads(self) -> Floats:
        """The standard deviation of each sensitive column of the original: the unit in which amounts are compared."""
        return np.array([_spread(column) for column in self.amounts.T])

    def in_spreads(self, gaps: Floats) -> Floats:
        """Measure distances, one column a sensitive column, in standard deviations, at most 1.

        Where the original never varies any distance is 1.
        """
        gaps, has_spread = np.abs(gaps), self.spreads > 0
        units = np.where(has_spread, self.spreads, 1.0)
        shares: Floats = np.where(has_spread, np.minimum(gaps, units) / units, gaps > 0)
        return shares

    def distances(self, rows: Ints) -> Floats:
        """Return how far each released row is from a row of the original: the mean over both kinds of columns.

        A quasi-identifier is 0 if equal and 1 if not; a sensitive value is as far as `in_spreads` says.
        """
        n_columns = max(1, len(self.quasi_identifiers) + len(self.sensitive))
        n_unequal = (self.codes[rows] != self.released_codes).sum(axis=1)
        # Column after column, so that the digits do not depend on how many rows are compared at once.
        gaps = self.in_spreads(self.amounts[rows] - self.released_amounts)
        total: Floats = n_unequal.astype(np.float64)
        for column in gaps.T:
            total += column
        return total / n_columns

    def cross_tables(self) -> list[tuple[Ints, Ints]]:
        """Return for each two quasi-identifiers the cell of each row of the original and of the release.

        A table with a single quasi-identifier has one cross table, of that column alone.
        """
        n_codes = 1 + np.maximum(self.codes.max(axis=0), self.released_codes.max(axis=0))
        if len(self.quasi_identifiers) == 1:
            return [(self.codes[:, 0], self.released_codes[:, 0])]
        return [
            tuple(codes[:, one] * n_codes[other] + codes[:, other] for codes in (self.codes, self.released_codes))
            for one, other in combinations(range(len(self.quasi_identifiers)), 2)
        ]

    def checked_rows(self, rows: pl.Series) -> Ints:
        """Return the row numbers of the release as an array, after checking that each is a row of the original."""
        if len(rows) != self.n_released:
            raise InputError.of(f"a row number for each of {self.n_released:,} rows", value=f"{len(rows):,}")
        checked = rows.cast(pl.Int64, strict=False).fill_null(-1).to_numpy()
        if not (checked.min() >= 0 and checked.max() < self.n_rows):
            raise InputError.of(f"rows of the original, counted from 0 to {self.n_rows - 1:,}", column=rows.name)
        return checked


def _encode(original: Table, released: Table) -> Ints:
    """Return the values of each quasi-identifier as numbers: ascending, missing last, the release below."""
    ours, theirs = (table.frame.select(original.quasi_identifiers) for table in (original, released))
    for name, kind in ours.schema.items():
        if theirs.schema[name] != kind:
            expected, found = f"the type of the original, {kind}", theirs.schema[name]
            raise InputError.of(expected, file=released.name, column=name, value=found)
    if not ours.columns:
        return np.zeros((original.n_rows + released.n_rows, 0), np.int64)
    ranks = pl.all().rank("dense").cast(pl.Int64)
    numbers = pl.concat([ours, theirs]).select(ranks.fill_null(ranks.max().fill_null(0) + 1) - 1)
    return np.column_stack([numbers[name].to_numpy() for name in numbers.columns])


def _numbers(table: Table, name: str) -> Floats:
    column = table.frame[name]
    if not column.dtype.is_numeric():
        raise InputError.of("numbers in a sensitive column", file=table.name, column=name, value=column.dtype)
    numbers = column.cast(pl.Float64).fill_null(math.nan).to_numpy()
    # Nothing compares with what is missing or no number, so that these fail too.
    is_bad = ~(np.abs(numbers) <= LARGEST_AMOUNT)
    if is_bad.any():
        row = int(is_bad.argmax())
        raise InputError.of("a finite number", file=table.name, line=row + 1, column=name, value=column[row] or "")
    return numbers


def _columns(arrays: list[Floats], n_rows: int) -> Floats:
    return np.column_stack(arrays) if arrays else np.zeros((n_rows, 0))


def _spread(values: Floats) -> float:
    # Exact sums, so that the order of rows cannot change a digit.
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((values - mean) ** 2) / len(values))
