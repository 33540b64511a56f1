"""Further changes to the classes of a released table: snap, widen, merge, suppress; none of them needs the original."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.text import Json
from tokumei.engines.grouping import group_rows
from tokumei.hierarchies.label_semantics import Vocabulary
from tokumei.methods.label_ladders import Label, Ladder, label_cost

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Kind = Literal["snap", "widen", "merge", "suppress"]


@dataclass(frozen=True, order=True)
class ClassChange:
    """One change to a release.

    snap: every label of `column` that is no public one becomes the narrowest public label around it.
    widen: the label of `column` in one class goes one step up its ladder; several such changes go several steps.
    merge: two classes, and all that were merged with either, are written alike.
    suppress: the rows of one class are left out.
    """

    kind: Kind
    classes: tuple[int, ...] = ()
    column: str = ""

    def as_dict(self) -> Json:
        """Return the change for a recipe; classes are numbered from 1 by their first rows in the release."""
        more = {"column": self.column} if self.column else {}
        return {"change": self.kind, **more, "classes": [number + 1 for number in self.classes]}


@dataclass(frozen=True, eq=False)
class ChangedClasses:
    """What some changes make of the classes.

    labels: of each column the label of each class. unit_of: classes that were merged have one number.
    """

    labels: Mapping[str, Sequence[Label]]
    unit_of: Ints
    is_out: Bools
    cost: float
    cost_by_column: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class ReleasedClasses:
    """The rows of a release that say the same, and the public labels by which they can be made to say less.

    Loss is the certainty penalty of all cells, a mean over columns and rows; a row left out has lost all. `n_left_out`
    rows of the original are not in the release to begin with.
    """

    frame: pl.DataFrame
    ladders: Mapping[str, Ladder]
    vocabularies: Mapping[str, Vocabulary]
    weights: Mapping[str, float]
    n_left_out: int = 0
    _covered: dict[tuple[str, frozenset[Label]], Label] = field(default_factory=dict)
    _wider: dict[tuple[str, Label], Label] = field(default_factory=dict)
    _costs: dict[tuple[str, Label], float] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """The quasi-identifiers."""
        return list(self.ladders)

    @cached_property
    def labels(self) -> dict[str, list[Label]]:
        """For each column the label of each class."""
        texts = {name: self.frame[name].cast(pl.String) for name in self.columns}
        return {name: text.gather(self.first_rows).to_list() for name, text in texts.items()}

    @property
    def class_of(self) -> Ints:
        """The class of each row, numbered by their first rows."""
        return self._classes[1]

    @property
    def first_rows(self) -> Ints:
        """The first row of each class."""
        return self._classes[0]

    @cached_property
    def sizes(self) -> Ints:
        """The number of rows of each class."""
        return np.bincount(self.class_of)

    @cached_property
    def _classes(self) -> tuple[Ints, Ints]:
        codes = [self.frame[name].cast(pl.String).rank("dense").fill_null(0).cast(pl.Int32) for name in self.columns]
        sizes = [int(one.max() or 0) + 1 for one in codes]  # type: ignore[arg-type]
        grouping = group_rows([one.to_numpy() for one in codes], sizes, self.frame.height)
        first = np.full(len(grouping.a_row_of), self.frame.height)
        np.minimum.at(first, grouping.group_of, np.arange(self.frame.height))
        order = np.argsort(first)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return first[order], place[grouping.group_of]

    def changed(self, changes: Iterable[ClassChange]) -> ChangedClasses:
        """Make changes; their order does not matter: labels are snapped and merged before they are widened."""
        changes = list(changes)
        n_classes = len(self.sizes)
        unit_of, is_out = np.arange(n_classes), np.zeros(n_classes, bool)
        for one in changes:
            if one.kind == "merge":
                low, high = sorted(unit_of[list(one.classes)].tolist())
                unit_of[unit_of == high] = low
            elif one.kind == "suppress":
                is_out[list(one.classes)] = True
        steps = Counter((one.classes[0], one.column) for one in changes if one.kind == "widen")
        snapped = {one.column for one in changes if one.kind == "snap"}
        members: dict[int, list[int]] = {}
        for number in np.flatnonzero(np.bincount(unit_of, minlength=n_classes)[unit_of] > 1).tolist():
            members.setdefault(int(unit_of[number]), []).append(number)
        labels = {name: self._labels_of(name, members, steps, is_snapped=name in snapped) for name in self.columns}
        by_column = {name: self._cost_of(name, own, is_out) for name, own in labels.items()}
        return ChangedClasses(labels, unit_of, is_out, sum(by_column.values()), by_column)

    def cost(self, column: str, label: Label) -> float:
        """Return what a label loses in a column, from 0 to 1."""
        key = column, label
        if key not in self._costs:
            self._costs[key] = label_cost(self.vocabularies[column], label)
        return self._costs[key]

    def wider(self, column: str, label: Label) -> Label:
        """Return the next label of a column."""
        key = column, label
        if key not in self._wider:
            self._wider[key] = self.ladders[column].wider(label)
        return self._wider[key]

    def cover(self, column: str, labels: Iterable[Label]) -> Label:
        """Return the narrowest public label around some."""
        key = column, frozenset(labels)
        if key not in self._covered:
            self._covered[key] = self.ladders[column].cover(list(key[1]))
        return self._covered[key]

    def is_public(self, column: str) -> bool:
        """Whether every label of a column is a public one already."""
        return all(self.cover(column, [label]) == label for label in set(self.labels[column]))

    def released(self, changed: ChangedClasses) -> tuple[pl.DataFrame, Ints]:
        """Return the changed release and which of its rows are left; columns without a change keep their type."""
        different = [name for name in self.columns if changed.labels[name] != self.labels[name]]
        made = [pl.Series(name, changed.labels[name], pl.String).gather(self.class_of) for name in different]
        kept = np.flatnonzero(~changed.is_out[self.class_of])
        return self.frame.with_columns(made)[kept], kept

    def _labels_of(
        self, column: str, members: Mapping[int, Sequence[int]], steps: Counter[tuple[int, str]], *, is_snapped: bool
    ) -> list[Label]:
        labels = self.labels[column]
        out = [self.cover(column, [label]) for label in labels] if is_snapped else list(labels)
        for numbers in members.values():
            distinct = {out[number] for number in numbers}
            together = next(iter(distinct)) if len(distinct) == 1 else self.cover(column, distinct)
            n_steps = max(steps[number, column] for number in numbers)
            for number in numbers:
                out[number] = self._widened(column, together, n_steps)
        merged = {number for numbers in members.values() for number in numbers}
        for (number, own), n_steps in steps.items():
            if own == column and number not in merged:
                out[number] = self._widened(column, out[number], n_steps)
        return out

    def _widened(self, column: str, label: Label, n_steps: int) -> Label:
        for _ in range(n_steps):
            label = self.wider(column, label)
        return label

    def _cost_of(self, column: str, labels: Sequence[Label], is_out: Bools) -> float:
        costs = np.where(is_out, 1.0, [self.cost(column, label) for label in labels])
        n_rows = self.frame.height + self.n_left_out
        return self.weights[column] * float(costs @ self.sizes + self.n_left_out) / max(1, n_rows)
