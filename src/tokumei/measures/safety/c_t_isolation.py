"""(c,t)-isolation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.data.table import Table
from tokumei.measures.requirement import ROUNDING

Points = npt.NDArray[np.float64]


@dataclass(frozen=True)
class CTIsolation:
    """No released row points at somebody with fewer than t people around; measures the share of rows that do.

    Answers isolation: an attacker takes a released row as a point and looks who is near it. The point isolates a
    person at the distance δ if fewer than t people of the original, that person included, are within c·δ of it
    (Chawla, Dwork, McSherry, Smith and Wee 2005). The nearest person is isolated first, so only the nearest is
    looked at. 0 if no row isolates anybody, 1 if all do, as where an original of different rows is released
    unchanged. Columns must be numbers; each is measured in its standard deviations.

    Example: one column, c = 2 and t = 2. The released 12 is 2 from the nearest person, who is 10, and within 4 there
    is also 14: nobody is isolated. The released 31 is 1 from 30, and nobody else is within 2, so it isolates. The
    released 41 is 11 from 30, and 20 is within 22. The measure is 1/3.

    | original | released |
    |----------|----------|
    | 10       | 12       |
    | 14       | 31       |
    | 20       | 41       |
    | 30       |          |
    """

    columns: tuple[str, ...] = field(
        default=(), metadata={"help": "The columns that say where a row is; all quasi-identifiers if not given."}
    )
    c: float = field(default=4.0, metadata={"help": "How many times as far is still near; at least 1."})
    t: int = field(default=2, metadata={"help": "Fewest people who must be near; at least 2."})
    share: float = field(default=0.0, metadata={"help": "Largest share of released rows that may isolate somebody."})
    is_scaled: bool = field(
        default=True, metadata={"help": "Whether columns are measured in standard deviations of the original."}
    )

    def __post_init__(self) -> None:
        if not 1 <= self.c < math.inf:
            raise InputError.of("at least 1", option="c", value=self.c)
        if self.t < 2:
            raise InputError.of("at least 2", option="t", value=self.t)
        if not 0 <= self.share <= 1:
            raise InputError.of("a share from 0 to 1", option="share", value=self.share)

    def holds(self, original: Table, released: Table) -> bool:
        """Whether no more rows than allowed isolate somebody."""
        return self.measure(original, released).value <= self.share + ROUNDING

    def measure(self, original: Table, released: Table) -> Score:
        """Return the share of released rows that isolate somebody."""
        n_isolating = int(self.isolates(original, released).sum())
        inputs = {"c": self.c, "t": self.t, "n_isolating": n_isolating, "n_released": released.n_rows}
        return Score("c-t-isolation", n_isolating / max(1, released.n_rows), best=0, worst=1, inputs=inputs)

    def isolates(self, original: Table, released: Table) -> npt.NDArray[np.bool_]:
        """Whether each released row isolates somebody of the original."""
        columns = self.columns or tuple(original.quasi_identifiers)
        if not columns:
            raise InputError.of("a column of numbers or more", option="columns")
        ours, theirs = (np.column_stack([_numbers(table, one) for one in columns]) for table in (original, released))
        if len(ours) < self.t or not len(theirs):
            # Fewer people than must be near are never near enough; but nobody at all cannot be isolated.
            return np.full(len(theirs), len(ours) > 0)
        units = ours.std(axis=0) if self.is_scaled else np.ones(len(columns))
        # A column that never varies is left in its own unit.
        units[units == 0] = 1
        nearest, farther = _distances(ours / units, theirs / units, self.t)
        out: npt.NDArray[np.bool_] = farther > self.c * nearest * (1 + ROUNDING)
        return out


def _distances(people: Points, points: Points, t: int) -> tuple[Points, Points]:
    """Return the distance of each point to the nearest person and to the t-th nearest."""
    from scipy.spatial import KDTree

    # Neighbors are asked for one after the other, which is three times as fast as in any order.
    order = np.asarray(KDTree(points).indices)
    distances = np.empty((len(points), 2))
    distances[order] = KDTree(people).query(points[order], k=[1, t])[0]
    return distances[:, 0], distances[:, 1]


def _numbers(table: Table, name: str) -> Points:
    if name not in table.frame.columns:
        raise InputError.of(f"one of the columns {', '.join(table.frame.columns)}", file=table.name, column=name)
    column = table.frame[name]
    numbers = column.cast(pl.Float64, strict=False).fill_null(math.nan).to_numpy()
    for row in np.flatnonzero(~np.isfinite(numbers))[:1]:
        value = "" if column[int(row)] is None else column[int(row)]
        raise InputError.of("a finite number", file=table.name, line=int(row) + 1, column=name, value=value)
    return numbers
