"""Counting elsewhere, through Ibis: DuckDB, PostgreSQL, Spark, and whatever else Ibis connects to.

Three things differ between backends and stand here, one small class each: how a file or frame becomes a table,
how a result comes back, and how rows are written. Recoding and counting are the same expression on all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import ibis
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.data.files.disk import atomic_path
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
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.frames import as_frame, written
from tokumei.engines.engine import EngineTable, EngineValue
from tokumei.engines.remote_relation import (
    RemoteRelation,
    checked_schema,
    checked_shape,
    empty_as_missing,
    fresh_name,
    is_plain_csv,
    plain_types,
    with_text_for_nothing,
    zones_of,
)
from tokumei.engines.writing import write_made

if TYPE_CHECKING:
    from ibis.backends import BaseBackend


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
                    zones = zones_of(scan_parquet(source).collect_schema())
                elif format_of(source) not in TEXT_SUFFIXES:
                    frame = self._taken(read_frame(path, reading), path)
                    return RemoteRelation(self, self.table_of_frame(frame), str(source), zones=zones_of(frame.schema))
                return RemoteRelation(self, self.table_of_file(path, reading), str(source), zones=zones)
            return RemoteRelation(self, self._table_named(str(source)), str(source))
        frame = self._taken(as_frame(source), "frame")
        return RemoteRelation(self, self.table_of_frame(frame), "frame", zones=zones_of(frame.schema))

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
