"""How far the sensitive values of a class may be from those of all rows: t-closeness, β-likeness, δ-disclosure.

The three distances of t-closeness are 0 if values are alike and 1 if they could not be further. All three are earth
mover's distances (Li, Li and Venkatasubramanian, t-Closeness, ICDE 2007); they differ in what it costs to turn one
value into another.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.text import Text
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.grouping import Indices
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.requirement import MISSING_IS_A_VALUE, ROUNDING, Holds
from tokumei.measures.safety.sensitive_values import ComparedWithAll, Numbers, SensitiveValues


def equal_distance(values: SensitiveValues) -> Numbers:
    """Return the total variation of each class: every value is equally far from every other."""
    # What some values gain others lose, so half the sum of all differences is the sum of the gains.
    return np.minimum(values.sums(values.gains), 1)


def ordered_distance(values: SensitiveValues, indices: Indices) -> Numbers:
    """Return the distance of each class where values stand in a row, one step from their neighbors.

    Normalized by the m − 1 steps between the m values that occur in the classes or in the reference.
    """
    occurs = values.reference > 0
    occurs[values.value_of] = True
    order = np.argsort(indices, kind="stable")
    order = order[occurs[order]]
    m = len(order)
    if m < 2:
        return np.zeros(values.n_classes)
    index_of = np.zeros(len(indices), np.int64)
    index_of[order] = np.arange(m)
    index, counts = index_of[values.value_of], values.counts
    if (np.diff(order) < 0).any():
        pairs = np.argsort(values.class_of * m + index)
        index, counts = index[pairs], counts[pairs]
    total = np.cumsum(counts)
    before = values.repeated(total[values.starts] - counts[values.starts])
    share_up_to = (total - before) / values.repeated(values.totals)
    next_index = np.append(index[1:], m)
    next_index[np.append(values.starts[1:], len(index)) - 1] = m
    return _areas_between(values, np.cumsum(values.reference[order]), index, next_index, share_up_to) / (m - 1)


def _areas_between(
    values: SensitiveValues, reference_up_to: Numbers, index: Indices, next_index: Indices, share_up_to: Numbers
) -> Numbers:
    """Add up, over all indices, how far each class's share up to there is from the reference's.

    From one value of a class to its next the class's share stays, while the reference's only grows, so it is below
    up to some index and above from there on; both sides are differences of running sums, whatever lies between.
    """
    area = np.concatenate(([0.0], np.cumsum(reference_up_to)))
    turn = np.clip(np.searchsorted(reference_up_to, share_up_to), index, next_index)
    between = share_up_to * (2 * turn - index - next_index) - 2 * area[turn] + area[index] + area[next_index]
    # Before a class's first value its share is 0.
    before_first = values.in_all(area[index[values.starts]])
    return np.maximum(values.sums(between) + before_first, 0)


def hierarchical_distance(values: SensitiveValues, hierarchy: Hierarchy) -> Numbers:
    """Return the distance of each class where values are as far as the level of their lowest common label.

    Li et al. move what a label's children have too much to those that have too little, at the cost level/height.
    What a label cannot settle within itself is its own gain, so with Vₗ the total variation among the labels of
    level l the costs are Σ l/H · (Vₗ₋₁ − Vₗ), which telescopes to the mean of V₀ … V_{H−1}.
    """
    tree = hierarchy.with_top()
    tree.check_nested()
    leaves = leaf_indices(tree, values.domain)
    distance = equal_distance(values)
    for level in tree.levels[1:-1]:
        # A missing value is in no label but the top.
        codes = np.append(level.codes, np.int32(len(level)))[leaves]
        distance += equal_distance(values.recoded(codes, len(level) + 1))
    # A tree of one leaf has no height, and then only a missing value differs from it.
    return distance / max(1, tree.height)


def leaf_indices(hierarchy: Hierarchy, domain: pl.Series) -> Indices:
    """Return the index of each value among the leaves, missing last; a value that is no leaf is an InputError."""
    index = {leaf: index for index, leaf in enumerate(hierarchy.leaves)}
    known = domain.drop_nulls()
    found = [index[label] for label in hierarchy.recoding(0).labels_of(known)]
    return np.array(found + [len(index)] * (len(domain) - len(known)), np.int64)


def natural_indices(domain: pl.Series) -> Indices | None:
    """Return the index of each value in its natural order, missing last; None for text that is no number or date.

    Text that is all numbers is in the order of the numbers, since a CSV file gives nothing but text.
    """
    if domain.dtype in (pl.Null, pl.Boolean) or domain.dtype.is_numeric() or domain.dtype.is_temporal():
        return np.arange(len(domain))
    if domain.dtype != pl.String:
        return None
    numbers = domain.cast(pl.Float64, strict=False)
    if numbers.null_count() == domain.null_count():
        indices = np.empty(len(domain), np.int64)
        indices[numbers.arg_sort(nulls_last=True).to_numpy()] = np.arange(len(domain))
        return indices
    dates = domain.str.to_date("%Y-%m-%d", strict=False)
    return np.arange(len(domain)) if dates.null_count() == domain.null_count() else None


@dataclass(frozen=True)
class TCloseness(ComparedWithAll):
    """The sensitive values of every class are distributed within t of those of all rows; measures the furthest class.

    The distance is the earth mover's, 0 if a class is distributed as all rows are, 1 if it could not be further:

    - `equal`: all values are equally far from each other (the total variation).
    - `ordered`: values stand in a row, in the order of numbers and dates or, given a hierarchy, of its leaves;
      a missing value stands last. The m − 1 steps from first to last are the distance 1.
    - `hierarchical`: two values are as far as the level of their lowest common label, the top being 1; a missing
      value is below the top only.

    Where missing values do not count, a class without any other has distance 0. Answers attribute linkage (Li, Li
    and Venkatasubramanian 2007).

    Example: nine salaries from 3 to 11, each once, in three classes (table 3 of the paper). By `equal` each class has
    three values at 1/3 instead of 1/9, a distance of 2/3: it does not see that the first class has the lowest salaries.
    By `ordered` it is the furthest, and the measure is 0.375.

    | class | salaries | equal | ordered |
    |-------|----------|-------|---------|
    | 1     | 3, 4, 5  | 2/3   | 0.375   |
    | 2     | 6, 8, 11 | 2/3   | 0.167   |
    | 3     | 7, 9, 10 | 2/3   | 0.236   |
    """

    sensitive: str = field(metadata={"help": "The sensitive column."})
    t: float = field(metadata={"help": "Largest distance allowed, from 0 to 1."})
    distance: Literal["equal", "ordered", "hierarchical"] = field(
        default="equal", metadata={"help": "How far two values are from each other."}
    )
    hierarchy: Hierarchy | None = field(default=None, metadata={"help": "The hierarchy of the sensitive values."})
    reference: Mapping[Any, float] | None = field(
        default=None, metadata={"help": "Share of each value to compare with, instead of that of all rows."}
    )
    against: Literal["both", "original", "release"] = field(
        default="both",
        metadata={"help": "Whose shares count where rows are left out: the original's, the release's, or both."},
    )
    is_missing_a_value: bool = field(
        default=MISSING_IS_A_VALUE, metadata={"help": "Whether a missing sensitive value counts as a value of its own."}
    )

    def __post_init__(self) -> None:
        if not 0 <= self.t <= 1:
            raise InputError.of("a distance from 0 to 1", option="t", value=self.t)
        if self.distance not in ("equal", "ordered", "hierarchical"):
            raise InputError.of("equal, ordered or hierarchical", option="distance", value=self.distance)
        if self.distance == "hierarchical" and self.hierarchy is None:
            raise InputError.of(Text("the hierarchy of '{column}'", column=self.sensitive), option="hierarchy")
        self.check_whose()

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether each class is within t of all rows."""
        return self.achieved(self.values_in(counts)) <= self.t + ROUNDING

    def achieved(self, values: SensitiveValues) -> Numbers:
        """Return the distance of each class."""
        if self.distance == "equal":
            return equal_distance(values)
        if self.distance == "hierarchical" and self.hierarchy is not None:
            return hierarchical_distance(values, self.hierarchy)
        if self.hierarchy is not None:
            return ordered_distance(values, leaf_indices(self.hierarchy, values.domain))
        indices = natural_indices(values.domain)
        if indices is None:
            raise InputError.of("numbers, dates or a hierarchy that gives the order", column=self.sensitive)
        return ordered_distance(values, indices)

    def score(self, values: SensitiveValues) -> Score:
        """Return the distance of the furthest class, from known values."""
        furthest = float(self.achieved(values).max()) if values.n_classes else 0.0
        inputs = {"sensitive": self.sensitive}
        return Score(f"t-closeness-{self.distance}", furthest, best=0, worst=1, inputs=inputs)


@dataclass(frozen=True)
class BetaLikeness(ComparedWithAll):
    """No sensitive value gains more than β in a class over its share of all rows; measures the largest gain.

    With p a value's share of all rows and q > p its share of a class, its gain is (q − p)/p.

    - `basic`: every gain is at most β.
    - `enhanced`: every gain is at most β and at most −ln p, so that a frequent value cannot become a certainty.

    0 if every class is distributed as all rows are, without upper end; infinite where no β is enough, as a gain above
    −ln p is refused by `enhanced` whatever β is. Where missing values do not count, a class without any other gains 0.
    Answers attribute linkage (Cao and Karras 2012).

    Example: of all rows 5/8 have flu and 3/8 a cold. Flu gains (3/4 − 5/8) / (5/8) in A, a cold (1/2 − 3/8) / (3/8) in
    B, so the measure is 1/3, and with β = 1/5 only A holds. Both gains are below −ln p, so `enhanced` says the same.

    | zip | illnesses             | largest gain |
    |-----|-----------------------|--------------|
    | A   | flu, flu, flu, cold   | 1/5          |
    | B   | flu, flu, cold, cold  | 1/3          |
    """

    sensitive: str = field(metadata={"help": "The sensitive column."})
    beta: float = field(metadata={"help": "Largest gain allowed, above 0."})
    kind: Literal["basic", "enhanced"] = field(
        default="enhanced", metadata={"help": "Whether gains are bounded by −ln p as well."}
    )
    reference: Mapping[Any, float] | None = field(
        default=None, metadata={"help": "Share of each value to compare with, instead of that of all rows."}
    )
    against: Literal["both", "original", "release"] = field(
        default="both",
        metadata={"help": "Whose shares count where rows are left out: the original's, the release's, or both."},
    )
    is_missing_a_value: bool = field(
        default=MISSING_IS_A_VALUE, metadata={"help": "Whether a missing sensitive value counts as a value of its own."}
    )

    def __post_init__(self) -> None:
        if not self.beta > 0:
            raise InputError.of("a number above 0", option="beta", value=self.beta)
        if self.kind not in ("basic", "enhanced"):
            raise InputError.of("basic or enhanced", option="kind", value=self.kind)
        self.check_whose()

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether no value of each class gains more than β."""
        return self.achieved(self.values_in(counts)) <= self.beta + ROUNDING

    def achieved(self, values: SensitiveValues) -> Numbers:
        """Return the largest gain in each class, infinite where no β is enough."""
        with np.errstate(divide="ignore"):
            weight, bound = 1 / values.reference, -np.log(values.reference)
        # A value that the reference does not know gains without end.
        gains = values.gains * weight[values.value_of]
        if self.kind == "enhanced":
            gains[gains > bound[values.value_of] + ROUNDING] = math.inf
        return values.maxima(gains)

    def score(self, values: SensitiveValues) -> Score:
        """Return the largest gain in a class, from known values."""
        largest = float(self.achieved(values).max()) if values.n_classes else 0.0
        inputs = {"sensitive": self.sensitive}
        return Score(f"beta-likeness-{self.kind}", largest, best=0, worst=math.inf, inputs=inputs)


@dataclass(frozen=True)
class DeltaDisclosure(ComparedWithAll):
    """In no class is a sensitive value much rarer or more frequent than in all rows; measures the largest difference.

    With p the share of a value in all rows and q its share in a class, |log₂ q/p| is less than δ for every class and
    every value that occurs at all: what is learned is bounded both ways. A value that a class lacks makes the
    difference infinite, so that each class needs them all. 0 if every class is distributed as all rows are, without
    upper end. Where missing values do not count, a class without any other has 0. Answers attribute linkage (Brickell
    and Shmatikov 2008).

    Example: of all rows 5/8 have flu and 3/8 a cold. In B a cold has 1/2, log₂ (1/2 : 3/8) = 0.415. In A it has 1/4,
    log₂ (1/4 : 3/8) = −0.585: the measure is 0.585. With δ = 1/2 only B holds.

    | zip | illnesses             | cold | difference |
    |-----|-----------------------|------|------------|
    | A   | flu, flu, flu, cold   | 1/4  | 0.585      |
    | B   | flu, flu, cold, cold  | 1/2  | 0.415      |
    """

    sensitive: str = field(metadata={"help": "The sensitive column."})
    delta: float = field(metadata={"help": "What no difference may reach, above 0: 1 is twice or half as frequent."})
    reference: Mapping[Any, float] | None = field(
        default=None, metadata={"help": "Share of each value to compare with, instead of that of all rows."}
    )
    against: Literal["both", "original", "release"] = field(
        default="both",
        metadata={"help": "Whose shares count where rows are left out: the original's, the release's, or both."},
    )
    is_missing_a_value: bool = field(
        default=MISSING_IS_A_VALUE, metadata={"help": "Whether a missing sensitive value counts as a value of its own."}
    )

    def __post_init__(self) -> None:
        if not self.delta > 0:
            raise InputError.of("a number above 0", option="delta", value=self.delta)
        self.check_whose()

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether every difference of each class is less than δ."""
        return self.achieved(self.values_in(counts)) < self.delta - ROUNDING

    def achieved(self, values: SensitiveValues) -> Numbers:
        """Return the largest difference in each class, infinite where it lacks a value."""
        with np.errstate(divide="ignore"):
            differences = np.abs(np.log2(values.shares / values.reference[values.value_of]))
        n_there = values.sums((values.reference[values.value_of] > 0).astype(np.int64))
        is_lacking = (n_there < (values.reference > 0).sum()) & (values.in_all(values.totals) > 0)
        return np.where(is_lacking, math.inf, values.maxima(differences))

    def score(self, values: SensitiveValues) -> Score:
        """Return the largest difference in a class, from known values."""
        largest = float(self.achieved(values).max()) if values.n_classes else 0.0
        return Score("delta-disclosure", largest, best=0, worst=math.inf, inputs={"sensitive": self.sensitive})
