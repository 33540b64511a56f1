"""Use cases on generalized data: values drawn from the cells, then measured as any release.

A measure of plain histories cannot read ranges and sets. So a plain history is drawn from the generalized one, as in
section 6.3 of the PWSCUP 2018 paper, and measured; many draws give the mean and how sure it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.data.cells import Kind, RangeCells
from tokumei.data.generalized import GeneralizedHistory
from tokumei.data.history import History

Ints = npt.NDArray[np.int64]

# Steps of the grid in a unit: a day, a hundredth, a piece; of a history with finer amounts, as kilos, at most so many.
STEPS_A_UNIT = {"date": 1, "price": 100, "quantity": 1}
MOST_STEPS = 1_000_000


@dataclass(frozen=True)
class DrawnCells:
    """Generalized cells ready to be drawn from: the first and last step of each range, the members of each set.

    A range gives each day, hundredth or piece in it with the same chance, a set each member. A suppressed cell gives a
    step between the least and the greatest value of the original's column, or any of the original's items. A deleted
    row stays deleted.
    """

    customer: pl.Series
    steps: dict[str, tuple[Ints, Ints]]
    steps_a_unit: dict[str, int]
    items: pl.Series
    first_item: Ints
    n_items: Ints

    @classmethod
    def of(cls, original: History, release: GeneralizedHistory) -> DrawnCells:
        """Prepare the cells of a release; suppressed ones need the original."""
        kept = original.kept
        columns = {"date": release.date, "price": release.price, "quantity": release.quantity}
        is_suppressed = release.item.kind == Kind.SUPPRESSED
        any_item = kept["item"].unique().sort()
        members = release.item.members.filter(~is_suppressed)
        sizes = release.item.sizes().fill_null(0).to_numpy().astype(np.int64)
        # All of the original's items come first, then the members of each cell one after another.
        first = len(any_item) + np.cumsum(sizes) - sizes
        listed = members.explode() if len(members) else pl.Series(dtype=pl.String)
        units = {column: _steps_a_unit(cells, column) for column, cells in columns.items()}
        return cls(
            customer=release.customer.set(release.is_deleted, None),
            steps={column: _steps(cells, kept[column], units[column]) for column, cells in columns.items()},
            steps_a_unit=units,
            items=pl.concat([any_item, listed.alias(any_item.name)]),
            first_item=np.where(is_suppressed.to_numpy(), 0, first),
            n_items=np.where(is_suppressed.to_numpy(), len(any_item), sizes),
        )

    def draw(self, rng: np.random.Generator) -> History:
        """Draw one plain history, row by row as the release; invoice and time are missing."""
        drawn = {column: rng.integers(low, high, endpoint=True) for column, (low, high) in self.steps.items()}
        frame = pl.DataFrame(
            {
                "customer": self.customer,
                "date": pl.Series(drawn["date"]).cast(pl.Int32).cast(pl.Date),
                "item": self.items.gather(self.first_item + rng.integers(0, self.n_items)),
                "price": drawn["price"] / self.steps_a_unit["price"],
                "quantity": _in_units(drawn["quantity"], self.steps_a_unit["quantity"]),
            }
        )
        return History.of(frame.with_columns(pl.when(pl.col("customer").is_not_null()).then(pl.all())), name="draw")


def _steps_a_unit(cells: RangeCells, column: str) -> int:
    """Return the steps of a unit: as few as the ends of all cells stand on, so that a single value stays what it is."""
    n = STEPS_A_UNIT[column]
    if cells.low.dtype == pl.Date:
        return n
    ends = pl.concat([cells.low.cast(pl.Float64), cells.high.cast(pl.Float64)]).drop_nulls().to_numpy()
    while n < MOST_STEPS and not np.allclose(ends * n, np.round(ends * n), rtol=1e-12, atol=1e-6):
        n *= 10
    return n


def _steps(cells: RangeCells, observed: pl.Series, n: int) -> tuple[Ints, Ints]:
    """Return the first and last step of each cell; a suppressed cell has those of the observed values."""
    values = _as_steps(observed, n)
    return (
        _as_steps(cells.low, n).fill_null(values.min()).to_numpy(),
        _as_steps(cells.high, n).fill_null(values.max()).to_numpy(),
    )


def _as_steps(values: pl.Series, n: int) -> pl.Series:
    if values.dtype == pl.Date:
        return values.cast(pl.Int32).cast(pl.Int64)
    return (values * n).round().cast(pl.Int64)


def _in_units(steps: Ints, n: int) -> npt.NDArray[np.generic]:
    """Return whole units as whole numbers."""
    return steps if n == 1 else steps / n
