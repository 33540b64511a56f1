"""What a method is given that changes rows at random or publishes counts, what it gives back, and what several need.

The least and the greatest number that a column may hold are given, or known from its hierarchy.
"""

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
from tokumei.hierarchies.leaves import LARGEST_NUMBER, read_number
from tokumei.measures.requirement import Requirement
from tokumei.measures.safety.class_sizes import KAnonymity

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


# None where an end is not known.
Bounds = tuple[float | None, float | None]


def check_bounds(columns: Sequence[str], low: Sequence[float], high: Sequence[float]) -> None:
    """Refuse options that do not give one finite number for each column, the lower one below the higher."""
    for name, bounds in (("low", low), ("high", high)):
        if bounds and len(bounds) != len(columns):
            expected = f"a number for each of {', '.join(columns)}"
            raise InputError.of(expected, option=name, value=",".join(str(one) for one in bounds))
        for bound in bounds:
            # Not a number fails too.
            if not abs(bound) <= LARGEST_NUMBER:
                raise InputError.of(f"a finite number of at most {LARGEST_NUMBER:g}", option=name, value=bound)
    if low and high:
        for least, greatest in zip(low, high, strict=True):
            if least >= greatest:
                raise InputError.of(f"more than {least:g}, which is low", option="high", value=greatest)


def given_bounds(columns: Sequence[str], low: Sequence[float], high: Sequence[float]) -> dict[str, Bounds]:
    """Return the bounds of each column that options give; `check_bounds` was asked before."""
    none = [None] * len(columns)
    return dict(zip(columns, zip(low or none, high or none, strict=True), strict=True))


def known_bounds(
    original: Original, columns: Sequence[str], low: Sequence[float], high: Sequence[float]
) -> dict[str, Bounds]:
    """Return the bounds of each column: an option's, else that of its hierarchy."""
    out = {}
    for name, (least, greatest) in given_bounds(columns, low, high).items():
        lowest, highest = _leaf_bounds(original.hierarchies.get(name))
        one = lowest if least is None else least, highest if greatest is None else greatest
        if one[0] is not None and one[1] is not None and one[0] > one[1]:
            expected = f"bounds of {name} that fit its hierarchy, {lowest:g} to {highest:g}"
            option, value = ("high", greatest) if least is None else ("low", least)
            raise InputError.of(expected, option=option, value=value)
        out[name] = one
    return out


def check_inside(column: str, numbers: Floats, low: float | None, high: float | None) -> None:
    """Refuse numbers that lie beyond the bounds of their column."""
    is_beyond = np.zeros(len(numbers), bool)
    if low is not None:
        is_beyond |= numbers < low
    if high is not None:
        is_beyond |= numbers > high
    rows = np.flatnonzero(is_beyond)
    if len(rows):
        ends = " and ".join(
            f"{word} {end:g}" for word, end in (("at least", low), ("at most", high)) if end is not None
        )
        faults = [
            Fault(f"a number of {ends}", column=column, line=int(row) + 1, value=f"{numbers[row]:g}")
            for row in rows[:LISTED_FAULTS]
        ]
        raise InputError(faults, len(rows))


def _leaf_bounds(hierarchy: Hierarchy | None) -> Bounds:
    """Return the least and the greatest leaf; none if not all are numbers."""
    numbers = [] if hierarchy is None else [read_number(leaf) for leaf in hierarchy.leaves]
    known = [float(number) for number in numbers if number is not None]
    if not known or len(known) < len(numbers):
        return None, None
    return min(known), max(known)
