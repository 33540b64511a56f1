"""What a local recoding is asked: rows as classes of leaves, what a release must promise, and who may be left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.text import Text
from tokumei.engines.class_counts import ClassCounts, Histogram
from tokumei.engines.grouping import group_rows
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.requirement import Requirement, population_of, with_population
from tokumei.measures.safety.k_anonymity import KAnonymity
from tokumei.methods.local.grid import Grid, public_grid, tight_grid

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

GROUP = "group"

Ranges = Literal["grid", "tight"]
RANGES_HELP = "Whether ranges of numbers consist of cells of a public grid, or end with values of the group (tight)."


def check_ranges(ranges: str) -> None:
    """Refuse a name that is neither kind of ranges."""
    if ranges not in ("grid", "tight"):
        raise InputError.of("grid or tight", option="ranges", value=ranges)


@dataclass(frozen=True, eq=False)
class LocalAttribute:
    """One quasi-identifier: its hierarchy, and the leaf of each class.

    A missing value is one more leaf after the last. The leaves of a numeric attribute are in ascending order, so that a
    run of leaves is a range of numbers. On a grid ranges consist of whole cells; without one they are tight.
    """

    hierarchy: Hierarchy
    is_numeric: bool
    leaf_of: Codes
    grid: Grid | None = None

    @property
    def name(self) -> str:
        """The column."""
        return self.hierarchy.attribute

    @property
    def n_leaves(self) -> int:
        """Number of leaves, without the missing value."""
        return len(self.hierarchy.leaves)

    @property
    def missing(self) -> int:
        """The leaf that stands for a missing value."""
        return self.n_leaves

    @cached_property
    def numbers(self) -> Floats:
        """The number that each leaf of a numeric attribute is."""
        return np.array([float(leaf) for leaf in self.hierarchy.leaves])

    @cached_property
    def cells(self) -> Grid:
        """The grid, or one of the leaves themselves where ranges are tight."""
        return self.grid or tight_grid(self.hierarchy.leaves)


@dataclass(frozen=True, eq=False)
class LocalTask:
    """Classes of rows with equal quasi-identifiers, to be put into groups that each keep the promise.

    `counts` has the classes in the codes of the leaves, with the histograms that the requirements need. Classes of no
    rows stand for people of a population who are not in the table: they go where their values go.
    """

    attributes: tuple[LocalAttribute, ...]
    counts: ClassCounts
    requirements: Sequence[Requirement]
    # Number of rows that may be left out.
    n_may_suppress: int = 0
    weights: Mapping[str, float] | None = None

    def too_many_out(self, n_out: int) -> CannotAnonymize:
        """Return the error for leaving out more rows than allowed."""
        allowed = Text("of which {n:,} may be", n=self.n_may_suppress)
        form = "{n:,} of {m:,} rows would have to be left out, {allowed}."
        return CannotAnonymize(Text(form, n=n_out, m=self.n_rows, allowed=allowed))

    @property
    def sizes(self) -> Ints:
        """The number of rows of each class."""
        return self.counts.sizes

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.counts.n_rows

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.counts.n_classes

    @cached_property
    def least_size(self) -> int:
        """The fewest rows a group can have, as far as k-anonymity asks for it; 1 if it does not."""
        return max((one.k for one in self.requirements if isinstance(one, KAnonymity)), default=1)

    @cached_property
    def is_only_k(self) -> bool:
        """Whether nothing but k-anonymity is asked for, so that sizes tell all."""
        return all(type(one) is KAnonymity for one in self.requirements)

    @cached_property
    def column_weights(self) -> Floats:
        """How much each attribute's loss counts; they add up to 1."""
        return column_weights([one.name for one in self.attributes], self.weights)

    def with_ranges(self, ranges: Ranges, *, n_columns: int | None = None) -> LocalTask:
        """Return the task with a public grid for each numeric attribute that has none yet; with none if they are tight.

        n_columns: of the whole table, where the task has some of them only.
        """
        known = [None if ranges == "tight" else one.grid or self._grid_of(one, n_columns) for one in self.attributes]
        attributes = tuple(replace(one, grid=grid) for one, grid in zip(self.attributes, known, strict=True))
        return replace(self, attributes=attributes)

    def _grid_of(self, attribute: LocalAttribute, n_columns: int | None) -> Grid | None:
        if not attribute.is_numeric or attribute.n_leaves < 2:
            return None
        rows = np.bincount(attribute.leaf_of, self.sizes, attribute.n_leaves + 1)[:-1].astype(np.int64)
        n_columns = n_columns or len(self.attributes)
        return public_grid(attribute.hierarchy, rows, k=self.least_size, n_columns=n_columns)

    def holds(self, group_of: Ints, n_groups: int) -> Bools:
        """Return for each group of classes whether it meets every requirement; a class in group −1 is in none."""
        is_in = group_of >= 0
        group_of, sizes = group_of[is_in], self.sizes[is_in]
        group_sizes = np.bincount(group_of, sizes, n_groups).astype(np.int64)
        holds: Bools = group_sizes >= self.least_size
        if self.is_only_k or not n_groups:
            return holds
        # Of no rows there is nothing to ask, and measures would divide by their number.
        asked = np.flatnonzero(group_sizes > 0)
        index = np.full(n_groups, -1, np.int64)
        index[asked] = np.arange(len(asked))
        counts = self.grouped(np.flatnonzero(is_in), index[group_of], group_sizes[asked])
        for requirement in self.requirements:
            if type(requirement) is not KAnonymity:
                at_groups = self._in_groups(requirement, np.flatnonzero(is_in), index[group_of], len(asked))
                holds[asked] &= at_groups.holds_in(counts)
        return holds

    def holds_together(self) -> bool:
        """Whether all rows in one group would do: if not, nothing does."""
        return bool(self.holds(np.zeros(self.n_classes, np.int64), 1).all())

    def grouped(self, classes: Ints, group_of: Ints, sizes: Ints) -> ClassCounts:
        """Return the counts of groups, with the sensitive values in each."""
        to_group = np.full(self.n_classes, -1, np.int64)
        to_group[classes] = group_of
        histograms = {
            name: histogram_of_groups(one, to_group, len(sizes)) for name, one in self.counts.histograms.items()
        }
        return counts_of_groups(sizes, histograms)

    def _in_groups(self, requirement: Requirement, classes: Ints, group_of: Ints, n_groups: int) -> Requirement:
        """Return the requirement with its population, if any, in the same groups."""
        population = population_of(requirement)
        if population is None:
            return requirement
        is_in = group_of >= 0
        people = population.sizes[classes][is_in]
        return with_population(requirement, counts_of_groups(np.bincount(group_of[is_in], people, n_groups)))


def column_weights(columns: Sequence[str], given: Mapping[str, float] | None) -> Floats:
    """Return how much the loss of each column counts, 1 by default; the weights add up to 1."""
    weights = np.array([(given or {}).get(one, 1.0) for one in columns])
    total = weights.sum()
    return weights / total if total else np.full(len(weights), 1 / max(1, len(weights)))


def histogram_of_groups(histogram: Histogram, group_of: Ints, n_groups: int) -> Histogram:
    """Add up a histogram over groups of classes; those in no group are left out."""
    groups = group_of[histogram.class_of]
    is_in = groups >= 0
    groups, values, counts = groups[is_in], histogram.value_of[is_in], histogram.counts[is_in]
    pairs = group_rows([groups.astype(np.int32), values], [n_groups, len(histogram.values)], len(groups))
    first = pairs.a_row_of
    return Histogram(histogram.values, groups[first], values[first], pairs.sums(counts))


def counts_of_groups(sizes: npt.NDArray[Any], histograms: Mapping[str, Histogram] | None = None) -> ClassCounts:
    """Return counts whose only column is the number of the group."""
    domain = pl.Series(GROUP, np.arange(len(sizes)))
    codes = np.arange(len(sizes), dtype=np.int32)[None, :]
    return ClassCounts((GROUP,), (domain,), codes, sizes.astype(np.int64), histograms or {})
