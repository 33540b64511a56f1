"""How much less a generalized history says than its original: the utility of PWSCUP 2018.

The error of a cell is how far a value drawn evenly from what it stands for lies from the truth, on average:

| cell                                   | error                                                      |
|----------------------------------------|------------------------------------------------------------|
| the true value                         | 0                                                          |
| `*`                                    | 1                                                          |
| a set of n items                       | 1 − 1/n                                                    |
| a range of dates, prices or quantities | mean distance in σ over the grid of steps 1 day, 0.01 or 1 |

σ is the standard deviation of the original's column (of the whole population). A deleted row is 1 in all four columns.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.wording import counted
from tokumei.data.cells import Kind, RangeCells, SetCells
from tokumei.data.generalized import GeneralizedHistory
from tokumei.data.history import History

Floats = npt.NDArray[np.float64]

# The step of the grid a range is made of: a day, a hundredth, a piece.
STEPS = {"date": 1.0, "price": 0.01, "quantity": 1.0}


def measure_generalized_error(original: History, release: GeneralizedHistory) -> Score:
    """Mean error of all cells: 0 if untouched, 1 if all are suppressed, more where wide ranges lead farther astray.

    The means of the four columns are among the inputs of the score.
    """
    errors = cell_errors(original, release)
    # Exact sums, so that the order of rows cannot change a digit.
    means = {column: math.fsum(errors[column]) / max(1, errors.height) for column in errors.columns}
    return Score("generalized-error", math.fsum(means.values()) / len(means), best=0, worst=math.inf, inputs=means)


def cell_errors(original: History, release: GeneralizedHistory) -> pl.DataFrame:
    """Return the error of each cell, row by row, in the columns date, item, price and quantity."""
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
    return pl.DataFrame({column: np.where(is_deleted, 1.0, error) for column, error in errors.items()})


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
