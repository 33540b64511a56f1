"""(X,Y)-anonymity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.class_counts import ClassCounts, Histogram
from tokumei.engines.grouping import Indices, group_rows
from tokumei.measures.requirement import MISSING_IS_A_VALUE, Holds
from tokumei.measures.safety._sensitive import Numbers, SensitiveValues


@dataclass(frozen=True)
class XYAnonymity:
    """Every class over the columns X has at least k different values of the columns Y; measures the fewest.

    0 for no rows, 1 if some values of X tell those of Y; the more the better. X are the counted columns and Y is
    their histogram (see `count_together` for several). With a person's number as Y it is k-anonymity for
    tables with many rows a person. Answers record linkage (Wang and Fung 2006).

    Example: the rows are visits, X is the sex and Y the person. Women have five rows, but these are of two people, so
    the measure is 2. With k = 3 only the class of men holds, and if a missing person is no value, neither does.

    | sex | persons of the rows | different |
    |-----|---------------------|-----------|
    | f   | 1, 1, 1, 2, 2       | 2         |
    | m   | 3, 4, a missing one | 3         |
    """

    y: str = field(metadata={"help": "The histogram of the columns Y."})
    k: int = field(metadata={"help": "Fewest different values of Y allowed in one class."})
    is_missing_a_value: bool = field(
        default=MISSING_IS_A_VALUE, metadata={"help": "Whether a missing Y counts as a value of its own."}
    )

    is_monotone: ClassVar[bool] = True
    is_strongly_monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError.of("at least 1", option="k", value=self.k)

    @property
    def sensitive_columns(self) -> tuple[str, ...]:
        """The histogram of Y."""
        return (self.y,)

    def values_in(self, counts: ClassCounts) -> SensitiveValues:
        """Take the values of Y out of class counts."""
        return SensitiveValues.of(counts, self.y, is_missing_a_value=self.is_missing_a_value)

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether each class has k values of Y."""
        return self.achieved(self.values_in(counts)) >= self.k

    def measure(self, counts: ClassCounts) -> Score:
        """Return the fewest values of Y in a class."""
        return self.score(self.values_in(counts))

    def achieved(self, values: SensitiveValues) -> Numbers:
        """Return the number of values of Y in each class."""
        return values.in_all(values.n_values)

    def score(self, values: SensitiveValues) -> Score:
        """Return the fewest values of Y in a class, from known values."""
        fewest = self.achieved(values).min() if values.n_classes else 0
        return Score("x-y-anonymity", int(fewest), best=math.inf, worst=0, inputs={"y": self.y})


def count_together(counts: ClassCounts, y: Sequence[str], name: str = "y") -> ClassCounts:
    """Return the counts over the other columns, with a histogram of the combinations of the columns Y.

    | a | b | c | rows |        | a | rows | y            |
    |---|---|---|------|   →    |---|------|--------------|
    | 1 | x | p | 2    |        | 1 | 3    | (x,p), (x,q) |
    | 1 | x | q | 1    |

    The histograms there are stay. A combination is a value even where all of it is missing.
    """
    x = [column for column in counts.columns if column not in y]
    over_x, over_y = counts.over(x), counts.over(y)
    class_of, value_of = _class_of_each(counts, x), _class_of_each(counts, y)
    # Each pair occurs once, since there is one class for every combination of X and Y.
    order = np.lexsort((value_of, class_of))
    combinations = over_y.values().to_struct(name)
    histogram = Histogram(combinations, class_of[order], value_of[order].astype(np.int32), counts.sizes[order])
    return replace(over_x, histograms={**over_x.histograms, name: histogram})


def _class_of_each(counts: ClassCounts, columns: Sequence[str]) -> Indices:
    """Return the class over some of the columns to which each class belongs."""
    codes = [counts.codes[counts.columns.index(column)] for column in columns]
    return group_rows(codes, [len(counts.domain(column)) for column in columns], counts.n_classes).group_of
