"""The use of generalized histories: how much less they say, and use cases on values drawn from their cells.

**The error** is the utility of PWSCUP 2018. The error of a cell is how far a value drawn evenly from what it stands for
lies from the truth, on average:

| cell                                   | error                                                      |
|----------------------------------------|------------------------------------------------------------|
| the true value                         | 0                                                          |
| `*`                                    | 1                                                          |
| a set of n items                       | 1 − 1/n                                                    |
| a range of dates, prices or quantities | mean distance in σ over the grid of steps 1 day, 0.01 or 1 |

σ is the standard deviation of the original's column (of the whole population). A deleted row is 1 in all four columns.

**Use cases.** A measure of plain histories cannot read ranges and sets. So a plain history is drawn from the
generalized one, as in section 6.3 of the PWSCUP 2018 paper, and measured; many draws give the mean and how sure it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.text import counted
from tokumei.data.cells import Kind, RangeCells, SetCells
from tokumei.data.history import History
from tokumei.data.release import GeneralizedHistory

Floats = npt.NDArray[np.float64]

# The step of the grid a range is made of: a day, a hundredth, a piece.
STEPS = {"date": 1.0, "price": 0.01, "quantity": 1.0}


def measure_generalized_error(original: History, release: GeneralizedHistory) -> Score:
    """Mean error of all cells: 0 if untouched, 1 if all are suppressed, more where wide ranges lead farther astray.

    The means of the columns, those that the original has, are among the inputs of the score.
    """
    errors = cell_errors(original, release)
    # Exact sums, so that the order of rows cannot change a digit.
    means = {column: math.fsum(errors[column]) / max(1, errors.height) for column in errors.columns}
    return Score("generalized-error", math.fsum(means.values()) / len(means), best=0, worst=math.inf, inputs=means)


def cell_errors(original: History, release: GeneralizedHistory) -> pl.DataFrame:
    """Return the error of each cell, row by row, in those columns of date, item, price and quantity that there are."""
    if original.n_rows != release.n_rows:
        expected = f"as many rows as the original, {original.n_rows:,}"
        raise InputError.of(expected, file=release.name, value=counted(release.n_rows, "row"))
    frame = original.frame
    is_deleted = release.is_deleted.to_numpy()
    errors = {
        "date": range_errors(frame["date"], release.date, STEPS["date"]),
        "item": set_errors(frame["item"], release.item),
        "price": range_errors(frame["price"], release.price, STEPS["price"]),
        "quantity": range_errors(frame["quantity"], release.quantity, STEPS["quantity"]),
    }
    present = {column: error for column, error in errors.items() if column not in original.absent}
    return pl.DataFrame({column: np.where(is_deleted, 1.0, error) for column, error in present.items()})


def range_errors(truth: pl.Series, cells: RangeCells, step: float) -> Floats:
    """Return the error of each cell of a column of dates or numbers.

    A range the truth lies outside of, which the contest refuses, is measured by the same mean. Where all of the
    original's values are equal σ is 0, and a cell that is not the true value counts as suppressed.
    """
    x, low, high = (as_numbers(values) for values in (truth, cells.low, cells.high))
    sigma = float(np.std(x)) if len(x) else 0.0
    is_outside = (x < low) | (x > high)
    inside = ((low - x) ** 2 + (high - x) ** 2 + (high - low) * step) / (2 * (high - low + step))
    distance = np.where(is_outside, np.abs(x - (low + high) / 2), inside)
    # Equal values have no spread in floating point either, so comparing with 0 is safe.
    error = distance / sigma if sigma > 0 else (distance > 0).astype(np.float64)
    return np.where(cells.kind.to_numpy() == Kind.SUPPRESSED, 1.0, error)


def set_errors(truth: pl.Series, cells: SetCells) -> Floats:
    """Return the error of each cell of items: the chance that an item drawn from the set is a wrong one."""
    size = cells.sizes().fill_null(1).to_numpy()
    error = 1 - cells.contains(truth).to_numpy() / size
    return np.where(cells.kind.to_numpy() == Kind.SUPPRESSED, 1.0, error)


def as_numbers(values: pl.Series) -> Floats:
    """Return dates as days and numbers as they are; missing values as NaN."""
    days = values.cast(pl.Int32) if values.dtype == pl.Date else values
    return days.cast(pl.Float64).to_numpy()


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
    absent: tuple[str, ...] = ()

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
            absent=tuple(name for name in columns if name in original.absent),
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
        frame = frame.with_columns(pl.lit(None, frame.schema[name]).alias(name) for name in self.absent)
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
    # Of a column that the original lacks any number will do.
    values = _as_steps(observed, n).fill_null(0)
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
