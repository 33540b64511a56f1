"""Counting elsewhere, through Ibis: DuckDB, PostgreSQL, Spark, and whatever else Ibis connects to.

Three things differ between backends and stand here, one small class each: how a file or frame becomes a table,
how a result comes back, and how rows are written. Recoding and counting are the same expression on all.
"""

from __future__ import annotations

import datetime
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

import ibis
import polars as pl

from tokumei.core.errors import FaultList, InputError
from tokumei.core.text import Text
from tokumei.data.files.csv import check_header, find_delimiter, first_bytes, has_blanks_after, header_names, scan_csv
from tokumei.data.files.disk import atomic_path, blocks, is_gzip
from tokumei.data.files.formats import (
    PARQUET,
    TEXT_SUFFIXES,
    base_folder,
    format_of,
    is_glob,
    part_files,
    partition_of,
    read_frame,
    scan_parquet,
    write_file_or_folder,
)
from tokumei.data.files.layout import check_layout
from tokumei.data.files.missing import Seen, missing_beside_numbers
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.files.text_bytes import find_encoding, is_utf8
from tokumei.data.frames import as_frame, written
from tokumei.engines.class_counts import ClassRecoding, Recoding
from tokumei.engines.engine import NO_LABEL, EngineTable, EngineValue, WritePlan, kept_work, name_of_part
from tokumei.engines.writing import write_made

if TYPE_CHECKING:
    from ibis.backends import BaseBackend


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
        return plain_types(_by_clock(fetched, zones), self.name, columns)

    def distinct(self, column: str) -> pl.Series:
        """Return the distinct values of a column."""
        fetched = _by_clock(self.engine.fetch(self.table.select(column).distinct()), self.zones)
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


class RemoteEngine:
    """Any Ibis backend: tables by name; results as Arrow; rows written as they arrive."""

    writes_there = False
    # Whether names of columns that differ in the case of letters alone are one to it, and how many bytes a name has.
    folds_case = False
    longest_name: int | None = None

    def __init__(self, backend: BaseBackend) -> None:
        self.backend = backend

    @classmethod
    def connect(cls, address: str) -> RemoteEngine:
        """Connect to an address that Ibis knows."""
        return cls(ibis.connect(address))

    def __enter__(self) -> RemoteEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.backend.disconnect()

    def open(self, source: object, reading: Reading = AS_IT_IS) -> RemoteRelation:
        """Open a file, a frame or a table by its name."""
        if isinstance(source, (str, Path)):
            if Path(source).exists() or is_glob(source):
                path, zones = Path(source), {}
                if format_of(source) == PARQUET:
                    zones = _zones(scan_parquet(source).collect_schema())
                elif format_of(source) not in TEXT_SUFFIXES:
                    frame = self._taken(read_frame(path, reading), path)
                    return RemoteRelation(self, self.table_of_frame(frame), str(source), zones=_zones(frame.schema))
                return RemoteRelation(self, self.table_of_file(path, reading), str(source), zones=zones)
            return RemoteRelation(self, self._table_named(str(source)), str(source))
        frame = self._taken(as_frame(source), "frame")
        return RemoteRelation(self, self.table_of_frame(frame), "frame", zones=_zones(frame.schema))

    def table_of_file(self, path: Path, reading: Reading) -> EngineTable:
        """Return the table of a file: read here and copied there, unless the engine reads files itself."""
        return self.table_of_frame(self._taken(read_frame(path, reading), path))

    def _taken(self, frame: pl.DataFrame, file: Path | str) -> pl.DataFrame:
        """Convert a frame to what engines take: a column without any value becomes one of text."""
        self.check_schema(frame.schema, file)
        return frame.cast({pl.Null: pl.String})

    def check_schema(self, schema: Mapping[str, pl.DataType], file: Path | str) -> None:
        """Refuse columns whose names or types the engine does not have."""
        self.check_names(list(schema), file)
        for name, kind in schema.items():
            if kind in (pl.Int128, pl.UInt128, pl.Object):
                raise InputError.of("a column of a type that engines have", file=file, column=name, value=kind)

    def check_names(self, names: Sequence[str], file: Path | str) -> None:
        """Refuse columns whose names the engine does not take, or would change or take for each other."""
        folded: dict[str, str] = {}
        for name in names:
            if not name or "\0" in name:
                raise InputError.of("a name for every column, without NUL", file=file, value=name)
            if self.longest_name is not None and len(name.encode()) > self.longest_name:
                expected = Text("a name of at most {n} bytes on this engine", n=self.longest_name)
                raise InputError.of(expected, file=file, value=name)
            other = folded.setdefault(name.lower() if self.folds_case else name, name)
            if other != name:
                expected = Text("names that differ by more than large and small letters: {name}", name=repr(other))
                raise InputError.of(expected, file=file, value=name)

    def table_of_frame(self, frame: pl.DataFrame) -> EngineTable:
        """Return the table of a frame."""
        return self.backend.create_table(fresh_name(), frame.to_arrow(), temp=True)

    def table_of_parts(self, paths: Sequence[Path]) -> EngineTable:
        """Return the table of Parquet files that this program wrote."""
        return self.table_of_frame(pl.concat(pl.read_parquet(path) for path in paths))

    def keep(self, expression: EngineTable, place: Path) -> EngineTable:  # noqa: ARG002 - Engines that read files keep them there.
        """Compute a table once, for whoever uses it several times."""
        return self.backend.create_table(fresh_name(), expression, temp=True)

    def number_of_digits(self, digits: EngineValue) -> EngineValue:
        """Read eight hexadecimal digits as a number."""
        return (ibis.literal("0x") + digits).cast("int64")

    def labels(self, frame: pl.DataFrame) -> EngineTable:
        """Return the small table of a recoding."""
        return ibis.memtable(frame.to_arrow())

    def fetch(self, expression: EngineTable) -> pl.DataFrame:
        """Fetch a result."""
        return as_frame(self.backend.to_pyarrow(expression))

    def write(self, expression: EngineTable, out: Path) -> None:
        """Write a result to a file."""
        write_file_or_folder(self.fetch(expression), out)

    def write_shuffled(self, expression: EngineTable, out: Path) -> None:
        """Write a result to a file in an order that nobody can guess."""
        # A column of its own: an engine may draw anew for each comparison where it sorts by a call.
        drawn = expression.mutate(tokumei_order=ibis.random())
        self.write(drawn.order_by("tokumei_order").drop("tokumei_order"), out)

    def write_made(self, combinations: pl.DataFrame, out: Path) -> None:
        """Make rows of their combinations: here, unless the engine has machines of its own."""
        write_made(combinations, out)

    def _table_named(self, name: str) -> EngineTable:
        schema, _, table = name.rpartition(".")
        try:
            return self.backend.table(table, database=schema or None)
        except Exception:  # noqa: BLE001 - each driver has its own error for a table that is not there.
            raise InputError.of("a file that exists or a table of the engine", value=name) from None


class DuckDBEngine(RemoteEngine):
    """DuckDB: reads files itself, and writes them."""

    folds_case = True

    @classmethod
    def connect(cls, address: str) -> DuckDBEngine:
        """Open DuckDB in memory, or the database of a file, which must exist."""
        _, _, file = address.partition("://")
        if file and not Path(file).is_file():
            raise InputError.of("a DuckDB file that exists", option="engine", value=file)
        return cls(ibis.duckdb.connect(file or ":memory:", read_only=bool(file)))

    def table_of_file(self, path: Path, reading: Reading) -> EngineTable:
        """Scan a Parquet file or folder, or a plain CSV file whose shape was checked."""
        if reading == AS_IT_IS and (path.is_dir() or path.suffix == ".parquet"):
            schema = checked_schema(path)
            self.check_schema(schema, path)
            has_partitions = bool(partition_of(part_files(path)[0], base_folder(path)))
            # Told, since DuckDB would take any folder with = in its name for a column, and read numbers in it.
            how = {"hive_partitioning": has_partitions, "hive_types_autocast": False}
            table = self.backend.read_parquet([str(part) for part in part_files(path)], **how)
            return with_text_for_nothing(self._in_microseconds(table, scan_parquet(path), path), schema)
        if not is_plain_csv(path, reading):
            return super().table_of_file(path, reading)
        shape = checked_shape(path, reading.delimiter)
        if shape.has_mixed_ends:
            return super().table_of_file(path, reading)
        names = shape.names
        self.check_names(names, path)
        options = {"delim": shape.delimiter, "quote": '"', "escape": '"', "header": True, "auto_detect": False}
        table = self.backend.read_csv(str(path), columns=dict.fromkeys(names, "string"), **options)
        return empty_as_missing(table, shape.missing)

    def table_of_frame(self, frame: pl.DataFrame) -> EngineTable:
        """Return the table of a frame."""
        return self._in_microseconds(super().table_of_frame(frame), frame.lazy(), "frame")

    def _in_microseconds(self, table: EngineTable, rows: pl.LazyFrame, file: Path | str) -> EngineTable:
        """Return times of day and moments in a zone in microseconds, since Ibis knows none finer; refuse finer ones."""
        plain = {
            name: "TIME" if kind == pl.Time else "TIMESTAMPTZ"
            for name, kind in rows.collect_schema().items()
            if kind == pl.Time or (isinstance(kind, pl.Datetime) and kind.time_zone and kind.time_unit == "ns")
        }
        if not plain:
            return table
        for name in plain:
            finer = rows.filter(pl.col(name).dt.nanosecond() % 1000 != 0).select(name).head(1).collect()
            if finer.height:
                expected = "moments and times of whole microseconds on this engine (--engine local takes finer ones)"
                raise InputError.of(expected, file=file, column=name, value=written(finer[name]).item())
        from sqlglot import exp

        casts = [
            exp.alias_(exp.cast(exp.column(name, quoted=True), kind), name, quoted=True) for name, kind in plain.items()
        ]
        # A table that was made here is named with its catalog.
        own = exp.to_identifier(table.get_name().rpartition(".")[2], quoted=True)
        view = fresh_name()
        made = exp.Create(
            this=exp.to_identifier(view, quoted=True),
            kind="VIEW",
            expression=exp.select(exp.Star(replace=casts)).from_(exp.Table(this=own)),
            properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
        )
        self.backend.raw_sql(made.sql("duckdb"))
        return self.backend.table(view, database=("temp", "main"))

    def bound(self, folder: Path, memory: str) -> None:
        """Keep within some memory, and write what does not fit to a folder."""
        self.backend.raw_sql(f"SET memory_limit = '{memory}'")
        self.backend.con.execute("SET temp_directory = $1", [str(folder)])

    def table_of_parts(self, paths: Sequence[Path]) -> EngineTable:
        """Read the files where they are."""
        return self.backend.read_parquet([str(path) for path in paths])

    def numbered_rows(self, path: Path) -> EngineTable:
        """Read a Parquet file where it is, with the number of each row."""
        return self.backend.read_parquet(str(path), file_row_number=True).rename(row="file_row_number")

    def keep(self, expression: EngineTable, place: Path) -> EngineTable:
        """Write the table to a file, whole or not at all; one that is there was written before."""
        file = place.with_suffix(".parquet")
        if not file.exists():
            draft = place.with_suffix(".draft")
            self.backend.to_parquet(expression, draft, compression="lz4")
            draft.replace(file)
        return self.backend.read_parquet(str(file))

    def write(self, expression: EngineTable, out: Path) -> None:
        """Write the file with DuckDB."""
        if out.suffix == ".gz":
            super().write(expression, out)
            return
        with atomic_path(out) as draft:
            if out.suffix == ".parquet":
                self.backend.to_parquet(expression, draft)
            elif not out.suffix:
                self.backend.to_parquet(expression, draft, per_thread_output=True)
            else:
                self.backend.to_csv(expression, draft)


class PostgresEngine(RemoteEngine):
    """PostgreSQL: a file or a frame is copied into a temporary table."""

    # It cuts longer ones off without a word.
    longest_name = 63
    _can_read_digits = False

    def table_of_frame(self, frame: pl.DataFrame) -> EngineTable:
        """Copy a frame by COPY, many times faster than inserting rows."""
        return self._analyzed(self._copied(frame))

    def keep(self, expression: EngineTable, place: Path) -> EngineTable:
        """Compute a table once, as a temporary one."""
        return self._analyzed(super().keep(expression, place))

    def _copied(self, frame: pl.DataFrame) -> EngineTable:
        schema = ibis.Schema.from_polars(plain_types(frame).schema)
        return self._more_rows(self.backend.create_table(fresh_name(), schema=schema, temp=True), frame)

    def _analyzed(self, table: EngineTable) -> EngineTable:
        """Analyze a temporary table for the planner, which the server's own analysis leaves out."""
        with self.backend.con.cursor() as cursor:
            cursor.execute(f'ANALYZE "{table.get_name()}"')
        return table

    def _more_rows(self, table: EngineTable, frame: pl.DataFrame) -> EngineTable:
        # Text is quoted, so that an empty text and a missing one stay apart.
        data = plain_types(frame).write_csv(include_header=False, quote_style="non_numeric")
        command = f'COPY "{table.get_name()}" FROM STDIN (FORMAT csv)'
        with self.backend.con.cursor() as cursor, cursor.copy(command) as copy:
            copy.write(data)
        return table

    def table_of_parts(self, paths: Sequence[Path]) -> EngineTable:
        """Copy one file after the other into one table."""
        table = None
        for path in paths:
            frame = pl.read_parquet(path)
            table = self._copied(frame) if table is None else self._more_rows(table, frame)
        return self._analyzed(table)

    def number_of_digits(self, digits: EngineValue) -> EngineValue:
        """Read eight hexadecimal digits as a number, by a function of this connection's own."""
        if not self._can_read_digits:
            body = "SELECT ('x' || $1)::bit(32)::bigint"
            command = (
                f"CREATE FUNCTION pg_temp.tokumei_digits(text) RETURNS bigint AS $$ {body} $$ LANGUAGE SQL IMMUTABLE"
            )
            with self.backend.con.cursor() as cursor:
                cursor.execute(command)
            self._can_read_digits = True
        return tokumei_digits(digits)

    def labels(self, frame: pl.DataFrame) -> EngineTable:
        """Return the small table of a recoding."""
        return self.table_of_frame(frame)


@ibis.udf.scalar.builtin(database="pg_temp")  # type: ignore[untyped-decorator]
def tokumei_digits(digits: str) -> int:  # type: ignore[empty-body]
    """Read hexadecimal digits on PostgreSQL."""


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


def _zones(schema: Mapping[str, pl.DataType]) -> dict[str, str]:
    return {name: zone for name, kind in schema.items() if (zone := getattr(kind, "time_zone", None)) is not None}


def _by_clock(frame: pl.DataFrame, zones: Mapping[str, str]) -> pl.DataFrame:
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
