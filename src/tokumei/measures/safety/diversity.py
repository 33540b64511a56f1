"""How many sensitive values a class has, and how common one may be: ℓ-diversity, (X,Y)-anonymity, (α,k)-anonymity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.class_counts import ClassCounts, Histogram
from tokumei.engines.grouping import Indices, group_rows
from tokumei.measures.requirement import MISSING_IS_A_VALUE, ROUNDING, Holds
from tokumei.measures.safety.sensitive_values import Numbers, SensitiveValues


@dataclass(frozen=True)
class LDiversity:
    """Every class has at least ℓ well represented sensitive values; measures the least ℓ of a class.

    - `distinct`: its number of different values.
    - `entropy`: e to the entropy of their shares, which is the number of values where all are equally frequent.
    - `recursive`: the largest ℓ with r₁ < c · (r_ℓ + … + r_m), where r₁ ≥ … ≥ r_m are the counts of its values; ℓ = 1
      always holds.

    0 for no rows, 1 if some class has but one value; the more the better. Where missing values do not count, a class
    without any other has ℓ = 0. Answers attribute linkage (Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam 2007).

    Example: the least ℓ is 2 by `distinct`, 1.75 by `entropy` and 1 by `recursive` with c = 2. In C flu has 3 rows,
    which is less than 2 · (3 + 1), but not less than 2 · 1. A missing illness is here a value of its own.

    | zip | illnesses                    | distinct | entropy | recursive |
    |-----|------------------------------|----------|---------|-----------|
    | A   | flu, flu, cold, ulcer        | 3        | 2.83    | 2         |
    | B   | flu, cold                    | 2        | 2       | 2         |
    | C   | flu, flu, flu, a missing one | 2        | 1.75    | 1         |
    """

    sensitive: str = field(metadata={"help": "The sensitive column."})
    l: float = field(metadata={"help": "Fewest well represented values allowed in one class."})  # noqa: E741 - its name
    kind: Literal["distinct", "entropy", "recursive"] = field(
        default="distinct", metadata={"help": "What well represented means."}
    )
    c: float | None = field(
        default=None, metadata={"help": "For recursive: how much the most frequent value may outweigh the rare ones."}
    )
    is_missing_a_value: bool = field(
        default=MISSING_IS_A_VALUE, metadata={"help": "Whether a missing sensitive value counts as a value of its own."}
    )

    def __post_init__(self) -> None:
        if self.l < 1:
            raise InputError.of("at least 1", option="l", value=self.l)
        if self.kind not in ("distinct", "entropy", "recursive"):
            raise InputError.of("distinct, entropy or recursive", option="kind", value=self.kind)
        if self.kind == "recursive" and (self.c is None or self.c <= 0):
            raise InputError.of("a number above 0 for recursive ℓ-diversity", option="c", value=self.c)

    @property
    def sensitive_columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.sensitive,)

    @property
    def is_monotone(self) -> bool:
        """All kinds are: a merged class has the values of both, at least their mean entropy, and a longer tail."""
        return True

    @property
    def is_strongly_monotone(self) -> bool:
        """Only the number of values never falls: a large class of one value can drown a diverse one."""
        return self.kind == "distinct"

    def values_in(self, counts: ClassCounts) -> SensitiveValues:
        """Take the sensitive values out of class counts."""
        return SensitiveValues.of(counts, self.sensitive, is_missing_a_value=self.is_missing_a_value)

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether each class has ℓ well represented values."""
        return self.achieved(self.values_in(counts)) >= self.l - ROUNDING

    def measure(self, counts: ClassCounts) -> Score:
        """Return the least ℓ of a class."""
        return self.score(self.values_in(counts))

    def achieved(self, values: SensitiveValues) -> Numbers:
        """Return the ℓ of each class."""
        if self.kind == "entropy":
            return entropy_l(values)
        if self.kind == "recursive":
            return recursive_l(values, self.c or 0)
        return values.in_all(values.n_values)

    def score(self, values: SensitiveValues) -> Score:
        """Return the least ℓ of a class, from known values."""
        least = float(self.achieved(values).min()) if values.n_classes else 0.0
        inputs = {"sensitive": self.sensitive} | ({"c": self.c} if self.kind == "recursive" else {})
        return Score(f"l-diversity-{self.kind}", least, best=math.inf, worst=0, inputs=inputs)


def entropy_l(values: SensitiveValues) -> Numbers:
    """Return e to the entropy of each class; 0 for one without values."""
    # −Σ c/n · ln(c/n) = ln n − Σ c · ln c / n, which takes one logarithm a pair and no division.
    weighted = np.add.reduceat(values.counts * np.log(values.counts), values.starts) if len(values.starts) else 0.0
    # By rounding, a single value could come out as less than one.
    return values.in_all(np.clip(values.totals * np.exp(-weighted / values.totals), 1, values.n_values))


def recursive_l(values: SensitiveValues, c: float) -> Numbers:
    """Return the largest ℓ of each class with r₁ < c · (r_ℓ + … + r_m)."""
    counts = values.descending
    up_to = np.cumsum(counts)
    ends = values.repeated(up_to[values.starts + values.n_values - 1])
    tail = ends - up_to + counts
    # The tail shrinks with ℓ, so the ℓ that hold are the first ones, and counting them gives the largest.
    holds = values.repeated(values.largest) < c * tail - ROUNDING
    # "We say that 1-diversity is always satisfied", of one value too, with any c.
    return np.maximum(values.sums(holds.astype(np.int64)), values.in_all(np.ones(len(values.starts))))


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


@dataclass(frozen=True)
class AlphaK:
    """Every class has at least k rows, and no sensitive value a share of more than α in it; measures the largest share.

    Near 0 if every value is rare in every class, 1 if some class has but one value; k is among its inputs. Where
    missing values do not count, shares are of the rows with a value, and a class without any has share 0; its size
    counts all rows. Answers record and attribute linkage (Wong, Li, Fu and Wang 2006, their general form: every value
    is protected).

    Example: with α = 2/3 and k = 3 the classes A and B hold, C does not, since it has one row. With α = 1/2 B fails as
    well. The measure is 1, because of C, and its input k is 1.

    | zip | illnesses                | rows | largest share |
    |-----|--------------------------|------|---------------|
    | A   | flu, flu, cold, ulcer    | 4    | 1/2           |
    | B   | flu, flu, a missing one  | 3    | 2/3           |
    | C   | flu                      | 1    | 1             |
    """

    sensitive: str = field(metadata={"help": "The sensitive column."})
    alpha: float = field(metadata={"help": "Largest share of one value allowed in a class, above 0 and at most 1."})
    k: int = field(metadata={"help": "Fewest rows allowed in one class."})
    is_missing_a_value: bool = field(
        default=MISSING_IS_A_VALUE, metadata={"help": "Whether a missing sensitive value counts as a value of its own."}
    )

    is_monotone: ClassVar[bool] = True
    is_strongly_monotone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 < self.alpha <= 1:
            raise InputError.of("a share above 0 and at most 1", option="alpha", value=self.alpha)
        if self.k < 1:
            raise InputError.of("at least 1", option="k", value=self.k)

    @property
    def sensitive_columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.sensitive,)

    def values_in(self, counts: ClassCounts) -> SensitiveValues:
        """Take the sensitive values out of class counts."""
        return SensitiveValues.of(counts, self.sensitive, is_missing_a_value=self.is_missing_a_value)

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether each class has k rows, or people, and no value a share of more than α."""
        is_spread: Holds = self.achieved(self.values_in(counts)) <= self.alpha + ROUNDING
        return np.logical_and(is_spread, counts.people >= self.k)

    def measure(self, counts: ClassCounts) -> Score:
        """Return the largest share of a value in a class."""
        return self.score(self.values_in(counts), counts.k)

    def achieved(self, values: SensitiveValues) -> Numbers:
        """Return the share of the most frequent value of each class."""
        # A person may have several values, and so counts once among those of the class.
        of = values.totals if values.holders is None else values.holders[values.class_of[values.starts]]
        return values.in_all(values.largest / of)

    def score(self, values: SensitiveValues, k: int) -> Score:
        """Return the largest share of a value in a class, from known values and the size of the smallest class."""
        largest = float(self.achieved(values).max()) if values.n_classes else 0.0
        return Score("alpha-k", largest, best=0, worst=1, inputs={"sensitive": self.sensitive, "k": k})
