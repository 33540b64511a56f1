"""What an engine is asked for, and long work that is kept piece after piece.

Work is kept without knowing who will go on with it. Whoever may be broken off writes `with keeping(source, folder,
n_rows): …`. Reading that source then leaves what it counted, slice after slice of its rows, in the folder, and takes
from there what an earlier run left.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

import polars as pl

from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.engines.class_counts import ClassRecoding, Recoding

if TYPE_CHECKING:
    import ibis.expr.types as ibis_types

# A table of an engine that runs SQL, and a column or a single value of one.
EngineTable: TypeAlias = "ibis_types.Table"
EngineValue: TypeAlias = "ibis_types.Value"

# What is done again at most: seconds of work, and far more rows than opening a slice costs.
SLICE_ROWS = 20_000_000


@dataclass(frozen=True)
class KeptWork:
    """The folder of what is done, and the rows of the source where slices of them can be read."""

    source: str
    folder: Path
    n_rows: int | None

    @property
    def slices(self) -> list[tuple[int, int]]:
        """Where each slice starts, and how many rows it has; none where the source is read as a whole."""
        starts = range(0, self.n_rows or 0, SLICE_ROWS)
        return [(start, SLICE_ROWS) for start in starts] if len(starts) > 1 else []

    def frame(self, key: str, compute: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        """Compute a frame, or take the one that was kept under the same key."""
        file = self.place(key).with_suffix(".parquet")
        if not file.exists():
            draft = file.with_suffix(".draft")
            compute().write_parquet(draft, compression="lz4")
            draft.replace(file)
        return pl.read_parquet(file)

    def place(self, key: str) -> Path:
        """Return the path of what is kept under a key."""
        return self.folder / hashlib.blake2b(key.encode(), digest_size=16).hexdigest()


_current: ContextVar[KeptWork | None] = ContextVar("kept_work", default=None)


@contextmanager
def keeping(source: str, folder: Path, n_rows: int | None) -> Iterator[None]:
    """Keep what is done with a source; `n_rows` where any of its rows can be read without those before."""
    token = _current.set(KeptWork(source, folder, n_rows))
    try:
        yield
    finally:
        _current.reset(token)


def name_of_part(part: str, column: str, values: pl.Series) -> str:
    """Name the rows of a part whose value of a column is one of these."""
    told = repr((part, column, str(values.dtype), sorted(map(repr, values))))
    return hashlib.blake2b(told.encode(), digest_size=16).hexdigest()


def kept_work(source: str) -> KeptWork | None:
    """Return where work on a source is kept; a release that is read again to be checked is another source."""
    work = _current.get()
    return work if work is not None and work.source == source else None


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

    def open(self, source: object, reading: Reading = AS_IT_IS) -> Relation:
        """Open a frame, a file or the name of a table."""


def without_password(address: str) -> str:
    """Return an address that can be shown."""
    scheme, mark, rest = address.partition("://")
    user, at, host = rest.rpartition("@")
    return f"{scheme}{mark}{user.partition(':')[0]}{at}{host}"
