"""What measures and attacks ask of a history, answered alike in memory and on an engine.

Rows are a lazy frame of Narwhals: what is written once becomes a query of Polars in memory and one of Ibis on an
engine. All have the columns `row`, `customer`, `period`, `first` (the first day of the month), `date` (both as days
from 1970), `item`, `price` and `quantity`. Only small results are collected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import counted
from tokumei.data.history import History, period_of

if TYPE_CHECKING:
    import narwhals as nw
    from scipy import sparse

Frame: TypeAlias = "nw.LazyFrame[Any]"
Matrix: TypeAlias = "sparse.csr_array[Any, tuple[int, int]]"
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cells:
    """How often each unit, such as a customer, has each item.

    A unit is a row of one of the parts. A part is read when it is asked for, so that not all need be in memory.
    """

    n_units: int
    n_parts: int
    part: Callable[[int], Matrix]

    def parts(self) -> Iterator[Matrix]:
        """Read one part after the other."""
        return map(self.part, range(self.n_parts))


class HistoryRows(Protocol):
    """The rows of a history, wherever they are."""

    @property
    def name(self) -> str:
        """What a message calls the history."""

    @property
    def n_rows(self) -> int:
        """Number of rows, deleted ones included."""

    @property
    def n_kept(self) -> int:
        """Number of rows that are not deleted."""

    @property
    def absent(self) -> tuple[str, ...]:
        """The columns that the history does not have."""

    @property
    def items(self) -> pl.Series:
        """All items, in order."""

    @property
    def rows(self) -> Frame:
        """The rows that are not deleted."""

    def check_whole(self) -> None:
        """Refuse quantities that cannot be summed to the same digits in any order."""

    def labels(self, frame: pl.DataFrame) -> Frame:
        """Bring a small frame to where the rows are."""

    def beside(self, released: Any, ours: Mapping[str, str], theirs: Mapping[str, str]) -> Frame:
        """Return columns (new name → name) of each row that the release keeps, and of the original's row beside it."""

    def collect(self, frame: Frame) -> pl.DataFrame:
        """Compute a small result."""

    def n_distinct(self, column: str, by: str) -> pl.DataFrame:
        """Count the distinct values of a column, as `n`, among the rows that have each value of another."""

    def cells(self, by: Sequence[str], items: pl.Series, *, counts_rows: bool) -> Cells:
        """Count the rows, or sum up the quantity, of each of the items that each unit has.

        by: the columns that rows of one unit agree on.
        """


def lazy(native: object) -> Frame:
    """Wrap a lazy frame of Polars or a table of Ibis."""
    import narwhals as nw

    frame: Frame = nw.from_native(native)
    return frame


def rows_of(history: History | HistoryRows) -> HistoryRows:
    """Return the rows of a history in memory; those on an engine are as they are."""
    return LocalRows(history) if isinstance(history, History) else history


def check_aligned(original: HistoryRows, released: HistoryRows) -> None:
    """Refuse a release that has not the rows of its original."""
    if original.n_rows != released.n_rows:
        expected = f"as many rows as the original, {original.n_rows:,}, deleted ones written as missing"
        raise InputError.of(expected, file=released.name, value=counted(released.n_rows, "row"))


@dataclass(frozen=True)
class LocalRows:
    """The rows of a history in memory."""

    history: History

    @property
    def name(self) -> str:
        """What a message calls the history."""
        return self.history.name

    @property
    def n_rows(self) -> int:
        """Number of rows, deleted ones included."""
        return self.history.n_rows

    @property
    def n_kept(self) -> int:
        """Number of rows that are not deleted."""
        return self.history.kept.height

    @property
    def absent(self) -> tuple[str, ...]:
        """The columns that the history does not have."""
        return self.history.absent

    @property
    def items(self) -> pl.Series:
        """All items, in order."""
        return self.history.kept["item"].unique().sort()

    @property
    def rows(self) -> Frame:
        """The rows that are not deleted."""
        date = pl.col("date")
        days = {"date": date.to_physical(), "first": date.dt.month_start().to_physical(), "period": period_of(date)}
        row = self.history.frame["customer"].is_not_null().arg_true().cast(pl.Int64)
        return lazy(self.history.kept.lazy().with_columns(**days, row=row))

    def check_whole(self) -> None:
        """Sum up in one order alone."""

    def labels(self, frame: pl.DataFrame) -> Frame:
        """Take a small frame as it is."""
        return lazy(frame.lazy())

    def beside(self, released: LocalRows, ours: Mapping[str, str], theirs: Mapping[str, str]) -> Frame:
        """Return columns of each row that the release keeps, and of the original's row beside it."""
        sides = ((self.history.frame, ours), (released.history.frame, theirs))
        columns = {name: frame[column].to_physical() for frame, names in sides for name, column in names.items()}
        both = pl.LazyFrame({**columns, "is_kept": released.history.frame["customer"].is_not_null()})
        return lazy(both.filter("is_kept").drop("is_kept"))

    def collect(self, frame: Frame) -> pl.DataFrame:
        """Compute a result."""
        collected: pl.DataFrame = frame.to_native().collect()
        return collected

    def n_distinct(self, column: str, by: str) -> pl.DataFrame:
        """Count the distinct values of a column among the rows that have each value of another."""
        # Not lazily: Polars streams lazy frames, and takes three times as long for it.
        return self.history.kept.group_by(by).agg(n=pl.col(column).n_unique())

    def cells(self, by: Sequence[str], items: pl.Series, *, counts_rows: bool) -> Cells:
        """Count the rows, or sum up the quantity, of each of the items that each unit has."""
        kept = self.history.kept
        unit, n_units = _positions([kept[column] for column in by])
        item = kept["item"].cast(pl.Enum(items), strict=False).to_physical()
        is_listed = item.is_not_null().to_numpy()
        # Making rows of loose cells adds up those of one unit and item, several times faster than a group-by.
        amounts = np.ones(len(unit), np.int64) if counts_rows else kept["quantity"].to_numpy()
        cells = unit[is_listed], item.drop_nulls().to_numpy()
        matrix = matrix_of(*cells, amounts[is_listed], (n_units, len(items)))
        return Cells(n_units, 1, lambda _: matrix)


def _positions(columns: Sequence[pl.Series]) -> tuple[Ints, int]:
    """Return a number for each row by its values, the first of which is text, and how many numbers there are."""
    text, *numbers = columns
    names = text.unique()
    position = text.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64)
    n_units = len(names)
    for column in numbers:
        values = column.to_physical().to_numpy().astype(np.int64)
        least, span = int(values.min(initial=0)), int(np.ptp(values)) + 1 if len(values) else 1
        distinct, position = np.unique(position * span + (values - least), return_inverse=True)
        n_units = len(distinct)
    return position, n_units


def matrix_of(units: npt.ArrayLike, items: npt.ArrayLike, amounts: npt.ArrayLike, shape: tuple[int, int]) -> Matrix:
    """Return a matrix of units and items, in which amounts of one cell are added up."""
    from scipy import sparse

    cells = np.asarray(units).astype(np.int32), np.asarray(items).astype(np.int32)
    matrix: Matrix = sparse.coo_array((np.asarray(amounts), cells), shape=shape).tocsr()
    return matrix
