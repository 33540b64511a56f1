"""Safety by the sizes of classes alone: k-anonymity, unique records, and records per class on the mean."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.class_counts import ClassCounts
from tokumei.measures.requirement import ROUNDING, ClassSizes, Holds


@dataclass(frozen=True)
class KAnonymity(ClassSizes):
    """Every record shares its values with at least k − 1 others; measures the size of the smallest class.

    0 for no rows, 1 if somebody is alone; the more the better. Answers record linkage (Sweeney 2002). S1 k-anony of
    PWSCUP 2015, over the quasi-identifiers of Y.

    Example: of six people three are 30, two are 40, and of one the age is missing, which is a class of its own: the
    measure is 1. With k = 2 the first two classes hold. Without the last record the measure is 2.
    """

    k: int = field(metadata={"help": "Fewest rows allowed in one class."})

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError.of("at least 1", option="k", value=self.k)

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether each class has k rows, or people."""
        return counts.people >= self.k

    def measure(self, counts: ClassCounts) -> Score:
        """Return the size of the smallest class."""
        return Score("k-anonymity", counts.k, best=math.inf, worst=0)


@dataclass(frozen=True)
class Uniques(ClassSizes):
    """No record is alone with its values; measures the share of records that are: 0 if none, 1 if all.

    The share is of all records, of which those suppressed are not unique.

    Example: of five people three are 30, one is 40, and of one the age is missing. The last two are alone, so the
    measure is 2/5. Had three more records been suppressed, it would be 2/8.
    """

    n_suppressed: int = field(default=0, metadata={"help": "Number of records that were suppressed."})

    def __post_init__(self) -> None:
        if self.n_suppressed < 0:
            raise InputError.of("a number of records", option="n_suppressed", value=self.n_suppressed)

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether each class has more than one row, or person."""
        return counts.people > 1

    def measure(self, counts: ClassCounts) -> Score:
        """Return the share of unique records."""
        n_records = max(1, counts.n_rows + self.n_suppressed)
        inputs = {"n_unique": counts.n_unique, "n_records": counts.n_rows + self.n_suppressed}
        return Score("uniques", counts.n_unique / n_records, best=0, worst=1, inputs=inputs)


@dataclass(frozen=True)
class MeanClassSize(ClassSizes):
    """Classes have at least so many records on the mean; measures the records per class.

    0 for no rows, 1 if everybody is alone; the more the better. S2 k-anonyMean of PWSCUP 2015, beside k-anonymity as
    S1; sees Y. The mean over classes is our choice; a large class hides small ones, so it promises nobody in
    particular anything. It speaks of the whole release, so all classes hold or none.

    Example: four records with the values a, a, a and b make two classes, so the measure is 2, though b is alone. With a
    size of 2 both classes hold, with 2.1 neither.
    """

    size: float = field(metadata={"help": "Fewest records a class may have on the mean."})

    sees_whole_release: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.size >= 1:
            raise InputError.of("at least 1", option="size", value=self.size)

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether there are enough records per class: one answer, repeated for every class."""
        return np.full(counts.n_classes, self.measure(counts).value >= self.size - ROUNDING)

    def measure(self, counts: ClassCounts) -> Score:
        """Return the records per class."""
        return Score("mean-class-size", counts.n_rows / max(1, counts.n_classes), best=math.inf, worst=0)
