"""The classes of some columns: which combinations of values occur and how often, and what becomes of the values.

Everything that is decided about a table is decided on these counts, in memory; the rows are not touched again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import LISTED_FAULTS, Fault, InputError
from tokumei.core.text import counted
from tokumei.engines.grouping import Codes, Grouping, Indices, count_rows, group_recoded_rows, group_rows


@dataclass(frozen=True)
class Recoding:
    """The label of every value a column may hold.

    Values are text and are read as the column's own type before they are compared, so that the value
    `39` fits a column of text, of whole numbers and of floats alike. A missing value stays missing,
    unless it is given a label: one that says nothing, such as `*`.
    """

    column: str
    values: pl.Series
    labels: pl.Series
    label_of_missing: str | None = None

    def as_type(self, dtype: pl.DataType) -> pl.DataFrame:
        """Return the frame of value and label with the values in a column's type; what cannot be read is left out."""
        values = read_as(self.values, dtype)
        table = pl.DataFrame({"text": self.values, "value": values, "label": self.labels}).drop_nulls("value")
        # In a column of numbers "1" and "01" are one value: harmless if they share a label, else nobody can tell.
        table = table.unique(["value", "label"], keep="first", maintain_order=True)
        for text in table.filter(pl.col("value").is_duplicated())["text"][-1:]:
            raise InputError.of(f"one label for a value of type {dtype}", column=self.column, value=text)
        return table.select("value", "label")

    def lacks(self, cells: pl.Series) -> pl.Series:
        """Mark the cells that have no label and are not missing."""
        return cells.is_not_null() & ~cells.is_in(self.as_type(cells.dtype)["value"].implode())

    def labels_of(self, domain: pl.Series) -> pl.Series:
        """Return the label of each value of a domain; values without a label are an InputError that names them."""
        table = self.as_type(domain.dtype)
        asked = pl.DataFrame({"value": domain}).join(table, on="value", how="left", maintain_order="left")
        labels = asked["label"]
        is_missing = domain.is_null()
        unknown = domain.filter(labels.is_null() & ~is_missing)
        if len(unknown):
            raise no_label(self.column, unknown)
        return labels if self.label_of_missing is None else labels.fill_null(self.label_of_missing)


@dataclass(frozen=True)
class ClassRecoding:
    """What becomes of whole classes: beside the values of each, as the rows have them, the label of each cell.

    Both frames have the same columns and a row for each class. A row of any other class is left out.
    """

    values: pl.DataFrame
    labels: pl.DataFrame

    def numbered(self, value: str, label: str) -> pl.DataFrame:
        """Return one frame whose columns are numbered, so that none can clash with those of the rows."""
        frames = ((value, self.values), (label, self.labels))
        return pl.DataFrame(
            [one.to_series(index).alias(f"{name}{index}") for name, one in frames for index in range(one.width)]
        )


def no_label(column: str, values: pl.Series) -> InputError:
    """Make the error for values that a hierarchy does not hold."""
    expected = "a value of the column's hierarchy"
    listed = [Fault(expected, column=column, value=str(value)) for value in values[:LISTED_FAULTS]]
    return InputError(listed, len(values))


MOMENT = re.compile(
    r"^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ T]([0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?)([+-][0-9]{2}:[0-9]{2})?)?$"
)
MINUTE = {"ms": 60_000, "us": 60_000_000, "ns": 60_000_000_000}


def read_as(values: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Read text values as a column's type; missing where they cannot be read."""
    if dtype == pl.String:
        return values
    if isinstance(dtype, pl.Datetime):
        return _read_moments(values, dtype)
    if dtype == pl.Time:
        return values.str.to_time("%H:%M:%S%.f", strict=False)
    if dtype == pl.Boolean:
        return values.replace_strict({"true": True, "false": False}, default=None, return_dtype=pl.Boolean)
    if dtype == pl.Date:
        return values.str.to_date("%Y-%m-%d", strict=False)
    return values.cast(dtype, strict=False)


def _read_moments(values: pl.Series, dtype: pl.Datetime) -> pl.Series:
    """Read moments as `written` writes them: a day, or a day with a time and, in a time zone, its offset."""
    parts = values.str.extract_groups(MOMENT.pattern).struct.unnest()
    day, clock, offset = (parts[name] for name in parts.columns)
    clock = clock.fill_null("00:00:00")
    naive = (day + " " + clock).str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit=dtype.time_unit, strict=False)
    if dtype.time_zone is None:
        return naive.set(offset.is_not_null(), None)
    minutes = offset.str.slice(1, 2).cast(pl.Int64) * 60 + offset.str.slice(4, 2).cast(pl.Int64)
    signed = pl.select(pl.when(offset.str.starts_with("-")).then(-minutes).otherwise(minutes)).to_series()
    exact = (naive - signed.cast(pl.Duration(dtype.time_unit)) * MINUTE[dtype.time_unit]).dt.replace_time_zone("UTC")
    local = naive.dt.replace_time_zone(dtype.time_zone, ambiguous="earliest", non_existent="null")
    return exact.dt.convert_time_zone(dtype.time_zone).zip_with(offset.is_not_null(), local)


SIZE = "n_rows"


@dataclass(frozen=True)
class Histogram:
    """How often each value of a sensitive column occurs in each class, for the pairs that occur."""

    values: pl.Series
    class_of: Indices
    value_of: Codes
    counts: npt.NDArray[np.int64]

    def rolled_up(self, grouping: Grouping) -> Histogram:
        """Add up the counts of classes that became one."""
        classes = grouping.group_of[self.class_of].astype(np.int32)
        n_groups = int(classes.max()) + 1 if len(classes) else 1
        merged = group_rows([classes, self.value_of], [n_groups, len(self.values)], len(classes))
        first = merged.a_row_of
        return Histogram(self.values, classes[first].astype(np.int64), self.value_of[first], merged.sums(self.counts))


@dataclass(frozen=True)
class ColumnMap:
    """What the values of a column become: for each value of the old domain its place in the new one."""

    codes: Codes
    domain: pl.Series

    @classmethod
    def of(cls, domain: pl.Series, recoding: Recoding) -> ColumnMap:
        """Make the map of a recoding on a domain; a value without a label is an InputError."""
        new_domain, codes = encode(recoding.labels_of(domain))
        return cls(codes, new_domain)


@dataclass(frozen=True)
class ClassCounts:
    """The classes of some columns with their sizes and, where asked for, the sensitive values in each.

    `domains` holds the distinct values of each column in ascending order, missing last; `codes[c, i]` is the
    index of class i's value in the domain of column c. Classes are in ascending order of their codes.

    >>> import tokumei as tk
    >>> counts = tk.count_classes({"age": [31, 31, 52]}, ["age"])
    >>> counts.n_classes, counts.k
    (2, 1)
    """

    columns: tuple[str, ...]
    domains: tuple[pl.Series, ...]
    codes: npt.NDArray[np.int32]
    sizes: npt.NDArray[np.int64]
    histograms: Mapping[str, Histogram] = field(default_factory=dict)

    def __repr__(self) -> str:
        said = (
            f"{counted(self.n_rows, 'row')}, {counted(self.n_classes, 'class', 'classes')} of {', '.join(self.columns)}"
        )
        return f"ClassCounts({said}, k {self.k:,}, {self.n_unique:,} unique)"

    @classmethod
    def of_groups(cls, columns: Sequence[str], groups: pl.DataFrame) -> ClassCounts:
        """Make the counts of a frame with one row for each combination and its size in the last column.

        Combinations may repeat; their sizes are added up.
        """
        encoded = [encode(groups.to_series(index)) for index in range(len(columns))]
        domains = tuple(domain.alias(name) for name, (domain, _) in zip(columns, encoded, strict=True))
        codes = [code for _, code in encoded]
        grouping = group_rows(codes, [len(domain) for domain in domains], groups.height)
        sizes = grouping.sums(groups.to_series(len(columns)).to_numpy().astype(np.int64))
        return cls(tuple(columns), domains, _take(codes, grouping), sizes)

    @classmethod
    def of_rows(cls, columns: Sequence[str], rows: pl.DataFrame) -> ClassCounts:
        """Make the counts of rows of texts, which are in categories."""
        encoded = [_encode_categories(rows.to_series(index)) for index in range(len(columns))]
        domains = tuple(domain.alias(name) for name, (domain, _) in zip(columns, encoded, strict=True))
        codes, sizes = count_rows([code for _, code in encoded], [len(domain) for domain in domains], rows.height)
        return cls(tuple(columns), domains, codes, sizes)

    @property
    def n_rows(self) -> int:
        """Number of rows counted."""
        return int(self.sizes.sum())

    @property
    def n_classes(self) -> int:
        """Number of classes that occur."""
        return len(self.sizes)

    @property
    def k(self) -> int:
        """The size of the smallest class; 0 if there is none."""
        return int(self.sizes.min()) if self.n_classes else 0

    @property
    def n_unique(self) -> int:
        """Number of classes, and so of rows, that are alone."""
        return int((self.sizes == 1).sum())

    def domain(self, column: str) -> pl.Series:
        """Return the distinct values of a column."""
        return self.domains[self._index(column)]

    def maps(self, recodings: Iterable[Recoding]) -> dict[str, ColumnMap]:
        """Return what these recodings do to the domains here, to be used for any number of roll-ups."""
        return {recoding.column: ColumnMap.of(self.domain(recoding.column), recoding) for recoding in recodings}

    def roll_up(self, maps: Mapping[str, ColumnMap]) -> ClassCounts:
        """Return the counts after recoding some columns, without touching rows."""
        for column in maps:
            self._index(column)
        used = [maps.get(column) for column in self.columns]
        domains = tuple(
            domain if column_map is None else column_map.domain.alias(column)
            for column, column_map, domain in zip(self.columns, used, self.domains, strict=True)
        )
        code_maps = [None if column_map is None else column_map.codes for column_map in used]
        grouping = group_recoded_rows(list(self.codes), code_maps, [len(d) for d in domains], self.n_classes)
        codes = _take(self.codes, grouping)
        for row, code_map in zip(codes, code_maps, strict=True):
            if code_map is not None:
                np.take(code_map, row, mode="clip", out=row)
        return ClassCounts(self.columns, domains, codes, *self._sums(grouping))

    def taken(self, is_taken: npt.NDArray[np.bool_]) -> ClassCounts:
        """Return the counts of some of the classes."""
        index = np.cumsum(is_taken) - 1
        histograms = {}
        for name, one in self.histograms.items():
            is_in = is_taken[one.class_of]
            histograms[name] = Histogram(one.values, index[one.class_of[is_in]], one.value_of[is_in], one.counts[is_in])
        return ClassCounts(self.columns, self.domains, self.codes[:, is_taken], self.sizes[is_taken], histograms)

    def over(self, columns: Sequence[str]) -> ClassCounts:
        """Return the counts of some of the columns, in the order asked for."""
        indices = [self._index(column) for column in columns]
        if tuple(columns) == self.columns:
            return self
        codes = [self.codes[index] for index in indices]
        domains = tuple(self.domains[index] for index in indices)
        grouping = group_rows(codes, [len(domain) for domain in domains], self.n_classes)
        return ClassCounts(tuple(columns), domains, _take(codes, grouping), *self._sums(grouping))

    def with_histogram(self, name: str, pairs: ClassCounts) -> ClassCounts:
        """Add the values of a sensitive column, given the counts over these columns and that one."""
        classes = group_rows(list(pairs.codes[:-1]), [len(domain) for domain in pairs.domains[:-1]], pairs.n_classes)
        histogram = Histogram(pairs.domains[-1], classes.group_of, pairs.codes[-1], pairs.sizes)
        return ClassCounts(self.columns, self.domains, self.codes, self.sizes, {**self.histograms, name: histogram})

    def values(self) -> pl.DataFrame:
        """Return the values of the classes, one row a class."""
        return pl.DataFrame(
            {
                column: domain.gather(code)
                for column, domain, code in zip(self.columns, self.domains, self.codes, strict=True)
            }
        )

    def to_frame(self) -> pl.DataFrame:
        """Return the classes as a frame: one row a class, its values and its size."""
        if SIZE in self.columns:
            raise InputError.of(f"a name other than {SIZE}, under which the sizes of classes stand", column=SIZE)
        return self.values().with_columns(pl.Series(SIZE, self.sizes))

    def _sums(self, grouping: Grouping) -> tuple[npt.NDArray[np.int64], dict[str, Histogram]]:
        histograms = {name: histogram.rolled_up(grouping) for name, histogram in self.histograms.items()}
        return grouping.sums(self.sizes), histograms

    def _index(self, column: str) -> int:
        if column not in self.columns:
            raise InputError.of(f"a counted column: {', '.join(self.columns)}", value=column)
        return self.columns.index(column)


def encode(values: pl.Series) -> tuple[pl.Series, Codes]:
    """Return the distinct values in ascending order, missing last, and the index of each value among them."""
    domain = values.unique().sort(nulls_last=True)
    if values.dtype == pl.String and domain.null_count() == 0:
        # An Enum holds the place of each value among its categories.
        return domain, values.cast(pl.Enum(domain)).to_physical().to_numpy().astype(np.int32)
    indices = pl.DataFrame({"value": domain, "index": np.arange(len(domain), dtype=np.int32)})
    asked = pl.DataFrame({"value": values})
    found = asked.join(indices, on="value", how="left", nulls_equal=True, maintain_order="left")
    return domain, found["index"].to_numpy()


def _encode_categories(values: pl.Series) -> tuple[pl.Series, Codes]:
    """Do as `encode` with texts in categories, whose numbers say which are the same."""
    numbers = values.to_physical()
    n_known = 1 + int(numbers.max() or 0)  # type: ignore[arg-type]
    known = numbers.fill_null(n_known).to_numpy()
    a_row_of = np.full(n_known + 1, -1)
    a_row_of[known] = np.arange(len(known))
    used = np.flatnonzero(a_row_of >= 0)
    texts = values.gather(a_row_of[used]).cast(pl.String)
    order = texts.arg_sort(nulls_last=True).to_numpy()
    place = np.empty(n_known + 1, np.int32)
    place[used[order]] = np.arange(len(used), dtype=np.int32)
    return texts.gather(order), place[known]


def _take(codes: Sequence[Codes] | npt.NDArray[np.int32], grouping: Grouping) -> npt.NDArray[np.int32]:
    """Return the codes of one row of each group."""
    rows = grouping.a_row_of
    out = np.empty((len(codes), len(rows)), np.int32)
    for column, taken in zip(codes, out, strict=True):
        # Indices are right by construction, and "clip" is the fastest way to say so.
        np.take(column, rows, mode="clip", out=taken)
    return out
