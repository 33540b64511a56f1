"""A history of any size brought before an engine: read and checked in blocks, written as numbered rows.

All engines get whole numbers, floats and text, which they treat alike: a date is a count of days, a time of
nanoseconds; the month of a row and its first and last day stand beside it. Rows are numbered as they stand in the
file. What cannot be read is refused with its line, as in memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.data.files.disk import write_text
from tokumei.data.files.formats import PARQUET, TEXT_SUFFIXES, format_of, scan_frame
from tokumei.data.files.histories import TABLE, form_of, reading_of_release, refuse_ranges
from tokumei.data.files.reading import Reading
from tokumei.data.history import period_of, read_history, read_known_history, read_released_history
from tokumei.data.history_columns import (
    EXPECTED,
    SCHEMA,
    Source,
    columns_read,
    find_columns,
    in_every_row,
    left_over,
    read_columns_of_history,
    written_amounts,
)
from tokumei.engines.draws import chance_beside

BLOCK_ROWS = 1_000_000
FACTS = "facts.json"
READERS = {"original": read_history, "release": read_released_history, "knowledge": read_known_history}


@dataclass(frozen=True)
class Staged:
    """What is known of a history whose rows lie in a folder."""

    folder: str
    name: str
    n_rows: int
    # Rows that are not deleted.
    n_kept: int
    # The columns that it has, in the order of a history.
    roles: tuple[str, ...]
    # Whether all quantities are whole numbers.
    is_whole: bool
    left_out: tuple[str, ...]


def stage_history(
    source: Path | str, reading: Reading, folder: Path, *, kind: str = "original", keys: Sequence[str] = ()
) -> Staged:
    """Read a history in blocks and write its rows to a folder; what lies there complete is taken as it is.

    keys: by which numbers are drawn that stand beside the rows.
    """
    if (folder / FACTS).exists():
        facts = json.loads((folder / FACTS).read_text())
        lists = {name: tuple(facts[name]) for name in ("roles", "left_out")}
        return Staged(**{**facts, **lists})
    folder.mkdir(exist_ok=True)
    counted = _Counted({}, keys)
    with step(f"reading {Path(source).name}"):
        try:
            left_out = counted.take_all(source, reading, folder, kind)
        except InputError:
            if kind == "release":
                refuse_ranges(source, reading)
            # Only all rows tell what a comma in an amount stands for, so that those read before may stand for others.
            amounts = _amounts(source, reading, kind)
            if not amounts:
                raise
            counted = _Counted(amounts, keys)
            left_out = counted.take_all(source, reading, folder, kind)
    staged = Staged(
        folder=str(folder),
        name=str(source),
        n_rows=counted.n_rows,
        n_kept=counted.n_kept,
        roles=counted.roles(source),
        is_whole=counted.is_whole,
        left_out=left_out,
    )
    # Whole or not at all: it says that the rows beside it are complete.
    write_text(folder / FACTS, json.dumps(asdict(staged)))
    return staged


class _Counted:
    """Counts what is only known of all blocks together."""

    def __init__(self, amounts: Mapping[str, pl.DataFrame], keys: Sequence[str]) -> None:
        """Take what the texts of prices and quantities stand for, where they are no plain numbers."""
        self.amounts, self.keys = amounts, keys
        self.n_rows = self.n_kept = 0
        self.is_whole = True
        self.filled: dict[str, int] = dict.fromkeys(SCHEMA, 0)
        # Times that stand in the column of dates may all be midnight in a block.
        self.has_own_times = True
        self.found: tuple[str, ...] = tuple(SCHEMA)

    def take_all(self, source: Path | str, reading: Reading, folder: Path, kind: str) -> tuple[str, ...]:
        left_out: tuple[str, ...] = ()
        for number, (block, names) in enumerate(self._blocks(source, reading, kind)):
            left_out = names
            self._count(block)
            write_plain(block, self.n_rows, self.keys, folder / f"{number:06}.parquet")
            self.n_rows += block.height
        return left_out

    def roles(self, source: Path | str) -> tuple[str, ...]:
        """Return the columns that the history has; one that is empty in some rows alone is refused."""
        for role, n_filled in self.filled.items():
            is_shared = role == "time" and not self.has_own_times
            if 0 < n_filled < self.n_kept and not is_shared:
                expected = in_every_row(role)
                raise InputError.of(expected, file=source, column=role, value=f"{self.n_kept - n_filled:,} are empty")
        if not self.n_kept:
            return self.found
        return tuple(role for role, n_filled in self.filled.items() if n_filled)

    def _count(self, block: pl.DataFrame) -> None:
        self.n_kept += block.height - block["customer"].null_count()
        for role in SCHEMA:
            self.filled[role] += block.height - block[role].null_count()
        self.is_whole &= not block.schema["quantity"].is_float()

    def _blocks(
        self, source: Path | str, reading: Reading, kind: str
    ) -> Iterator[tuple[pl.DataFrame, tuple[str, ...]]]:
        reading = _reading(source, reading, kind)
        if not _is_read_in_blocks(source, reading):
            # A contest's file, or one that has to be read as a whole.
            whole = READERS[kind](source, reading)
            for start in range(0, max(1, whole.n_rows), BLOCK_ROWS):
                yield whole.frame[start : start + BLOCK_ROWS], whole.left_out
            return
        rows = scan_frame(source, reading)
        names = rows.collect_schema().names()
        found = find_columns(names, reading.columns, str(source))
        self.found, self.has_own_times = tuple(found), "time" in found
        wanted = rows.select(columns_read(found, names))
        declared, left_out = {**dict.fromkeys(SCHEMA, ""), **found}, tuple(left_over(names, reading.columns, ()))
        n_read = 0
        n_above = 2 if format_of(source) in TEXT_SUFFIXES else 1
        batches = wanted.collect_batches(chunk_size=BLOCK_ROWS, maintain_order=True, engine="streaming")
        how: dict[str, Any] = {"date_format": reading.date_format, "amounts": self.amounts}
        for batch in batches:
            where = Source(str(source), _LineOf(n_read + n_above))
            yield read_columns_of_history(batch, where, declared, **how), left_out
            n_read += batch.height
        if not n_read:
            yield read_columns_of_history(wanted.clear().collect(), Source(str(source)), declared, **how), left_out


def _reading(source: Path | str, reading: Reading, kind: str) -> Reading:
    return reading if kind == "original" else reading_of_release(source, reading)


def _is_read_in_blocks(source: Path | str, reading: Reading) -> bool:
    suffix = format_of(source)
    is_plain = suffix == PARQUET or (suffix in TEXT_SUFFIXES and reading.is_whole_text)
    return form_of(source, reading) == TABLE and is_plain


def _amounts(source: Path | str, reading: Reading, kind: str) -> dict[str, pl.DataFrame]:
    """Return the values of prices and quantities that are written as people do, by all their texts."""
    reading = _reading(source, reading, kind)
    if not _is_read_in_blocks(source, reading):
        return {}
    rows = scan_frame(source, reading)
    found = find_columns(rows.collect_schema().names(), reading.columns, str(source))
    told = {}
    for role in EXPECTED.keys() & found.keys():
        texts = rows.select(pl.col(found[role]).unique(maintain_order=True)).collect(engine="streaming").to_series()
        told[role] = written_amounts(texts, str(source))
    return {role: one for role, one in told.items() if one is not None}


@dataclass(frozen=True)
class _LineOf:
    """Finds the line of a row of a block; cells that span lines are not counted."""

    first: int

    def __call__(self, row: int) -> int:
        return self.first + row


def write_plain(rows: pl.DataFrame, first: int, keys: Sequence[str], file: Path) -> None:
    """Write rows as whole numbers, floats and text, numbered from a place on, with what is drawn for them."""
    plain = rows.select(
        pl.int_range(first, first + pl.len(), dtype=pl.Int64).alias("row"),
        "customer",
        "invoice",
        pl.col("date").cast(pl.Int32).cast(pl.Int64),
        pl.col("time").cast(pl.Int64),
        "item",
        "price",
        pl.col("quantity").cast(pl.Float64),
    )
    beside = (months_of(rows["date"]), chance_beside(keys, first, rows.height))
    plain.hstack([column for frame in beside for column in frame]).write_parquet(file, compression="lz4")


def months_of(dates: pl.Series) -> pl.DataFrame:
    """Return the `period` of each date, and the `first` and `last` day of its month."""
    numbers = dates.cast(pl.Int32)
    # Looked up by the day: to take dates apart costs more than all the rest.
    least, most = ((0 if end is None else int(end)) for end in (numbers.min(), numbers.max()))  # type: ignore[arg-type]
    date = pl.col("date").cast(pl.Date)
    days = pl.DataFrame({"date": pl.int_range(least, most + 1, dtype=pl.Int32, eager=True)})
    months = days.select(
        period=period_of(date).cast(pl.Int64),
        first=date.dt.month_start().cast(pl.Int32).cast(pl.Int64),
        last=date.dt.month_end().cast(pl.Int32).cast(pl.Int64),
    )
    return months.select(pl.all().gather(numbers - least))


def as_history_columns(rows: pl.DataFrame, roles: tuple[str, ...], *, is_whole: bool) -> pl.DataFrame:
    """Restore the columns of a history in rows of an engine; one that it does not have is missing."""
    cells = {role: pl.col(role) if role in roles else pl.lit(None) for role in SCHEMA}
    cells["date"] = cells["date"].cast(pl.Int32)
    kinds = {**SCHEMA, **({} if is_whole else {"quantity": pl.Float64()})}
    return rows.select(cells[role].cast(kind).alias(role) for role, kind in kinds.items())
