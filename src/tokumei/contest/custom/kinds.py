"""The two kinds of data of a contest of one's own, and what the TOML file may say of each alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tokumei.attacks.registry import HISTORY_ATTACKS, TABLE_ATTACKS
from tokumei.core.registry import Registry
from tokumei.data.files.strict import TYPES
from tokumei.data.files.toml import Section
from tokumei.data.history_columns import SCHEMA
from tokumei.data.made_survey import AMOUNTS, QUASI_IDENTIFIERS
from tokumei.measures.registry import HISTORY_UTILITIES, TABLE_UTILITIES

HISTORY, TABLE = "history", "table"
CUSTOMER = "customer"
# Row numbers stand under this name.
ROW = "row"
# What may be counted of guesses at pseudonyms, by the names of the measures.
SUCCESSES = ("row", "cell", "month", "transaction")
# How whose purchases are known is called in files, formulas and scores.
ATTRIBUTION = "attribution"
# More than any item has: all of it is known.
ALL_CHARACTERS = 100


@dataclass(frozen=True)
class Data:
    """Where the data come from: a file beside the TOML file, or made up; `columns` are its names by ours."""

    source: str | None
    delimiter: str | None
    columns: Mapping[str, str]
    types: Mapping[str, str]
    n_made: int


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are to an attacker; identifiers never enter the contest."""

    identifiers: tuple[str, ...] = ()
    quasi_identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns of the contest's files."""
        return (*self.quasi_identifiers, *self.sensitive, *self.insensitive)


class KindReader(Protocol):
    """Reads what a file says of one kind of data, and gives what holds where that kind has nothing to say."""

    utilities: Registry[Any]
    attacks: Registry[Any]

    def data(self, section: Section, source: str | None, delimiter: str | None) -> Data:
        """Read what the columns are called or hold, and how much is made up."""

    def roles(self, section: Section, data: Data) -> Roles:
        """Read what the columns are to an attacker."""

    def columns(self, roles: Roles) -> tuple[str, ...]:
        """Name the columns that checks may name."""

    def same_month(self, section: Section) -> bool:
        """Read whether dates stay in their month."""

    def pseudonyms(self, section: Section) -> str:
        """Read how long a pseudonym lasts."""

    def item_characters(self, section: Section) -> int:
        """Read how much of an item is known."""

    def success(self, section: Section) -> str:
        """Read what counts as found."""

    def attribution(self, section: Section) -> bool:
        """Read whether scores state whose purchases are known."""


class HistoryReader:
    """Purchases: their columns have our names or are told, and customers change pseudonyms."""

    utilities: Registry[Any] = HISTORY_UTILITIES
    attacks: Registry[Any] = HISTORY_ATTACKS

    def data(self, section: Section, source: str | None, delimiter: str | None) -> Data:
        """Read the names of the columns in the source, and how many customers are made up."""
        names = section.inside("columns")
        columns = {name: names.text(name, name, expected="the name of a column") for name in SCHEMA}
        names.finish()
        return Data(source, delimiter, columns, {}, section.whole("made_customers", 1, 100_000, 100))

    def roles(self, section: Section, data: Data) -> Roles:  # noqa: ARG002
        """Refuse roles."""
        if section.found:
            raise section.fault('no roles, which only a table (kind = "table") has')
        return Roles()

    def columns(self, roles: Roles) -> tuple[str, ...]:  # noqa: ARG002
        """Name the columns of a history but the customers."""
        return tuple(name for name in SCHEMA if name != CUSTOMER)

    def same_month(self, section: Section) -> bool:
        """Read whether dates stay in their month; they do if nothing is said."""
        return section.flag("same_month", default=True)

    def pseudonyms(self, section: Section) -> str:
        """Read how long a pseudonym lasts; a month if nothing is said."""
        return section.choice("pseudonyms", ("month", "whole"), "month")

    def item_characters(self, section: Section) -> int:
        """Read how many characters of an item are known."""
        return section.whole("item_characters", 1, ALL_CHARACTERS, ALL_CHARACTERS)

    def success(self, section: Section) -> str:
        """Read what is counted of guesses; customers who are found in all months if nothing is said."""
        return section.choice("success", SUCCESSES, "row")

    def attribution(self, section: Section) -> bool:
        """Read whether scores state whose purchases are known; they do not if nothing is said."""
        return section.flag(ATTRIBUTION, default=False)


class TableReader:
    """A table: its columns have roles and types, and a row is a person."""

    utilities: Registry[Any] = TABLE_UTILITIES
    attacks: Registry[Any] = TABLE_ATTACKS

    def data(self, section: Section, source: str | None, delimiter: str | None) -> Data:
        """Read the types of the columns, and how many rows are made up."""
        given = section.inside("types")
        types = {name: given.choice(name, tuple(TYPES)) for name in given.found}
        return Data(source, delimiter, {}, types, section.whole("made_rows", 1, 10_000_000, 1_000))

    def roles(self, section: Section, data: Data) -> Roles:
        """Read the roles, which every column has; the made-up survey has some of its own."""
        if not section.found and data.source is None:
            roles = Roles((), tuple(QUASI_IDENTIFIERS), ("income", "spending", *AMOUNTS[1:]), ())
        else:
            roles = _read_roles(section)
        types = Section(section.where, "data.types", data.types)
        for name, kind in data.types.items():
            if name not in roles.kept:
                raise types.fault(f"a column with a role: {', '.join(roles.kept)}", name, kind)
            if name in roles.sensitive and kind not in ("integer", "number"):
                raise types.fault("integer or number, as the column is sensitive", name, kind)
        return roles

    def columns(self, roles: Roles) -> tuple[str, ...]:
        """Name the columns of the contest's files."""
        return roles.kept

    def same_month(self, section: Section) -> bool:  # noqa: ARG002
        """Return False: a table has no months."""
        return False

    def pseudonyms(self, section: Section) -> str:  # noqa: ARG002
        """Return nothing: a table has no pseudonyms."""
        return ""

    def item_characters(self, section: Section) -> int:  # noqa: ARG002
        """Return the longest length: all characters are known."""
        return ALL_CHARACTERS

    def success(self, section: Section) -> str:  # noqa: ARG002
        """Count rows."""
        return "row"

    def attribution(self, section: Section) -> bool:  # noqa: ARG002
        """Return False: a table has no purchases."""
        return False


READERS: Mapping[str, KindReader] = {HISTORY: HistoryReader(), TABLE: TableReader()}


def _read_roles(section: Section) -> Roles:
    roles = Roles(
        section.names("identifiers", []),
        section.names("quasi_identifiers"),
        section.names("sensitive", []),
        section.names("insensitive", []),
    )
    section.finish()
    every = [*roles.identifiers, *roles.kept]
    for name in every:
        if every.count(name) > 1:
            raise section.fault("one role for each column", "", name)
        if name == ROW:
            raise section.fault("another name, as the contest's files count rows by it", "", name)
    if not roles.quasi_identifiers:
        raise section.fault("at least one column that attackers know", "quasi_identifiers", "[]")
    return roles
