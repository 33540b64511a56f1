"""A table of microdata whose columns have declared roles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import polars as pl

from tokumei.core.errors import FaultList, InputError
from tokumei.data.frames import as_frame


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


@dataclass(frozen=True)
class Table:
    """A frame in which every column has a role; an undeclared column is an error, never a guess."""

    frame: pl.DataFrame
    roles: Mapping[str, Role]
    name: str = "table"

    @classmethod
    def of(cls, data: Any, roles: Mapping[str, Role | str], *, name: str = "table") -> Table:
        """Make a table of any frame, with roles by name."""
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
        return cls(frame, {column: Role(role) for column, role in roles.items()}, name)

    @classmethod
    def with_quasi_identifiers(
        cls, data: Any, quasi_identifiers: Iterable[str], *, sensitive: Iterable[str] = (), name: str = "table"
    ) -> Table:
        """Make a table from the two roles that matter most; all other columns are declared insensitive."""
        frame = as_frame(data)
        roles: dict[str, Role | str] = dict.fromkeys(frame.columns, Role.INSENSITIVE)
        roles |= dict.fromkeys(quasi_identifiers, Role.QUASI_IDENTIFIER)
        for column in sensitive:
            if roles.get(column) is Role.QUASI_IDENTIFIER:
                raise InputError.of("one role a column, not quasi-identifier and sensitive", file=name, column=column)
            roles[column] = Role.SENSITIVE
        return cls.of(frame, roles, name=name)

    def columns_with(self, role: Role) -> list[str]:
        """Give the columns of a role in the order of the frame."""
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
    def n_rows(self) -> int:
        """Number of records."""
        return self.frame.height
