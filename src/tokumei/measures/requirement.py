"""What a release must promise, and the safety measures by name.

All are computed on the class counts of the *released* rows and know nothing else of the release:

- A suppressed record is not a class. It is not among the counts, and only measures that speak of shares of all
  records are told how many there are (`n_suppressed`).
- A missing value is a value of its own in a class. As a sensitive value it is none, since it tells nobody's: rows
  without one are left out of what is compared, unless a measure is told otherwise (`is_missing_a_value`).
- Of no rows at all there is no class, so none fails, and every measure gives 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any, ClassVar, Protocol, cast, runtime_checkable

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError
from tokumei.core.registry import Registry, part_name
from tokumei.core.score import Score
from tokumei.engines.class_counts import ClassCounts, Histogram, Recoding

Holds = npt.NDArray[np.bool_]

# Whether a missing sensitive value counts as one more value: the one default of all measures and commands.
MISSING_IS_A_VALUE = False

# A promise that is met to the last digit may miss it by rounding.
ROUNDING = 1e-9


class Requirement(Protocol):
    """What every class of a release must satisfy; its fields are its options.

    A search over a lattice may skip nodes by two properties, for a coarser node has the same rows in merged classes:

    | measure | is monotone | strongly | why |
    |---|---|---|---|
    | k-anonymity, uniques, prosecutor risk | yes | yes | a merged class is larger |
    | k-map, journalist risk | yes | yes | a merged class is larger in the population too |
    | marketer risk | yes | yes | (a+b)/(A+B) is at most a/A + b/B, and all classes hold together |
    | mean class size | yes | yes | fewer classes of as many rows, and all classes hold together |
    | distinct ℓ-diversity, (X,Y)-anonymity | yes | yes | a merged class has the values of both |
    | entropy ℓ-diversity | yes | no | entropy is concave: a mix has at least the mean |
    | recursive (c,ℓ)-diversity | yes | no | the top adds up at most, the tail at least |
    | t-closeness | yes | no | each distance is convex: a mix is no further than the furthest part |
    | (α,k), β-likeness, δ-disclosure | yes | no | a mix's share lies between the shares of its parts |
    | δ-presence | yes | no | (a+b)/(A+B) lies between a/A and b/B |

    Strongly monotone measures never suppress more rows at a coarser node; the others may, because a class that
    holds can be merged with one that fails. A requirement that compares a class with the whole release has
    `sees_whole_release`, and is judged after suppression.
    """

    @property
    def sensitive_columns(self) -> tuple[str, ...]:
        """The columns whose histograms the counts must have."""

    @property
    def is_monotone(self) -> bool:
        """Whether classes that hold, merged with each other, still hold."""

    @property
    def is_strongly_monotone(self) -> bool:
        """Whether a class that holds still holds when merged with any class, one that fails too."""

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether each class satisfies the requirement."""

    def measure(self, counts: ClassCounts) -> Score:
        """Return the value achieved over all classes."""


class ClassSizes:
    """What all requirements have in common that only look at how large classes are."""

    sensitive_columns: ClassVar[tuple[str, ...]] = ()
    is_monotone: ClassVar[bool] = True
    is_strongly_monotone: ClassVar[bool] = True


@runtime_checkable
class PopulationRequirement(Requirement, Protocol):
    """A requirement that compares the release with the population it was drawn from.

    The population is counted over the same columns in the same labels, and holds everyone in the release.
    """

    @property
    def population(self) -> ClassCounts | None:
        """Class counts of the population, if the requirement was told one."""

    def recoded(self, recodings: Iterable[Recoding]) -> PopulationRequirement:
        """Return the requirement for a release at other levels: its population is recoded likewise."""


def sees_whole_release(requirement: Requirement) -> bool:
    """Whether a class may come to hold or fail because another one is left out."""
    return bool(getattr(requirement, "sees_whole_release", False))


def classes_to_keep(counts: ClassCounts, requirements: Iterable[Requirement], kept: Holds | None = None) -> Holds:
    """Return which classes can be released together, all others left out; `kept` are known to hold by themselves.

    What looks at one class at a time is asked first. What looks at all of them is asked of those that are left, and
    again while more have to go: a promise is about the release, not about the rows that it was made of.
    """
    requirements = list(requirements)
    alone = [one for one in requirements if not sees_whole_release(one)]
    if kept is None:
        kept = np.ones(counts.n_classes, bool)
    for requirement in alone:
        kept = kept & requirement.holds_in(counts)
    together = [one for one in requirements if sees_whole_release(one)]
    while together and kept.any():
        left = counts if kept.all() else counts.taken(kept)
        holds = np.all([one.holds_in(left) for one in together], axis=0)
        if holds.all():
            break
        kept = kept.copy()
        kept[kept] = holds
    return kept


def population_of(requirement: Requirement) -> ClassCounts | None:
    """Return the population that a requirement compares with; None if it compares with none."""
    return requirement.population if isinstance(requirement, PopulationRequirement) else None


def with_population(requirement: Requirement, population: ClassCounts) -> Requirement:
    """Return the requirement with another population, such as the same people in other groups."""
    return replace(requirement, population=population)  # type: ignore[type-var]


def sensitive_histogram(counts: ClassCounts, column: str) -> Histogram:
    """Return the histogram of a sensitive column, or raise an InputError that names those there are."""
    if column not in counts.histograms:
        known = ", ".join(counts.sensitive) or "none was"
        raise InputError.of(f"a column counted as sensitive: {known}", value=column)
    return counts.histograms[column].of_values


def value_shares(counts: ClassCounts, column: str) -> dict[object, float]:
    """Return the share of each sensitive value among all rows or people, the reference of t-closeness and β-likeness.

    With the original's shares as reference a class holds or fails whatever other rows are suppressed.
    """
    values = sensitive_histogram(counts, column).values
    if values.dtype.is_nested():
        raise InputError.of("a sensitive column of single values", column=column, value=values.dtype)
    totals = counts.histograms[column].totals()
    shares = totals / max(1.0, totals.sum())
    return dict(zip(values.to_list(), shares.tolist(), strict=True))


SAFETY: Registry[Requirement] = Registry(
    "safety measure",
    "tokumei.measures.safety",
    {
        "class_sizes": ["k-anonymity", "mean-class-size", "uniques"],
        "closeness": ["beta-likeness", "delta-disclosure", "t-closeness"],
        "diversity": ["alpha-k", "l-diversity", "x-y-anonymity"],
        "population": ["delta-presence", "k-map"],
        "risks": ["breach-risk", "journalist-risk", "marketer-risk", "prosecutor-risk"],
    },
)


def in_words(requirement: Requirement) -> str:
    """Write a requirement by its name and its plain options."""
    options = {one.name: getattr(requirement, one.name) for one in fields(cast("Any", requirement))}
    plain = {k: v for k, v in options.items() if isinstance(v, (int, float, str)) and not isinstance(v, bool)}
    said = [f"{name.replace('_', ' ')} {value}" for name, value in plain.items()]
    return f"{part_name(requirement)} ({', '.join(said)})"
