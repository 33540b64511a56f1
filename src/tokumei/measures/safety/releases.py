"""What several releases of the same people promise together: sequential k, m-invariance and MultiR k-anonymity."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.engines.grouping import Indices, group_rows
from tokumei.measures.several_releases import ABSENT, PersonRows, SeveralReleases

if TYPE_CHECKING:
    from scipy import sparse


Ints = npt.NDArray[np.int64]

# Groups of people whose values are compared at once, so that memory stays small.
BLOCK_GROUPS = 20_000


@dataclass(frozen=True, eq=False)
class Intersection:
    """How many people, the person included, are in all classes of each person.

    Counted are those in every release that the person is in, with the same class there. Whether they are in others
    too makes no difference: that somebody is in no other release is more than an attacker can see.
    """

    releases: SeveralReleases
    n_alike: Ints

    @classmethod
    def of(cls, releases: SeveralReleases) -> Intersection:
        """Group the people once for each set of releases that somebody is in exactly."""
        n_alike = np.zeros(releases.n_persons, np.int64)
        for indices, persons in _by_presence(releases):
            others = np.flatnonzero(releases.is_in[:, indices].all(axis=1))
            group_of = np.full(releases.n_persons, ABSENT, np.int64)
            group_of[others] = _groups(releases, indices, others)
            n_alike[persons] = np.bincount(group_of[others])[group_of[persons]]
        return cls(releases, n_alike)

    def fewest_remaining(self, column: str) -> int | None:
        """Return the fewest sensitive values that remain possible for a person; None if nobody kept theirs."""
        remaining = self.n_remaining(column)
        known = remaining[remaining != ABSENT]
        return int(known.min()) if len(known) else None

    def n_remaining(self, column: str) -> Ints:
        """Count the values that occur in all classes of each person, −1 for those whose own value changed.

        Whoever knows that a value changed cannot rule values out by comparing.
        """
        releases, n_remaining = self.releases, np.full(self.releases.n_persons, ABSENT, np.int64)
        is_constant = _is_constant(releases.sensitive_of(column))
        occurs = [_values_of_classes(one, column, len(releases.domains[column])) for one in releases.releases]
        for indices, everybody in _by_presence(releases):
            persons = everybody[is_constant[everybody]]
            if len(persons):
                group_of = _groups(releases, indices, persons)
                a_person_of = persons[np.unique(group_of, return_index=True)[1]]
                classes = releases.class_of[a_person_of][:, indices]
                n_remaining[persons] = _n_common([occurs[index] for index in indices], classes)[group_of]
        return n_remaining


def _by_presence(releases: SeveralReleases) -> Iterator[tuple[Indices, Indices]]:
    """Yield each set of releases that somebody is in exactly, by their indices, with those people."""
    columns = list(releases.is_in.T.astype(np.int32))
    grouping = group_rows(columns, [2] * len(columns), releases.n_persons)
    group_of = grouping.group_of
    for number, person in enumerate(grouping.a_row_of):
        yield np.flatnonzero(releases.is_in[person]), np.flatnonzero(group_of == number)


def _groups(releases: SeveralReleases, indices: Indices, persons: Indices) -> Indices:
    """Return a number for each group of persons who are in the same class in all releases at these indices."""
    classes = releases.class_of[persons]
    columns = [classes[:, index].astype(np.int32) for index in indices]
    radices = [releases.releases[index].n_classes for index in indices]
    return group_rows(columns, radices, len(persons)).group_of


def _is_constant(values: Ints) -> npt.NDArray[np.bool_]:
    """Whether each person's value is the same in all releases they are in."""
    largest = values.max(axis=1, initial=ABSENT)
    is_constant: npt.NDArray[np.bool_] = ((values == ABSENT) | (values == largest[:, None])).all(axis=1)
    return is_constant


def _values_of_classes(release: PersonRows, column: str, n_values: int) -> sparse.csr_array:
    """Return a matrix with a row a class and a column a value: 1 where the class has the value."""
    # Loading it takes longer than auditing a table, which compares no releases.
    from scipy import sparse

    cells = (release.class_of, release.sensitive[column])
    ones = np.ones(len(release.class_of), np.float32)
    found = sparse.csr_array((ones, cells), shape=(release.n_classes, n_values))
    found.data[:] = 1
    return found


def _n_common(occurs: list[sparse.csr_array], classes: Ints) -> Ints:
    """Count the values that all classes of a row have, one class from each matrix."""
    counts = []
    for start in range(0, len(classes), BLOCK_GROUPS):
        block = classes[start : start + BLOCK_GROUPS]
        common = occurs[0][block[:, 0]]
        for matrix, column in zip(occurs[1:], block[:, 1:].T, strict=True):
            common = common.multiply(matrix[column])
        counts.append(np.asarray(common.sum(axis=1)).ravel().astype(np.int64))
    return np.concatenate([*counts, np.zeros(0, np.int64)])


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
