"""How far a released value is from a known one, field by field.

Each field has a few levels of agreement, 0 being equality. `weigh` turns them into likelihood ratios after
Fellegi and Sunter: how often counterparts are at that level, over how often any two rows are. The second depends
on the value, so that sharing a rare value counts for more than sharing a common one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Ratios = npt.NDArray[np.float32]
Levels = npt.NDArray[np.uint8]

# What either side does not tell is no evidence.
UNTOLD = 255
# Bounds of the levels between equal and far: days, minutes, and for the rest the smaller over the larger.
DAYS = (2, 7)
MINUTES = (10, 60)
RATIOS = (0.9, 0.7, 0.45)
N_CHARACTERS = (2, 1)
N_LEVELS: dict[str, int] = {"date": 4, "time": 4, "item": 4, "price": 5, "quantity": 5}
FIELDS = tuple(N_LEVELS)
# A value seen once may be rare by accident; no single field proves more than this.
STRONGEST = 1e5


def encode(rows: pl.DataFrame) -> pl.DataFrame:
    """Write dates in days, times in minutes and items as text, in the columns that are compared."""
    return rows.select(
        pl.col("date").to_physical().cast(pl.Float64),
        (pl.col("time").dt.hour().cast(pl.Float64) * 60 + pl.col("time").dt.minute()).alias("time"),
        pl.col("item").fill_null(""),
        pl.col("price").cast(pl.Float64),
        pl.col("quantity").cast(pl.Float64),
    )


def levels_between(field: str, known: npt.NDArray[np.generic], released: npt.NDArray[np.generic]) -> Levels:
    """Give the level of agreement of each known value (down) with each released one (across)."""
    if field == "item":
        return _levels_of_items(known, released)
    one, other = known.astype(float)[:, None], released.astype(float)[None, :]
    if field in ("date", "time"):
        level = np.searchsorted((0.0, *(DAYS if field == "date" else MINUTES)), np.abs(one - other))
    else:
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(one == other, 1.0, np.minimum(one, other) / np.maximum(one, other))
        level = 1 + np.sum([ratio < bound for bound in RATIOS], axis=0)
        level[one == other] = 0
    level[np.isnan(one) | np.isnan(other)] = UNTOLD
    levels: Levels = level.astype(np.uint8)
    return levels


def _levels_of_items(known: npt.NDArray[np.generic], released: npt.NDArray[np.generic]) -> Levels:
    level = np.full((len(known), len(released)), len(N_CHARACTERS) + 1, np.uint8)
    for nearness, n in reversed(list(enumerate(N_CHARACTERS, start=1))):
        level[known.astype(f"U{n}")[:, None] == released.astype(f"U{n}")[None, :]] = nearness
    level[known[:, None] == released[None, :]] = 0
    level[(known == "")[:, None] | (released == "")[None, :]] = UNTOLD
    return level


@dataclass(frozen=True)
class FieldComparison:
    """One field of the known and released rows of one period: their values by code, and the levels between."""

    known: Ints
    released: Ints
    levels: Levels
    chance: Floats  # By level (down) and released value (across): how often any row is at that level.

    @classmethod
    def of(cls, field: str, known: pl.Series, released: pl.Series) -> FieldComparison:
        """Compare the values of a field, each pair of values once."""
        known_values, known_codes = np.unique(known.to_numpy(), return_inverse=True)
        released_values, released_codes = np.unique(released.to_numpy(), return_inverse=True)
        levels = levels_between(field, known_values, released_values)
        # Both sides show how common a value is; the release may have changed its values, so the known rows count too.
        among_released = levels_between(field, released_values, released_values)
        n_known, n_released = np.bincount(known_codes), np.bincount(released_codes)
        at_level = [n_known @ (levels == level) + n_released @ (among_released == level) for level in _all(field)]
        counts = np.asarray(at_level) + 1 / len(at_level)
        return cls(known_codes, released_codes, levels, counts / counts.sum(axis=0))

    def weigh(self, agreement: Floats) -> Ratios:
        """Give the likelihood ratio of each pair of values, from how often counterparts are at each level."""
        ratios = np.minimum(agreement[:, None] / self.chance, STRONGEST)
        told = np.minimum(self.levels, len(agreement) - 1)
        table = np.take_along_axis(ratios, told.astype(np.int64), axis=0)
        return np.where(self.levels == UNTOLD, 1.0, table).astype(np.float32)


def _all(field: str) -> range:
    return range(N_LEVELS[field])


@dataclass(frozen=True)
class PeriodRows:
    """The known and released rows of one period, sorted by customer and by pseudonym, with their comparison."""

    customers: Ints  # The customers with known rows, ascending.
    customer_starts: Ints  # Where the rows of each begin, and the number of rows.
    pseudonyms: pl.Series
    pseudonym_starts: Ints
    fields: Mapping[str, FieldComparison]
    rows: pl.DataFrame  # The released rows, in that order.

    @classmethod
    def of(cls, known: pl.DataFrame, released: pl.DataFrame, n_characters: int) -> PeriodRows:
        """Compare the rows of a period, items by so many characters.

        `known` has the number of the customer in the column `of`, `released` the pseudonym in `customer`.
        """
        known, released = known.sort("of", maintain_order=True), released.sort("customer", maintain_order=True)
        ours, theirs = encode(known), encode(released)
        theirs = theirs.with_columns(pl.col("item").str.slice(0, n_characters))
        customers, starts = np.unique(known["of"].to_numpy(), return_index=True)
        pseudonyms, released_starts = np.unique(released["customer"].to_numpy().astype(str), return_index=True)
        return cls(
            customers,
            np.append(starts, known.height),
            pl.Series(pseudonyms, dtype=pl.String),
            np.append(released_starts, released.height),
            {field: FieldComparison.of(field, ours[field], theirs[field]) for field in FIELDS},
            released,
        )

    @cached_property
    def n_known(self) -> Ints:
        """Number of known rows of each customer."""
        return np.diff(self.customer_starts)

    @cached_property
    def n_released(self) -> Ints:
        """Number of released rows of each pseudonym."""
        return np.diff(self.pseudonym_starts)

    @property
    def n_pairs(self) -> int:
        """Number of pairs of a known and a released row."""
        return int(self.customer_starts[-1] * self.pseudonym_starts[-1])
