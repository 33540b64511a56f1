"""What a local recoding is asked and answers: classes of leaves in, a label for each cell or nothing at all out."""

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
from tokumei.engines.class_counts import PERSON, ClassCounts, Histogram
from tokumei.hierarchies.hierarchy import SUPPRESSED, Hierarchy
from tokumei.measures.requirement import Requirement, population_of, with_population
from tokumei.measures.safety.class_sizes import KAnonymity
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
        """Whether nothing but k-anonymity of rows is asked for, so that sizes tell all."""
        return not self.counts_people and all(type(one) is KAnonymity for one in self.requirements)

    @cached_property
    def counts_people(self) -> bool:
        """Whether it is known whose each row is, so that a class of k rows may have fewer than k people."""
        return PERSON in self.counts.histograms

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
            if self.counts_people or type(requirement) is not KAnonymity:
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
        histograms = {name: one.in_groups(to_group, len(sizes)) for name, one in self.counts.histograms.items()}
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


def counts_of_groups(sizes: npt.NDArray[Any], histograms: Mapping[str, Histogram] | None = None) -> ClassCounts:
    """Return counts whose only column is the number of the group."""
    domain = pl.Series(GROUP, np.arange(len(sizes)))
    codes = np.arange(len(sizes), dtype=np.int32)[None, :]
    return ClassCounts((GROUP,), (domain,), codes, sizes.astype(np.int64), histograms or {})


@dataclass(frozen=True, eq=False)
class LabelCells:
    """The cells of one attribute: for each class the index of its label, and what each label costs.

    The cost is the certainty penalty: the share of the attribute's values that a label covers, or of its width if it is
    numeric; 0 while it tells the value. A label of None is the missing value itself.
    """

    codes: Codes
    labels: tuple[str | None, ...]
    costs: Floats


@dataclass(frozen=True, eq=False)
class LocalRecoding:
    """The cells of every class, an attribute each, and the classes that are left out."""

    cells: tuple[LabelCells, ...]
    is_suppressed: Bools

    @classmethod
    def of_groups(cls, task: LocalTask, group_of: Ints) -> LocalRecoding:
        """Write all classes of a group alike, as closely as labels allow; group −1 is left out."""
        return cls(tuple(cells_of_groups(one, group_of) for one in task.attributes), group_of < 0)

    def n_suppressed(self, task: LocalTask) -> int:
        """Return the number of rows that are left out."""
        return int(task.sizes[self.is_suppressed].sum())

    def shares(self, task: LocalTask) -> dict[str, float]:
        """Return what each attribute contributes to the certainty penalty; a row left out counts as covering all."""
        out = {}
        for attribute, cells, weight in zip(task.attributes, self.cells, task.column_weights, strict=True):
            cost = np.where(self.is_suppressed, 1.0, cells.costs[cells.codes])
            out[attribute.name] = float(cost @ task.sizes) * float(weight) / max(1, task.n_rows)
        return out


def cells_of_groups(attribute: LocalAttribute, group_of: Ints) -> LabelCells:
    """Return for each group the closest label that covers its leaves.

    That is a range for a numeric attribute, for others the finest label of the hierarchy; where the missing value
    stands with others, only the label that says nothing covers both.
    """
    n_groups = int(group_of.max(initial=-1)) + 1
    if not n_groups:
        return LabelCells(np.zeros(len(group_of), np.int32), (SUPPRESSED,), np.ones(1))
    low, high = _ends(attribute.leaf_of, group_of, n_groups)
    cells = _ranges(attribute, low, high) if attribute.is_numeric else _labels(attribute, group_of, low, high)
    label_of_group, labels, costs = cells
    # A class that is left out has no cell; it is given the first label, which nobody will see.
    return LabelCells(np.where(group_of >= 0, label_of_group[group_of], 0).astype(np.int32), labels, costs)


Labeled = tuple[Ints, tuple[str | None, ...], Floats]


def _ends(codes: Codes, group_of: Ints, n_groups: int) -> tuple[Ints, Ints]:
    """Return the least and the greatest code in each group."""
    is_in = group_of >= 0
    low, high = np.full(n_groups, np.iinfo(np.int64).max), np.full(n_groups, -1, np.int64)
    np.minimum.at(low, group_of[is_in], codes[is_in])
    np.maximum.at(high, group_of[is_in], codes[is_in])
    return low, high


def _ranges(attribute: LocalAttribute, low: Ints, high: Ints) -> Labeled:
    """Write each run of leaves as a range of numbers."""
    missing, numbers = attribute.missing, attribute.numbers
    is_value = high < missing
    low[is_value], high[is_value] = attribute.cells.cover(low[is_value], high[is_value])
    pairs, label_of = np.unique(low * (missing + 1) + high, return_inverse=True)
    first, last = pairs // (missing + 1), pairs % (missing + 1)
    is_range = last < missing
    labels: list[str | None] = [None if code == missing else SUPPRESSED for code in first.tolist()]
    for index, label in zip(
        np.flatnonzero(is_range).tolist(),
        range_labels(attribute, first[is_range], last[is_range]),
        strict=True,
    ):
        labels[index] = label
    costs = np.where(first == missing, 0.0, 1.0)
    width = float(numbers[-1] - numbers[0])
    costs[is_range] = (numbers[last[is_range]] - numbers[first[is_range]]) / (width or 1.0)
    return label_of.reshape(-1), tuple(labels), costs


def range_labels(attribute: LocalAttribute, first: Ints, last: Ints) -> list[str]:
    """Write the ranges of numbers from some leaves to others, both included; a single leaf is written as it is."""
    leaves, grid = attribute.hierarchy.leaves, attribute.cells
    pairs = zip(first.tolist(), last.tolist(), strict=True)
    return [leaves[low] if low == high else grid.label(low, high) for low, high in pairs]


def _labels(attribute: LocalAttribute, group_of: Ints, low: Ints, high: Ints) -> Labeled:
    """Return for each group the label of the finest level that covers it."""
    levels = attribute.hierarchy.levels
    n_groups = len(low)
    label_of = np.full(n_groups, -1, np.int64)
    labels: list[str | None] = [SUPPRESSED, None]
    costs = [1.0, 0.0]
    has_missing = high == attribute.missing
    label_of[has_missing] = np.where(low[has_missing] == attribute.missing, 1, 0)
    for level in levels:
        left = np.flatnonzero(label_of < 0)
        if not len(left):
            break
        codes = np.append(level.codes, -1)[attribute.leaf_of]
        least, most = _ends(codes, np.where((group_of >= 0) & (label_of[group_of] < 0), group_of, -1), n_groups)
        covered = left[least[left] == most[left]]
        n_leaves = np.bincount(level.codes, minlength=len(level))
        used, index = np.unique(least[covered], return_inverse=True)
        label_of[covered] = len(labels) + index
        labels += [level.labels[code] for code in used]
        costs += [float(n) / attribute.n_leaves if n > 1 else 0.0 for n in n_leaves[used]]
    label_of[label_of < 0] = 0
    return label_of, tuple(labels), np.array(costs)
