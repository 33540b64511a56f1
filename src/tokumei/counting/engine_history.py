"""A history on an engine: numbered rows, and what is decided about them kept beside the work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.counting.draws import Draws, either, key_of, whole_number
from tokumei.counting.staging import Staged

# Columns that a row loses when it is deleted; what tells its place stays.
CELLS = ("customer", "invoice", "date", "time", "item", "price", "quantity", "period", "first", "last")
# A histogram of so many bits at once finds where to cut.
CUT_BITS = 16


@dataclass(frozen=True)
class EngineHistory:
    """The rows of a history as an expression of an engine; see `staging` for its columns."""

    engine: Any
    table: Any
    staged: Staged
    # Where results are kept that are used again.
    folder: Path

    @property
    def kept(self) -> Any:
        """The rows that are not deleted."""
        return self.table.filter(self.table.customer.notnull())

    @property
    def roles(self) -> tuple[str, ...]:
        """The columns that the history has."""
        return self.staged.roles

    def with_cells(self, cells: Mapping[str, Any]) -> EngineHistory:
        """Give the history with other cells in some columns; deleted rows must stay missing there."""
        return replace(self, table=self.table.mutate(**cells))

    def draws(self, seed: int, *purpose: str, by: tuple[str, ...] = ("row",)) -> Draws:
        """Draw for each row by the columns that name it."""
        return Draws.of(self.engine, key_of(seed, *purpose), *(self.table[name] for name in by))

    def keep(self, name: str, expression: Any) -> Any:
        """Compute something once and keep it, beside the work or on the engine."""
        return self.engine.keep(expression, self.folder / name)

    def fetch(self, expression: Any) -> pl.DataFrame:
        """Fetch a small result."""
        found: pl.DataFrame = self.engine.fetch(expression)
        return found

    def without(self, gone: Any) -> EngineHistory:
        """Delete the rows that a table names: missing in every column, in their place."""
        marks = gone.select(gone_row=gone.row)
        joined = self.table.left_join(marks, self.table.row == marks.gone_row)
        cells = {name: either(joined.gone_row.notnull(), None, joined[name]) for name in CELLS}
        return replace(self, table=joined.mutate(**cells).drop("gone_row"))

    def check_has(self, columns: tuple[str, ...], who: str) -> None:
        """Refuse work that needs a column which the history does not have."""
        for column in columns:
            if column not in self.roles:
                raise InputError.of(f"a history with the column {column}, which {who} needs", file=self.staged.name)


def open_history(engine: Any, staged: Staged, folder: Path) -> EngineHistory:
    """Open the staged rows of a history on an engine that runs SQL."""
    table = engine.table_of_parts(sorted(Path(staged.folder).glob("*.parquet")))
    if staged.is_whole:
        table = table.mutate(quantity=table.quantity.cast("int64"))
    if "time" in staged.roles:
        # Where times stand in the dates, a block of midnights has none.
        is_filled = table.customer.notnull() & table.time.isnull()
        table = table.mutate(time=either(is_filled, whole_number(0), table.time))
    return EngineHistory(engine, table, staged, folder)


def first_rows(history: EngineHistory, candidates: Any, orders: Mapping[str, int], n: int) -> Any:
    """Give exactly n rows of a kept table, the first by columns of whole numbers (name → bits), then by row.

    Passes over the table count how many rows begin with which bits until the cut is found; nothing is sorted.
    """
    chosen, tied = None, candidates
    for column, bits in orders.items():
        cut, n = _cut(history, tied, column, bits, n)
        below = tied.filter(tied[column] < whole_number(cut)).select("row")
        chosen = below if chosen is None else chosen.union(below)
        tied = tied.filter(tied[column] == whole_number(cut))
    rows = history.fetch(tied.select("row").order_by("row").limit(n)) if n else None
    if rows is not None and rows.height:
        last = int(rows["row"][-1])
        chosen = chosen.union(tied.filter(tied.row <= whole_number(last)).select("row"))
    return chosen


def _cut(history: EngineHistory, table: Any, column: str, bits: int, n: int) -> tuple[int, int]:
    """Find the value up to which fewer than n rows lie, and how many of those that have it make n."""
    prefix, shift = 0, bits
    while shift:
        step_bits = min(CUT_BITS, shift)
        above, shift = shift, shift - step_bits
        inside = table.filter((table[column] >> above) == whole_number(prefix)) if above < bits else table
        counted = history.fetch(
            inside.select(bucket=inside[column] >> shift if shift else inside[column])
            .group_by("bucket")
            .aggregate(n=lambda rows: rows.count())
        ).sort("bucket")
        sums = counted["n"].cum_sum()
        at = min(int((sums < n).sum()), counted.height - 1)
        prefix = int(counted["bucket"][at])
        n -= int(sums[at - 1]) if at else 0
    return prefix, n
