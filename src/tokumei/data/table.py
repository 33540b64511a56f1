"""A table of microdata whose columns have declared roles, and what a table holds, column by column."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tokumei.core.errors import FaultList, InputError, nearest
from tokumei.core.progress import step
from tokumei.core.result import UserFrame
from tokumei.core.text import Json, JsonView, Text, counted
from tokumei.data.files.csv import BLANK
from tokumei.data.files.formats import TEXT_SUFFIXES, format_of, read_text_frame
from tokumei.data.files.reading import Reading
from tokumei.data.files.strict import NUMBER
from tokumei.data.files.text_bytes import Mask, Positions
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


log = logging.getLogger("tokumei.notes")

# So many cells are looked at together: few passes over a wide table, and never more in memory than this.
CELLS_AT_ONCE = 20_000_000
LEAST_AT_ONCE = 8
MOST_NAMED = 3
WHOLE = r"^[+-]?[0-9]{1,18}$"
# Private-use characters, which no column of a file is named by.
COLUMN, VALUE = "\ue000column", "\ue000value"
FACTS = ("name", "type", "missing", "distinct", "least", "greatest", "commonest", "times")
AS_TEXT = {True: "Int64, as text", False: "Float64, as text"}


def describe_frame(frame: pl.LazyFrame) -> Json:
    """Summarize a frame: its rows, and for each column its type, missing and distinct values, ends and mode.

    Text that is a number in every row is described as numbers: 9 is less than 10.
    """
    names = list(frame.collect_schema())
    most_rows = CELLS_AT_ONCE // max(1, len(names))
    # Most files end within this, and are read once.
    whole = frame.head(most_rows + 1).collect(engine="streaming")
    if whole.height <= most_rows:
        with step("describing", 1) as bar:
            columns = _describe(whole)
            bar.advance()
        return {"rows": whole.height, "columns": columns}
    del whole
    n_rows = frame.select(pl.len()).collect(engine="streaming").item()
    return {"rows": n_rows, "columns": _describe_some_at_once(frame, names, n_rows)}


def tell_blanks(columns: Iterable[JsonView]) -> None:
    """Note which columns have blanks at the ends of their name, or of a value that is shown."""
    shown = ("name", "least", "greatest", "commonest")
    texts = {one["name"]: [one[fact] for fact in shown if isinstance(one[fact], str)] for one in columns}
    found = [repr(name) for name, some in texts.items() if any(text != text.strip(BLANK) for text in some)]
    if found:
        more = f" and {len(found) - MOST_NAMED:,} more" if len(found) > MOST_NAMED else ""
        named = ", ".join(found[:MOST_NAMED]) + more
        log.info("Blanks stand at the ends of names or cells (%s), as parts of them; --trim leaves them out.", named)


def _describe_some_at_once(frame: pl.LazyFrame, names: list[str], n_rows: int) -> list[dict[str, object]]:
    """Describe a table that does not fit in memory as a whole."""
    n_at_once = max(LEAST_AT_ONCE, CELLS_AT_ONCE // n_rows)
    columns: list[dict[str, object]] = []
    with step("describing", len(names)) as bar:
        for start in range(0, len(names), n_at_once):
            some = names[start : start + n_at_once]
            columns += _describe(frame.select(some).collect(engine="streaming"))
            bar.advance(len(some))
    return columns


def _describe(some: pl.DataFrame) -> list[dict[str, object]]:
    """Describe columns together: those of one type stand below each other in one long column of cells."""
    found: dict[str, dict[str, object]] = {}
    for kind in dict.fromkeys(some.dtypes):
        names = [name for name, one in some.schema.items() if one == kind]
        # Asking for all columns by name costs more than reading them where there are thousands.
        chosen = some if len(names) == some.width else some.select(names)
        values = chosen.unpivot(variable_name=COLUMN, value_name=VALUE).get_column(VALUE)
        told = str(kind)
        for at, n_present, is_number, is_whole, *rest in _facts(values, some.height):
            written = AS_TEXT[is_whole] if is_number else told
            found[names[at]] = dict(zip(FACTS, (names[at], written, some.height - n_present, *rest), strict=True))
        found |= {name: _empty(name, kind, some.height) for name in names if name not in found}
    return [found[name] for name in some.columns]


def _facts(values: pl.Series, n_rows: int) -> Iterable[tuple[Any, ...]]:
    """Return the facts of each column that has a value; the columns stand below each other.

    Each cell becomes the place of its value among all distinct ones, in order: then the facts are counts of integers.
    """
    distinct = values.drop_nulls().unique().sort()
    n_distinct = len(distinct)
    if not n_distinct:
        return ()
    places = pl.DataFrame({VALUE: distinct}).with_row_index(COLUMN)
    found = pl.DataFrame({VALUE: values}).join(places, on=VALUE, how="left", maintain_order="left").get_column(COLUMN)
    # What is missing stands after all values, in a row for each column. Two bytes are sorted by radix, which is faster.
    width = np.uint16 if n_distinct < 1 << 16 else np.uint32
    cells = found.fill_null(n_distinct).to_numpy().astype(width).reshape(-1, n_rows)
    by_number, is_number, is_whole = _numbers(distinct)
    in_numbers = np.append(is_number, True)[cells].all(axis=1)
    in_whole = np.append(is_whole, True)[cells].all(axis=1)
    # Numbers by their size, all else as it is; of values that are equally common the least is named.
    sizes = np.append(np.argsort(by_number), n_distinct).astype(width)
    ordered = np.sort(np.where(in_numbers[:, None], sizes[cells], cells), axis=1)
    n_present = (ordered < n_distinct).sum(axis=1)
    is_first = np.ones(ordered.shape, bool)
    is_first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    starts = np.flatnonzero(is_first)
    times = np.diff(starts, append=ordered.size)
    runs = ordered.ravel()[starts].astype(np.int64)
    starts, times, runs = (one[runs < n_distinct] for one in (starts, times, runs))
    column_of = starts // n_rows
    # As np.unique gives them of what is in order, which first loads a module of masked arrays.
    first_run = np.flatnonzero(np.diff(column_of, prepend=-1))
    columns = column_of[first_run]
    commonest = np.maximum.reduceat(times * n_distinct + (n_distinct - 1 - runs), first_run)
    at_ends = ordered[columns, 0], ordered[columns, n_present[columns] - 1], n_distinct - 1 - commonest % n_distinct
    texts = [_texts(distinct.gather(np.where(in_numbers[columns], by_number[place], place))) for place in at_ends]
    return zip(
        columns.tolist(),
        n_present[columns].tolist(),
        in_numbers[columns].tolist(),
        in_whole[columns].tolist(),
        np.diff(first_run, append=len(runs)).tolist(),
        *texts,
        (commonest // n_distinct).tolist(),
        strict=True,
    )


def _texts(values: pl.Series) -> list[str]:
    """Write values as Polars does, or as Python does what Polars writes no text of."""
    if values.dtype.is_nested() or values.dtype in (pl.Binary, pl.Duration):
        return [str(value) for value in values.to_list()]
    return values.cast(pl.String).to_list()


def _numbers(distinct: pl.Series) -> tuple[Positions, Mask, Mask]:
    """Return the order of ordered texts by the numbers they write, and which write a number or a whole one."""
    if distinct.dtype != pl.String:
        none = np.zeros(len(distinct), bool)
        return np.arange(len(distinct)), none, none
    value = pl.col(VALUE)
    # 0120 is a code: as a number it would lose its zero.
    looks = value.str.contains(NUMBER.pattern) & ~value.str.contains(r"^[+-]?0[0-9]")
    number = value.str.strip_prefix("+").cast(pl.Float64, strict=False)
    read = pl.DataFrame({VALUE: distinct}).select(
        number=pl.when(looks & number.is_finite()).then(number), is_whole=value.str.contains(WHOLE)
    )
    # Stable: 1 and 1.0 keep their order as texts.
    by_number = np.argsort(read["number"].fill_null(np.inf).to_numpy(), kind="stable")
    return by_number, read["number"].is_not_null().to_numpy(), read["is_whole"].to_numpy()


def _empty(name: str, kind: pl.DataType, n_rows: int) -> dict[str, object]:
    return dict(zip(FACTS, (name, str(kind), n_rows, 0, None, None, None, 0), strict=True))
