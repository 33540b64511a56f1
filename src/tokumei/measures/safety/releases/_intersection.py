"""What the classes of a person in several releases have in common: people, and sensitive values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

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
