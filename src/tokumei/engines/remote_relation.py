"""Rows that an engine has as a table: counted, recoded and written there; and how files become such tables."""

from __future__ import annotations

import datetime
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import ibis
import polars as pl

from tokumei.core.errors import FaultList, InputError
from tokumei.data.files.csv import check_header, find_delimiter, first_bytes, has_blanks_after, header_names, scan_csv
from tokumei.data.files.disk import blocks, is_gzip
from tokumei.data.files.formats import (
    TEXT_SUFFIXES,
    scan_parquet,
)
from tokumei.data.files.layout import check_layout
from tokumei.data.files.missing import Seen, missing_beside_numbers
from tokumei.data.files.reading import Reading
from tokumei.data.files.text_bytes import find_encoding, is_utf8
from tokumei.engines.class_counts import ClassRecoding, Recoding
from tokumei.engines.engine import NO_LABEL, EngineTable, EngineValue, WritePlan, kept_work, name_of_part

if TYPE_CHECKING:
    from tokumei.engines.remote import RemoteEngine


@dataclass(frozen=True)
class RemoteRelation:
    """A table of an engine, as an Ibis expression."""

    engine: RemoteEngine
    table: EngineTable
    name: str
    # Which of the rows of its source these are, by a text that is another for others; empty for all.
    part: str = ""
    # The clock by which the moments of a column are told: an engine keeps moments alone, and shows them by its own.
    zones: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def schema(self) -> Mapping[str, pl.DataType]:
        """The columns and their types, as Polars would have them."""
        found = dict(self.table.schema().to_polars())
        return found | {name: pl.Datetime(found[name].time_unit, zone) for name, zone in self.zones.items()}

    @property
    def writes_there(self) -> bool:
        """Whether the engine has machines of its own."""
        return self.engine.writes_there

    def group_sizes(
        self, columns: Sequence[str], recodings: Mapping[str, Recoding], most: int | None = None
    ) -> pl.DataFrame:
        """Count the rows of each combination of the recoded columns."""
        work = kept_work(self.name)
        if work is None or recodings:
            return self._group_sizes(columns, recodings, most)
        key = repr((list(columns), most)) + self.part
        return work.frame(key, lambda: self._group_sizes(columns, recodings, most))

    def _group_sizes(self, columns: Sequence[str], recodings: Mapping[str, Recoding], most: int | None) -> pl.DataFrame:
        used = {column: recoding for column, recoding in recodings.items() if column in columns}
        recoded = self._recoded(used)
        names = [f"c{index}" for index in range(len(columns))]
        keys = recoded.select(**{name: recoded[column] for name, column in zip(names, columns, strict=True)})
        counted = keys.group_by(names).aggregate(n=keys.count()) if names else recoded.aggregate(n=recoded.count())
        found = counted.select(*names, "n")
        fetched = self.engine.fetch(found if most is None else found.limit(most + 1))
        zones = {name: self.zones[column] for name, column in zip(names, columns, strict=True) if column in self.zones}
        return plain_types(by_clock(fetched, zones), self.name, columns)

    def distinct(self, column: str) -> pl.Series:
        """Return the distinct values of a column."""
        fetched = by_clock(self.engine.fetch(self.table.select(column).distinct()), self.zones)
        return plain_types(fetched, self.name).to_series()

    def count_values(self, column: str, *, longest: int, many_words: int) -> dict[str, int]:
        """Count the distinct, the unique, the missing and the long values of a column, all on the engine."""
        value = self.table[column]
        counted = self.table.select(value=value).group_by("value").aggregate(n=lambda rows: rows.count())
        there = counted.value.notnull()
        is_long = there & ~there
        if value.type().is_string():
            n_blanks = counted.value.length() - counted.value.replace(" ", "").length()
            is_long = there & ((counted.value.length() > longest) | (n_blanks >= many_words - 1))
        found = self.engine.fetch(
            counted.aggregate(
                n_distinct=there.ifelse(1, 0).sum(),
                n_unique=(there & (counted.n == 1)).ifelse(1, 0).sum(),
                n_missing=there.ifelse(0, counted.n).sum(),
                n_least=there.ifelse(counted.n, None).min(),
                n_long=is_long.ifelse(1, 0).sum(),
            )
        )
        return {name: int(number or 0) for name, number in found.row(0, named=True).items()}

    def within(self, column: str, values: pl.Series) -> RemoteRelation:
        """Return the rows whose value of a column is one of these."""
        name = f"tokumei_value_{secrets.token_hex(4)}"
        wanted = self.engine.labels(values.alias(name).to_frame())
        rows = self.table.semi_join(wanted, _alike(self.table[column], wanted[name], values))
        return replace(self, table=rows, part=name_of_part(self.part, column, values))

    def write(self, plan: WritePlan, out: Path) -> None:
        """Write rows as planned."""
        recoded = self._recoded(plan.recodings) if plan.classes is None else self._joined(plan.classes)
        rows = recoded.select(*plan.columns)
        if plan.without is not None and not plan.without.is_empty():
            names = {column: f"tokumei_without_{index}" for index, column in enumerate(plan.without.columns)}
            gone = self.engine.labels(plan.without.rename(names))
            alike = [_alike(rows[column], gone[name], plan.without[column]) for column, name in names.items()]
            rows = rows.anti_join(gone, [one for found in alike for one in found])
        if plan.is_shuffled:
            self.engine.write_shuffled(rows, out)
        else:
            self.engine.write(rows, out)

    def write_made(self, combinations: pl.DataFrame, out: Path) -> None:
        """Make rows of their combinations."""
        self.engine.write_made(combinations, out)

    def _joined(self, classes: ClassRecoding) -> EngineTable:
        """Return the rows of the classes that have labels, with these in place of their values."""
        known = classes.values.columns
        right = self.engine.labels(classes.numbered("tokumei_value_", "tokumei_label_"))
        alike = [
            _alike(self.table[column], right[f"tokumei_value_{index}"], classes.values[column])
            for index, column in enumerate(known)
        ]
        joined = self.table.inner_join(right, [one for found in alike for one in found])
        return joined.mutate(**{column: joined[f"tokumei_label_{index}"] for index, column in enumerate(known)})

    def _recoded(self, recodings: Mapping[str, Recoding]) -> EngineTable:
        """Join each column with its labels: a join takes hierarchies of any size, a CASE does not."""
        table = self.table
        for index, (column, recoding) in enumerate(recodings.items()):
            value, label = f"tokumei_value_{index}", f"tokumei_label_{index}"
            labels = recoding.as_type(self.schema[column]).rename({"value": value, "label": label})
            right = self.engine.labels(labels)
            joined = table.left_join(right, table[column] == right[value])
            recoded = ibis.ifelse(
                joined[column].isnull(),
                ibis.literal(recoding.label_of_missing, "string"),
                ibis.coalesce(joined[label], ibis.literal(NO_LABEL)),
            )
            table = joined.mutate(**{column: recoded}).drop(value, label)
        return table.select(*self.table.columns)


def _alike(left: EngineValue, right: EngineValue, values: pl.Series) -> list[EngineValue]:
    """Return the conditions under which two columns agree, missing values included, by the values of the second.

    Where there are missing values they are compared as flags, beside values in whose place something else stands:
    PostgreSQL joins by hashing where things are equal, and one pair after the other where they are "not distinct".
    """
    if not values.null_count():
        return [left == right]
    kind = right.type()
    stand_in: object = False if kind.is_boolean() else 0
    if kind.is_string() or kind.is_date():
        stand_in = "" if kind.is_string() else datetime.date(1970, 1, 1)
    elif kind.is_timestamp() or kind.is_time():
        # Cast, since a literal has a precision and a time zone of its own.
        text = "1970-01-01 00:00:00" if kind.is_timestamp() else "00:00:00"
        left, right, stand_in = left.cast(kind), right, ibis.literal(text).cast(kind)
    return [left.isnull() == right.isnull(), left.fill_null(stand_in) == right.fill_null(stand_in)]


def zones_of(schema: Mapping[str, pl.DataType]) -> dict[str, str]:
    """Return the time zone of each column that has one."""
    return {name: zone for name, kind in schema.items() if (zone := getattr(kind, "time_zone", None)) is not None}


def by_clock(frame: pl.DataFrame, zones: Mapping[str, str]) -> pl.DataFrame:
    """Return moments by the clock that they are told by."""
    found = [name for name in zones if name in frame.columns]
    return frame.with_columns(pl.col(name).dt.convert_time_zone(zones[name]) for name in found)


def is_plain_csv(path: Path, reading: Reading) -> bool:
    """Whether an engine can read the file itself: CSV that is neither packed nor in another encoding."""
    if path.suffix not in TEXT_SUFFIXES or not reading.is_whole_text or is_gzip(path):
        return False
    head = first_bytes(path)
    if reading.trim or has_blanks_after(reading.delimiter or find_delimiter(head), head):
        return False
    encoding = reading.encoding or find_encoding(head, is_whole=False)
    return encoding is not None and is_utf8(encoding)


def checked_schema(path: Path) -> pl.Schema:
    """Check that the parts of a Parquet folder or glob are alike before an engine reads them; give their columns."""
    return scan_parquet(path).collect_schema()


def with_text_for_nothing(table: EngineTable, schema: Mapping[str, pl.DataType]) -> EngineTable:
    """Return the columns of a file in their order; one without any value, whose type is unknown, as missing text."""
    missing = ibis.null().cast("string")
    return table.select(*(missing.name(name) if kind == pl.Null else table[name] for name, kind in schema.items()))


class Shape(NamedTuple):
    """The delimiter and the columns of a CSV file, how its lines end, and which texts stand for a missing value."""

    delimiter: str
    names: list[str]
    has_mixed_ends: bool
    missing: Mapping[str, Sequence[str]]


def checked_shape(path: Path, delimiter: str | None) -> Shape:
    """Check the shape of a CSV file before an engine reads it."""
    head = first_bytes(path)
    delimiter = delimiter or find_delimiter(head)
    seen = Seen(blocks(path), delimiter)
    layout = check_layout(seen, delimiter, FaultList(str(path)), mixes_line_ends=True)
    names = header_names(head, delimiter)
    check_header(names, path)
    missing: dict[str, list[str]] = {}
    if seen.may_have and not layout.has_mixed_ends:
        missing = missing_beside_numbers(scan_csv(path, delimiter=delimiter), path)
    return Shape(delimiter, names, layout.has_mixed_ends, missing)


def fresh_name() -> str:
    """Return a table name nobody else uses."""
    return f"tokumei_{secrets.token_hex(8)}"


def empty_as_missing(table: EngineTable, missing: Mapping[str, Sequence[str]]) -> EngineTable:
    """Read an empty text cell as missing, as everywhere, and the texts that stand for a missing value."""
    gone = {name: ("", *missing.get(name, ())) for name in table.columns}
    return table.mutate(**{name: table[name].isin(gone[name]).ifelse(ibis.null(), table[name]) for name in gone})


def plain_types(frame: pl.DataFrame, file: str = "frame", columns: Sequence[str] = ()) -> pl.DataFrame:
    """Convert whole numbers, floats and decimals to one type each, so that engines agree on classes.

    columns: what the first columns are called in the file.
    """
    for kinds, plain in (((pl.UInt64,), pl.Int64), ((pl.Decimal,), pl.Float64)):
        for column in frame.select(pl.selectors.by_dtype(*kinds)):
            given = column.drop_nulls()
            # Two values that became one, or none, would make classes larger than they are.
            if given.cast(plain, strict=False).drop_nulls().n_unique() < given.n_unique():
                name = dict(zip(frame.columns, columns, strict=False)).get(column.name, column.name)
                expected = "whole numbers below 2⁶³, or decimals of at most 15 digits, on engines"
                raise InputError.of(expected, file=file, column=name, value=given.max())
    return frame.with_columns(
        pl.selectors.integer().cast(pl.Int64),
        pl.selectors.float().cast(pl.Float64),
        pl.selectors.decimal().cast(pl.Float64),
        pl.selectors.categorical().cast(pl.String),
    )
