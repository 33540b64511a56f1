"""A table of microdata whose columns have declared roles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import FaultList, InputError, nearest
from tokumei.core.result import UserFrame
from tokumei.core.text import Text, counted
from tokumei.data.files.formats import TEXT_SUFFIXES, format_of, read_text_frame
from tokumei.data.files.reading import Reading
from tokumei.data.frames import as_frame, as_original, check_single, kind_of, written


class Role(StrEnum):
    """What a column is to an attacker."""

    IDENTIFIER = "identifier"
    """Names a person by itself; never released."""
    QUASI_IDENTIFIER = "quasi-identifier"
    """Known to an attacker; names a person together with others."""
    SENSITIVE = "sensitive"
    """What an attacker wants to learn."""
    INSENSITIVE = "insensitive"
    """Neither known nor wanted."""
    PERSON = "person"
    """Tells whose a row is; never released. Classes are then of people, not of rows."""
    HOUSEHOLD = "household"
    """Tells whose household a row is of; never released. Classes are then of households."""


@dataclass(frozen=True)
class Unit:
    """Who is protected, where not every row is somebody else: the column that tells whose a row is."""

    column: str
    role: Role = Role.PERSON

    @property
    def plural(self) -> str:
        """The word for several of them."""
        return "households" if self.role is Role.HOUSEHOLD else "people"

    @classmethod
    def of(cls, person: str | None, household: str | None) -> Unit | None:
        """Return who is protected by two columns; whoever protects households protects the people in them."""
        if household is not None:
            return cls(household, Role.HOUSEHOLD)
        return None if person is None else cls(person)


class Table:
    """A frame or a file whose columns have roles: the quasi-identifiers, and what others want to learn.

    data: a pandas, Polars or Arrow frame, a mapping of columns, or the name of a file: CSV, Parquet, Excel, JSON, ….
    qi: the quasi-identifiers, which others may know.
    sensitive: the columns that others want to learn.
    person, household: the column that tells whose a row is, where people have several; it is never released. All that
        is promised and counted is then of people, or of households.
    hierarchies: a folder of hierarchy files, or a hierarchy by column; made for each column if not given.
    numeric: columns of numbers; those whose values are all numbers if not given.
    options: how a file is read: `encoding`, `delimiter`, `sheet`, `skip_rows`, `null_values`, `has_header`, `trim`,
        `rename`, `codes`.

    >>> import tokumei as tk
    >>> tk.Table({"age": [31, 35, 52], "illness": ["flu", "flu", "cold"]}, qi=["age"], sensitive=["illness"])
    Table(3 rows, quasi-identifiers age, sensitive illness)
    """

    def __init__(
        self,
        data: object,
        qi: Iterable[str | int] | None = (),
        sensitive: Iterable[str | int] | None = (),
        *,
        person: str | None = None,
        household: str | None = None,
        hierarchies: object = None,
        numeric: Iterable[str] | None = None,
        roles: Mapping[str, Role | str] | None = None,
        name: str | None = None,
        reading: Reading | None = None,
        **options: object,
    ) -> None:
        self.kind = kind_of(data)
        self.name = name if name is not None else str(data) if isinstance(data, (str, Path)) else "table"
        own = ("qi", "sensitive", "person", "household", "hierarchies", "numeric", "roles", "name")
        self.reading = Reading.of_keywords(options, "Table", own) if reading is None else reading
        self.frame = _read(data, self.reading)
        named = {
            Role.QUASI_IDENTIFIER: _listed(qi, "qi"),
            Role.SENSITIVE: _listed(sensitive, "sensitive"),
            Role.PERSON: _listed(person, "person"),
            Role.HOUSEHOLD: _listed(household, "household"),
        }
        self.roles = _roles(self.frame, named, roles, self.name)
        check_single(self.frame.schema, (*self.quasi_identifiers, *self.sensitive, *_columns_of(self.unit)), self.name)
        self.frame = with_moments_as_text(self.frame, self.quasi_identifiers)
        self._distinct: dict[str, pl.Series] = {}
        self.hierarchies: Any = hierarchies
        self.numeric = None if numeric is None else _listed(numeric, "numeric")
        for column in self.numeric or ():
            check_column(column, self.frame.columns, "numeric", self.name)

    def with_written_moments(self) -> Table:
        """Return the table with all moments and times of day as text of one form, for comparisons of values alone."""
        moments = pl.selectors.datetime().dt.to_string("%Y-%m-%d %H:%M:%S%.9f")
        written = self.frame.with_columns(moments, pl.selectors.time().dt.to_string("%H:%M:%S%.9f"))
        if written.schema == self.frame.schema:
            return self
        found = copy(self)
        found.frame, found._distinct = written, {}
        return found

    def line_of(self, row: int) -> int | None:
        """Return the line of a row in its text file, counted from 1; of a frame or another file the row."""
        if Path(self.name).is_file() and format_of(self.name) in TEXT_SUFFIXES:
            # Read again, since only whoever has to say what is wrong asks.
            return read_text_frame(self.name, self.reading).line_of(row)
        return row + 1

    @classmethod
    def of(cls, data: object, roles: Mapping[str, Role | str], *, name: str = "table") -> Table:
        """Make a table of any frame, with a role for every column; an undeclared one is an error, never a guess."""
        frame = as_frame(data)
        faults = FaultList(name)
        for column in frame.columns:
            if column not in roles:
                faults.add(f"a role for every column: {', '.join(Role)}", column=column)
        for column, role in roles.items():
            if column not in frame.columns:
                faults.add(f"a column of the table: {', '.join(frame.columns)}", column=column)
            if role not in list(Role):
                faults.add(f"a role: {', '.join(Role)}", column=column, value=role)
        faults.raise_if_any()
        return cls(frame, roles=roles, name=name)

    @classmethod
    def with_quasi_identifiers(
        cls, data: object, quasi_identifiers: Iterable[str], *, sensitive: Iterable[str] = (), name: str = "table"
    ) -> Table:
        """Make a table from the two roles that matter most; all other columns are declared insensitive."""
        return cls(as_frame(data), quasi_identifiers, sensitive, name=name)

    def of_unit(self, unit: Unit | None) -> Table:
        """Return the table with the column in its role that tells whose a row is."""
        if unit is None or unit == self.unit:
            return self
        check_column(unit.column, self.frame.columns, IN_WORDS[unit.role], self.name)
        role = self.roles[unit.column]
        if role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
            expected = Text("one role a column, not {first} and {second}", first=role, second=unit.role)
            raise InputError.of(expected, file=self.name, column=unit.column)
        found = copy(self)
        others = {name: Role.INSENSITIVE for name, role in self.roles.items() if role is unit.role}
        found.roles = {**self.roles, **others, unit.column: unit.role}
        return found

    def with_frame(self, frame: pl.DataFrame) -> Table:
        """Return a table with the same roles for other rows, or for columns of other types."""
        other = Table(frame, roles=self.roles, hierarchies=self.hierarchies, numeric=self.numeric, name=self.name)
        other.kind = self.kind
        return other

    def columns_with(self, role: Role) -> list[str]:
        """Return the columns of a role in the order of the frame."""
        return [column for column in self.frame.columns if self.roles[column] is role]

    @property
    def quasi_identifiers(self) -> list[str]:
        """The columns an attacker may know."""
        return self.columns_with(Role.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> list[str]:
        """The columns an attacker wants to learn."""
        return self.columns_with(Role.SENSITIVE)

    @property
    def unit(self) -> Unit | None:
        """Who is protected; None where every row is somebody else."""
        return Unit.of(self._only(Role.PERSON), self._only(Role.HOUSEHOLD))

    def _only(self, role: Role) -> str | None:
        columns = self.columns_with(role)
        if len(columns) > 1:
            raise InputError.of(Text("one column in the role {role}", role=role), file=self.name, column=columns[1])
        return columns[0] if columns else None

    def distinct(self, column: str) -> pl.Series:
        """Return the distinct values of a column, in no order, found once for all callers."""
        if column not in self._distinct:
            self._distinct[column] = self.frame[column].unique()
        return self._distinct[column]

    @property
    def n_rows(self) -> int:
        """Number of records."""
        return self.frame.height

    def to_frame(self) -> UserFrame:
        """Return the rows as a frame of the kind they came as, with its types and index; those of a file as Polars."""
        return as_original(self.frame, self.kind, has_index=True)

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        known = f"quasi-identifiers {', '.join(self.quasi_identifiers) or 'none'}"
        unit = self.unit
        whose = "" if unit is None else f" of {self.distinct(unit.column).len():,} {unit.plural}"
        return f"Table({counted(self.n_rows, 'row')}{whose}, {known}, sensitive {', '.join(self.sensitive) or 'none'})"

    def _repr_html_(self) -> str:
        return f"<p>{_escaped(repr(self))}</p>{self.frame.head()._repr_html_()}"


def check_column(column: str, known: Iterable[str], what: str, name: str) -> None:
    """Raise an InputError for a column that a table does not have, with the nearest name."""
    listed = list(known)
    if column not in listed:
        near = nearest(column, listed)
        hint = f"'{near}'" if near else ", ".join(listed)
        if near and near.strip() == column:
            hint += " (the option trim reads names without blanks)"
        raise InputError.of(
            Text("a column of the table as {what}: {names}", what=what, names=hint), file=name, value=column
        )


def _escaped(text: str) -> str:
    from html import escape

    return escape(text)


def _read(data: object, reading: Reading) -> pl.DataFrame:
    if isinstance(data, (str, Path)):
        from tokumei.data.files.formats import read_frame

        return read_frame(data, reading)
    reading.check_is_for_file(data)
    return as_frame(data)


def with_moments_as_text(frame: pl.DataFrame, columns: Iterable[str]) -> pl.DataFrame:
    """Write the moments and times of day of some columns as text; moments that are all at midnight are days."""
    return frame.with_columns(written(frame[name]) for name in columns if frame.schema[name].is_temporal())


def _listed(names: Iterable[str | int] | None, what: str) -> list[str]:
    """Return names as a list; a single text is a name, not its letters."""
    if names is None:
        return []
    if not isinstance(names, (str, int)) and not isinstance(names, Iterable):
        raise InputError.of("names of columns", option=what, value=names)
    listed = [str(name) for name in ([names] if isinstance(names, (str, int)) else names)]
    for name in listed:
        if listed.count(name) > 1:
            raise InputError.of("each column once", option=what, value=name)
    return listed


IN_WORDS = {
    Role.QUASI_IDENTIFIER: "a quasi-identifier",
    Role.SENSITIVE: "a sensitive column",
    Role.PERSON: "a person",
    Role.HOUSEHOLD: "a household",
}


def _roles(
    frame: pl.DataFrame, named: Mapping[Role, list[str]], given: Mapping[str, Role | str] | None, name: str
) -> dict[str, Role]:
    roles = dict.fromkeys(frame.columns, Role.INSENSITIVE)
    roles |= {column: Role(role) for column, role in (given or {}).items()}
    seen: dict[str, Role] = {}
    for role, columns in named.items():
        for column in columns:
            check_column(column, frame.columns, IN_WORDS[role], name)
            if column in seen:
                expected = Text("one role a column, not {first} and {second}", first=seen[column], second=role)
                raise InputError.of(expected, file=name, column=column)
            roles[column] = seen[column] = role
    return roles


def _columns_of(unit: Unit | None) -> list[str]:
    return [] if unit is None else [unit.column]
