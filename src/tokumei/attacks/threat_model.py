"""What an attacker of a released table has before them: the people they know of, and what was published."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.seeds import generator
from tokumei.data.table import Table
from tokumei.engines.class_counts import encode
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.label_semantics import Ints, Vocabulary
from tokumei.measures.requirement import Requirement

Bools = npt.NDArray[np.bool_]
NOBODY = -1
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Published:
    """A released table and the truth about it: the row of the original that each record came from, counted from 0.

    A record whose row is missing is nobody's. Only the judge looks at rows. is_paired: whether records are people's at
    all; those that were made up are nobody's, and yet of everybody.
    """

    table: Table
    rows: pl.Series
    is_paired: bool = True

    @classmethod
    def made_up(cls, table: Table) -> Published:
        """Return a release whose records are no person's, such as synthetic rows."""
        return cls(table, pl.repeat(None, table.n_rows, dtype=pl.Int64, eager=True), is_paired=False)

    def owners(self, n_people: int) -> Ints:
        """Return the row of each record, or NOBODY."""
        if len(self.rows) != self.table.n_rows:
            expected = f"a row number for each of {self.table.n_rows:,} records"
            raise InputError.of(expected, file=self.table.name, value=f"{len(self.rows):,}")
        rows = self.rows.cast(pl.Int64, strict=False)
        for wrong in rows.filter(~rows.is_between(0, n_people - 1)).drop_nulls()[:1]:
            expected = f"a row of the original, counted from 0 to {n_people - 1:,}"
            raise InputError.of(expected, file=self.table.name, value=wrong)
        return rows.fill_null(NOBODY).to_numpy()


@dataclass(frozen=True)
class KnownMethod:
    """What is public of how a release was made.

    name: the method; empty if nobody said. options: its own, such as {"ranges": "tight"}; None if nobody said.
    k: the k that was asked for; None if that is not known. ranged: the columns it wrote as ranges; None if not known.
    is_plain: whether nothing but k-anonymity was asked for, and all columns counted alike.
    suppression: the share of rows that the method was allowed to leave out.
    on_grid: columns whose labels were put on a public grid or hierarchy afterwards, whatever the method wrote.
    is_hardened: whether groups may have been changed or left out afterwards, so that the method cannot be retraced.
    requirements: what was asked for, as far as it is known, without what all rows have to be compared with.
    loss, weights, preference: what the method kept small; "" where that is not known.
    """

    name: str = ""
    options: Mapping[str, object] | None = None
    k: int | None = None
    ranged: Sequence[str] | None = None
    is_plain: bool = True
    suppression: float = 0.0
    on_grid: Sequence[str] = ()
    is_hardened: bool = False
    requirements: Sequence[Requirement] = ()
    loss: str = "ncp"
    weights: Mapping[str, float] = field(default_factory=dict)
    preference: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.k is not None and self.k < 1:
            raise InputError.of("a whole number of 1 or more", option="k", value=self.k)
        if not 0 <= self.suppression <= 1:
            raise InputError.of("a share from 0 to 1", option="suppression", value=self.suppression)

    def may_leave_out(self, n_released: int) -> bool:
        """Whether a row may be left out of a table of which so many rows are released."""
        # A share such as 0.1 is not exact in binary.
        return self.suppression * (n_released + 1) >= 1 - 1e-9


@dataclass(frozen=True, eq=False)
class ThreatModel:
    """Who is known, how much of them, what was published, and who else there is.

    original: the people whom the attacker knows; those whose record is published are the targets.
    published: the release that is attacked, with its truth.
    hierarchies: of the columns that have one; others are flat over the values that people have.
    known: the columns the attacker knows; the quasi-identifiers of the original if none are named.
    numeric: columns of numbers among those that are read as text.
    known_share: each known cell is known with this chance, drawn by the seed of the attack.
    known_cells: or else which cells are known, a row each person, a column each known one.
    earlier: releases of the same people that were published before.
    population: everybody who might be in the release, those who are among them.
    control: people who are not in the release.
    method: what is public of how the release was made.
    """

    original: Table
    published: Published
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    known: Sequence[str] = ()
    numeric: Sequence[str] = ()
    known_share: float = 1.0
    known_cells: Bools | None = None
    earlier: Sequence[Published] = ()
    population: pl.DataFrame | None = None
    control: pl.DataFrame | None = None
    method: KnownMethod = field(default_factory=KnownMethod)

    def __post_init__(self) -> None:
        if not 0 <= self.known_share <= 1:
            raise InputError.of("a share from 0 to 1", option="known share", value=self.known_share)
        shape = (self.original.n_rows, len(self.known_columns))
        if self.known_cells is not None and self.known_cells.shape != shape:
            raise InputError.of(f"known cells of {shape[0]:,} people and {shape[1]} columns")
        for table in (self.published.table, *(one.table for one in self.earlier)):
            if not table.n_rows:
                raise InputError.of("a record or more", file=table.name, value="no rows")

    @property
    def known_columns(self) -> list[str]:
        """The columns that the attacker knows of people."""
        return list(self.known) or self.original.quasi_identifiers

    @property
    def sensitive(self) -> list[str]:
        """The columns that the attacker wants to learn: sensitive in the original, and not known."""
        return [name for name in self.original.sensitive if name not in self.known_columns]

    @cached_property
    def targets(self) -> Ints:
        """The rows of the original whose people have a record in the release, or stand behind all of its records."""
        if not self.published.is_paired:
            return np.arange(self.original.n_rows)
        owners = self.published.owners(self.original.n_rows)
        is_in = np.zeros(self.original.n_rows, bool)
        is_in[owners[owners != NOBODY]] = True
        found = np.flatnonzero(is_in)
        if not len(found):
            raise InputError.of("a record or more of a known person", file=self.published.table.name)
        return found

    @cached_property
    def person_of(self) -> Ints | None:
        """The number of the person, or household, of each row; None where every row is somebody else."""
        unit = self.original.unit
        return None if unit is None else encode(self.original.frame[unit.column])[1].astype(np.int64)

    def vocabulary(self, column: str) -> Vocabulary:
        """Return the leaves of a column and what its labels stand for."""
        if column not in self._vocabularies:
            column_of(self.original.frame, column, self.original.name)
            values = self.original.distinct(column)
            others = [
                frame[column] for frame in (self.population, self.control) if frame is not None and column in frame
            ]
            is_numeric = values.dtype.is_numeric() or column in self.numeric
            self._vocabularies[column] = Vocabulary.of(
                column, [values, *others], self.hierarchies.get(column), is_numeric=is_numeric
            )
        return self._vocabularies[column]

    @cached_property
    def _vocabularies(self) -> dict[str, Vocabulary]:
        return {}

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what was made under this key before, or make it: every attack reads the same people and records."""
        if key not in self._made:
            self._made[key] = make()
        return cast("T", self._made[key])

    @cached_property
    def _made(self) -> dict[Hashable, object]:
        return {}

    def known_mask(self, n_people: int, group: str, seed: int) -> Bools | None:
        """Return which cells of some people are known, None for all; groups of people are drawn apart."""
        if self.known_share >= 1:
            return None
        shape = (n_people, len(self.known_columns))
        out: Bools = generator(seed, "known cells", group).random(shape) < self.known_share
        return out


def column_of(frame: pl.DataFrame, column: str, name: str) -> pl.Series:
    """Return a column; one that is not there is an InputError that lists those that are."""
    if column not in frame.columns:
        raise InputError.of(f"a column of the table: {', '.join(frame.columns)}", file=name, column=column)
    return frame[column]
