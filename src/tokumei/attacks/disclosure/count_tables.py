"""Published tables of counts, and what they say of all tables of people that they can be of.

A line of a count table has a label in some columns, `*` or nothing in the others, and how many rows have these labels:

| sex | age | rows |
|-----|-----|------|
| f   | 20s | 12   |
| f   | 30s | <5   |
| m   |     | 31   |

Lines with labels in the same columns are one table. A label stands for values as in any release; values that no line
tells apart are one *atom*, and a combination of atoms is a *cell*. Each line bounds how many rows its cells have.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from tokumei.attacks.disclosure.count_programs import rows_of
from tokumei.attacks.public_knowledge import PublicKnowledge
from tokumei.attacks.threat_model import column_of
from tokumei.core.errors import FaultList, InputError
from tokumei.core.text import Text
from tokumei.data.table import Table
from tokumei.hierarchies.hierarchy import SUPPRESSED
from tokumei.hierarchies.label_semantics import Ints, Vocabulary
from tokumei.hierarchies.labels import set_members
from tokumei.methods.perturbing.marginals import MISSING

Bools = npt.NDArray[np.bool_]
# What offices write in place of a count.
MARKS = frozenset({"*", "x", "X", "-", "–", "—", ".", "..", ":", "c", "C", "s", "S", "n/a", "NA", "suppressed"})
UNDER, UP_TO = re.compile(r"<\s*(\d+)"), re.compile(r"(?:≤|<=)\s*(\d+)")
BETWEEN = re.compile(r"(\d+)\s*(?:-|–|\.\.)\s*(\d+)")
# What offices write where all values are meant; taken for a value of its own, people would count twice.
TOTALS = frozenset({"Total", "total", "TOTAL", "All", "all", "ALL", "合計", "総数", "計"})
# Beyond, a program takes minutes.
MOST_CELLS = 50_000
OPEN = np.iinfo(np.int32).max


@dataclass(frozen=True)
class CountReading:
    """How the counts of a table are to be read.

    column: has the counts. least: the least count that a mark or `<5` hides. suppressed: marks hide fewer rows than
    this; any number if 0. rounded, is_random: counts are multiples of this, the nearest or either one beside.
    is_noisy: counts are any numbers and bound nothing.
    """

    column: str
    least: int = 1
    suppressed: int = 0
    rounded: int = 0
    is_random: bool = False
    is_noisy: bool = False

    def bounds(self, text: str | None) -> tuple[float, float] | str:
        """Return the least and the most rows that a count may stand for, or what was expected in its place."""
        if text is None or text in MARKS:
            return (self.least, self.suppressed - 1) if self.suppressed else (0, OPEN)
        for pattern, less in ((UNDER, 1), (UP_TO, 0)):
            if found := pattern.fullmatch(text):
                return self.least, int(found[1]) - less
        if found := BETWEEN.fullmatch(text):
            return int(found[1]), int(found[2])
        try:
            number = float(text)
        except ValueError:
            return "a number of rows, such as 12, <5, 1-4 or *"
        if not abs(number) <= OPEN:
            return "a number of rows, such as 12, <5, 1-4 or *"
        if self.is_noisy:
            return number, number
        if number < 0 or number != int(number):
            return "a whole number of rows; of noisy counts say by which ε they were made (epsilon=1)"
        if not self.rounded:
            return number, number
        if number % self.rounded:
            return Text("a multiple of {n}, to which counts are said to be rounded", n=self.rounded)
        away = self.rounded - 1 if self.is_random else self.rounded // 2
        return max(0.0, number - away), number + away


@dataclass(frozen=True, eq=False)
class CountLines:
    """The lines of count tables: for each column the label of each line, None where it has none, and their bounds.

    has_missing: for each column the lines that are of the missing value.
    """

    labels: Mapping[str, list[str | None]]
    has_missing: Mapping[str, Bools]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]

    @classmethod
    def read(
        cls, tables: Sequence[Table], columns: Sequence[str], reading: CountReading, with_tree: Collection[str] = ()
    ) -> CountLines:
        """Read the lines of count tables; all that cannot be read is named at once.

        with_tree: columns whose labels a hierarchy says, so that Total may be one.
        """
        labels: dict[str, list[str | None]] = {name: [] for name in columns}
        low, high = [], []
        for table in tables:
            faults = FaultList(table.name)
            frame = table.frame
            if reading.column not in frame.columns:
                expected = Text("a column of counts, one of {names}, named by counts", names=", ".join(frame.columns))
                raise InputError.of(expected, file=table.name, column=reading.column)
            for row, text in enumerate(frame[reading.column].cast(pl.String).str.strip_chars().to_list()):
                found = reading.bounds(text)
                if isinstance(found, str):
                    faults.add(found, line=table.line_of(row), column=reading.column, value=text)
                else:
                    low.append(found[0])
                    high.append(found[1])
            for name in columns:
                own = frame[name].cast(pl.String).to_list() if name in frame.columns else [None] * frame.height
                for row, text in enumerate(own):
                    if text in TOTALS and name not in with_tree:
                        faults.add(
                            "* or nothing where all are counted", line=table.line_of(row), column=name, value=text
                        )
                labels[name] += [None if text == SUPPRESSED or not text else text for text in own]
            faults.raise_if_any()
        cls._check_once(tables, labels)
        # In one order, whatever that of the file is.
        order = sorted(range(len(low)), key=lambda at: [own[at] or "" for own in labels.values()])
        labels = {name: [own[at] for at in order] for name, own in labels.items()}
        low, high = [low[at] for at in order], [high[at] for at in order]
        missing = {name: np.array([MISSING in _members(text) for text in own], bool) for name, own in labels.items()}
        shown = {name: [_without_missing(text) for text in own] for name, own in labels.items()}
        used = [name for name in columns if missing[name].any() or any(text is not None for text in shown[name])]
        if not used:
            raise InputError.of(f"labels in a column of counts: {', '.join(columns)}", file=tables[0].name)
        return cls(
            {name: shown[name] for name in used}, {name: missing[name] for name in used}, np.array(low), np.array(high)
        )

    @staticmethod
    def _check_once(tables: Sequence[Table], labels: Mapping[str, list[str | None]]) -> None:
        """Refuse a file that has two lines of the same labels: a column of labels was not named."""
        lines = list(zip(*labels.values(), strict=True))
        for table in tables:
            own, lines = lines[: table.n_rows], lines[table.n_rows :]
            first: dict[tuple[str | None, ...], int] = {}
            for row, key in enumerate(own):
                if key in first:
                    expected = Text(
                        "other labels than line {n} has: is a column of labels not named?", n=table.line_of(first[key])
                    )
                    named = ", ".join(text for text in key if text is not None)
                    raise InputError.of(expected, file=table.name, line=table.line_of(row), value=named)
                first[key] = row

    def __len__(self) -> int:
        return len(self.low)

    @cached_property
    def tables(self) -> dict[tuple[str, ...], Ints]:
        """The lines that have labels in the same columns, by these."""
        columns = list(self.labels)
        is_named = np.column_stack(
            [np.array([text is not None for text in self.labels[name]]) | self.has_missing[name] for name in columns]
        )
        out: dict[tuple[str, ...], list[int]] = {}
        for line, own in enumerate(is_named.tolist()):
            named = tuple(name for name, is_own in zip(columns, own, strict=True) if is_own)
            out.setdefault(named, []).append(line)
        return {named: np.array(lines, np.int64) for named, lines in out.items()}


def _members(label: str | None) -> Sequence[str]:
    """Return the members of a set, such as {Kyoto;(missing)}, or the label alone."""
    return [] if label is None else set_members(label) or [label]


def _without_missing(label: str | None) -> str | None:
    """Return what a label says beside the missing value; None if that is nothing."""
    if label is None or MISSING not in label:
        return label
    rest = [one for one in _members(label) if one != MISSING]
    return None if not rest else rest[0] if len(rest) == 1 else "{" + ";".join(rest) + "}"


@dataclass(frozen=True, eq=False)
class Atoms:
    """The values of a column that published labels tell apart: which lines each lies in, and its name.

    of_value: the atom of each value of the vocabulary, the missing one last. coarser: published labels of several atoms
    in families, no two of which have an atom in common: the label of each atom, −1 where none has it, and their names.
    """

    vocabulary: Vocabulary
    names: Sequence[str]
    of_value: Ints
    inside: Bools = field(repr=False)
    coarser: Sequence[tuple[Ints, Sequence[str]]] = ()

    @classmethod
    def of(cls, public: PublicKnowledge, column: str, lines: CountLines) -> Atoms:
        """Tell the values of a column apart by the labels that lines have; one without label has no row of its own."""
        vocabulary = _vocabulary(public, column)
        texts = list(dict.fromkeys(text for text in lines.labels[column] if text is not None))
        n_values = vocabulary.n_leaves + 1
        try:
            sets = vocabulary.leaf_sets(texts)
        except InputError as error:
            raise error.within(public.release.name) from None
        holds = np.zeros((n_values, len(texts) + 1), bool)
        for label, start, end in zip(sets.label.tolist(), sets.first.tolist(), sets.end.tolist(), strict=True):
            holds[start:end, label] = True
        holds[-1, -1] = bool(lines.has_missing[column].any())
        signatures, first, of_value = np.unique(holds, axis=0, return_index=True, return_inverse=True)
        # In the order of their values.
        order = np.argsort(first)
        signatures, of_value = signatures[order], np.argsort(order)[of_value.reshape(-1)]
        at = {text: place for place, text in enumerate(texts)}
        of_line = np.array([-1 if text is None else at[text] for text in lines.labels[column]], np.int64)
        is_missing = lines.has_missing[column]
        inside = np.where(of_line >= 0, signatures[:, of_line], ~is_missing) | (signatures[:, -1:] & is_missing)
        sizes = holds.sum(axis=0)
        names = []
        for atom, own in enumerate(signatures):
            values = np.flatnonzero(of_value == atom)
            alike = [text for text in texts if own[at[text]] and sizes[at[text]] == len(values)]
            names.append(alike[0] if alike else _name(vocabulary, values))
        return cls(vocabulary, names, of_value, inside, _families(inside, lines.labels[column], is_missing))

    def coding(self, number: int) -> tuple[Ints, Sequence[str]]:
        """Return the label of each atom in one way of naming them, and the names: 0 are the atoms themselves."""
        return self.coarser[number - 1] if number else (np.arange(len(self.names)), self.names)

    def of_people(self, values: pl.Series, name: str, *, are_known: bool) -> Ints:
        """Return the atom of each person; −1 of one whose value nobody knows of, which is an error unless it may be."""
        return np.append(self.of_value, -1)[self.vocabulary.indices(values, file=name, are_known=are_known)]


def _families(inside: Bools, labels: Sequence[str | None], is_missing: Bools) -> list[tuple[Ints, list[str]]]:
    """Put labels of several atoms, but not of all, into families that have no atom in common."""
    found: dict[bytes, tuple[Bools, str]] = {}
    for line, label in enumerate(labels):
        if (label is not None or is_missing[line]) and 1 < int(inside[:, line].sum()) < len(inside):
            name = f"{{{label};{MISSING}}}" if is_missing[line] else str(label)
            found.setdefault(inside[:, line].tobytes(), (inside[:, line], name))
    families: list[tuple[Ints, list[str]]] = []
    for own, name in sorted(found.values(), key=lambda one: (int(one[0].sum()), one[1])):
        for codes, names in families:
            if (codes[own] < 0).all():
                codes[own] = len(names)
                names.append(name)
                break
        else:
            families.append((np.where(own, 0, -1), [name]))
    return families


def _vocabulary(public: PublicKnowledge, column: str) -> Vocabulary:
    """Return the values of a column that labels may stand for, those of the original among them for the judge."""
    own = public.vocabulary(column)
    if public.truth is None or column in public.hierarchies:
        return own
    held = public.truth.original.distinct(column).cast(pl.String).drop_nulls()
    listed = pl.Series(column, [leaf for leaf in own.hierarchy.leaves if leaf], pl.String)
    return Vocabulary.of(column, [listed, held], is_numeric=own.is_numeric)


def _name(vocabulary: Vocabulary, values: Ints) -> str:
    texts = {index: vocabulary.hierarchy.leaves[leaf] for leaf, index in enumerate(vocabulary.index_of_leaf.tolist())}
    named = [texts.get(value, MISSING) for value in values.tolist()]
    if len(named) == 1:
        return named[0]
    return "{" + ";".join(named[:4]) + (f";… {len(named) - 4} more" if len(named) > 4 else "") + "}"


@dataclass(frozen=True, eq=False)
class CountedCells:
    """The cells that may have rows, and what published lines say of them.

    codes: for each cell its atom in each column. lines: ones where a cell lies in a line. low, high: the rows of each
    line at least and at most. n_most: rows that there are at most in all.
    """

    columns: Sequence[str]
    atoms: Sequence[Atoms]
    codes: Ints
    lines: sparse.csr_array
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    tables: Sequence[Sequence[str]]
    lines_of_tables: Sequence[Ints]
    n_most: int

    @classmethod
    def of(cls, public: PublicKnowledge, lines: CountLines, *, is_complete: bool, total: int = 0) -> CountedCells:
        """List the cells; where tables are complete, what they do not list has no rows.

        total: how many rows there are in all; 0 if that is not known.
        """
        columns = _in_order(list(lines.labels), list(lines.tables))
        atoms = [Atoms.of(public, name, lines) for name in columns]
        n_most = _most(lines, total, is_complete=is_complete)
        codes = np.zeros((1, 0), np.int64)
        for place, atom in enumerate(atoms):
            n_own = len(atom.names)
            # Checked before the product is made, which would fill the memory.
            if len(codes) * n_own > 40 * MOST_CELLS:
                raise _too_many(len(codes) * n_own)
            codes = np.column_stack([np.repeat(codes, n_own, axis=0), np.tile(np.arange(n_own), len(codes))])
            known = columns[: place + 1]
            for named, own in lines.tables.items():
                if set(named) <= set(known) and columns[place] in named:
                    codes = codes[_may_have_rows(codes, known, atoms, lines, named, own, is_complete=is_complete)]
            if len(codes) > MOST_CELLS:
                raise _too_many(len(codes))
        # As they were named, whatever order was best to rule cells out.
        back = [columns.index(name) for name in lines.labels]
        atoms, codes = [atoms[at] for at in back], codes[:, back]
        codes = codes[np.lexsort(codes.T[::-1])]
        of_line = []
        for line in range(len(lines)):
            inside = np.ones(len(codes), bool)
            for place, atom in enumerate(atoms):
                inside &= atom.inside[codes[:, place], line]
            of_line.append(np.flatnonzero(inside))
        matrix = rows_of(of_line, len(codes))
        low, high = lines.low, np.where(lines.high >= OPEN, n_most, lines.high)
        if total:
            matrix = sparse.vstack([matrix, rows_of([np.arange(len(codes))], len(codes))], format="csr")
            low, high = np.append(low, total), np.append(high, total)
        return cls([*lines.labels], atoms, codes, matrix, low, high, [*lines.tables], [*lines.tables.values()], n_most)

    def __len__(self) -> int:
        return len(self.codes)

    def codes_of_people(self, frame: pl.DataFrame, name: str, *, are_known: bool = True) -> Ints:
        """Return the atom of each person in each column."""
        both = zip(self.columns, self.atoms, strict=True)
        own = [atom.of_people(column_of(frame, column, name), name, are_known=are_known) for column, atom in both]
        return np.column_stack(own).astype(np.int64)

    def numbers(self, codes: Ints) -> Ints:
        """Return the cells that people are in, −1 where the tables leave no room for one."""
        places = {one.tobytes(): at for at, one in enumerate(np.ascontiguousarray(self.codes))}
        return np.array([places.get(one.tobytes(), -1) for one in np.ascontiguousarray(codes)], np.int64)

    def values(self, cell: int, columns: Sequence[int], codings: Sequence[int]) -> list[str]:
        """Return the values or labels that a cell has in some columns."""
        out = []
        for at, number in zip(columns, codings, strict=True):
            labels, names = self.atoms[at].coding(number)
            out.append(names[int(labels[self.codes[cell, at]])])
        return out

    def codings(self, columns: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """List the ways in which the values of some columns can be named, by values or by published labels."""
        return itertools.product(*(range(len(self.atoms[at].coarser) + 1) for at in columns))

    def groups(self, columns: Sequence[int], codings: Sequence[int]) -> list[Ints]:
        """Return the cells of each class by some columns, of those that have labels there."""
        keys, there = np.zeros(len(self), np.int64), np.ones(len(self), bool)
        for at, number in zip(columns, codings, strict=True):
            labels, names = self.atoms[at].coding(number)
            own = labels[self.codes[:, at]]
            keys, there = keys * len(names) + own, there & (own >= 0)
        cells = np.flatnonzero(there)
        order = cells[np.argsort(keys[cells], kind="stable")]
        return np.split(order, np.flatnonzero(np.diff(keys[order])) + 1) if len(order) else []


def _in_order(columns: list[str], tables: Sequence[tuple[str, ...]]) -> list[str]:
    """Order columns so that the tables that rule cells out come early."""
    out: list[str] = []
    for named in sorted(tables, key=lambda one: (-len(one), one)):
        out += [name for name in named if name not in out]
    return out + [name for name in columns if name not in out]


def _most(lines: CountLines, total: int, *, is_complete: bool) -> int:
    if total:
        return total
    ends = []
    for named, own in lines.tables.items():
        if (is_complete or not named) and (lines.high[own] < OPEN).all():
            ends.append(float(lines.high[own].sum()))
    if not ends:
        raise InputError.of("how many rows there are in all: no table has every count", option="total")
    return int(min(ends))


def _may_have_rows(
    codes: Ints,
    known: Sequence[str],
    atoms: Sequence[Atoms],
    lines: CountLines,
    named: Sequence[str],
    own: Ints,
    *,
    is_complete: bool,
) -> Bools:
    """Whether each cell may have rows as far as one table tells."""
    places = [known.index(name) for name in named]
    keys, key_of = np.unique(codes[:, places], axis=0, return_inverse=True)
    may = np.zeros(len(keys), bool) if is_complete else np.ones(len(keys), bool)
    is_none = np.zeros(len(keys), bool)
    for line in own.tolist():
        inside = np.ones(len(keys), bool)
        for at, place in enumerate(places):
            inside &= atoms[place].inside[keys[:, at], line]
        may |= inside
        if lines.high[line] <= 0:
            is_none |= inside
    out: Bools = (may & ~is_none)[key_of.reshape(-1)]
    return out


def _too_many(n: int) -> InputError:
    expected = Text("at most {n:,} combinations of values: fewer tables or columns at a time", n=MOST_CELLS)
    return InputError.of(expected, option="qi", value=f"{n:,}")
