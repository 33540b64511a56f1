"""The k of several releases together."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.measures.safety.releases._intersection import Intersection
from tokumei.measures.several_releases import SeveralReleases


@dataclass(frozen=True)
class SequentialK:
    """Everybody shares all their classes, in every release they are in, with k − 1 others; measures the fewest.

    Answers the intersection of releases: who knows the class of a person in each release is left with those who are
    in all of these classes, and with the sensitive values that occur in all of them (Wang and Fung 2006; Ganta,
    Kasiviswanathan and Smith 2008). 0 for nobody, 1 if the releases together single somebody out; the more the
    better. Its inputs have the k of each release alone and, for each sensitive column, the fewest values that remain
    possible for a person whose value stayed the same.

    Example: each release alone keeps everybody among two or more. Together they single out persons 3 and 4, so the
    measure is 1. The classes of person 3 have the illnesses cold, ulcer and flu in the first release and flu and
    asthma in the second: only flu remains possible.

    | person | first | second | illness |
    |--------|-------|--------|---------|
    | 1      | 20-39 | west   | cold    |
    | 2      | 20-39 | west   | ulcer   |
    | 3      | 20-39 | east   | flu     |
    | 4      | 40-59 | east   | asthma  |
    | 5      | 40-59 | west   | flu     |
    | 6      | 40-59 | west   | cold    |
    """

    k: int = field(metadata={"help": "Fewest people who may share all classes of a person."})

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError.of("at least 1", option="k", value=self.k)

    def holds(self, releases: SeveralReleases) -> bool:
        """Whether everybody is among k."""
        return bool(self.holds_for(releases).all())

    def holds_for(self, releases: SeveralReleases) -> npt.NDArray[np.bool_]:
        """Whether k people share all classes of each person."""
        return Intersection.of(releases).n_alike >= self.k

    def measure(self, releases: SeveralReleases) -> Score:
        """Return the fewest people who share all classes of a person."""
        together = Intersection.of(releases)
        inputs = {
            "k_alone": [release.k for release in releases.releases],
            "persons": releases.n_persons,
            "people_in_all": int(releases.is_in.all(axis=1).sum()),
            "singled_out": int((together.n_alike == 1).sum()),
            "remaining": {column: together.fewest_remaining(column) for column in releases.domains},
        }
        fewest = int(together.n_alike.min()) if releases.n_persons else 0
        return Score("sequential-k", fewest, best=math.inf, worst=0, inputs=inputs)
