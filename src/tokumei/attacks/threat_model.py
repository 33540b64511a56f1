"""What an attacker of a released table has before them: the people they know of, and what was published."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.seeds import generator
from tokumei.core.text import Text
from tokumei.data.table import Table
from tokumei.engines.class_counts import encode
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.label_semantics import Ints, LeafSets, Vocabulary
from tokumei.hierarchies.leaves import read_number
from tokumei.hierarchies.rules import extended
from tokumei.measures.requirement import Requirement

Bools = npt.NDArray[np.bool_]
NOBODY = -1
# Larger numbers, and infinite ones, say nothing of how far numbers lie apart.
LARGEST = 1e150
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
    numbers_off: known numbers are off by up to so many standard deviations of their column.
    codes_wrong: other known values are another's with this chance.
    aimed_at: the rows of the original that are looked for; all if none are given.
    earlier: releases of the same people that were published before.
    population: everybody who might be in the release, those who are among them.
    control: people who are not in the release.
    method: what is public of how the release was made.
    wider: the same attacker where they know other columns, too, by which it was learned what columns say.
    """

    original: Table
    published: Published
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    known: Sequence[str] = ()
    numeric: Sequence[str] = ()
    known_share: float = 1.0
    known_cells: Bools | None = None
    numbers_off: float = 0.0
    codes_wrong: float = 0.0
    aimed_at: Ints | None = None
    earlier: Sequence[Published] = ()
    population: pl.DataFrame | None = None
    control: pl.DataFrame | None = None
    method: KnownMethod = field(default_factory=KnownMethod)
    wider: ThreatModel | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.known_share <= 1:
            raise InputError.of("a share from 0 to 1", option="known share", value=self.known_share)
        if not 0 <= self.codes_wrong <= 1:
            raise InputError.of("a share from 0 to 1", option="codes_wrong", value=self.codes_wrong)
        if not 0 <= self.numbers_off < np.inf:
            raise InputError.of(Text("{n} or more", n=0), option="numbers_off", value=self.numbers_off)
        shape = (self.original.n_rows, len(self.known_columns))
        if self.known_cells is not None and self.known_cells.shape != shape:
            raise InputError.of(f"known cells of {shape[0]:,} people and {shape[1]} columns")
        for table in (self.published.table, *(one.table for one in self.earlier)):
            if not table.n_rows:
                raise InputError.of("a record or more", file=table.name, value="no rows")

    def learning(self, column: str) -> ThreatModel:
        """Return the same attacker who does not know a column and wants to learn it."""
        others = [name for name in self.known_columns if name != column]
        original = Table(self.original.frame, others, [column], name=self.original.name)
        if self.original.unit is not None:
            original = original.of_unit(self.original.unit)
        return replace(self, original=original, known=others, wider=self)

    @property
    def known_columns(self) -> list[str]:
        """The columns that the attacker knows of people."""
        return list(self.known) or self.original.quasi_identifiers

    @property
    def sensitive(self) -> list[str]:
        """The columns that the attacker wants to learn: sensitive in the original, and not known."""
        return [name for name in self.original.sensitive if name not in self.known_columns]

    @cached_property
    def released(self) -> Ints:
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
    def targets(self) -> Ints:
        """The released rows that are looked for."""
        if self.aimed_at is None:
            return self.released
        found = np.intersect1d(self.released, self.aimed_at)
        if not len(found):
            raise InputError.of("a record or more of a person who is looked for", file=self.published.table.name)
        return found

    @property
    def is_inexact(self) -> bool:
        """Whether something that the attacker knows may be wrong."""
        return self.numbers_off > 0 or self.codes_wrong > 0

    def is_number(self, column: str) -> bool:
        """Whether a column is one of numbers."""
        return self.original.frame[column].dtype.is_numeric() or column in self.numeric

    def as_known(self, frame: pl.DataFrame, group: str, seed: int) -> pl.DataFrame:
        """Return people as the attacker knows them, as far off as that may be; groups of people are drawn apart."""
        if not self.is_inexact:
            return frame

        def drawn() -> pl.DataFrame:
            columns = [name for name in self.known_columns if name in frame.columns]
            return frame.with_columns(
                self._moved(frame[name], name, generator(seed, "inexact", group, name))
                if self.is_number(name)
                else mistaken(frame[name], self.codes_wrong, generator(seed, "inexact", group, name))
                for name in columns
            )

        return self.once(("as known", id(frame), group, seed), lambda: (frame, drawn()))[1]

    def reach(self, column: str) -> float:
        """Return how far off a known number of a column may be."""
        if not self.numbers_off or not self.is_number(column):
            return 0.0
        numbers = numbers_of(self.original.frame[column])
        finite = numbers[np.abs(numbers) < LARGEST]
        return self.numbers_off * (float(np.std(finite)) if len(finite) else 0.0)

    def _moved(self, values: pl.Series, column: str, rng: np.random.Generator) -> pl.Series:
        """Draw for each number one within reach that somebody has."""
        if not self.reach(column):
            return values
        # Out of everybody's, so that nobody is told by having a number of their own group.
        frames = [one for one in (self.original.frame, self.population, self.control) if one is not None]
        others = [one[column].cast(values.dtype, strict=False) for one in frames if column in one.columns]
        pool = pl.concat([values, *others]).drop_nulls().unique()
        numbers = numbers_of(pool)
        pool, numbers = pool.gather(np.argsort(numbers, kind="stable")), np.sort(numbers, kind="stable")
        own = numbers_of(values)
        wanted = own + rng.uniform(-1, 1, len(own)) * self.reach(column)
        at = np.clip(np.searchsorted(numbers, wanted), 1, max(1, len(numbers) - 1))
        at -= wanted - numbers[at - 1] < numbers[np.minimum(at, len(numbers) - 1)] - wanted
        first = np.searchsorted(numbers, own - self.reach(column), side="left")
        last = np.searchsorted(numbers, own + self.reach(column), side="right") - 1
        moved = pool.gather(np.clip(at, first, np.maximum(first, last)).clip(0, len(pool) - 1))
        return pl.select(pl.when(pl.lit(values).is_not_null()).then(pl.lit(moved))).to_series().alias(values.name)

    def read_labels(self, column: str, cells: pl.Series, file: str) -> tuple[Ints, LeafSets]:
        """Return the number of each released label, and which known values it may be the label of.

        Who knows numbers to within so much takes a label for every value that lies no farther from what it stands for.
        """
        codes, sets = self.vocabulary(column).read(cells, file=file)
        reach = self.reach(column)
        return codes, widened(sets, np.array(self.vocabulary(column).numbers), reach) if reach else sets

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
            hierarchy = self.hierarchies.get(column)
            found = Vocabulary.of(column, [values, *others], hierarchy, is_numeric=self.is_number(column))
            if hierarchy is not None:
                # Others have values that nobody of the original has: next month's dates, another town.
                texts = [text for one in others for text in found.unknown(one)]
                found = replace(found, hierarchy=extended(hierarchy, texts, is_open=True)) if texts else found
            self._vocabularies[column] = found
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


def numbers_of(values: pl.Series) -> npt.NDArray[np.float64]:
    """Return a column of numbers, which may be written as text; missing where there is none."""
    if values.dtype.is_numeric():
        return values.cast(pl.Float64).to_numpy()
    distinct = values.unique()
    read = [None if text is None else read_number(text) for text in distinct.cast(pl.String)]
    table = pl.DataFrame({"value": distinct, "number": [None if one is None else float(one) for one in read]})
    asked = pl.DataFrame({"value": values}).join(table, on="value", how="left", nulls_equal=True, maintain_order="left")
    return asked["number"].cast(pl.Float64).to_numpy()


def mistaken(values: pl.Series, share: float, rng: np.random.Generator) -> pl.Series:
    """Replace values with this chance by another one, as often as others have it; missing values stay.

    Example: of f, f, m, m, m a woman who is mistaken is m, a man f.
    """
    held = values.is_not_null().to_numpy()
    distinct, codes = encode(values)
    held_codes = np.sort(codes[held])
    is_wrong = held & (rng.random(len(values)) < share)
    first = np.searchsorted(held_codes, codes, side="left")
    last = np.searchsorted(held_codes, codes, side="right")
    n_others = len(held_codes) - (last - first)
    is_wrong &= n_others > 0
    # The place of one of the others: behind the own values if it is not before them.
    at = (rng.random(len(values)) * n_others).astype(np.int64)
    at += np.where(at >= first, last - first, 0)
    drawn = codes.copy()
    drawn[is_wrong] = held_codes[at[is_wrong]]
    return distinct.gather(drawn.tolist()).alias(values.name)


def widened(sets: LeafSets, numbers: npt.NDArray[np.float64], reach: float) -> LeafSets:
    """Let labels stand for every number that lies no farther than that from one they stand for.

    Example: of the ages 20, 22, 25 and 30 the label 20-22 stands for 20 to 25 as well, with a reach of 3.
    """
    # A hair more, since what was added and is taken off again need not be the same to the last digit.
    reach, n_leaves = reach * (1 + 1e-9), len(numbers)
    runs: list[list[tuple[int, int]]] = [[] for _ in range(sets.n_labels)]
    for label, first, end in zip(sets.label, sets.first, sets.end, strict=True):
        own, last = runs[label], min(int(end), n_leaves)
        if first < last:
            low = int(np.searchsorted(numbers, numbers[first] - reach, side="left"))
            high = int(np.searchsorted(numbers, numbers[last - 1] + reach, side="right"))
            if own and low <= own[-1][1]:
                low = own.pop()[0]
            own.append((low, high))
        if end > n_leaves:
            # The missing value is known to be missing.
            start = max(int(first), n_leaves)
            own.append((own.pop()[0], int(end)) if own and own[-1][1] == start else (start, int(end)))
    return LeafSets.of(sets.n_indices, runs)


def column_of(frame: pl.DataFrame, column: str, name: str) -> pl.Series:
    """Return a column; one that is not there is an InputError that lists those that are."""
    if column not in frame.columns:
        raise InputError.of(f"a column of the table: {', '.join(frame.columns)}", file=name, column=column)
    return frame[column]
