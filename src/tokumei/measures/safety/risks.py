"""The risk of being found again, by what the attacker knows and wants, and the thresholds that others have used.

The children's hospital CHEO in Ottawa allows a probability of finding somebody again that depends on who receives the
data: 0.33 for a trusted recipient such as a public or academic body, 0.05 for release to the public. Source: K. El
Emam's rules at CHEO as given in the thesis that Tokumei grew from, section 2.7.4, which puts them as 3-anonymity and
20-anonymity. CHEO also weighs the recipient's motives, capacity and safeguards, which no count can know, and takes the
likeliest way to an attacker. One has a number in the thesis: a health care organization loses data with a chance of
0.27. Leaked data are as public as released ones, so that 0.27/k must be at most 0.05: 6-anonymity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError, UnknownPart
from tokumei.core.score import Score
from tokumei.engines.class_counts import ClassCounts, Recoding
from tokumei.measures.requirement import ROUNDING, ClassSizes, Holds, Requirement
from tokumei.measures.safety.class_sizes import KAnonymity
from tokumei.measures.safety.population import PopulationMatch, recoded_population


@dataclass(frozen=True)
class RiskProfile:
    """The least, mean and largest risk of records, and the share of them above a threshold.

    Least and largest are of the released records. Mean and share are of all records, where those that were
    suppressed are at no risk.
    """

    least: float
    mean: float
    largest: float
    share_above: float

    @classmethod
    def of(
        cls,
        sizes: npt.NDArray[np.int64],
        candidates: npt.NDArray[np.int64],
        *,
        threshold: float,
        n_suppressed: int = 0,
    ) -> RiskProfile:
        """Compute the risk 1/candidates of every record, given the size and the candidates of each class."""
        if not len(sizes):
            return cls(0.0, 0.0, 0.0, 0.0)
        n_records = int(sizes.sum()) + n_suppressed
        n_above = int(sizes[~is_within(candidates, threshold)].sum())
        mean = float((sizes / candidates).sum()) / n_records
        return cls(1 / int(candidates.max()), mean, 1 / int(candidates.min()), n_above / n_records)

    def score(self, name: str) -> Score:
        """Return the largest risk as the score, with the others as its inputs."""
        return Score(name, self.largest, best=0, worst=1, inputs=asdict(self))

    def scores(self, name: str) -> dict[str, Score]:
        """Return the four numbers as scores: the largest under the plain name."""
        named = {
            name: self.largest,
            f"{name}-mean": self.mean,
            f"{name}-least": self.least,
            f"{name}-share-above": self.share_above,
        }
        return {name: Score(name, value, best=0, worst=1) for name, value in named.items()}


def is_within(candidates: npt.NDArray[np.int64], threshold: float) -> npt.NDArray[np.bool_]:
    """Whether the risk 1/candidates of each class is at most the threshold."""
    out: npt.NDArray[np.bool_] = candidates * threshold >= 1 - ROUNDING
    return out


def check_risk_options(threshold: float, n_suppressed: int) -> None:
    """Refuse a threshold that is no probability and a negative number of records."""
    if not 0 < threshold <= 1:
        raise InputError.of("a risk above 0 and at most 1", option="threshold", value=threshold)
    if n_suppressed < 0:
        raise InputError.of("a number of records", option="n_suppressed", value=n_suppressed)


@dataclass(frozen=True)
class ProsecutorRisk(ClassSizes):
    """No record is found again more surely than a threshold by someone who knows that the person is in the release.

    The risk of a record is 1 over the size of its class. Measures the largest: near 0 in one large class, 1 if
    somebody is alone; its inputs are the least, the mean and the share of records above the threshold. Mean and
    share are of all records, those suppressed being at no risk.

    Example: the measure is 1. The mean is (4 · 1/4 + 3 · 1/3 + 1) / 8 = 3/8, which is classes over records. With a
    threshold of 0.3 only the class of 30 holds, and half of the records are above.

    | age | records | risk |
    |-----|---------|------|
    | 30  | 4       | 1/4  |
    | 40  | 3       | 1/3  |
    | 50  | 1       | 1    |
    """

    threshold: float = field(metadata={"help": "Largest risk allowed, above 0 and at most 1."})
    n_suppressed: int = field(default=0, metadata={"help": "Number of records that were suppressed."})

    def __post_init__(self) -> None:
        check_risk_options(self.threshold, self.n_suppressed)

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether the risk of the records of each class is at most the threshold."""
        return is_within(counts.people, self.threshold)

    def measure(self, counts: ClassCounts) -> Score:
        """Return the largest risk of a record."""
        return self.profile(counts).score("prosecutor-risk")

    def profile(self, counts: ClassCounts) -> RiskProfile:
        """Return least, mean and largest risk and the share of records above the threshold."""
        return RiskProfile.of(counts.people, counts.people, threshold=self.threshold, n_suppressed=self.n_suppressed)


# Compared by identity, since counts are arrays.
@dataclass(frozen=True, eq=False)
class JournalistRisk(ClassSizes):
    """No record is found again more surely than a threshold by someone who knows the population, not who is released.

    The risk of a record is 1 over the number of people in the population with its values. Measures the largest:
    near 0 in one large class, 1 if somebody is alone in the population; its inputs are the least, the mean and the
    share of records above the threshold. Mean and share are of all records, those suppressed being at no risk.

    Example: the measure is 1, since the one of 50 is alone in the population, too. The mean is
    (1/5 + 1/5 + 1/2 + 1) / 4 = 0.475. With a threshold of 0.5 all but the class of 50 hold: 1/4 of the records is
    above.

    | age | in the release | in the population | risk |
    |-----|----------------|-------------------|------|
    | 30  | 2              | 5                 | 1/5  |
    | 40  | 1              | 2                 | 1/2  |
    | 50  | 1              | 1                 | 1    |
    | 60  | 0              | 9                 |      |
    """

    population: ClassCounts = field(metadata={"help": "Class counts of the population, over the same columns."})
    threshold: float = field(metadata={"help": "Largest risk allowed, above 0 and at most 1."})
    n_suppressed: int = field(default=0, metadata={"help": "Number of records that were suppressed."})

    def __post_init__(self) -> None:
        check_risk_options(self.threshold, self.n_suppressed)

    def recoded(self, recodings: Iterable[Recoding]) -> JournalistRisk:
        """Return the requirement for a release at other levels."""
        return replace(self, population=recoded_population(self.population, recodings))

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether the risk of the records of each class is at most the threshold."""
        return is_within(PopulationMatch.of(counts, self.population).population_sizes, self.threshold)

    def measure(self, counts: ClassCounts) -> Score:
        """Return the largest risk of a record."""
        return self.profile(PopulationMatch.of(counts, self.population)).score("journalist-risk")

    def profile(self, match: PopulationMatch) -> RiskProfile:
        """Return least, mean and largest risk and the share of records above the threshold."""
        return RiskProfile.of(
            match.sizes, match.population_sizes, threshold=self.threshold, n_suppressed=self.n_suppressed
        )


# Compared by identity, since counts are arrays.
@dataclass(frozen=True, eq=False)
class MarketerRisk(ClassSizes):
    """At most a share of all records is found again by someone who matches each of them to a person with its values.

    Measures the expected share: the mean over records of 1 over the number of people with their values, in the
    population or, if none is given, in the release. Near 0 in one large class, 1 if everybody is alone. The share is
    of all records, those suppressed being at no risk. It speaks of the whole release, so all classes hold or none.

    Example: of four records three are of age 30 and one of 40. Within the release one of each class is expected to be
    found: 2 of 4, so the measure is 1/2. In a population with six people of 30 and two of 40 it is
    (3 · 1/6 + 1/2) / 4 = 1/4.
    """

    threshold: float = field(metadata={"help": "Largest expected share allowed, above 0 and at most 1."})
    population: ClassCounts | None = field(
        default=None, metadata={"help": "Class counts of the population, over the same columns."}
    )
    n_suppressed: int = field(default=0, metadata={"help": "Number of records that were suppressed."})

    sees_whole_release: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_risk_options(self.threshold, self.n_suppressed)

    def recoded(self, recodings: Iterable[Recoding]) -> MarketerRisk:
        """Return the requirement for a release at other levels."""
        if self.population is None:
            return self
        return replace(self, population=recoded_population(self.population, recodings))

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether the expected share is at most the threshold: one answer, repeated for every class."""
        return np.full(counts.n_classes, self.measure(counts).value <= self.threshold + ROUNDING)

    def measure(self, counts: ClassCounts) -> Score:
        """Return the expected share of records found again."""
        if self.population is None:
            return self.score(PopulationMatch(counts.people, counts.people, 0))
        return self.score(PopulationMatch.of(counts, self.population))

    def score(self, match: PopulationMatch) -> Score:
        """Return the expected share of records found again, from the known people of each class."""
        profile = RiskProfile.of(
            match.sizes, match.population_sizes, threshold=self.threshold, n_suppressed=self.n_suppressed
        )
        return Score("marketer-risk", profile.mean, best=0, worst=1)


# That a health care organization loses data, by the statistics of the government (CHEO; thesis section 2.7.4).
BREACH_CHANCE = 0.27
# What CHEO allows of data that everybody can have, as those that leaked.
PUBLIC_RISK = 0.05


@dataclass(frozen=True)
class BreachRisk(ClassSizes):
    """No record is found again by a breach more surely than a threshold.

    A recipient who is trusted looks for nobody, but may lose the data. The risk of a record is then the chance of a
    breach times 1 over the size of its class (El Emam's rules at CHEO: of all ways to an attacker, the likeliest
    counts). Measures the largest: near 0 in one large class, the chance of a breach if somebody is alone.

    Example: with a chance of 0.27 the measure is 0.09. Under a threshold of 0.05 only the class of 30 holds, as do all
    of six records or more.

    | age | records | risk          |
    |-----|---------|---------------|
    | 30  | 6       | 0.27/6 = .045 |
    | 40  | 3       | 0.27/3 = .09  |
    """

    threshold: float = field(default=PUBLIC_RISK, metadata={"help": "Largest risk allowed, above 0 and at most 1."})
    chance: float = field(default=BREACH_CHANCE, metadata={"help": "Chance of a breach, above 0 and at most 1."})

    def __post_init__(self) -> None:
        check_risk_options(self.threshold, 0)
        if not 0 < self.chance <= 1:
            raise InputError.of("a chance above 0 and at most 1", option="chance", value=self.chance)

    def holds_in(self, counts: ClassCounts) -> Holds:
        """Whether the risk of the records of each class is at most the threshold."""
        return is_within(counts.people, self.threshold / self.chance)

    def measure(self, counts: ClassCounts) -> Score:
        """Return the largest risk of a record."""
        found = RiskProfile.of(counts.people, counts.people, threshold=self.threshold / self.chance)
        return Score("breach-risk", self.chance * found.largest, best=0, worst=1)


@dataclass(frozen=True)
class Preset:
    """A threshold that somebody has used, as the risk it allows and the k that keeps it."""

    name: str
    printed_risk: float
    k: int
    use: str
    source: str
    # That somebody gets the data to look for people in them.
    chance: float = 1.0

    @property
    def max_risk(self) -> float:
        """The largest risk of a record allowed."""
        # Not the printed 0.33, which classes of three would exceed by a rounding.
        return self.printed_risk if self.chance < 1 else 1 / self.k

    def requirements(self) -> tuple[Requirement, ...]:
        """Return what a release must satisfy; the two agree, once as a size and once as a risk."""
        if self.chance < 1:
            return KAnonymity(self.k), BreachRisk(self.max_risk, self.chance)
        return KAnonymity(self.k), ProsecutorRisk(self.max_risk)


_CHEO = "El Emam, CHEO; thesis section 2.7.4"

PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        preset.name: preset
        for preset in (
            Preset("cheo-trusted-recipient", 0.33, 3, "Data for a trusted recipient, bound by contract.", _CHEO),
            Preset("cheo-public-release", 0.05, 20, "Data for everybody.", _CHEO),
            Preset("cheo-breach", PUBLIC_RISK, 6, "Data that a recipient may lose.", _CHEO, BREACH_CHANCE),
        )
    }
)


def preset(name: str) -> Preset:
    """Return the preset of that name; UnknownPart suggests the nearest one."""
    if name not in PRESETS:
        raise UnknownPart("preset", name, PRESETS)
    return PRESETS[name]
