"""What a released label stands for: the values that may have stood there.

| label | stands for |
|---|---|
| `39` | the leaf itself |
| `thirties` | its leaves, at whichever level the label is; at several, all of them |
| `*` | everything, the missing value too |
| `20-24`, `-5..-1` | in a column of numbers: the leaves from one end to the other |
| `[2.5, 5]`, `[2.5, 5)`, `[2.5, 5[` | the same, the others without their upper end |
| `(2.5, 5]`, `]2.5, 5]` | the same without the lower end |
| `<18`, `>=80` | in a column of numbers: all leaves to that side |
| `{a;b}`, `{a, b}` | all that the members stand for |
| `130**` | the leaves of the same length that agree wherever there is no mask |
| (missing) | the missing value alone |

Leaves have indices: numbers in ascending order, others in the order of the hierarchy, the missing value last. A label
is kept as runs of indices, so that a thousand ranges over a million leaves need no table of a thousand millions.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import LISTED_FAULTS, Fault, InputError
from tokumei.engines.class_counts import no_label, read_as
from tokumei.hierarchies.hierarchy import SUPPRESSED, Hierarchy
from tokumei.hierarchies.labels import LONGEST_LABEL, NumberRange, read_range, set_members
from tokumei.hierarchies.leaves import leaf_texts, read_number, unreadable

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Runs = list[tuple[int, int]]
"""Places from the first up to, but without, the second; apart from each other and in order."""
Sortable = tuple[float, Fraction]


@dataclass(frozen=True, eq=False)
class LeafSets:
    """The indices that each of some labels stands for, as runs sorted by label and index."""

    n_indices: int
    n_labels: int
    label: Ints
    first: Ints
    end: Ints

    @classmethod
    def of(cls, n_indices: int, runs: Sequence[Runs]) -> LeafSets:
        """Make the sets of labels from the runs of each."""
        flat = [(label, first, end) for label, own in enumerate(runs) for first, end in own]
        columns = np.array(flat, np.int64).reshape(-1, 3)
        return cls(n_indices, len(runs), columns[:, 0], columns[:, 1], columns[:, 2])

    @cached_property
    def sizes(self) -> Ints:
        """The number of indices of each label."""
        out = np.zeros(self.n_labels, np.int64)
        np.add.at(out, self.label, self.end - self.first)
        return out

    @cached_property
    def label_at(self) -> Ints | None:
        """The one label that may stand for each index, −1 where none does; None if labels have leaves in common."""
        # Runs that do not overlap, in order, cover as many indices as they have in all.
        order = np.argsort(self.first, kind="stable")
        if (self.first[order][1:] < self.end[order][:-1]).any():
            return None
        out = np.full(self.n_indices, -1, np.int64)
        lengths = self.end - self.first
        starts = np.repeat(self.first - (np.cumsum(lengths) - lengths), lengths)
        out[starts + np.arange(int(lengths.sum()))] = np.repeat(self.label, lengths)
        return out

    def contain(self, labels: Ints, indices: Ints) -> Bools:
        """Whether each label may stand for the index beside it."""
        if not len(self.label):
            return np.zeros(len(labels), bool)
        stride = self.n_indices + 1
        # The last run that starts at or before the index, if it is one of the label.
        at = np.searchsorted(self.label * stride + self.first, labels * stride + indices, side="right") - 1
        found: Bools = (at >= 0) & (self.label[at] == labels) & (indices < self.end[at])
        return found

    def rows(self, indices: Ints, labels: Ints | None = None) -> Bools:
        """Return for each index, in ascending order, which labels, or which of these, may stand for it."""
        label, first, end, n_labels = self.label, self.first, self.end, self.n_labels
        if labels is not None:
            column_of = np.full(n_labels, -1, np.int64)
            column_of[labels] = np.arange(len(labels))
            is_asked = column_of[label] >= 0
            label, first, end, n_labels = column_of[label[is_asked]], first[is_asked], end[is_asked], len(labels)
        # A run starts at one row and stops at another; in between it holds.
        steps = np.zeros((len(indices) + 1, n_labels), np.int8)
        np.add.at(steps, (np.searchsorted(indices, first), label), 1)
        np.add.at(steps, (np.searchsorted(indices, end), label), -1)
        return np.cumsum(steps[:-1], axis=0, dtype=np.int8).astype(bool)

    def reach(self, low: int, high: int) -> Bools:
        """Return for each label whether it may stand for an index from low to high."""
        out = np.zeros(self.n_labels, bool)
        out[self.label[(self.first <= high) & (self.end > low)]] = True
        return out


def told_apart(sets: Sequence[LeafSets]) -> Ints:
    """Return a representative of each index: the first one that the same labels of all these sets contain.

    Where labels have leaves in common, only neighbors are found to be alike.
    """
    code = np.zeros(sets[0].n_indices, np.int64)
    for one in sets:
        own = one.label_at
        if own is None:
            edges = np.zeros(one.n_indices + 1, np.int64)
            edges[one.first], edges[one.end] = 1, 1
            own = np.cumsum(edges[:-1])
        _, code = np.unique(code * (one.n_indices + one.n_labels + 1) + own + 1, return_inverse=True)
    _, first = np.unique(code, return_index=True)
    return first[code]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The leaves of one column, and what any label of it stands for."""

    hierarchy: Hierarchy
    is_numeric: bool = False

    @classmethod
    def of(
        cls, attribute: str, columns: Sequence[pl.Series], hierarchy: Hierarchy | None = None, *, is_numeric: bool
    ) -> Vocabulary:
        """Take the hierarchy of a column or, where there is none, a flat one of all values of these columns."""
        if hierarchy is None:
            held = [column for column in columns if column.null_count() < len(column)]
            texts = list(dict.fromkeys(text for column in held for text in leaf_texts(attribute, column)))
            if is_numeric:
                # 20 and 20.0 are one leaf; what is no number stays, to be refused by its name.
                numbers = [(read_number(text), text) for text in reversed(texts)]
                texts = list({text if number is None else number: text for number, text in numbers}.values())
            # A column without any value still has one leaf, which nobody has.
            hierarchy = Hierarchy.of_levels(attribute, [texts or [""]])
            is_numeric = is_numeric and bool(texts)
        return cls(hierarchy, is_numeric)

    @property
    def attribute(self) -> str:
        """The name of the column."""
        return self.hierarchy.attribute

    @property
    def n_leaves(self) -> int:
        """The number of leaves, which is also the index of the missing value."""
        return len(self.hierarchy.leaves)

    @cached_property
    def index_of_leaf(self) -> Ints:
        """The index of each leaf of the hierarchy."""
        if not self.is_numeric:
            return np.arange(self.n_leaves)
        order = sorted(range(self.n_leaves), key=[_sortable(number) for number in self._leaf_numbers].__getitem__)
        out = np.empty(self.n_leaves, np.int64)
        out[order] = np.arange(self.n_leaves)
        return out

    @cached_property
    def numbers(self) -> list[float]:
        """The number at each index, of a numeric column."""
        return [near for near, _ in self._numbers]

    @cached_property
    def index_of_number(self) -> dict[Fraction, int]:
        """The index of each number, of a numeric column."""
        return {number: index for index, (_, number) in enumerate(self._numbers)}

    def indices(
        self, values: pl.Series, rows: Ints | None = None, *, file: str | None = None, are_known: bool = True
    ) -> Ints:
        """Return the index of each value, or of those of some rows; one that is no leaf is an InputError.

        are_known: or else values may be no leaf; they have the index after that of the missing value.
        """
        if isinstance(values.dtype, (pl.Categorical, pl.Enum)):
            values = values.cast(pl.String)
        table = self._indices_of_numbers(values) if self.is_numeric else self._indices_of_leaves(values.dtype)
        found = _looked_up(values, table)
        if not are_known:
            found = found.set(found.is_null() & values.is_not_null(), self.n_leaves + 1)
        if found.null_count() > values.null_count():
            asked, told = (values, found) if rows is None else (values.gather(rows), found.gather(rows))
            unknown = asked.filter(told.is_null() & asked.is_not_null())
            if len(unknown):
                error = no_label(self.attribute, unknown.unique(maintain_order=True))
                raise error if file is None else error.within(file)
        indices = found.fill_null(self.n_leaves).to_numpy().astype(np.int64)
        # Numbers are taken out of their order far faster than the values would be.
        return indices if rows is None else indices[rows]

    def unknown(self, values: pl.Series) -> list[str]:
        """Return the values that are no leaf, each once; in a column of numbers, those that are numbers."""
        distinct = values.drop_nulls().unique()
        new = distinct.filter(pl.Series(self.indices(distinct, are_known=False) > self.n_leaves))
        texts = leaf_texts(self.attribute, new) if len(new) else []
        return [text for text in texts if not self.is_numeric or read_number(text) is not None]

    def _indices_of_leaves(self, dtype: pl.DataType) -> pl.DataFrame:
        """Return the index of each leaf, read as the type of a column."""
        leaves = pl.Series(list(self.hierarchy.leaves), dtype=pl.String)
        table = pl.DataFrame({"value": read_as(leaves, dtype), "index": self.index_of_leaf})
        return table.drop_nulls("value").unique("value", keep="first", maintain_order=True)

    def _indices_of_numbers(self, values: pl.Series) -> pl.DataFrame:
        """Return the index of each value that is the number of a leaf, however it is written."""
        distinct = values.drop_nulls().unique()
        indices: list[int | None] = []
        for text in distinct.cast(pl.String):
            found = self._of_numbers(text)
            indices.append(found[0][0] if found else None)
        return pl.DataFrame({"value": distinct, "index": pl.Series(indices, dtype=pl.Int64)})

    def leaf_sets(self, labels: Sequence[str | None], *, are_known: bool = True) -> LeafSets:
        """Return what each label stands for; one that means nothing in this column is an InputError.

        are_known: or else labels may mean nothing, as values that somebody made up; they stand for no value.
        """
        runs, unknown = [], []
        for label in labels:
            meaning = self._runs_of(label)
            if meaning is None:
                unknown.append(str(label))
            runs.append(meaning or [])
        if unknown and are_known:
            expected = "a value of the column, a label of its hierarchy, a range, a set or *"
            if not self.is_numeric and any(read_range(text) for text in unknown):
                expected += "; a range only in a column declared to be of numbers"
            listed = [Fault(expected, column=self.attribute, value=text) for text in unknown[:LISTED_FAULTS]]
            raise InputError(listed, len(unknown))
        return LeafSets.of(self.n_leaves + 1, runs)

    def read(self, cells: pl.Series, *, file: str | None = None, are_known: bool = True) -> tuple[Ints, LeafSets]:
        """Return the number of each released cell's label, and what the labels stand for, in their order.

        A label that means nothing is an InputError of the file.
        """
        text = cells.cast(pl.String)
        labels = text.unique().sort(nulls_last=True)
        # As an enumeration, which hashes where ranking would sort millions of texts.
        codes = text.cast(pl.Enum(labels.drop_nulls())).to_physical().cast(pl.Int64)
        try:
            return codes.fill_null(labels.len() - 1).to_numpy(), self.leaf_sets(labels.to_list(), are_known=are_known)
        except InputError as error:
            raise error if file is None else error.within(file) from None

    def _runs_of(self, label: str | None) -> Runs | None:
        """Return the runs of a label, None if it has no meaning; a range without a leaf has a meaning and no run."""
        if label is None:
            return [(self.n_leaves, self.n_leaves + 1)]
        if label == SUPPRESSED:
            return [(0, self.n_leaves + 1)]
        found = [runs for runs in (self._of_levels(label), self._of_numbers(label)) if runs is not None]
        if found:
            return _merged([run for runs in found for run in runs])
        members = set_members(label)
        # A value may hold a comma itself: as one member it is tried first.
        for listed in () if members is None else (members,) if ";" in label else ([label[1:-1]], members):
            meant = [self._of_member(member) for member in listed]
            if None not in meant:
                return _merged([run for runs in meant if runs for run in runs])
        return self._of_mask(label)

    def _of_member(self, member: str) -> Runs | None:
        # A set in a set is refused: it would let a label of a thousand braces call itself a thousand times.
        return None if member.startswith("{") else self._runs_of(member)

    def _of_mask(self, label: str) -> Runs | None:
        """Return the runs of the leaves that agree with a label such as 130** wherever it is not masked."""
        kept = tuple(at for at, character in enumerate(label) if character != SUPPRESSED)
        if len(kept) == len(label) or not kept:
            return None
        if (len(label), kept) not in self._masked:
            own = self._masked.setdefault((len(label), kept), {})
            for at, leaf in enumerate(self.hierarchy.leaves):
                if len(leaf) == len(label):
                    own.setdefault("".join(leaf[place] for place in kept), []).append(int(self.index_of_leaf[at]))
        found = self._masked[len(label), kept].get("".join(label[place] for place in kept))
        return None if found is None else _merged([(index, index + 1) for index in found])

    @cached_property
    def _masked(self) -> dict[tuple[int, tuple[int, ...]], dict[str, list[int]]]:
        """For each length and places that are not masked, the leaves by what stands there."""
        return {}

    def _of_levels(self, label: str) -> Runs | None:
        """Return the runs of a label of the hierarchy: of several levels that have it, of all."""
        if label not in self._levels_of:
            return None
        found = [self._leaves_at(level, code) for level, code in self._levels_of[label]]
        if len(found) == 1 and len(found[0]) == 1:
            # Most labels of a column with many values are one of them.
            index = int(self.index_of_leaf[found[0][0]])
            runs = [(index, index + 1)]
        else:
            indices = np.sort(self.index_of_leaf[np.unique(np.concatenate(found))])
            breaks = np.flatnonzero(np.diff(indices) > 1) + 1
            runs = [(int(part[0]), int(part[-1]) + 1) for part in np.split(indices, breaks)]
        is_all = any(self.hierarchy.says_nothing(level) for level, _ in self._levels_of[label])
        return [(0, self.n_leaves + 1)] if is_all else runs

    def _of_numbers(self, label: str) -> Runs | None:
        """Return the run of a number or a range of them."""
        if not self.is_numeric or len(label) > LONGEST_LABEL:
            return None
        number = read_number(label)
        found = NumberRange(number, number) if number is not None else read_range(label)
        if found is None:
            return None
        start = bisect_right if found.is_open_below else bisect_left
        end = bisect_left if found.is_open else bisect_right
        return _run(start(self._numbers, _sortable(found.low)), end(self._numbers, _sortable(found.high)))

    @cached_property
    def _leaf_numbers(self) -> list[Fraction]:
        numbers = [read_number(leaf) for leaf in self.hierarchy.leaves]
        bad = [leaf for leaf, number in zip(self.hierarchy.leaves, numbers, strict=True) if number is None]
        if bad:
            raise unreadable(self.attribute, bad, "a finite number")
        return [number for number in numbers if number is not None]

    @cached_property
    def _numbers(self) -> list[Sortable]:
        return sorted(_sortable(number) for number in self._leaf_numbers)

    @cached_property
    def _levels_of(self) -> dict[str, list[tuple[int, int]]]:
        """For each label the levels that have it, and its number there."""
        out: dict[str, list[tuple[int, int]]] = {}
        for level, found in enumerate(self.hierarchy.levels):
            for code, label in enumerate(found.labels):
                out.setdefault(label, []).append((level, code))
        return out

    def _leaves_at(self, level: int, code: int) -> Ints:
        order, starts = self._by_code[level]
        return order[starts[code] : starts[code + 1]]

    @cached_property
    def _by_code(self) -> list[tuple[Ints, Ints]]:
        """For each level the leaves by label, and where each label starts."""
        out = []
        for level in self.hierarchy.levels:
            order = np.argsort(level.codes, kind="stable")
            out.append((order, np.searchsorted(level.codes[order], np.arange(len(level) + 1))))
        return out


def _looked_up(values: pl.Series, table: pl.DataFrame) -> pl.Series:
    """Return the index that a table has for each value, missing for a value that it does not have."""
    if values.dtype == pl.String:
        # An enumeration has the place of each text among those that it knows; to join with these takes twice as long.
        return table["index"].gather(values.cast(pl.Enum(table["value"]), strict=False).to_physical())
    asked = pl.DataFrame({"value": values}).join(table, on="value", how="left", maintain_order="left")
    return asked["index"]


def meanings(hierarchy: Hierarchy, labels: pl.Series | Sequence[str | None], *, is_numeric: bool = False) -> Bools:
    """Return which leaves (rows, the missing value last) each label (columns) stands for."""
    vocabulary = Vocabulary(hierarchy, is_numeric)
    sets = vocabulary.leaf_sets(list(labels))
    held: Bools = sets.rows(np.arange(sets.n_indices))[np.append(vocabulary.index_of_leaf, vocabulary.n_leaves)]
    return held


def _sortable(number: Fraction) -> Sortable:
    """Return a key that compares quickly: the nearest float, and the exact number where two share it."""
    return float(number), number


def _run(first: int, end: int) -> Runs:
    return [(first, end)] if first < end else []


def _merged(runs: Runs) -> Runs:
    """Put runs in order and join those that meet."""
    out: Runs = []
    for first, end in sorted(runs):
        if out and first <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((first, end))
    return out
