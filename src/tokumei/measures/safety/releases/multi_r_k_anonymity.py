"""MultiR k-anonymity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.grouping import group_rows
from tokumei.measures.several_releases import PersonRows, SeveralReleases

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class MultiRKAnonymity:
    """The rows of each person in all tables together are those of at least k people; measures the fewest.

    Answers record linkage where one person has many rows in many tables, such as visits and prescriptions, that are
    joined by a person's number: each table may have a large k and the number of visits still tell who it is (Nergiz,
    Clifton and Nergiz 2007). Two people are alike if they have the same rows, each as often, in every table; no row
    is like no row. Every table must hold the person's number. 0 for nobody, 1 if somebody's rows are unlike all
    others'; the more the better. Its inputs have the fewest people with the same rows in each table alone.

    Example: persons 1 and 2 are alike. Person 3 has the same kinds of rows, but one visit more, so the measure is 1.
    Without the second visit of person 3 it is 3.

    | person | age in table one | visits in table two |
    |--------|------------------|---------------------|
    | 1      | 20-39            | clinic              |
    | 2      | 20-39            | clinic              |
    | 3      | 20-39            | clinic, clinic      |
    """

    k: int = field(metadata={"help": "Fewest people who may have the same rows."})

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError.of("at least 1", option="k", value=self.k)

    def holds(self, releases: SeveralReleases) -> bool:
        """Whether everybody's rows are those of k people."""
        return bool((_n_alike(releases, _kinds_of_each(releases)) >= self.k).all())

    def measure(self, releases: SeveralReleases) -> Score:
        """Return the fewest people who have the same rows."""
        kinds = _kinds_of_each(releases)
        n_alike = _n_alike(releases, kinds)
        inputs = {
            "k_alone": [_fewest(kind, is_in) for kind, is_in in zip(kinds, releases.is_in.T, strict=True)],
            "persons": releases.n_persons,
            "people_in_all": int(releases.is_in.all(axis=1).sum()),
            "singled_out": int((n_alike == 1).sum()),
        }
        fewest = int(n_alike.min()) if releases.n_persons else 0
        return Score("multi-r-k-anonymity", fewest, best=math.inf, worst=0, inputs=inputs)


def _n_alike(releases: SeveralReleases, kinds: Sequence[Ints]) -> Ints:
    """Count for each person those with the same rows, the person included."""
    columns, radices = [kind.astype(np.int32) for kind in kinds], [int(kind.max(initial=0)) + 1 for kind in kinds]
    group_of = group_rows(columns, radices, releases.n_persons).group_of
    return np.bincount(group_of, minlength=1)[group_of].astype(np.int64)


def _fewest(kinds: Ints, is_in: npt.NDArray[np.bool_]) -> int:
    """Return the fewest people of a table who have the same rows there; 0 if it has no rows."""
    counts = np.bincount(kinds[is_in])
    return int(counts[counts > 0].min(initial=len(kinds))) if is_in.any() else 0


def _kinds_of_each(releases: SeveralReleases) -> list[Ints]:
    return [_kinds(release, releases.n_persons) for release in releases.releases]


def _kinds(release: PersonRows, n_persons: int) -> Ints:
    """Return a number for what each person has in one table, equal for equal rows, each as often."""
    if release.rows_of_one is None:
        kinds = np.zeros(n_persons, np.int64)
        kinds[release.person_of] = release.class_of + 1
        return kinds
    order = np.lexsort((release.class_of, release.person_of))
    classes = np.ascontiguousarray(release.class_of[order])
    ends = np.append(0, np.cumsum(np.bincount(release.person_of, minlength=n_persons)))
    known: dict[bytes, int] = {}
    spans = (classes[start:end].tobytes() for start, end in pairwise(ends.tolist()))
    return np.array([known.setdefault(span, len(known)) for span in spans], np.int64)
