"""Several releases of the same people, matched person by person.

Only the publisher can match them, by a secret number that every copy still has, or row by row where no row was
left out. Attackers are given the same: they know in which class of each release a person is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import counted
from tokumei.data.frames import as_frame
from tokumei.engines.class_counts import encode
from tokumei.engines.grouping import Codes, Indices, group_rows

ABSENT = -1
# Names of columns while values of several frames are one; they cannot clash, being alone in their frame.
VALUE = "value"


@dataclass(frozen=True, eq=False)
class PersonRows:
    """The rows of one release: whose each is, its class, and its sensitive values.

    Persons and sensitive values are numbered alike in all releases; classes are the release's own.
    """

    name: str
    person_of: Indices
    class_of: Indices
    sensitive: Mapping[str, Codes]

    @cached_property
    def class_sizes(self) -> npt.NDArray[np.int64]:
        """The number of rows of each class."""
        return np.bincount(self.class_of).astype(np.int64)

    @property
    def n_classes(self) -> int:
        """The number of classes that occur."""
        return len(self.class_sizes)

    @property
    def k(self) -> int:
        """The size of the smallest class; 0 if there is none."""
        return int(self.class_sizes.min()) if len(self.class_sizes) else 0

    @cached_property
    def rows_of_one(self) -> tuple[int, int] | None:
        """Two rows of the same person, counted from 1; None where nobody has several."""
        n_rows = np.bincount(self.person_of, minlength=1)
        if n_rows.max() <= 1:
            return None
        first, second = np.flatnonzero(self.person_of == n_rows.argmax())[:2] + 1
        return int(first), int(second)

    def row_of(self, n_persons: int) -> Indices:
        """Return the row of each person, −1 for those who are not in the release; nobody may have two."""
        if self.rows_of_one is not None:
            first, second = self.rows_of_one
            raise InputError.of(f"one row a person, not row {first} and row {second}", file=self.name)
        row_of = np.full(n_persons, ABSENT, np.int64)
        row_of[self.person_of] = np.arange(len(self.person_of))
        return row_of


@dataclass(frozen=True, eq=False)
class SeveralReleases:
    """Releases of the same people; persons are numbered from 0."""

    releases: tuple[PersonRows, ...]
    n_persons: int
    domains: Mapping[str, pl.Series] = field(default_factory=dict)
    """The values of each sensitive column in any release."""

    @classmethod
    def of(
        cls,
        frames: Iterable[object],
        columns: Sequence[str] | Sequence[Sequence[str]],
        *,
        sensitive: Sequence[str] = (),
        person: str | None = None,
        names: Sequence[str] | None = None,
    ) -> SeveralReleases:
        """Match releases by the column `person`, or row by row where that is not given.

        columns: the quasi-identifiers, of all releases or of each; classes are by what stands in them, so that each
        release may be generalized in its own way.
        names: what messages call the releases.
        """
        given = [as_frame(frame) for frame in frames]
        called = list(names) if names is not None else [f"release {number}" for number in range(1, len(given) + 1)]
        by_release = _columns_of_each(columns, len(given))
        for frame, name, own in zip(given, called, by_release, strict=True):
            _check_columns(frame, name, [*own, *sensitive, *([person] if person is not None else [])], person)
        persons, n_persons = _persons(given, called, person)
        values = {column: _encoded_alike([frame[column] for frame in given]) for column in sensitive}
        rows = [
            PersonRows(name, whose, _classes(frame, own), {column: values[column][1][index] for column in sensitive})
            for index, (frame, name, own, whose) in enumerate(zip(given, called, by_release, persons, strict=True))
        ]
        return cls(tuple(rows), n_persons, {column: domain for column, (domain, _) in values.items()})

    @cached_property
    def class_of(self) -> Indices:
        """The class of each person (down) in each release (across), −1 where the person is not in it."""
        return self._of_persons([release.class_of for release in self.releases])

    @cached_property
    def is_in(self) -> npt.NDArray[np.bool_]:
        """Whether each person (down) is in each release (across)."""
        is_in = np.zeros((self.n_persons, len(self.releases)), bool)
        for index, release in enumerate(self.releases):
            is_in[release.person_of, index] = True
        return is_in

    def sensitive_of(self, column: str) -> Indices:
        """Return the sensitive value of each person (down) in each release (across), −1 where there is no row."""
        self.check_sensitive(column)
        return self._of_persons([release.sensitive[column].astype(np.int64) for release in self.releases])

    def check_sensitive(self, column: str) -> None:
        """Raise an InputError for a column that was not read as sensitive."""
        if column not in self.domains:
            known = ", ".join(self.domains) or "none was"
            raise InputError.of(f"a column read as sensitive: {known}", value=column)

    def _of_persons(self, of_rows: Sequence[Indices]) -> Indices:
        out = np.full((self.n_persons, len(self.releases)), ABSENT, np.int64)
        for index, (release, values) in enumerate(zip(self.releases, of_rows, strict=True)):
            row_of = release.row_of(self.n_persons)
            is_there = row_of != ABSENT
            out[is_there, index] = values[row_of[is_there]]
        return out


def _columns_of_each(columns: Sequence[str] | Sequence[Sequence[str]], n_releases: int) -> list[list[str]]:
    texts = [column for column in columns if isinstance(column, str)]
    if len(texts) == len(columns):
        return [texts] * n_releases
    if texts or len(columns) != n_releases:
        raise InputError.of(f"the columns of all releases, or of each of the {n_releases}", option="columns")
    return [list(own) for own in columns]


def _check_columns(frame: pl.DataFrame, name: str, columns: Sequence[str], person: str | None) -> None:
    for index, column in enumerate(columns):
        if column not in frame.columns:
            raise InputError.of(f"one of the columns {', '.join(frame.columns)}", file=name, column=column)
        if column in columns[:index]:
            expected = "a person's number that is no other column" if column == person else "each column once"
            raise InputError.of(expected, file=name, column=column)


def _persons(frames: Sequence[pl.DataFrame], names: Sequence[str], person: str | None) -> tuple[list[Indices], int]:
    """Assign numbers to the persons alike in all frames."""
    if person is None:
        for frame, name in zip(frames, names, strict=True):
            if frame.height != frames[0].height:
                expected = f"{frames[0].height:,} rows, as in {names[0]}, or a column that says whose each row is"
                raise InputError.of(expected, file=name, value=counted(frame.height, "row"))
        n_rows = frames[0].height if frames else 0
        return [np.arange(n_rows) for _ in frames], n_rows
    for frame, name in zip(frames, names, strict=True):
        for row in frame[person].is_null().arg_true()[:1]:
            raise InputError.of(f"whose row {row + 1} is", file=name, column=person, value="")
    domain, codes = _encoded_alike([frame[person] for frame in frames])
    return [one.astype(np.int64) for one in codes], len(domain)


def _encoded_alike(columns: Sequence[pl.Series]) -> tuple[pl.Series, list[Codes]]:
    """Assign numbers to the values of a column alike in all frames; values are compared as text where types differ."""
    if len({column.dtype for column in columns}) > 1:
        columns = [column.cast(pl.String) for column in columns]
    if not columns:
        return pl.Series(VALUE, [], pl.String), []
    domain, codes = encode(pl.concat([column.alias(VALUE) for column in columns]))
    ends = np.cumsum([len(column) for column in columns])[:-1]
    return domain, np.split(codes, ends)


def _classes(frame: pl.DataFrame, columns: Sequence[str]) -> Indices:
    """Return the number of the class of each row."""
    encoded = [encode(frame[column]) for column in columns]
    codes, radices = [codes for _, codes in encoded], [len(domain) for domain, _ in encoded]
    return group_rows(codes, radices, frame.height).group_of
