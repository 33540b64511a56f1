"""What a method is given that changes rows at random or publishes counts, what it gives back, and what several need."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import LISTED_FAULTS, CannotAnonymize, Fault, InputError
from tokumei.core.score import Score
from tokumei.core.seeds import order_of_rows
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.leaves import LARGEST_NUMBER
from tokumei.measures.requirement import Requirement
from tokumei.measures.safety.k_anonymity import KAnonymity

Floats = npt.NDArray[np.float64]

# Beyond, not every whole number is a float.
LARGEST_WHOLE = 2.0**53
# What statistical offices ask for at least; two would know each other's values from their mean.
USUAL_K = 3


@dataclass(frozen=True, eq=False)
class Original:
    """The columns that may be released, and what is known about them.

    Cells of a text file are text, so that numbers must be asked for by `numbers`. `hierarchies` has those of the
    quasi-identifiers that were given one.
    """

    frame: pl.DataFrame
    quasi_identifiers: tuple[str, ...]
    numeric: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    requirements: Sequence[Requirement] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.frame.height

    @property
    def k(self) -> int | None:
        """The fewest rows of a class, if k-anonymity was asked for."""
        return max((one.k for one in self.requirements if isinstance(one, KAnonymity)), default=None)

    def chosen(self, columns: Sequence[str], *, numeric: bool | None = None) -> list[str]:
        """Return the columns a method works on: those named, else the quasi-identifiers.

        Of the quasi-identifiers only numeric ones are taken, or only the others, if `numeric` says so. No column at all
        is an InputError.
        """
        own = [name for name in self.quasi_identifiers if numeric is None or (name in self.numeric) == numeric]
        return chosen_columns(columns, own, self.frame.columns, numeric=numeric)

    def numbers(self, column: str) -> Floats:
        """Return a column as numbers; a missing value is NaN, and what is no number of usual size is an InputError."""
        values = self.frame[column]
        if values.dtype.is_numeric():
            read = values.cast(pl.Float64)
        elif not isinstance(values.dtype, (pl.String, pl.Categorical, pl.Enum, pl.Null)):
            raise InputError.of("a column of numbers or text", column=column, value=values.dtype)
        else:
            read = values.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
        # Polars orders what is not a number above all numbers.
        is_bad = values.is_not_null() & ~(read.abs() <= LARGEST_NUMBER).fill_null(False)
        if is_bad.any():
            rows = is_bad.arg_true()
            faults = [
                Fault(
                    f"a finite number of at most {LARGEST_NUMBER:g}",
                    column=column,
                    line=int(row) + 1,
                    value=str(values[int(row)]),
                )
                for row in rows[:LISTED_FAULTS]
            ]
            raise InputError(faults, len(rows))
        return read.fill_null(float("nan")).to_numpy()

    def with_numbers(self, column: str, numbers: Floats) -> pl.Series:
        """Return numbers as a column of the release: whole ones where all of the original were; NaN is missing."""
        values = pl.Series(column, numbers).fill_nan(None)
        is_whole = are_whole(self.numbers(column)) and are_whole(numbers)
        return values.cast(pl.Int64) if is_whole else values


@dataclass(frozen=True, eq=False)
class Perturbed:
    """A release before it is checked: its rows, which original row each was, and what the method can prove of it.

    `rows` is None where a release has no rows of people, such as a table of counts. `facts` go into the recipe.
    """

    frame: pl.DataFrame
    rows: pl.Series | None
    promises: Mapping[str, Score] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


def chosen_columns(
    asked: Sequence[str], own: Sequence[str], released: Sequence[str], *, numeric: bool | None
) -> list[str]:
    """Return the columns asked for, all of them released, or else a method's own; none is an InputError."""
    for column in asked:
        if column not in released:
            raise InputError.of(f"a released column: {', '.join(released)}", option="columns", value=column)
    if asked:
        return list(dict.fromkeys(asked))
    if not own:
        kind = "" if numeric is None else " of numbers" if numeric else " of categories"
        raise InputError.of(f"a quasi-identifier{kind}, or the option columns")
    return list(own)


def are_whole(numbers: Floats) -> bool:
    """Whether all numbers are whole and small enough to be written as such, missing ones left out."""
    known = numbers[~np.isnan(numbers)]
    return bool(np.all((known == np.round(known)) & (np.abs(known) <= LARGEST_WHOLE)))


def least_rows(k: int | None, original: Original) -> int:
    """Return the fewest rows that must be written alike: the option k, else the k asked for, else the usual one."""
    if k is None:
        return original.k or USUAL_K
    if k < 1:
        raise InputError.of("at least 1", option="k", value=k)
    return k


def fewest_alike(original: Original, changed: Sequence[str], *, missing_stays: bool) -> int:
    """Return the fewest rows that agree on the quasi-identifiers that are not changed; all rows if all are.

    An attacker who knows them looks for a person only among these rows, so that a promise about random changes must be
    made for so many records and no more. Where missing values stay missing, rows must agree on which are.
    """
    frame = original.frame
    told = [frame[name] for name in original.quasi_identifiers if name not in changed]
    if missing_stays:
        told += [frame[name].is_null() for name in changed]
    if not told or not frame.height:
        return frame.height
    named = pl.DataFrame([one.alias(str(index)) for index, one in enumerate(told)])
    return int(named.group_by(named.columns).len()["len"].min())  # type: ignore[arg-type]


def check_enough(pk: float, n_alike: int) -> None:
    """Raise CannotAnonymize if no change at random can make so few rows Pk-anonymous with this k."""
    if n_alike < pk:
        needed = f"Pk-anonymity with k = {pk:g} needs as many rows that agree on what is not changed"
        raise CannotAnonymize(f"{needed}; the fewest that do are {n_alike:,}.")


def in_random_order(frame: pl.DataFrame, seed: int, method: str) -> tuple[pl.DataFrame, pl.Series]:
    """Return the rows in an order that is drawn, the same as on engines, and which row each was.

    Else whoever knows the order of the original would know whose row is whose, however much the cells were changed.
    """
    rows = order_of_rows(seed, method, frame.height)
    return frame[rows], pl.Series("row", rows)


def standard_deviation(numbers: Floats, n_each: npt.NDArray[np.int64] | None = None) -> float:
    """Return the standard deviation of numbers, missing ones left out: exactly 0 if all are equal or none is there.

    The same in any order, and for numbers that stand once with how often each stands (`n_each`). Numbers are put on a
    scale from 0 to 1 first, since squares of very small ones would be 0.
    """
    is_known = ~np.isnan(numbers)
    known, at, n_equal = np.unique(numbers[is_known], return_inverse=True, return_counts=True)
    if len(known) < 2:
        return 0.0
    weights = n_equal.astype(np.float64) if n_each is None else np.bincount(at, n_each[is_known])
    width = known[-1] - known[0]
    scaled = (known - known[0]) / width
    n = weights.sum()
    mean = (scaled * weights).sum() / n
    # Never 0 for numbers that differ: callers take that for a column that tells nothing.
    return max(float(width * math.sqrt((np.square(scaled - mean) * weights).sum() / n)), math.ulp(0.0))


def last_that_holds(holds: Callable[[float], bool], first: float, beyond: float) -> float:
    """Return the number nearest to `beyond` for which something holds, if it does at `first` and not at `beyond`.

    It must hold up to some number between them and not after. Found by bisection, to the last digit.
    """
    while (middle := (first + beyond) / 2) not in (first, beyond):
        if holds(middle):
            first = middle
        else:
            beyond = middle
    return first
