"""t-closeness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.class_counts import ClassCounts
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.requirement import MISSING_IS_A_VALUE, ROUNDING, Holds
from tokumei.measures.safety._compared import ComparedWithAll
from tokumei.measures.safety._distances import (
    equal_distance,
    hierarchical_distance,
    leaf_indices,
    natural_indices,
    ordered_distance,
)
from tokumei.measures.safety._sensitive import Numbers, SensitiveValues


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

    is_monotone: ClassVar[bool] = True
    is_strongly_monotone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 <= self.t <= 1:
            raise InputError.of("a distance from 0 to 1", option="t", value=self.t)
        if self.distance not in ("equal", "ordered", "hierarchical"):
            raise InputError.of("equal, ordered or hierarchical", option="distance", value=self.distance)
        if self.distance == "hierarchical" and self.hierarchy is None:
            raise InputError.of(f"the hierarchy of '{self.sensitive}'", option="hierarchy")
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
