"""Rows that steps change, in memory or on an engine: what a step may look at, and how it changes them.

A step looks at rows by group-bys and joins, written once over Narwhals. It deletes rows, changes the cells of each row
by itself, or adds copies of rows with other cells. Each row stands at a place, counted from 0 with the deleted ones;
chance is a function of a key and the place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

import numpy as np
import polars as pl

from tokumei.core.text import JsonView
from tokumei.data.history import History
from tokumei.engines.draws import BITS, drawn_numbers
from tokumei.engines.history_rows import Frame, HistoryRows, LocalRows, lazy

if TYPE_CHECKING:
    from tokumei.engines.item_sets import Ints

# Changes the cells of rows in the columns of a history, given the place of the first of them. None comes or goes.
CellChange = Callable[[pl.DataFrame, int], pl.DataFrame]


class ChangingRows(HistoryRows, Protocol):
    """The rows of a history that steps change."""

    def with_chance(self, key: str) -> Frame:
        """Return the rows that are not deleted with a column `chance` of numbers below 2³²."""

    def computed(self, name: str, frame: Frame) -> Frame:
        """Compute a frame once, which is used several times."""

    def first(self, frame: Frame, orders: Mapping[str, int], n: int) -> Frame:
        """Return the `row` of exactly n rows, the first by columns of whole numbers (name → bits), then by row."""

    def without(self, gone: Frame, n: int) -> Self:
        """Delete the n rows that a frame names by `row`: they stay in their place, missing in every column."""

    def mapped(self, change: CellChange) -> Self:
        """Change the cells of each row by itself; the rows are looked at again only if another step does."""

    def with_copies(self, copies: Frame, before: Ints, within: Ints) -> Self:
        """Add rows that copy the row `beside`, with another `item`, and price and quantity of the row `like`.

        copies: a line for each, numbered from 0 by `copy`.
        before, within: of each the row before which it stands, and its number among those that stand there.
        """

    def with_found(self, found: Mapping[str, object]) -> Self:
        """Note what a step decided on its way, to be told with the release."""


Rows = TypeVar("Rows", bound=ChangingRows)


def count(rows: ChangingRows, frame: Frame) -> int:
    """Count the rows of a frame."""
    import narwhals as nw

    return int(rows.collect(frame.select(nw.len())).item())


@dataclass(frozen=True)
class LocalChanges(LocalRows):
    """The rows of a history in memory, and the row of the history before the changes that each came from."""

    sources: pl.Series
    found: JsonView = field(default_factory=dict)

    @classmethod
    def of(cls, history: History) -> LocalChanges:
        """Begin with a history as it is."""
        return cls(history, pl.Series("row", np.arange(history.n_rows, dtype=np.int64)))

    def with_chance(self, key: str) -> Frame:
        """Draw for all rows."""
        chance = pl.Series((drawn_numbers(key, 0, self.n_rows) >> np.uint64(BITS)).astype(np.int64))
        if self.n_kept < self.n_rows:
            chance = chance.filter(self.history.frame["customer"].is_not_null())
        return lazy(self.rows.to_native().with_columns(chance=chance))

    def computed(self, name: str, frame: Frame) -> Frame:  # noqa: ARG002 - An engine keeps it under the name.
        """Compute a frame."""
        return lazy(self.collect(frame).lazy())

    def first(self, frame: Frame, orders: Mapping[str, int], n: int) -> Frame:
        """Sort the rows."""
        return lazy(self.collect(frame).sort(*orders, "row").select("row").head(n).lazy())

    def without(self, gone: Frame, n: int) -> Self:  # noqa: ARG002 - An engine counts along.
        """Delete rows."""
        is_kept = np.ones(self.n_rows, np.bool_)
        is_kept[self.collect(gone)["row"].to_numpy()] = False
        return self._with_frame(self.history.frame.with_columns(pl.when(pl.Series(is_kept)).then(pl.all())))

    def mapped(self, change: CellChange) -> Self:
        """Change all cells at once."""
        return self._with_frame(change(self.history.frame, 0))

    def with_copies(self, copies: Frame, before: Ints, within: Ints) -> Self:
        """Put the copies between the rows."""
        frame, told = self.history.frame, self.collect(copies).sort("copy")
        amounts = (frame[column].gather(told["like"]) for column in ("price", "quantity"))
        made = frame[told["beside"]].with_columns(told["item"], *amounts)
        # A row ends the gap before it.
        gaps, ends = np.append(np.arange(self.n_rows), before), np.full(self.n_rows, len(before))
        order = np.lexsort((np.append(ends, within), gaps))
        sources = pl.concat([self.sources, pl.repeat(None, len(before), dtype=pl.Int64, eager=True)])
        return replace(self._with_frame(pl.concat([frame, made])[order]), sources=sources.gather(order))

    def with_found(self, found: Mapping[str, object]) -> Self:
        """Note what a step decided."""
        return replace(self, found={**self.found, **found})

    def _with_frame(self, frame: pl.DataFrame) -> Self:
        return replace(self, history=History(frame, self.history.name))
