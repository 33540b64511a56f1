"""The risk of each person of a sample of being found, by how many people of the population each row stands for.

Benedetti and Franconi (1998): of f people of the sample who are alike, the weights add up to an estimate F of those
alike in the population, and p = f / F. The number alike in the population is taken to be negative binomial given f, and
the risk is the mean of 1 over it, for somebody who knows a person and does not know whether they are in the sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import hyp2f1

from tokumei.core.errors import InputError
from tokumei.core.text import Json, Text
from tokumei.data.table import Role, Unit

Floats = npt.NDArray[np.float64]
MOST_LISTED = 10
# From this many people on, so many terms of the series are exact, and the library's function may fail.
LARGE, TERMS = 40, 100
# Names that no column of a file has.
WEIGHT, CLASS, WHOSE, RISK, ROW = (f"{name} \0" for name in ("weight", "class", "whose", "risk", "row"))
FREQUENCY, TOTAL = "frequency \0", "total \0"


def individual_risk(frequency: npt.ArrayLike, total: npt.ArrayLike, *, approximate: bool = False) -> Floats:
    """Return the risk of somebody in a class of so many people of the sample, whose weights add up to a total.

    The mean of 1/F is p/f · 2F1(1, 1; f + 1; 1 − p): for f = 1 p/(1 − p) · ln(1/p), for f = 2 p/(1 − p) −
    (p/(1 − p))² · ln(1/p). sdcMicro's `method="exact"` is the same number; its `approx` takes p/(f − (1 − p)) from
    f = 3 on, as `approximate` does. A class whose weights add up to less than its people counts as everybody.

    >>> individual_risk([1, 3], [17.0, 108.0]).round(6).tolist()
    [0.177076, 0.013553]
    """
    f, all_alike = np.broadcast_arrays(np.atleast_1d(np.asarray(frequency, np.float64)), np.asarray(total, np.float64))
    p = np.minimum(1.0, f / all_alike)
    exact: Floats = p / f * _mean_of_inverse(f, 1 - p)
    return np.where(f >= 3, p / (f - (1 - p)), exact) if approximate else exact


def _mean_of_inverse(f: Floats, q: Floats) -> Floats:
    """Return 2F1(1, 1; f + 1; q): the sum of n! q^n / ((f + 1) … (f + n)), which large classes soon end."""
    is_large = f >= LARGE
    out: Floats = hyp2f1(1, 1, np.where(is_large, 1, f) + 1, np.where(is_large, 0, q))
    large, rest = f[is_large], q[is_large]
    term, total = np.ones_like(large), np.ones_like(large)
    for n in range(1, TERMS):
        term = term * n * rest / (large + n)
        total += term
    out[is_large] = total
    return out


@dataclass(frozen=True)
class SampleRisk:
    """The individual risk of each row and, where rows are of people or of households, of each of these."""

    weights: str
    # In the order of the rows.
    risks: Floats
    population: float
    unit: Unit | None = None
    # Of each person or household: its name, and its risk.
    units: pl.DataFrame | None = None

    @property
    def expected(self) -> float:
        """People who are expected to be found, if everybody of the sample is looked for."""
        if self.units is not None and self.unit is not None and self.unit.role is Role.PERSON:
            return float(self.units[RISK].sum())
        return float(self.risks.sum())

    @property
    def n(self) -> int:
        """People of the sample."""
        if self.units is not None and self.unit is not None and self.unit.role is Role.PERSON:
            return self.units.height
        return len(self.risks)

    def as_dict(self, threshold: float = 0.2) -> Json:
        """Return the risks as JSON shows them; rows are counted from 1."""
        riskiest = np.argsort(-self.risks, kind="stable")[:MOST_LISTED].tolist()
        found: dict[str, object] = {
            "weights": self.weights,
            "population": self.population,
            "expected": self.expected,
            "share": self.expected / self.n if self.n else 0.0,
            "highest": float(self.risks.max(initial=0.0)),
            "above": float((self.risks > threshold).mean()) if len(self.risks) else 0.0,
            "threshold": threshold,
            "riskiest": [{"row": at + 1, "risk": float(self.risks[at])} for at in riskiest],
        }
        if self.units is not None and self.unit is not None:
            most = self.units.sort(RISK, descending=True, maintain_order=True).head(MOST_LISTED)
            found[self.unit.plural] = {
                "n": self.units.height,
                "expected": float(self.units[RISK].sum()),
                "share": float(self.units[RISK].sum()) / max(1, self.units.height),
                "riskiest": [{str(self.unit.role): str(name), "risk": risk} for name, risk in most.iter_rows()],
            }
        return found


def risk_by_weights(
    frame: pl.DataFrame,
    attributes: Sequence[str],
    weights: str,
    *,
    unit: Unit | None = None,
    approximate: bool = False,
    name: str = "table",
) -> SampleRisk:
    """Return the individual risk of each row, of whom a column says how many people it stands for.

    A row is a person, unless the unit is one: then a person counts once in each class, with the mean weight of their
    rows there, and has the largest risk of their rows. A household is found if one of its rows is: 1 − Π(1 − r).
    """
    numbers = read_weights(frame, weights, name)
    rows = frame.select(pl.struct(attributes).rank("dense").alias(CLASS)).with_columns(numbers.alias(WEIGHT))
    is_of_people = unit is not None and unit.role is Role.PERSON
    whose = frame[unit.column].alias(WHOSE) if unit is not None else None
    each = rows
    if whose is not None:
        rows = rows.with_columns(whose)
        each = rows.group_by(CLASS, WHOSE).agg(pl.col(WEIGHT).mean()) if is_of_people else rows
    classes = each.group_by(CLASS).agg(pl.len().alias(FREQUENCY), pl.col(WEIGHT).sum().alias(TOTAL))
    found = individual_risk(classes[FREQUENCY].to_numpy(), classes[TOTAL].to_numpy(), approximate=approximate)
    rows = rows.join(classes.with_columns(pl.Series(RISK, found)), on=CLASS, how="left", maintain_order="left")
    units = None
    if whose is not None:
        together = pl.col(RISK).max() if is_of_people else 1 - (1 - pl.col(RISK)).product()
        units = rows.group_by(WHOSE, maintain_order=True).agg(together.alias(RISK))
    population = (
        each[WEIGHT].sum() if not is_of_people else rows.group_by(WHOSE).agg(pl.col(WEIGHT).mean())[WEIGHT].sum()
    )
    return SampleRisk(weights, rows[RISK].to_numpy(), float(population), unit, units)


def read_weights(frame: pl.DataFrame, column: str, name: str) -> pl.Series:
    """Return sampling weights as numbers; one that is missing, no number or not above 0 is an InputError."""
    given = frame[column]
    numbers = given.cast(pl.Float64, strict=False)
    is_wrong = ~(numbers.is_finite() & (numbers > 0)).fill_null(False)
    for at in is_wrong.arg_true()[:1].to_list():
        expected = Text("a sampling weight above 0 in row {row:,}: how many people it stands for", row=at + 1)
        raise InputError.of(expected, file=name, column=column, value=str(given[at]))
    return numbers
