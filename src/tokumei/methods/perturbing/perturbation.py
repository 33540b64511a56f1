"""What a method is given that changes rows at random or publishes counts, what it gives back, and what several need.

The least and the greatest number that a column may hold are given, or known from its hierarchy.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import LISTED_FAULTS, CannotAnonymize, Fault, InputError
from tokumei.core.registry import part_name
from tokumei.core.score import Score
from tokumei.core.seeds import order_of_rows
from tokumei.engines.writing import SIZE
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.leaves import LARGEST_NUMBER, read_number
from tokumei.measures.requirement import Requirement
from tokumei.measures.safety.class_sizes import KAnonymity

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Beyond, not every whole number is a float.
LARGEST_WHOLE = 2.0**53
# What statistical offices ask for at least; two would know each other's values from their mean.
USUAL_K = 3


@dataclass(frozen=True, eq=False)
class Original:
    """The columns that may be released, and what is known about them; `OriginalFile` is one whose rows are in a file.

    Cells of a text file are text, so that numbers must be asked for by `numbers`. `hierarchies` has those of the
    quasi-identifiers that were given one. Of rows in a file, `frame` has the columns and no row.
    """

    frame: pl.DataFrame
    quasi_identifiers: tuple[str, ...]
    numeric: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    requirements: Sequence[Requirement] = ()
    # Whose each row is, where people have several and a column tells.
    whose: pl.Series | None = None
    # Named in messages, in place of a line: counts do not tell where a value stands.
    file: str | None = None

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
        for column in columns:
            if column not in self.frame.columns:
                expected = f"a released column: {', '.join(self.frame.columns)}"
                raise InputError.of(expected, option="columns", value=column)
        own = [name for name in self.quasi_identifiers if numeric is None or (name in self.numeric) == numeric]
        if not columns and not own:
            kind = "" if numeric is None else " of numbers" if numeric else " of categories"
            raise InputError.of(f"a quasi-identifier{kind}, or the option columns")
        return list(dict.fromkeys(columns or own))

    def column(self, name: str) -> pl.Series:
        """Return a column, row by row."""
        return self.frame[name]

    def weighted(self, columns: Sequence[str], missing: Sequence[str] = ()) -> pl.DataFrame:
        """Return rows of some columns that stand for all, each for as many as its SIZE says.

        missing: of these columns it is enough to know whether a value is missing.
        """
        return self.frame.select(*columns, *missing).with_columns(pl.lit(1, pl.Int64).alias(SIZE))

    def numbers(self, column: str) -> Floats:
        """Return a column as numbers; a missing value is NaN, and what is no number of usual size is an InputError."""
        return self.read_numbers(self.column(column))

    def read_numbers(self, values: pl.Series) -> Floats:
        """Return values as numbers, as `numbers` does."""
        if values.dtype.is_numeric():
            read = values.cast(pl.Float64)
        elif not isinstance(values.dtype, (pl.String, pl.Categorical, pl.Enum, pl.Null)):
            raise InputError.of("a column of numbers or text", file=self.file, column=values.name, value=values.dtype)
        else:
            read = values.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
        # Polars orders what is not a number above all numbers.
        is_bad = values.is_not_null() & ~(read.abs() <= LARGEST_NUMBER).fill_null(False)
        if is_bad.any():
            raise self.refused(f"a finite number of at most {LARGEST_NUMBER:g}", values, is_bad.arg_true().to_list())
        return read.fill_null(float("nan")).to_numpy()

    def refused(self, expected: str, values: pl.Series, rows: Sequence[int]) -> InputError:
        """Make the error for the values of some rows."""
        faults = [
            Fault(
                expected,
                file=self.file,
                column=values.name,
                line=None if self.file else row + 1,
                value=str(values[row]),
            )
            for row in rows[:LISTED_FAULTS]
        ]
        return InputError(faults, len(rows))

    def counted_numbers(self, column: str) -> NumberCounts:
        """Count the rows of each number of a column, in ascending order; missing values are left out."""
        rows = self.weighted([column])
        numbers = self.read_numbers(rows[column])
        order = np.argsort(numbers, kind="stable")
        # What is not a number comes last.
        ordered = numbers[order][: int((~np.isnan(numbers)).sum())]
        starts = np.flatnonzero(np.diff(ordered, prepend=np.nan) != 0)
        sizes = rows[SIZE].to_numpy()[order][: len(ordered)]
        return NumberCounts(ordered[starts], np.add.reduceat(sizes, starts) if len(starts) else sizes)

    def with_numbers(self, column: str, numbers: Floats) -> pl.Series:
        """Return numbers as a column of the release: whole ones where all of the original were; NaN is missing."""
        is_whole = are_whole(self.numbers(column)) and are_whole(numbers)
        return as_column(column, numbers, is_whole=is_whole)


@dataclass(frozen=True, eq=False)
class NumberCounts:
    """The numbers of a column in ascending order, and how many rows have each."""

    numbers: Floats
    n_rows: Ints


@dataclass(frozen=True, eq=False)
class Perturbed:
    """A release before it is checked: its rows, which original row each was, and what the method can prove of it.

    `rows` is None where a release has no rows of people, such as a table of counts. `facts` go into the recipe.
    `held_out` are the rows that a model of the others never saw: the control of attacks on the release.
    """

    frame: pl.DataFrame
    rows: pl.Series | None
    promises: Mapping[str, Score] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    held_out: pl.Series | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class RowChange:
    """What a method decided about the rows of a table, which then go by once, in their order, some at a time.

    next: the columns that are changed, of the next rows, given these and the number of the first.
    promises: what the method can prove of the release, a frame or a file.
    n_released: how many rows are released, if not all.
    """

    next: Callable[[pl.DataFrame, int], Sequence[pl.Series]] = lambda rows, first: []  # noqa: ARG005
    promises: Callable[[Any], Mapping[str, Score]] = lambda released: {}  # noqa: ARG005
    facts: Mapping[str, Any] = field(default_factory=dict)
    n_released: int | None = None


class RowByRow(ABC):
    """A method that decides by counts what becomes of rows, so that one code serves memory and every engine.

    Rows are released in an order that the seed draws: else whoever knows the order of the original would know whose
    row is whose, however much the cells were changed.
    """

    # Of a method whose promise does not rest on whose row is whose.
    keeps_order: ClassVar[bool] = False

    @abstractmethod
    def change(self, original: Original, *, seed: int) -> RowChange:
        """Decide what becomes of the rows."""

    def perturb(self, original: Original, *, seed: int) -> Perturbed:
        """Change the rows of a table in memory."""
        change = self.change(original, seed=seed)
        frame = original.frame.with_columns(change.next(original.frame, 0))
        rows = np.arange(frame.height) if self.keeps_order else order_of_rows(seed, part_name(self), frame.height)
        rows = rows[: change.n_released]
        frame = frame if self.keeps_order else frame[rows]
        return Perturbed(frame, pl.Series("row", rows), change.promises(frame), change.facts)


def as_column(name: str, numbers: Floats, *, is_whole: bool) -> pl.Series:
    """Return numbers as a column; NaN is missing."""
    values = pl.Series(name, numbers).fill_nan(None)
    return values.cast(pl.Int64) if is_whole else values


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
    told = [name for name in original.quasi_identifiers if name not in changed]
    flags = list(changed) if missing_stays else []
    if not original.n_rows or not told + flags:
        return original.n_rows
    rows = original.weighted(told, flags)
    keys = [pl.col(name) for name in told] + [pl.col(name).is_null().alias(f"{SIZE} {name}") for name in flags]
    return int(rows.group_by(keys).agg(pl.col(SIZE).sum())[SIZE].min())  # type: ignore[arg-type]


def check_enough(pk: float, n_alike: int) -> None:
    """Raise CannotAnonymize if no change at random can make so few rows Pk-anonymous with this k."""
    if n_alike < pk:
        needed = f"Pk-anonymity with k = {pk:g} needs as many rows that agree on what is not changed"
        raise CannotAnonymize(f"{needed}; the fewest that do are {n_alike:,}.")


def standard_deviation(numbers: Floats, n_each: Ints | None = None) -> float:
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


def check_inside(original: Original, column: str, counts: NumberCounts, low: float | None, high: float | None) -> None:
    """Refuse numbers that lie beyond the bounds of their column."""
    least, greatest = -math.inf if low is None else low, math.inf if high is None else high
    if np.all((least <= counts.numbers) & (counts.numbers <= greatest)):
        return
    ends = " and ".join(f"{word} {end:g}" for word, end in (("at least", low), ("at most", high)) if end is not None)
    numbers = original.read_numbers(original.weighted([column])[column])
    beyond = np.flatnonzero((numbers < least) | (numbers > greatest)).tolist()
    raise original.refused(f"a number of {ends}", pl.Series(column, [f"{one:g}" for one in numbers]), beyond)


def _leaf_bounds(hierarchy: Hierarchy | None) -> Bounds:
    """Return the least and the greatest leaf; none if not all are numbers."""
    numbers = [] if hierarchy is None else [read_number(leaf) for leaf in hierarchy.leaves]
    known = [float(number) for number in numbers if number is not None]
    if not known or len(known) < len(numbers):
        return None, None
    return min(known), max(known)
