"""The values of one sensitive column class by class, and their comparison with those of all rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.class_counts import ClassCounts, encode, read_as
from tokumei.engines.grouping import Codes, Indices, group_rows
from tokumei.measures.requirement import MISSING_IS_A_VALUE, sensitive_histogram

Numbers = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SensitiveValues:
    """How often each value occurs in each class, one pair for each value of each class, with what they share.

    Pairs are in ascending order of class, then value, as counting and rolling up give them. `reference` holds
    the share of each value of the domain that the classes are compared with.
    """

    n_classes: int
    domain: pl.Series
    class_of: Indices
    value_of: Codes
    counts: Counts
    reference: Numbers
    # How many people of each class have a value, where people are counted: one may have several.
    holders: Counts | None = None

    @classmethod
    def of(
        cls,
        counts: ClassCounts,
        column: str,
        *,
        is_missing_a_value: bool = MISSING_IS_A_VALUE,
        reference: Mapping[Any, float] | None = None,
    ) -> SensitiveValues:
        """Take the values of a column out of class counts; compared with all of them unless a reference is given."""
        histogram = sensitive_histogram(counts, column)
        domain, pairs = histogram.values, histogram.counts
        class_of, value_of = histogram.class_of, histogram.value_of
        if not is_missing_a_value and domain.null_count():
            # Missing stands last, so the other codes stay as they are.
            domain = domain.drop_nulls()
            is_known = value_of < len(domain)
            class_of, value_of, pairs = class_of[is_known], value_of[is_known], pairs[is_known]
        n_counted = len(domain)
        if reference is None:
            totals = counts.histograms[column].totals()[: len(domain)]
            shares = totals / max(1.0, totals.sum())
        else:
            known = {value: share for value, share in reference.items() if is_missing_a_value or value is not None}
            domain, indices, shares = _joined(domain, known, column)
            value_of = indices[value_of]
            if (np.diff(indices) < 0).any():
                order = np.lexsort((value_of, class_of))
                class_of, value_of, pairs = class_of[order], value_of[order], pairs[order]
        holders = counts.histograms[column].holders(counts.n_classes, n_counted)
        return cls(counts.n_classes, domain, class_of, value_of, pairs, shares, holders)

    @cached_property
    def starts(self) -> Indices:
        """The first pair of each class that has one; without its missing values a class may have none."""
        is_first = np.ones(len(self.class_of), bool)
        np.not_equal(self.class_of[1:], self.class_of[:-1], out=is_first[1:])
        return np.flatnonzero(is_first)

    @cached_property
    def n_values(self) -> Counts:
        """Number of different values in each class that has one."""
        return np.diff(self.starts, append=len(self.class_of))

    @cached_property
    def totals(self) -> Counts:
        """Number of rows with a value in each class that has one."""
        return np.add.reduceat(self.counts, self.starts) if len(self.starts) else np.zeros(0, np.int64)

    @cached_property
    def largest(self) -> Counts:
        """How often the most frequent value occurs in each class that has one."""
        return np.maximum.reduceat(self.counts, self.starts) if len(self.starts) else np.zeros(0, np.int64)

    @cached_property
    def shares(self) -> Numbers:
        """The share of each pair's value in its class."""
        out: Numbers = self.counts / self.repeated(self.totals)
        return out

    @cached_property
    def gains(self) -> Numbers:
        """By how much each pair's share exceeds the reference, 0 where it does not."""
        return np.maximum(self.shares - self.reference[self.value_of], 0)

    @cached_property
    def descending(self) -> Counts:
        """The counts, within each class from the largest to the smallest."""
        if not len(self.counts):
            return self.counts
        # Whole numbers sort several times faster than pairs of them; classes are in order already.
        most = int(self.counts.max())
        base = self.class_of * (most + 1) + most
        return base - np.sort(base - self.counts)

    def repeated(self, of_classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the number of its class for each pair."""
        return np.repeat(of_classes, self.n_values)

    def sums(self, of_pairs: npt.NDArray[Any]) -> Numbers:
        """Add up a number of the pairs of each class; 0 for a class without pairs."""
        found = np.add.reduceat(of_pairs, self.starts) if len(self.starts) else of_pairs[:0]
        return self.in_all(found)

    def maxima(self, of_pairs: npt.NDArray[Any]) -> Numbers:
        """Return the largest number among the pairs of each class; 0 for a class without pairs."""
        found = np.maximum.reduceat(of_pairs, self.starts) if len(self.starts) else of_pairs[:0]
        return self.in_all(found)

    def in_all(self, of_classes: npt.NDArray[Any]) -> Numbers:
        """Spread the numbers of classes that have a value over all classes; 0 for one without."""
        out = np.zeros(self.n_classes)
        out[self.class_of[self.starts]] = of_classes
        return out

    def recoded(self, codes: Codes, n_labels: int) -> SensitiveValues:
        """Return the same with each value replaced by its label."""
        labels = codes[self.value_of]
        merged = group_rows([self.class_of.astype(np.int32), labels], [self.n_classes, n_labels], len(labels))
        first = merged.a_row_of
        return SensitiveValues(
            self.n_classes,
            pl.Series(np.arange(n_labels)),
            self.class_of[first],
            labels[first],
            merged.sums(self.counts),
            np.bincount(codes, self.reference, n_labels).astype(np.float64),
        )


def _joined(domain: pl.Series, reference: Mapping[Any, float], column: str) -> tuple[pl.Series, Codes, Numbers]:
    """Return a domain with the values of both, the index in it of each old value, and the share of each value."""
    weights = np.array(list(reference.values()), np.float64)
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0):
        raise InputError.of("shares of at least 0, not all 0, as a reference", column=column)
    domain, known = _of_one_type(domain, list(reference), column)
    joined, codes = encode(pl.concat([domain, known]))
    shares = np.bincount(codes[len(domain) :], weights, len(joined)) / weights.sum()
    return joined, codes[: len(domain)], shares


def _of_one_type(domain: pl.Series, values: list[Any], column: str) -> tuple[pl.Series, pl.Series]:
    """Convert the values of a column and those of a reference to one type.

    Text files know no types, and a reference in a recipe is text or numbers: whichever side is text is read as the type
    of the other, or, if that cannot be, both are compared as text.
    """
    try:
        known = pl.Series(values, dtype=None if any(isinstance(one, str) for one in values) else domain.dtype)
        if known.dtype in (domain.dtype, pl.Null):
            return domain, known.cast(domain.dtype)
    except (TypeError, pl.exceptions.PolarsError):
        try:
            known = pl.Series(values)
        except (TypeError, pl.exceptions.PolarsError):
            raise InputError.of(f"a reference for values of type {domain.dtype}", column=column) from None
    if known.dtype == pl.String:
        read = _read(known, domain.dtype)
        if read.null_count() == known.null_count():
            return domain, read
    elif domain.dtype in (pl.String, pl.Null):
        read = _read(domain.cast(pl.String), known.dtype)
        if read.null_count() == domain.null_count():
            return read, known
        return domain, known.cast(pl.String)
    raise InputError.of(f"a reference for values of type {domain.dtype}", column=column)


def _read(texts: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Read text as a type; missing where it cannot be read."""
    if dtype.is_temporal() and dtype != pl.Date:
        return texts.cast(dtype, strict=False)
    return read_as(texts, dtype)


class ComparedWithAll:
    """Takes the sensitive values out of class counts, beside the shares that they are compared with."""

    sensitive: str
    reference: Mapping[Any, float] | None
    against: str
    is_missing_a_value: bool

    is_monotone: ClassVar[bool] = True
    is_strongly_monotone: ClassVar[bool] = False

    def check_whose(self) -> None:
        """Refuse shares of anybody else's."""
        if self.against not in ("both", "original", "release"):
            raise InputError.of("both, original or release", option="against", value=self.against)

    @property
    def sensitive_columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.sensitive,)

    @property
    def sees_whole_release(self) -> bool:
        """Without a reference a class is compared with all rows that are released."""
        return self.reference is None

    def values_in(self, counts: ClassCounts) -> SensitiveValues:
        """Take the sensitive values out of class counts."""
        return SensitiveValues.of(
            counts, self.sensitive, is_missing_a_value=self.is_missing_a_value, reference=self.reference
        )

    def measure(self, counts: ClassCounts) -> Score:
        """Return the value of the class that differs most."""
        return self.score(self.values_in(counts))

    def score(self, values: SensitiveValues) -> Score:
        """Return the value of the class that differs most, from known values."""
        raise NotImplementedError
