"""m-invariance."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.grouping import group_rows
from tokumei.measures.several_releases import ABSENT, PersonRows, SeveralReleases


@dataclass(frozen=True)
class MInvariance:
    """Classes have m rows or more of different sensitive values, the same values in every release a person is in.

    Answers the intersection of releases by an attacker who wants to learn a sensitive value, also where people join
    and leave: since the values of a person's classes never change, comparing releases rules none of them out (Xiao
    and Tao 2007). Measures the largest m that the releases satisfy: 0 if in some class a value occurs twice or the
    values of somebody's classes change, 1 if a class has one row; the more the better. Its inputs say how many
    classes repeat a value, how many people's values change, and the k of all releases.

    Example: the classes of persons 1 and 2 have flu and cold both times, though 2 left and 5 came, so m is 2. Had
    person 5 an ulcer, the values of person 1 would change from flu and cold to flu and ulcer: m would be 0.

    | person | first | illness | second | illness |
    |--------|-------|---------|--------|---------|
    | 1      | 20-39 | flu     | 20-29  | flu     |
    | 2      | 20-39 | cold    | –      | –       |
    | 3      | 40-59 | flu     | 40-69  | flu     |
    | 4      | 40-59 | ulcer   | 40-69  | ulcer   |
    | 5      | –     | –       | 20-29  | cold    |
    """

    sensitive: str = field(metadata={"help": "The sensitive column."})
    m: int = field(metadata={"help": "Fewest rows, all of different values, allowed in one class."})

    def __post_init__(self) -> None:
        if self.m < 1:
            raise InputError.of("at least 1", option="m", value=self.m)

    def holds(self, releases: SeveralReleases) -> bool:
        """Whether the releases are m-invariant; releases of nobody are."""
        return not releases.n_persons or self.measure(releases).value >= self.m

    def measure(self, releases: SeveralReleases) -> Score:
        """Return the largest m that the releases satisfy."""
        releases.check_sensitive(self.sensitive)
        n_repeating = sum(_n_repeating(release, self.sensitive) for release in releases.releases)
        n_changing = int(_changes(releases, self.sensitive).sum())
        fewest = min((release.k for release in releases.releases if len(release.class_of)), default=0)
        inputs = {
            "sensitive": self.sensitive,
            "k": fewest,
            "classes_that_repeat_a_value": n_repeating,
            "people_whose_values_change": n_changing,
        }
        value = 0 if n_repeating or n_changing else fewest
        return Score("m-invariance", value, best=math.inf, worst=0, inputs=inputs)


def _n_repeating(release: PersonRows, column: str) -> int:
    """Count the classes in which some value occurs more than once."""
    pairs, counts = _pairs(release, column)
    return len(np.unique(pairs[counts > 1, 0]))


def _changes(releases: SeveralReleases, column: str) -> npt.NDArray[np.bool_]:
    """Whether the set of values of each person's classes differs between releases."""
    signatures: dict[bytes, int] = {}
    of_person = np.full(releases.is_in.shape, ABSENT, np.int64)
    for index, release in enumerate(releases.releases):
        numbers = _signatures(release, column, signatures)
        is_in = releases.is_in[:, index]
        of_person[is_in, index] = numbers[releases.class_of[is_in, index]]
    largest = of_person.max(axis=1, initial=ABSENT)
    changes: npt.NDArray[np.bool_] = ((of_person != ABSENT) & (of_person != largest[:, None])).any(axis=1)
    return changes


def _signatures(release: PersonRows, column: str, known: dict[bytes, int]) -> npt.NDArray[np.int64]:
    """Return a number for the set of values of each class, equal for equal sets in releases that share `known`."""
    pairs, _ = _pairs(release, column)
    starts = np.searchsorted(pairs[:, 0], np.arange(release.n_classes + 1))
    values = np.ascontiguousarray(pairs[:, 1])
    sets = (values[start:end].tobytes() for start, end in pairwise(starts.tolist()))
    return np.array([known.setdefault(one, len(known)) for one in sets], np.int64)


def _pairs(release: PersonRows, column: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return each class with each of its values, in ascending order, and how often they occur together."""
    codes = release.sensitive[column]
    n_values = int(codes.max(initial=0)) + 1
    grouping = group_rows([release.class_of.astype(np.int32), codes], [max(1, release.n_classes), n_values], len(codes))
    rows = grouping.a_row_of
    pairs = np.column_stack([release.class_of[rows], codes[rows].astype(np.int64)])
    return pairs, grouping.sums(np.ones(len(codes), np.int64))
