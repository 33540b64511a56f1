"""The purchases of a history as numbers: what alignment and grouping compute with."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.data.history import History

# The columns written as ranges, with the width of the grid on which a range is drawn: a day, a cent, a piece.
GRID = {"date": 1.0, "price": 0.01, "quantity": 1.0}
N_COLUMNS = len(GRID) + 1

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Indices = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


@dataclass(frozen=True)
class Purchases:
    """Rows in units of each column's standard deviation, and which rows belong to which customer.

    `values` has a line for each column of GRID, `width` is the grid in the same units, `items` numbers the items.
    `rows` holds for each customer the numbers of its rows, in the order of `customers`. `parts` numbers the public
    parts that the items are in, where sets consist of these.
    """

    values: Floats
    width: Floats
    items: Indices
    customers: list[str]
    rows: list[Indices]
    parts: Indices | None = None

    @classmethod
    def of(cls, history: History) -> Purchases:
        """Take the purchases of a history; deleted rows belong to nobody."""
        frame = history.frame.with_row_index("row")
        raw = numbers_of(frame)
        kept = history.frame["customer"].is_not_null().to_numpy()
        by_customer = frame.filter(pl.col("customer").is_not_null()).group_by("customer").agg("row").sort("customer")
        return cls.of_numbers(
            np.where(kept, raw, 0.0),
            kept,
            items=frame["item"].rank("dense").fill_null(0).cast(pl.Int64).to_numpy(),
            customers=by_customer["customer"].to_list(),
            rows=[np.asarray(rows, dtype=np.int64) for rows in by_customer["row"].to_list()],
        )

    @classmethod
    def of_numbers(
        cls,
        raw: Floats,
        kept: npt.NDArray[np.bool_],
        *,
        items: Indices,
        customers: list[str],
        rows: list[Indices],
    ) -> Purchases:
        """Scale the columns of GRID, 0 in rows that are not kept."""
        # Where nobody has a row there is nothing to scale.
        present = raw[:, kept] if kept.any() else np.zeros((len(GRID), 1))
        deviation = present.std(axis=1, keepdims=True)
        # A column with one value costs nothing, whatever it is divided by.
        deviation[deviation == 0] = 1.0
        mean = present.mean(axis=1, keepdims=True)
        width = np.array(list(GRID.values())) / deviation[:, 0]
        return cls((raw - mean) / deviation, width, items, customers, rows)

    def of_customers(self, which: Indices) -> Purchases:
        """Return the purchases of some customers, in the order given; rows keep their numbers."""
        numbers = which.tolist()
        return replace(
            self, customers=[self.customers[one] for one in numbers], rows=[self.rows[one] for one in numbers]
        )

    @property
    def n_rows(self) -> Indices:
        """Number of rows of each customer."""
        return np.array([len(rows) for rows in self.rows], dtype=np.int64)


def numbers_of(frame: pl.DataFrame) -> Floats:
    """Return the columns of GRID as numbers, one line each."""
    return np.stack([frame[column].to_physical().cast(pl.Float64).to_numpy() for column in GRID])
