"""The measures by name."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Protocol, runtime_checkable

import polars as pl

from tokumei.core.registry import Registry
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.data.table import Table


@runtime_checkable
class HistoryUtility(Protocol):
    """Measures how much use a released history lost; its fields are its options."""

    def measure(self, original: History, released: History) -> Score:
        """Compare a release with its original, row by row where the measure needs it."""


class Sees(StrEnum):
    """What must be handed over to compute a number: the original X, the release Y, the row numbers I of Y."""

    RELEASE = "Y"
    """What is published anyhow."""
    BOTH = "X and Y"
    """The original as well, so whoever computes it must be trusted with it."""
    ROWS = "X, Y and I"
    """Also which row is whose: the secret of the release."""


class TableUtility(Protocol):
    """Measures how much use a released table lost; its fields are its options."""

    sees: ClassVar[Sees]

    def measure(self, original: Table, released: Table, rows: pl.Series) -> Score:
        """Compare a release with its original, both with the same columns in the same roles.

        `rows` holds for each released row the row of the original that it came from, counted from 0; a measure that
        does not see rows does not look at them.
        """


HISTORY_UTILITIES: Registry[HistoryUtility] = Registry(
    "history utility",
    "tokumei.measures.utility",
    # The similarities of items differ in what counts, and are read together.
    presets=dict.fromkeys(("item-cf", "item-cf-retail", "item-cf-supply", "item-cf-top", "item-item"), "_item_cf"),
)
TABLE_UTILITIES: Registry[TableUtility] = Registry("table utility", "tokumei.measures.table")
