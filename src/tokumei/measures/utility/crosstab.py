"""Mean prices by who the customers are."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.measures.utility._rows import check_aligned


@dataclass(frozen=True)
class Crosstab:
    """Mean absolute error of the mean unit price by decade of birth and country: 0 if the same, no upper end.

    As in PWSCUP 2016: customers have their attributes in a master frame with the column `customer`; a date among them
    counts as its decade. A cell of the table is the plain mean of the unit price over its rows, and the error is the
    mean over the cells that the original fills; a cell that the release leaves empty counts as a mean of 0. The
    released customers have a master of their own; without one the release must keep the rows of the original, and each
    row belongs to whom it did. Without any master there is one cell: everyone.
    """

    master: pl.DataFrame | None = field(
        default=None, compare=False, metadata={"help": "Attributes of the original's customers."}
    )
    released_master: pl.DataFrame | None = field(
        default=None, compare=False, metadata={"help": "Attributes of the pseudonyms, where these were released too."}
    )
    by: tuple[str, ...] = field(default=("birth", "country"), metadata={"help": "Attributes that make the cells."})

    def measure(self, original: History, released: History) -> Score:
        """Compare the tables of both."""
        if self.master is None:
            before, after = _mean_prices(original.kept, []), _mean_prices(released.kept, [])
        else:
            before = self._table(original.frame["customer"], original, self.master)
            if self.released_master is None:
                check_aligned(original, released)
                after = self._table(original.frame["customer"], released, self.master)
            else:
                after = self._table(released.frame["customer"], released, self.released_master)
        errors = [abs(mean - after.get(cell, 0.0)) for cell, mean in before.items()]
        return Score("crosstab", math.fsum(errors) / max(1, len(errors)), best=0, worst=math.inf)

    def _table(self, owners: pl.Series, history: History, master: pl.DataFrame) -> dict[tuple[object, ...], float]:
        rows = history.frame.select(
            pl.col("price"), owners.alias("customer"), released=pl.col("customer").is_not_null()
        )
        attributes = self.attributes(master)
        known = rows.filter("released").join(attributes, on="customer", how="left", validate="m:1")
        return _mean_prices(known, list(self.by))

    def attributes(self, master: pl.DataFrame) -> pl.DataFrame:
        """Return the customers of a master with the attributes of the cells."""
        for name in ("customer", *self.by):
            if name not in master.columns:
                raise InputError.of(f"a column of the master: {', '.join(master.columns)}", value=name)
        return master.select("customer", *(_as_cell(master, name) for name in self.by))


def _as_cell(master: pl.DataFrame, name: str) -> pl.Expr:
    is_date = master.schema[name].is_temporal()
    return (pl.col(name).dt.year() // 10 * 10).alias(name) if is_date else pl.col(name)


def _mean_prices(rows: pl.DataFrame, by: list[str]) -> dict[tuple[object, ...], float]:
    cells = rows.group_by(by).agg("price").iter_rows() if by else [(rows["price"],)] if rows.height else []
    # Exact sums, so that the order of rows cannot change a digit.
    return {tuple(cell[:-1]): math.fsum(cell[-1]) / len(cell[-1]) for cell in cells}
