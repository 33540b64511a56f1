"""Where counting happens, chosen by name or address.

| engine                  | what a source is                                                     |
|-------------------------|----------------------------------------------------------------------|
| `local`                 | a frame, or a CSV or Parquet file, scanned and not loaded            |
| `duckdb`                | the same, counted by DuckDB; `duckdb://FILE` opens its tables        |
| `spark`, `spark://…`    | the same, counted by Spark, here or on a cluster                     |
| `postgresql://…`        | a table of that database, or a file or frame that is copied there    |
| any other Ibis address  | a table there                                                        |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from tokumei.core.errors import InputError, MissingExtra, nearest
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.engines.recoding import ClassRecoding, Recoding

NAMED = ("local", "duckdb", "spark")
# Stands for a value without a label until the count is back. The private-use character keeps it apart from labels.
NO_LABEL = "\ue000no label"


@dataclass(frozen=True)
class WritePlan:
    """What is written of some rows: which columns, recoded how, without which classes.

    `without` has recoded columns of the plan; a row that agrees with one of its rows, missing values included, is
    left out. Shuffled rows come in an order that nobody can guess.

    With `classes` it is classes that are recoded, and not one column after the other.
    """

    columns: Sequence[str]
    recodings: Mapping[str, Recoding]
    without: pl.DataFrame | None = None
    is_shuffled: bool = False
    classes: ClassRecoding | None = None

    def fingerprint(self) -> str:
        """Name the plan by all that it says, in whatever order classes are listed."""
        tables = [pl.DataFrame({"value": one.values, "label": one.labels}) for one in self.recodings.values()]
        if self.without is not None:
            tables.append(self.without)
        if self.classes is not None:
            tables.append(self.classes.numbered("value", "label"))
        sums = [[int(table.hash_rows(seed).sum()) for seed in (0, 1)] for table in tables if table.width]
        missing = {column: one.label_of_missing for column, one in self.recodings.items()}
        return repr((list(self.columns), missing, self.is_shuffled, [table.shape for table in tables], sums))


class Relation(Protocol):
    """Rows on an engine."""

    @property
    def name(self) -> str:
        """What a message calls it."""

    @property
    def schema(self) -> Mapping[str, pl.DataType]:
        """The columns and their types, as Polars would have them."""

    @property
    def writes_there(self) -> bool:
        """Whether the engine writes files on machines of its own, so that rows should not come by this one."""

    def group_sizes(
        self, columns: Sequence[str], recodings: Mapping[str, Recoding], most: int | None = None
    ) -> pl.DataFrame:
        """Count the rows of each combination of the recoded columns; the last column holds the counts.

        A value without a label counts as NO_LABEL. Of more combinations than `most` only some come back, one more.
        """

    def distinct(self, column: str) -> pl.Series:
        """Return the distinct values of a column, in any order."""

    def within(self, column: str, values: pl.Series) -> Relation:
        """Return the rows whose value of a column is one of these, as counting returns them; missing is a value too."""

    def write(self, plan: WritePlan, out: Path) -> None:
        """Write rows as planned, as Parquet or CSV by the name of the file."""

    def write_made(self, combinations: pl.DataFrame, out: Path) -> None:
        """Write so many rows of each combination as its SIZE says, in an order as likely as any other."""


class Engine(AbstractContextManager["Engine"], Protocol):
    """Opens sources as relations."""

    def open(self, source: Any, reading: Reading = AS_IT_IS) -> Relation:
        """Open a frame, a file or the name of a table."""


def connect(engine: str | Engine = "local") -> Engine:
    """Return the engine of a name or address."""
    if not isinstance(engine, str):
        return engine
    if engine == "local":
        from tokumei.engines.local import LocalEngine

        return LocalEngine()
    check_engine(engine)
    from tokumei.engines.remote import connect_remote

    return connect_remote(engine)


def check_engine(engine: str) -> None:
    """Refuse a name that is no engine's, and one whose packages are not installed."""
    if engine not in NAMED and "://" not in engine:
        near = nearest(engine, NAMED)
        hint = f"'{near}'" if near else f"{', '.join(NAMED)} or an address such as postgresql://host/database"
        raise InputError.of(f"an engine: {hint}", option="engine", value=engine)
    extra = "spark" if engine.startswith(("spark", "sc:")) else "engine"
    try:
        import ibis  # noqa: F401

        if extra == "spark":
            import pyspark  # noqa: F401
    except ModuleNotFoundError:
        raise MissingExtra(f"The engine '{engine}'", extra) from None


def without_password(address: str) -> str:
    """Return an address that can be shown."""
    scheme, mark, rest = address.partition("://")
    user, at, host = rest.rpartition("@")
    return f"{scheme}{mark}{user.partition(':')[0]}{at}{host}"
