"""A history on an engine: numbered rows, and what is decided about them kept beside the work."""

from __future__ import annotations

import datetime
import hashlib
import math
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.text import JsonView
from tokumei.data.history_columns import SCHEMA, check_none_absent
from tokumei.engines.changing import CellChange
from tokumei.engines.draws import CHANCE, chance_column, either, place, whole_number
from tokumei.engines.engine import EngineTable
from tokumei.engines.history_rows import Cells, Frame, Ints, Matrix, lazy, matrix_of
from tokumei.engines.staging import Staged, as_history_columns, write_plain

# Columns that a row loses when it is deleted; what tells its place stays.
CELLS = ("customer", "invoice", "date", "time", "item", "price", "quantity", "period", "first", "last")
# Rows that are fetched at once.
PIECE_ROWS = 4_000_000
# A histogram of so many bits at once finds where to cut.
CUT_BITS = 16
# Cells of units and items that are in memory at once.
MOST_CELLS = 8_000_000


@dataclass(frozen=True)
class EngineHistory:
    """The rows of a history as an expression of an engine; see `staging` for its columns."""

    engine: Any
    table: EngineTable
    staged: Staged
    # Where results are kept that are used again.
    folder: Path
    # Rows have numbers below it, not all of which stand for a row once some were made up.
    n_numbers: int
    # Changes of cells, made as rows are fetched.
    pending: tuple[CellChange, ...] = ()
    # How often changed rows were written for a step to look at.
    n_settled: int = 0
    # What steps decided on their way, to be told with the release.
    found: JsonView = field(default_factory=dict)

    @property
    def kept(self) -> EngineTable:
        """The rows that are not deleted."""
        # Customers are looked at only where some are missing, since often nothing else asks for them.
        return self.table if self.n_kept == self.n_rows else self.table.filter(self.table.customer.notnull())

    @property
    def roles(self) -> tuple[str, ...]:
        """The columns that the history has."""
        return self.staged.roles

    @property
    def name(self) -> str:
        """What a message calls the history."""
        return self.staged.name

    @property
    def n_rows(self) -> int:
        """Number of rows, deleted ones included."""
        return self.staged.n_rows

    @property
    def n_kept(self) -> int:
        """Number of rows that are not deleted."""
        return self.staged.n_kept

    @property
    def absent(self) -> tuple[str, ...]:
        """The columns that the history does not have; of no rows none is missed."""
        return tuple(role for role in SCHEMA if role not in self.roles) if self.n_kept else ()

    @cached_property
    def items(self) -> pl.Series:
        """All items, in order."""
        return self.fetch(self.kept.select("item").distinct())["item"].sort()

    @property
    def rows(self) -> Frame:
        """The rows that are not deleted."""
        return lazy(self.kept)

    def check_whole(self) -> None:
        """Refuse quantities that are not whole, whose sum depends on their order."""
        if not self.staged.is_whole:
            raise InputError.of("whole quantities, or the local engine", file=self.name, column="quantity")

    def labels(self, frame: pl.DataFrame) -> Frame:
        """Bring a frame to the engine."""
        return lazy(self.given(f"labels-{secrets.token_hex(8)}", frame))

    def beside(self, released: EngineHistory, ours: Mapping[str, str], theirs: Mapping[str, str]) -> Frame:
        """Return columns of each row that the release keeps, and of the original's row beside it."""
        left = self.table.select(our_row="row", **ours)
        right = released.kept.select(their_row="row", **theirs)
        return lazy(left.inner_join(right, left.our_row == right.their_row).drop("our_row", "their_row"))

    def collect(self, frame: Frame) -> pl.DataFrame:
        """Fetch a small result."""
        return self.fetch(frame.to_native())

    def n_distinct(self, column: str, by: str) -> pl.DataFrame:
        """Count the distinct values of a column among the rows that have each value of another."""
        found = self.kept.select(by, column).distinct()
        return self.fetch(found.group_by(by).aggregate(n=lambda some: some.count()))

    def has_many_invoices(self) -> bool:
        """Whether there is more than one invoice."""
        invoice = self.kept.invoice
        first, last = self.fetch(self.kept.aggregate(first=invoice.min(), last=invoice.max())).row(0)
        return bool(first != last)

    def cells(self, by: Sequence[str], items: pl.Series, *, counts_rows: bool) -> Cells:
        """Count the rows, or sum up the quantity, of each of the items that each unit has.

        Cells are numbered and summed up on the engine and come from there once, part by part, to files.
        """
        if not counts_rows:
            self.check_whole()
        units = self.kept.select(**{f"unit_{column}": column for column in by}).distinct()
        # In any order: which numbers stand together changes no sum.
        units = self.keep(
            f"{'-'.join(by)}-units", units.mutate(unit=place(None, [units[name] for name in units.columns]))
        )
        n_units = int(self.fetch(units.aggregate(n=units.count()))["n"][0])
        listed = hashlib.blake2b("\0".join(items).encode(), digest_size=8).hexdigest()
        name = f"{'-'.join(by)}-{'rows' if counts_rows else 'quantity'}-{listed}"
        named = self.given(f"items-{listed}", pl.DataFrame({"what": items, "number": np.arange(len(items))}))
        numbered = self.kept.inner_join(units, [self.kept[column] == units[f"unit_{column}"] for column in by])
        numbered = numbered.inner_join(named, numbered["item"] == named.what)
        sums = numbered.group_by("unit", "number").aggregate(
            total=lambda some: some.count() if counts_rows else some.quantity.sum().cast("int64")
        )
        n_parts = max(1, math.ceil(self.n_kept / MOST_CELLS))
        return Cells(n_units, n_parts, lambda part: self._part(name, sums, part, n_parts, len(items)))

    def _part(self, name: str, sums: EngineTable, part: int, n_parts: int, n_items: int) -> Matrix:
        """Read the cells of the units whose numbers leave a remainder; the first time, from the engine."""
        file = self.folder / f"{name}-{part}.parquet"
        if not file.exists():
            if n_parts > 1:
                sums = self.keep(name, sums)
                sums = sums.filter(sums.unit % whole_number(n_parts) == whole_number(part))
            self.fetch(sums.select("unit", "number", "total")).write_parquet(file, compression="lz4")
        cells = pl.read_parquet(file)
        units = cells["unit"].to_numpy() // n_parts
        shape = int(units.max(initial=-1)) + 1, n_items
        return matrix_of(units, cells["number"].to_numpy(), cells["total"].to_numpy(), shape)

    def keep(self, name: str, expression: object) -> EngineTable:
        """Compute something once and keep it, beside the work or on the engine."""
        return self.engine.keep(expression, self.folder / name)

    def given(self, name: str, frame: pl.DataFrame) -> EngineTable:
        """Bring a frame before the engine, by a file beside the work."""
        file = self.folder / f"{name}-given.parquet"
        frame.write_parquet(file, compression="lz4")
        return self.engine.table_of_parts([file])

    def fetch(self, expression: object) -> pl.DataFrame:
        """Fetch a small result."""
        found: pl.DataFrame = self.engine.fetch(expression)
        return found

    def with_chance(self, key: str) -> Frame:
        """Return the rows with what was drawn for them by a key when they were written."""
        return lazy(self.kept.mutate(chance=self.kept[chance_column(key)]))

    def computed(self, name: str, frame: Frame) -> Frame:
        """Compute a frame once and keep it."""
        return lazy(self.keep(name, frame.to_native()))

    def first(self, frame: Frame, orders: Mapping[str, int], n: int) -> Frame:
        """Find where to cut, without sorting."""
        return lazy(first_rows(self, frame.to_native(), orders, n))

    def without(self, gone: Frame, n: int) -> EngineHistory:
        """Delete the rows that a frame names: missing in every column, in their place."""
        named = gone.to_native()
        marks = named.select(gone_row=named.row)
        joined = self.table.left_join(marks, self.table.row == marks.gone_row)
        cells = {name: either(joined.gone_row.notnull(), None, joined[name]) for name in CELLS}
        staged = replace(self.staged, n_kept=self.n_kept - n)
        return replace(self, table=joined.mutate(**cells).drop("gone_row"), staged=staged)

    def mapped(self, change: CellChange) -> EngineHistory:
        """Change cells as rows are fetched."""
        return replace(self, pending=(*self.pending, change))

    def with_copies(self, copies: Frame, before: Ints, within: Ints) -> EngineHistory:
        """Add rows between the others, which get other numbers in the same order."""
        # So many numbers for each row and the copies before it, the last of them its own: no row waits for another's.
        width = int(within.max()) + 2
        placed = pl.DataFrame({"copy": np.arange(len(before)), "number": before * width + within})
        numbers = self.given(f"copies-{self.n_rows}", placed)
        told = copies.to_native()
        numbered = told.inner_join(numbers, told["copy"] == numbers["copy"])
        named = numbered.select("beside", "like", number_of="number", its_item="item")
        theirs = self.kept.select(like_row="row", its_price="price", its_quantity="quantity")
        priced = named.inner_join(theirs, named["like"] == theirs.like_row)
        joined = self.kept.inner_join(priced, self.kept.row == priced.beside)
        cells = {"item": joined.its_item, "price": joined.its_price, "quantity": joined.its_quantity}
        made = joined.mutate(row=joined.number_of, **cells).select("row", *CELLS)
        rows = self.table.mutate(row=self.table.row * whole_number(width) + whole_number(width - 1))
        table = rows.select("row", *CELLS).union(self.keep(f"copies-{self.n_rows}", made))
        n = len(before)
        staged = replace(self.staged, n_rows=self.n_rows + n, n_kept=self.n_kept + n)
        return replace(self, table=table, staged=staged, n_numbers=(self.n_numbers + 1) * width)

    def with_found(self, found: Mapping[str, object]) -> EngineHistory:
        """Note what a step decided."""
        return replace(self, found={**self.found, **found})

    @property
    def n_pieces(self) -> int:
        """In how many pieces the rows are fetched."""
        return max(1, -(-self.n_numbers // self._piece_width))

    @property
    def _piece_width(self) -> int:
        # About as many rows in each piece, also where not every number is a row's.
        return max(1, PIECE_ROWS * self.n_numbers // max(1, self.n_rows))

    def piece(self, number: int, first: int) -> pl.DataFrame:
        """Fetch a piece of the rows in their order, as they are after all changes, in the columns of a history.

        first: how many rows stand before it.
        """
        start, table = number * self._piece_width, self.table
        is_here = (table.row >= whole_number(start)) & (table.row < whole_number(start + self._piece_width))
        rows = self.fetch(table.filter(is_here).select("row", *self.roles)).sort("row")
        frame = as_history_columns(rows, self.roles, is_whole=self.staged.is_whole)
        for change in self.pending:
            frame = change(frame, first)
        return frame

    def settled(self, keys: Sequence[str] = ()) -> EngineHistory:
        """Return the history with all changes made and numbers drawn by keys, for a step to look at.

        Unless it is so already, the rows are written once more, piece after piece.
        """
        if not self.pending and {chance_column(key) for key in keys} <= set(self.table.columns):
            return self
        place = self.folder / f"settled-{self.n_settled}"
        if not place.exists():
            draft = place.with_suffix(".draft")
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir()
            first = 0
            with step("writing changed rows", self.n_pieces) as bar:
                for number in range(self.n_pieces):
                    rows = self.piece(number, first)
                    write_plain(rows, first, keys, draft / f"{number:06}.parquet")
                    first += rows.height
                    bar.advance()
            # Whole or not at all, so that a run that is broken off does not take a part for it.
            draft.replace(place)
        written = open_history(self.engine, replace(self.staged, folder=str(place)), self.folder)
        return replace(written, found=self.found, n_settled=self.n_settled + 1)

    def check_has(self, columns: Sequence[str], who: str, without: Mapping[str, str] | None = None) -> None:
        """Refuse work that needs a column which the history does not have."""
        check_none_absent(columns, set(columns) - set(self.roles), self.staged.name, who, without)


def open_history(engine: Any, staged: Staged, folder: Path) -> EngineHistory:
    """Open the staged rows of a history on an engine that runs SQL."""
    table = engine.table_of_parts(sorted(Path(staged.folder).glob("*.parquet")))
    if staged.is_whole:
        table = table.mutate(quantity=table.quantity.cast("int64"))
    if "time" in staged.roles:
        # Where times stand in the dates, a block of midnights has none.
        is_filled = table.customer.notnull() & table.time.isnull()
        table = table.mutate(time=either(is_filled, whole_number(0), table.time))
    # Bits are counted in numbers of 64.
    chances = [name for name in table.columns if name.startswith(CHANCE)]
    table = table.mutate(**{name: table[name].cast("int64") for name in chances})
    return EngineHistory(engine, table, staged, folder, staged.n_rows)


def open_in_place(engine: Any, source: Path | str, folder: Path) -> EngineHistory | None:
    """Open a Parquet file that has the columns of a history in their types, on an engine that numbers its rows.

    None where the file must be read and checked in blocks: for other columns and types, and where a cell is missing
    that may not be, since there the line is told. Times of day are not read: nothing that is measured needs them.
    """
    path = Path(source)
    if not hasattr(engine, "numbered_rows") or not path.is_file() or path.suffix != ".parquet":
        return None
    schema = pl.read_parquet_schema(path)
    kinds = {**SCHEMA, **({"quantity": pl.Float64()} if schema.get("quantity") == pl.Float64() else {})}
    roles = tuple(role for role in SCHEMA if role in schema)
    if not {"customer", "date"} <= set(roles) or any(schema[role] != kinds[role] for role in roles):
        return None
    # Engines take names that differ in the case of letters for one, and number rows under a name of their own.
    folded = {name.lower() for name in schema}
    if len(folded) < len(schema) or folded & {"row", "file_row_number"}:
        return None
    rows = engine.numbered_rows(path)
    texts = [rows[role] == "" for role in roles if kinds[role] == pl.String()]
    counts = {role: rows[role].count() for role in roles}
    empties = {f"empty_{at}": one.sum() for at, one in enumerate(texts)}
    found = engine.fetch(rows.aggregate(n=rows.count(), **counts, **empties)).row(0, named=True)
    n_kept = int(found["customer"])
    if any(found[name] for name in empties) or any(found[role] not in (0, n_kept) for role in roles):
        return None
    if any(found[role] != n_kept for role in ("customer", "date")):
        return None
    date = rows.date
    day = date.delta(datetime.date(1970, 1, 1), unit="day").cast("int64")
    period = date.year().cast("int64") * 12 + date.month().cast("int64") - 1
    cells = {"date": day, "period": period, "first": day - date.day().cast("int64") + 1}
    table = rows.mutate(**cells)
    present = tuple(role for role in roles if not n_kept or found[role])
    left_out = tuple(name for name in schema if name not in SCHEMA)
    is_whole = schema.get("quantity") != pl.Float64()
    staged = Staged(str(folder), str(source), int(found["n"]), n_kept, present, is_whole, left_out)
    return EngineHistory(engine, table, staged, folder, staged.n_rows)


def first_rows(history: EngineHistory, candidates: EngineTable, orders: Mapping[str, int], n: int) -> object:
    """Return exactly n rows of a kept table, the first by columns of whole numbers (name → bits), then by row.

    Passes over the table count how many rows begin with which bits until the cut is found; nothing is sorted.
    """
    chosen: Any = None
    tied = candidates
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


def _cut(history: EngineHistory, table: EngineTable, column: str, bits: int, n: int) -> tuple[int, int]:
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
