"""The values of a column as leaves: the text of each, what it stands for, and whether a hierarchy covers them."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import LISTED_FAULTS, Fault, InputError, shown
from tokumei.data.frames import SINGLE, written
from tokumei.engines.class_counts import no_label, read_as
from tokumei.hierarchies.hierarchy import SUPPRESSED, Hierarchy

# Longer digit strings are identifiers: no measure has so many, and reading them costs more than their length.
THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?")
WHOLE = re.compile(r"[+-]?[0-9]{1,30}")
# Of larger numbers squares and sums overflow.
LARGEST_NUMBER = 1e100
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
# A time of day may follow, with its offset; it does not change which day it is where the clock stands.
OFFSET = r"(?: ?(?:Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?))?"
CLOCK = rf"(?:[ T][0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:[.,][0-9]{{1,9}})?)?{OFFSET})?"
DATES = (
    re.compile(rf"([0-9]{{4}})-([0-9]{{2}})-([0-9]{{2}}){CLOCK}"),
    re.compile(rf"([0-9]{{4}})/([0-9]{{1,2}})/([0-9]{{1,2}}){CLOCK}"),
)

# So many texts are tried before all are: most columns of text hold neither amounts nor dates.
TRIED_FIRST = 20
FINITE = "a finite number"

Meaning = TypeVar("Meaning")
T = TypeVar("T", Fraction, dt.date)
Floats = npt.NDArray[np.float64]


def leaf_texts(attribute: str, values: pl.Series) -> list[str]:
    """Return each value once as text that reads back as the column's type, in the type's own order.

    Missing values are left out: a recoding lets them be.
    """
    values = written(values)
    dtype = values.dtype
    if isinstance(dtype, (pl.Categorical, pl.Enum)):
        values = values.cast(pl.String)
    elif not (dtype.is_numeric() or dtype in (pl.String, pl.Boolean, pl.Date)):
        raise InputError.of(SINGLE, column=attribute, value=dtype)
    distinct = values.drop_nulls().unique().sort()
    if dtype.is_float():
        # -0.0 and 0.0 are one number: which of the two texts stands for it must not hang on the order of rows.
        distinct = distinct.set(distinct == 0, 0.0)
    if not len(distinct):
        raise InputError.of("at least one value that is not missing", column=attribute)
    return distinct.cast(pl.String).to_list()


def number_leaves(attribute: str, values: pl.Series) -> list[tuple[Fraction, str]]:
    """Return the number and the text of each value, smallest first; what is no number is an InputError."""
    return read_all(attribute, _texts_of_numbers(attribute, values), read_number, FINITE)


def number_texts(attribute: str, values: pl.Series) -> tuple[Floats, list[str]]:
    """Return the nearest float and the text of each value in the order of `number_leaves`, without fractions."""
    texts = _texts_of_numbers(attribute, values)
    floats = read_floats(texts)
    if np.isnan(floats).any():
        raise unreadable(attribute, [texts[at] for at in np.flatnonzero(np.isnan(floats))], FINITE)
    order = np.argsort(floats, kind="stable")
    if (np.diff(floats[order]) == 0).any():
        # 1 and 1.0, or long numbers that share a float and differ.
        order = np.array(sorted(range(len(texts)), key=lambda at: (read_number(texts[at]), texts[at])))
    return floats[order], [texts[at] for at in order.tolist()]


def _texts_of_numbers(attribute: str, values: pl.Series) -> list[str]:
    if values.dtype in (pl.Boolean, pl.Date):
        raise InputError.of("a column of numbers", column=attribute, value=values.dtype)
    return leaf_texts(attribute, values)


def numbers_of(hierarchy: Hierarchy) -> Floats:
    """Return the number that each leaf is; one that is no number, or too large to measure widths, is an InputError."""
    numbers = read_floats(hierarchy.leaves)
    is_refused = ~(np.abs(numbers) <= LARGEST_NUMBER)
    if is_refused.any():
        expected = f"a number of at most {LARGEST_NUMBER:g} in every leaf of a numeric column"
        raise unreadable(hierarchy.attribute, [hierarchy.leaves[at] for at in np.flatnonzero(is_refused)], expected)
    return numbers


def in_natural_order(texts: Sequence[str]) -> list[str]:
    """Order texts by number if all are numbers, else by letter."""
    numbers = [read_number(text) for text in texts]
    if any(number is None for number in numbers):
        return sorted(texts)
    return [text for _, text in sorted(zip(numbers, texts, strict=True))]


def read_number(text: str) -> Fraction | None:
    """Read a number exactly, so that 0.3 lies on a grid of 0.1; None for what is no finite number."""
    if WHOLE.fullmatch(text):
        return Fraction(int(text))
    if not NUMBER.fullmatch(text):
        return None
    # Through a float, which bounds the exponent: the exact fraction of 1e999999999 would fill the memory.
    number = float(text)
    return exactly(number) if math.isfinite(number) else None


def read_floats(texts: Sequence[str]) -> Floats:
    """Return the floats nearest to what `read_number` reads, all at once; NaN for what is no finite number."""
    is_number = pl.Series(texts, dtype=pl.String).str.contains(f"^(?:{NUMBER.pattern})$").to_numpy()
    numbers = np.full(len(texts), np.nan)
    numbers[is_number] = [float(text) for text, is_one in zip(texts, is_number.tolist(), strict=True) if is_one]
    numbers[np.isinf(numbers)] = np.nan
    return numbers


def are_numbers(texts: Sequence[str]) -> bool:
    """Whether every text is a finite number."""
    return not np.isnan(read_floats(texts)).any()


def exactly(number: float) -> Fraction:
    """Return the fraction that a number is written as: a tenth for 0.1, not the float nearest to it."""
    return Fraction(repr(number))


def read_date(text: str) -> dt.date | None:
    """Read a date; None for what is none."""
    for pattern in DATES:
        if found := pattern.fullmatch(text):
            try:
                return dt.date(*(int(part) for part in found.groups()))
            except ValueError:
                return None
    return None


def hierarchy_of(attribute: str, columns: Sequence[Sequence[str]]) -> Hierarchy:
    """Make the hierarchy of these levels with a top that says nothing; labels that make them cross are refused."""
    hierarchy = Hierarchy.of_levels(attribute, [*columns, [SUPPRESSED] * len(columns[0])])
    hierarchy.check_nested()
    return hierarchy


def check_covers(hierarchy: Hierarchy, values: pl.Series) -> Hierarchy:
    """Return the hierarchy if it holds all values of the column; else an InputError names those it lacks."""
    missing = missing_values(hierarchy, values)
    if len(missing):
        raise no_label(hierarchy.attribute, missing)
    return hierarchy


def unreadable(attribute: str, texts: Sequence[str], expected: str) -> InputError:
    """Make the error for values that are not what a builder needs."""
    if expected.startswith(("a finite number", "a number")) and all(THOUSANDS.fullmatch(text) for text in texts):
        expected += ", without commas between thousands"
    listed = [Fault(expected, column=attribute, value=text) for text in texts[:LISTED_FAULTS]]
    return InputError(listed, len(texts))


def read_each(read: Callable[[str], Meaning | None], texts: Iterable[str]) -> list[Meaning] | None:
    """Return what each text stands for, in their order; None as soon as one cannot be read."""
    found: list[Meaning] = []
    for text in texts:
        meaning = read(text)
        if meaning is None:
            return None
        found.append(meaning)
    return found


def read_all(
    attribute: str, texts: Sequence[str], read: Callable[[str], T | None], expected: str
) -> list[tuple[T, str]]:
    """Return each text with its meaning, smallest first; an InputError names those that cannot be read."""
    leaves, refused = [], []
    for text in texts:
        meaning = read(text)
        if meaning is None:
            refused.append(text)
        else:
            leaves.append((meaning, text))
    if refused:
        raise unreadable(attribute, refused, expected)
    return sorted(leaves)


LISTED_VALUES = 5


@dataclass(frozen=True)
class HierarchyCheck:
    """What a hierarchy looks like and how it fits a column; without a column the last three are empty.

    `clashing_leaves` are leaves that read as the same value of the column, as `1` and `01` in a column of
    whole numbers: which of them is meant cannot be told.
    """

    attribute: str
    n_leaves: int
    n_levels: int
    n_labels: tuple[int, ...]
    has_single_top: bool
    is_nested: bool
    missing_values: tuple[str, ...] = ()
    unused_leaves: tuple[str, ...] = ()
    clashing_leaves: tuple[str, ...] = ()

    @property
    def is_usable(self) -> bool:
        """Whether every value of the column has one label at every level."""
        return not self.missing_values and not self.clashing_leaves

    @property
    def remarks(self) -> list[str]:
        """What a user should know, in sentences, the worst first."""
        out = []
        if self.missing_values:
            out.append(f"The hierarchy lacks values of the column: {_listed(self.missing_values)}.")
        if self.clashing_leaves:
            out.append(f"Leaves read as one and the same value: {_listed(self.clashing_leaves)}.")
        if not self.is_nested:
            out.append("Levels cross: not every level follows from the one before.")
        if not self.has_single_top:
            out.append(f"The coarsest level still tells {self.n_labels[-1]:,} labels apart.")
        if self.unused_leaves:
            out.append(f"The column never holds {_listed(self.unused_leaves)}.")
        return out


def check_hierarchy(hierarchy: Hierarchy, values: pl.Series | None = None) -> HierarchyCheck:
    """Look at a hierarchy, and at how it fits the values of a column if they are given."""
    shape = HierarchyCheck(
        attribute=hierarchy.attribute,
        n_leaves=len(hierarchy.leaves),
        n_levels=len(hierarchy.levels),
        n_labels=tuple(len(level) for level in hierarchy.levels),
        has_single_top=hierarchy.has_single_top,
        is_nested=hierarchy.is_nested,
    )
    if values is None:
        return shape
    column = _as_compared(values)
    leaves = _read_leaves(hierarchy, column.dtype)
    is_clash = pl.col("value").is_not_null() & pl.col("value").is_duplicated()
    used = leaves.join(pl.DataFrame({"value": column}), on="value", how="semi")["leaf"]
    return replace(
        shape,
        missing_values=tuple(missing_values(hierarchy, values).cast(pl.String).to_list()),
        unused_leaves=tuple(leaves.filter(~pl.col("leaf").is_in(used.implode()))["leaf"].to_list()),
        clashing_leaves=tuple(leaves.filter(is_clash)["leaf"].to_list()),
    )


def missing_values(hierarchy: Hierarchy, values: pl.Series) -> pl.Series:
    """Return the values of a column that the hierarchy lacks, each once, in order; missing ones need no leaf."""
    column = _as_compared(values)
    distinct = pl.DataFrame({"value": column.drop_nulls().unique()})
    return distinct.join(_read_leaves(hierarchy, column.dtype), on="value", how="anti")["value"].sort()


def _as_compared(values: pl.Series) -> pl.Series:
    """Return a column as recodings compare it: categories by their text."""
    return values.cast(pl.String) if isinstance(values.dtype, (pl.Categorical, pl.Enum)) else values


def _read_leaves(hierarchy: Hierarchy, dtype: pl.DataType) -> pl.DataFrame:
    """Return each leaf as text and as a value of the type, which is missing where it cannot be read."""
    leaves = pl.Series("leaf", list(hierarchy.leaves), pl.String)
    return pl.DataFrame({"leaf": leaves, "value": read_as(leaves, dtype)})


def _listed(values: tuple[str, ...]) -> str:
    names = ", ".join(shown(value) for value in values[:LISTED_VALUES])
    n_more = len(values) - LISTED_VALUES
    return f"{names} and {n_more:,} more" if n_more > 0 else names
