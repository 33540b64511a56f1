"""Counting on Spark: in this process, on a cluster, or behind Spark Connect."""

from __future__ import annotations

import csv
import io
import re
import secrets
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import ibis
import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.data.files.disk import atomic_path
from tokumei.data.files.formats import base_folder, part_files
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.frames import as_frame
from tokumei.engines.remote import RemoteEngine
from tokumei.engines.remote_relation import (
    checked_schema,
    checked_shape,
    empty_as_missing,
    fresh_name,
    is_plain_csv,
    with_text_for_nothing,
)
from tokumei.engines.writing import Ints, dealt_out, lines_of

if TYPE_CHECKING:
    from tokumei.engines.engine import EngineTable, EngineValue

SPARK_SETTINGS = {
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # UTC, so that a time is the same one on every machine.
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # The values of partitions are text, as on all engines.
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
}
ESCAPED = re.compile("%[89A-Fa-f][0-9A-Fa-f]")
# Of rows that are made of combinations: about so many in a part, no more entries of combinations and parts, and no more
# rows of one entry.
PART_ROWS, MOST_DEALT, MOST_ALIKE = 2_000_000, 5_000_000, 50_000
# A session in this process listens to this machine only, and does not cut small work into two hundred tasks.
SPARK_HERE = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "8",
}


class SparkEngine(RemoteEngine):
    """Spark: reads and writes files itself; what it writes is a folder of parts."""

    writes_there = True
    folds_case = True

    @classmethod
    def connect(cls, address: str) -> SparkEngine:
        """Use the running session, or start one: in this process, on a cluster, or behind Spark Connect."""
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.appName("tokumei")
        if address.startswith("sc://"):
            return cls(ibis.pyspark.connect(builder.remote(address).getOrCreate()))
        settings = SPARK_SETTINGS | (SPARK_HERE if address == "spark" else {})
        for key, value in settings.items():
            builder = builder.config(key, value)
        builder = builder.master("local[*]" if address == "spark" else address)
        return cls(ibis.pyspark.connect(builder.getOrCreate()))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the session running: it takes seconds to start and ends with the process."""

    def table_of_file(self, path: Path, reading: Reading) -> EngineTable:
        """Read Parquet with Spark, and plain CSV whose shape was checked."""
        if reading == AS_IT_IS and (path.is_dir() or path.suffix == ".parquet"):
            schema = checked_schema(path)
            self.check_schema(schema, path)
            for part in part_files(path):
                # Spark takes each byte of an escaped character for one of its own, and would give other text.
                if ESCAPED.search(str(part)):
                    raise InputError.of("folders whose names Spark reads, without escaped letters", file=part)
            name = fresh_name()
            reader = self.backend._session.read.option("basePath", str(base_folder(path)))
            reader.parquet(*map(str, part_files(path))).createOrReplaceTempView(name)
            return with_text_for_nothing(self.backend.table(name), schema)
        if not is_plain_csv(path, reading):
            return super().table_of_file(path, reading)
        shape = checked_shape(path, reading.delimiter)
        if shape.has_mixed_ends:
            return super().table_of_file(path, reading)
        self.check_names(shape.names, path)
        options = {"sep": shape.delimiter, "quote": '"', "escape": '"', "header": True, "inferSchema": False}
        return empty_as_missing(self.backend.read_csv(str(path), multiLine=True, **options), shape.missing)

    def table_of_frame(self, frame: pl.DataFrame) -> EngineTable:
        """Hand a frame over as Arrow."""
        name = fresh_name()
        self.backend._session.createDataFrame(frame.to_arrow()).createOrReplaceTempView(name)
        return self.backend.table(name)

    def table_of_parts(self, paths: Sequence[Path]) -> EngineTable:
        """Read the files where they are."""
        name = fresh_name()
        self.backend._session.read.parquet(*map(str, paths)).createOrReplaceTempView(name)
        return self.backend.table(name)

    def keep(self, expression: EngineTable, place: Path) -> EngineTable:
        """Write the table to a folder; one that is there was written before."""
        if not place.exists():
            draft = place.with_suffix(".draft")
            shutil.rmtree(draft, ignore_errors=True)
            self._spark_frame(expression).write.parquet(str(draft))
            draft.replace(place)
        return self.table_of_parts([place])

    def number_of_digits(self, digits: EngineValue) -> EngineValue:
        """Read eight hexadecimal digits as a number."""
        return conv(digits, 16, 10).cast("int64")

    def labels(self, frame: pl.DataFrame) -> EngineTable:
        """Return the small table of a recoding."""
        return self.table_of_frame(frame)

    def fetch(self, expression: EngineTable) -> pl.DataFrame:
        """Fetch a result as Arrow; by way of pandas, whole numbers with gaps would become floats."""
        return as_frame(self._spark_frame(expression).toArrow())

    def write(self, expression: EngineTable, out: Path) -> None:
        """Write with Spark a folder of Parquet files, or parts that are joined to one CSV file."""
        self._write(self._spark_frame(expression), out)

    def write_shuffled(self, expression: EngineTable, out: Path) -> None:
        """Deal rows out to parts by lot, and sort each part by lot.

        That is how rows would come that were sorted by a random number each. To sort all of them, Spark would compute
        them twice: first a sample, to find where parts begin.
        """
        from pyspark.sql import functions

        drawn = self._spark_frame(expression).withColumn("tokumei_order", functions.rand(secrets.randbits(63)))
        dealt = drawn.repartition("tokumei_order").sortWithinPartitions("tokumei_order")
        self._write(dealt.drop("tokumei_order"), out)

    def write_made(self, combinations: pl.DataFrame, out: Path) -> None:
        """Make the rows on the cluster; how many of each combination a part has is drawn here."""
        from pyspark.sql import functions

        lines, sizes = lines_of(combinations)
        session = self.backend._session
        n_tasks = int(session.conf.get("spark.sql.shuffle.partitions"))
        n_parts = min(max(n_tasks, int(sizes.sum()) // PART_ROWS), max(1, MOST_DEALT // max(1, len(sizes))))
        # A task for each part, which is told all that is dealt out and takes its own: no row goes from one to another.
        tasks = session.range(0, n_parts, 1, n_parts).withColumnRenamed("id", "part")
        dealt = functions.broadcast(session.createDataFrame(_dealt(sizes, n_parts).to_arrow()))
        repeated = functions.array_repeat("line", functions.col("n"))
        rows = tasks.join(dealt, "part").select(functions.explode(repeated).alias("tokumei_line"))
        numbered = lines.with_columns(tokumei_line=pl.int_range(pl.len(), dtype=pl.Int32))
        labels = functions.broadcast(session.createDataFrame(numbered.to_arrow()))
        made = rows.join(labels, "tokumei_line").withColumn("tokumei_order", functions.rand(secrets.randbits(63)))
        self._write(made.sortWithinPartitions("tokumei_order").select(*map(_quoted, lines.columns)), out)

    def _write(self, rows: EngineTable, out: Path) -> None:
        with atomic_path(out) as draft:
            if out.suffix in (".parquet", ""):
                rows.write.parquet(str(draft))
                return
            # Beside the file, where there is room for it; readers of CSV expect one file, not a folder.
            with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as folder:
                parts = Path(folder) / "parts"
                rows.write.csv(str(parts), header=False, quote='"', escape='"', emptyValue="")
                _join_parts(rows.columns, parts, draft)

    def _spark_frame(self, expression: EngineTable) -> Any:
        return self.backend._session.sql(self.backend.compile(expression))


def _dealt(sizes: Ints, n_parts: int) -> pl.DataFrame:
    """Deal rows out to parts: how many of each line are in each; many alike are named several times."""
    parts = []
    for part, drawn in enumerate(dealt_out(sizes, n_parts, np.random.default_rng())):
        (there,) = np.nonzero(drawn)
        n_times = -(-drawn[there] // MOST_ALIKE)
        line = np.repeat(there, n_times)
        # All but the last of a line are full.
        n = np.full(len(line), MOST_ALIKE, np.int64)
        n[np.cumsum(n_times) - 1] = drawn[there] - (n_times - 1) * MOST_ALIKE
        parts.append(pl.DataFrame({"part": np.full(len(line), part), "line": line, "n": n}))
    return pl.concat(parts).cast({"line": pl.Int32, "n": pl.Int32})


def _quoted(name: str) -> str:
    """Name a column, whatever characters it has."""
    return "`" + name.replace("`", "``") + "`"


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def conv(digits: str, base: int, to: int) -> str:  # type: ignore[empty-body]
    """Write a number in another base, by Spark's own function."""


def _join_parts(columns: Sequence[str], folder: Path, out: Path) -> None:
    """Write one CSV file of a header and all parts, in the order in which Spark numbered them."""
    with out.open("wb") as file:
        header = io.StringIO()
        csv.writer(header, lineterminator="\n").writerow(columns)
        file.write(header.getvalue().encode())
        for part in sorted(folder.glob("part-*")):
            with part.open("rb") as rows:
                shutil.copyfileobj(rows, file)
