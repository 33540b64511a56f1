"""The classes of some columns: which combinations of values occur and how often, and what becomes of the values.

Everything that is decided about a table is decided on these counts, in memory; the rows are not touched again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import LISTED_FAULTS, Fault, InputError
from tokumei.core.score import most_within
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
# Under this name stands whose the rows of each class are. The private-use character keeps it apart from columns.
PERSON = "\ue000person"


@dataclass(frozen=True)
class Histogram:
    """How often each value of a sensitive column occurs in each class, for the pairs that occur.

    Where it is known whose each row is, a code stands for a value of one person, and `of_codes` has the value and the
    person of each. Then a person counts once for each value that they have in a class, in however many rows.
    """

    values: pl.Series
    class_of: Indices
    value_of: Codes
    counts: npt.NDArray[np.int64]
    of_codes: tuple[Codes, Codes] | None = None

    @classmethod
    def of_rows(cls, class_of: Indices, n_classes: int, values: pl.Series, whose: pl.Series | None = None) -> Histogram:
        """Make the histogram of rows, given the class of each and, where people are counted, whose it is."""
        domain, codes = encode(values)
        of_codes = None
        if whose is not None:
            people, own = encode(whose)
            pairs = group_rows([codes, own], [len(domain), len(people)], len(codes))
            of_codes = (codes[pairs.a_row_of], own[pairs.a_row_of])
            codes = pairs.group_of.astype(np.int32)
        each = cls(domain, class_of, codes, np.ones(len(codes), np.int64), of_codes)
        return each.in_groups(np.arange(n_classes), n_classes)

    @property
    def n_codes(self) -> int:
        """Number of values or, where people are counted, of values of each person."""
        return len(self.values if self.of_codes is None else self.of_codes[0])

    @cached_property
    def of_values(self) -> Histogram:
        """The same with plain values: how many rows, or people, of a class have each."""
        if self.of_codes is None:
            return self
        classes, values = self.class_of.astype(np.int32), self.of_codes[0][self.value_of]
        n_classes = int(classes.max(initial=0)) + 1
        pairs = group_rows([classes, values], [n_classes, len(self.values)], len(classes))
        first = pairs.a_row_of
        n_people = pairs.sums(np.ones(len(classes), np.int64))
        return Histogram(self.values, self.class_of[first], values[first], n_people)

    def totals(self) -> npt.NDArray[np.int64]:
        """Return how many rows, or people, have each value in any class."""
        if self.of_codes is None:
            return np.bincount(self.value_of, self.counts, len(self.values)).astype(np.int64)
        is_there = np.bincount(self.value_of, minlength=self.n_codes) > 0
        return np.bincount(self.of_codes[0][is_there], minlength=len(self.values)).astype(np.int64)

    def holders(self, n_classes: int, n_values: int) -> npt.NDArray[np.int64] | None:
        """Return how many people of each class have one of the first values; None where rows are counted."""
        if self.of_codes is None:
            return None
        values, people = (codes[self.value_of] for codes in self.of_codes)
        is_in = values < n_values
        classes, whose = self.class_of[is_in].astype(np.int32), people[is_in]
        pairs = group_rows([classes, whose], [max(1, n_classes), int(whose.max(initial=0)) + 1], len(whose))
        return np.bincount(classes[pairs.a_row_of], minlength=n_classes).astype(np.int64)

    def in_groups(self, group_of: Indices, n_groups: int) -> Histogram:
        """Add up the counts of classes that became one; those in group −1 are left out."""
        groups = group_of[self.class_of]
        is_in = groups >= 0
        groups, values, counts = groups[is_in], self.value_of[is_in], self.counts[is_in]
        merged = group_rows([groups.astype(np.int32), values], [max(1, n_groups), self.n_codes], len(groups))
        first = merged.a_row_of
        return replace(self, class_of=groups[first], value_of=values[first], counts=merged.sums(counts))


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

    `sizes` are rows. `people` are the people or households whose rows they are, where a column tells them.

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

    @cached_property
    def people(self) -> npt.NDArray[np.int64]:
        """Number of different people in each class; of rows, where nothing tells whose they are."""
        if PERSON not in self.histograms:
            return self.sizes
        return np.bincount(self.histograms[PERSON].class_of, minlength=self.n_classes).astype(np.int64)

    @property
    def n_people(self) -> int | None:
        """Number of different people; None where nothing tells whose a row is."""
        return len(np.unique(self.histograms[PERSON].value_of)) if PERSON in self.histograms else None

    @property
    def largest_share_of_one(self) -> float:
        """The largest share of the rows of a class that are one person's: as surely is one of its rows theirs."""
        if PERSON not in self.histograms:
            return 1 / self.k if self.k else 0.0
        whose = self.histograms[PERSON]
        return float((whose.counts / self.sizes[whose.class_of]).max(initial=0.0))

    @property
    def sensitive(self) -> list[str]:
        """The columns whose values are counted in each class."""
        return [name for name in self.histograms if name != PERSON]

    @property
    def k(self) -> int:
        """The people, or rows, of the smallest class; 0 if there is none."""
        return int(self.people.min()) if self.n_classes else 0

    @property
    def n_unique(self) -> int:
        """Number of classes of a single person, or row."""
        return int((self.people == 1).sum())

    def most_left_out(self, share: float) -> int:
        """Return how many rows may be left out, so that no larger share of the rows, or of the people, loses any."""
        return most_within(share, self.n_rows if self.n_people is None else self.n_people)

    def rows_by_size(self) -> list[tuple[int, int, int]]:
        """Count rows by how many people, or rows, their class has, in powers of two: least, most, rows."""
        power = np.frexp(self.people)[1] - 1
        return [(2**p, 2 ** (p + 1) - 1, int(self.sizes[power == p].sum())) for p in np.unique(power).tolist()]

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
            class_of = index[one.class_of[is_in]]
            histograms[name] = replace(one, class_of=class_of, value_of=one.value_of[is_in], counts=one.counts[is_in])
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
        """Add the values of a sensitive column, given the counts over these columns and that one.

        Where a further column tells whose each row is, the counts are over that one too, as the last.
        """
        n_own = len(self.columns)
        radices = [len(domain) for domain in pairs.domains]
        classes = group_rows(list(pairs.codes[:n_own]), radices[:n_own], pairs.n_classes).group_of
        if len(pairs.columns) == n_own + 1:
            histogram = Histogram(pairs.domains[-1], classes, pairs.codes[-1], pairs.sizes)
        else:
            of_person = group_rows(list(pairs.codes[n_own:]), radices[n_own:], pairs.n_classes)
            values, people = (codes[of_person.a_row_of] for codes in pairs.codes[n_own:])
            codes = of_person.group_of.astype(np.int32)
            histogram = Histogram(pairs.domains[n_own], classes, codes, pairs.sizes, (values, people))
        return ClassCounts(self.columns, self.domains, self.codes, self.sizes, {**self.histograms, name: histogram})

    def labelled(self, labels: Sequence[pl.Series]) -> ClassCounts:
        """Return the counts after each class was given a label in each column; those with equal labels become one."""
        encoded = [encode(one) for one in labels]
        codes = [code for _, code in encoded]
        grouping = group_rows(codes, [len(domain) for domain, _ in encoded], self.n_classes)
        domains = tuple(domain.alias(name) for name, (domain, _) in zip(self.columns, encoded, strict=True))
        return ClassCounts(self.columns, domains, _take(codes, grouping), *self._sums(grouping))

    def as_written(self, written: ClassCounts) -> ClassCounts | None:
        """Return these counts, if rows that were written have the same classes of the same sizes."""
        other = written.over(self.columns)
        mine = self.labelled([self.values().to_series(index).cast(pl.String) for index in range(len(self.columns))])
        theirs = other.labelled([other.values().to_series(index).cast(pl.String) for index in range(len(self.columns))])
        is_same = np.array_equal(mine.sizes, theirs.sizes) and mine.values().equals(theirs.values())
        return mine if is_same else None

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
        group_of, n_groups = grouping.group_of, len(grouping.a_row_of)
        histograms = {name: one.in_groups(group_of, n_groups) for name, one in self.histograms.items()}
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
