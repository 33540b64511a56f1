"""What a private method may know of columns before it looks: the values, or the bins of numbers, that are declared."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.methods.perturbing.perturbation import LARGEST_WHOLE, Floats, Ints, Original

USUAL_BINS = 32
EXPECTED = (
    "column=value|value, column=low..high or column=low..high/bins, such as sex=f|m, age=17..90, age=17..90/10; "
    "column=? counts which labels occur, column=?/bins the range of whole numbers"
)


@dataclass(frozen=True, eq=False)
class Domain:
    """The cells of one column, known without its values; the missing value is the last, unless none can be missing.

    Labels have texts. Numbers have edges in units of the last declared decimal, or days: bin i holds edges[i] to less
    than edges[i + 1].
    """

    name: str
    labels: tuple[str, ...] = ()
    edges: Ints | None = None
    decimals: int = 0
    is_date: bool = False
    has_missing: bool = True
    # The label of each leaf of a hierarchy, where the labels are of a level.
    label_of: Mapping[str, str] | None = None

    @property
    def n_known(self) -> int:
        """Number of cells without that of the missing value."""
        return len(self.labels) if self.edges is None else len(self.edges) - 1

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.n_known + self.has_missing

    def encode(self, original: Original) -> Ints:
        """Return the cell of each row; numbers beyond the bounds go to the nearest bin, unknown labels are missing.

        Where no value can be missing, the first cell stands for what is: a refusal would tell of the row.
        """
        values = original.column(self.name)
        absent = self.n_known if self.has_missing else 0
        if self.edges is None:
            texts = values.cast(pl.String)
            told = self.label_of or {one: one for one in self.labels}
            cells = [self.labels.index(one) for one in told.values()]
            place = texts.replace_strict(list(told), cells, default=absent, return_dtype=pl.Int64)
            return place.fill_null(absent).to_numpy()
        numbers = _days(values) if self.is_date else original.numbers(self.name)
        known = ~np.isnan(numbers)
        units = np.round(np.where(known, numbers, 0) * 10**self.decimals)
        units = np.clip(units, self.edges[0], self.edges[-1] - 1)
        return np.where(known, np.searchsorted(self.edges, units, side="right") - 1, absent)

    def write(self, cells: Ints, dtype: Any, random: np.random.Generator) -> pl.Series:
        """Return a column of cells: of a bin one of its numbers, all equally likely."""
        if self.edges is None:
            texts = pl.Series(self.name, [*self.labels, *([None] if self.has_missing else [])], pl.String)
            column = texts.gather(cells)
            return column.cast(dtype, strict=False) if dtype.is_numeric() and self.label_of is None else column
        low, high = (np.append(ends, 0)[cells] for ends in (self.edges[:-1], self.edges[1:]))
        units = low + np.floor(random.random(len(cells)) * (high - low)).astype(np.int64)
        drawn = pl.Series(self.name, units).set(pl.Series(cells == self.n_known), None)
        if self.is_date:
            days = drawn.cast(pl.Int32).cast(pl.Date)
            return days.cast(dtype) if dtype.is_temporal() else days.cast(pl.String)
        if self.decimals:
            numbers = (drawn.cast(pl.Float64) / 10**self.decimals).round(self.decimals)
            drawn = numbers if dtype.is_numeric() else _padded(numbers, self.decimals)
        return drawn.cast(dtype) if dtype.is_numeric() else drawn.cast(pl.String)


def _padded(numbers: pl.Series, decimals: int) -> pl.Series:
    texts = [None if one is None else f"{one:.{decimals}f}" for one in numbers]
    return pl.Series(numbers.name, texts, pl.String)


def _days(values: pl.Series) -> Floats:
    dates = values.cast(pl.Date) if values.dtype.is_temporal() else values.cast(pl.String).str.to_date(strict=False)
    return dates.cast(pl.Int32).cast(pl.Float64).fill_null(float("nan")).to_numpy()


def domains_of(
    original: Original,
    columns: Sequence[str],
    declared: Sequence[str],
    levels: Sequence[str],
    *,
    is_complete: bool,
    paid: Mapping[str, Domain] = MappingProxyType({}),
) -> list[Domain]:
    """Return the domain of each column: what is declared or was paid for, else the labels of a level of its hierarchy.

    A column with none is refused: which values occur would be told of the people.
    """
    told: dict[str, Domain] = dict(paid)
    for text in declared:
        if text.partition("=")[0].strip() in paid:
            continue
        made = _declared(text, columns, has_missing=not is_complete)
        told[made.name] = made
    named = _levels(levels, columns, original)
    missing = [name for name in columns if name not in told and name not in original.hierarchies]
    if missing:
        form = "a hierarchy or a domain, since the values that occur are not to be told: --set 'domain={example}'"
        raise InputError.of(Text(form, example=f"{missing[0]}=…"), file=original.file, column=missing[0])
    found = []
    for name in columns:
        if name in told:
            found.append(told[name])
            continue
        tree = original.hierarchies[name]
        labels = [str(one) for one in tree.labels_at(named.get(name, 0))]
        label_of = dict(zip(map(str, tree.leaves), labels, strict=True))
        is_leaf = name not in named or named[name] == 0
        own = None if is_leaf else label_of
        found.append(Domain(name, tuple(dict.fromkeys(labels)), has_missing=not is_complete, label_of=own))
    return found


def _levels(levels: Sequence[str], columns: Sequence[str], original: Original) -> dict[str, int]:
    named: dict[str, int] = {}
    for text in levels:
        name, mark, level = text.partition("=")
        if name not in columns or not mark or not level.isdecimal() or name not in original.hierarchies:
            known = ", ".join(one for one in columns if one in original.hierarchies)
            raise InputError.of(f"column=level, with one of {known}", option="levels", value=text)
        original.hierarchies[name].check_level(int(level))
        named[name] = int(level)
    return named


def _declared(text: str, columns: Sequence[str], *, has_missing: bool) -> Domain:
    """Read the domain of a column."""
    name, mark, said = (part.strip() for part in text.partition("="))
    if not mark or not said or name not in columns:
        raise InputError.of(
            Text("{expected}; columns are {names}", expected=EXPECTED, names=", ".join(columns)),
            option="domain",
            value=text,
        )
    low, dots, rest = said.partition("..")
    if not dots:
        labels = tuple(dict.fromkeys(part.strip() for part in said.split("|")))
        return Domain(name, labels, has_missing=has_missing)
    high, _, bins = (part.strip() for part in rest.partition("/"))
    try:
        is_date = "-" in low.strip()[1:]
        decimals = 0 if is_date else max(len(end.strip().partition(".")[2]) for end in (low, high))
        first, last = ((_day(end.strip()) if is_date else round(float(end) * 10**decimals)) for end in (low, high))
        n_bins = int(bins) if bins else USUAL_BINS
        if last < first or n_bins < 1 or max(abs(first), abs(last)) > LARGEST_WHOLE:
            raise ValueError
    except (ValueError, OverflowError):
        raise InputError.of(EXPECTED, option="domain", value=text) from None
    edges = even_edges(first, last, n_bins)
    return Domain(name, edges=edges, decimals=decimals, is_date=is_date, has_missing=has_missing)


def even_edges(first: int, last: int, n_bins: int) -> Ints:
    """Return the edges of bins of nearly equal width, never finer than one unit."""
    n_values = last - first + 1
    n_bins = min(n_bins, n_values)
    return np.array([first + n_values * at // n_bins for at in range(n_bins + 1)], np.int64)


def _day(text: str) -> int:
    return dt.date.fromisoformat(text).toordinal() - dt.date(1970, 1, 1).toordinal()


def n_cells(domains: Sequence[Domain], clique: Sequence[int]) -> int:
    """Count the cells of some columns."""
    return math.prod(domains[one].size for one in clique)
