"""Start with labels that tell nothing, and make them finer: for all rows alike, or group by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.progress import step
from tokumei.core.text import Text
from tokumei.measures.requirement import population_of
from tokumei.methods.local.cuts import groups_hold
from tokumei.methods.local.specializing import Label, LabelTree, Specializing
from tokumei.methods.local.task import RANGES_HELP, Ints, LocalRecoding, LocalTask, Ranges, check_ranges


@dataclass(frozen=True)
class TopDownSpecialization:
    """Replace one label by those below it, for all rows at once, as long as the release still meets what is asked.

    Every column starts at the top of its hierarchy. Each step takes a label of one column and gives every row that has
    it the label one level below. So the labels of a column may stand at different levels, but equal values always get
    equal labels, and the hierarchies' levels must nest. The step taken is the one by which the loss (the certainty
    penalty, times the weight of the column) falls most for the anonymity it costs: the fall divided by 1 more than the
    rows that the smallest class loses. It ends when every step left would break a requirement or gain nothing. Where
    rows may be left out, those of classes that fail are, as long as they are few enough, and each counts as all lost. A
    column of numbers that has no hierarchy but its values is labeled by ranges, each cut in two at the median of its
    rows; a range ends with the least and the greatest value that is released. A missing value is part of the label that
    tells nothing, and a value of its own below it.

    Fung, Wang and Yu, Top-down specialization for information and privacy preservation (ICDE 2005). `partition` makes
    labels finer group by group.

    Example: seven people in classes of two, Kyoto and Osaka being `west`, Tokyo and Chiba `east`. `*` costs 1 in every
    row, `west` and `east` 1/2: a fall of 1/2, and the smallest class goes from 7 rows to 3. Next are the cities of the
    west, two and two. Those of the east would leave one person of Chiba alone.

    | city | becomes |
    |---|---|
    | Kyoto | Kyoto |
    | Kyoto | Kyoto |
    | Osaka | Osaka |
    | Osaka | Osaka |
    | Tokyo | east |
    | Tokyo | east |
    | Chiba | east |
    """

    # A label is made finer in all rows at once, so that a few unusual rows hold back all others.
    recodes_columns: ClassVar[bool] = True

    ranges: Ranges = field(default="grid", metadata={"help": RANGES_HELP})

    def __post_init__(self) -> None:
        check_ranges(self.ranges)

    def recode_locally(self, task: LocalTask, *, seed: int) -> LocalRecoding:  # noqa: ARG002 - nothing is drawn.
        """Take steps until none holds; CannotAnonymize if even the labels that tell nothing do not."""
        for attribute in task.attributes:
            attribute.hierarchy.check_nested()
        specializing = Specializing(task.with_ranges(self.ranges))
        with step("making labels finer"):
            found = specializing.run()
        if found.n_suppressed > task.n_may_suppress:
            raise task.too_many_out(found.n_suppressed)
        return specializing.recoding()


@dataclass(frozen=True)
class Partition:
    """Split all rows by the labels of one column, and each part again by its own widest label, until none can be split.

    A group is split along the column whose label covers most, times the weight of the column: its rows go to the labels
    one level below. Parts that fail stay together under the label they had. If they fail even so, they are left out
    where that many rows may be, else the smallest part that holds joins them, and one more, until they hold. Where that
    leaves no part, the next column is tried. So equal values may get different labels, and the hierarchies' levels must
    nest. A column of numbers that has no hierarchy but its values has ranges, each cut in two at the median of all
    rows. At the end each group is written by the closest labels.

    He and Naughton, Anonymization of set-valued data via top-down, local generalization (VLDB 2009), for tables, as
    Oguri's doctoral thesis (SOKENDAI 2016, section 2.6) tells of it: top-down, the widest value first, until what is
    split would be smaller than k, with values left out or changed on the way.

    Example: seven people in groups of two, Kyoto and Osaka being `west`, Tokyo and Chiba `east`. `*` is split into four
    people of the west and three of the east, and these by their cities: two and two in the west. The one person of
    Chiba fails alone, and so the two of Tokyo join: all three stay `east`.

    | city | becomes |
    |---|---|
    | Kyoto | Kyoto |
    | Kyoto | Kyoto |
    | Osaka | Osaka |
    | Osaka | Osaka |
    | Tokyo | east |
    | Tokyo | east |
    | Chiba | east |
    """

    ranges: Ranges = field(default="grid", metadata={"help": RANGES_HELP})

    def __post_init__(self) -> None:
        check_ranges(self.ranges)

    def recode_locally(self, task: LocalTask, *, seed: int) -> LocalRecoding:  # noqa: ARG002 - nothing is drawn.
        """Split until no group can be split; CannotAnonymize if even all rows together do not hold."""
        if any(population_of(one) is not None for one in task.requirements):
            raise InputError.of(
                "a method whose groups share no values, for a requirement of a population", value="partition"
            )
        for attribute in task.attributes:
            attribute.hierarchy.check_nested()
        if not task.holds_together():
            raise CannotAnonymize(Text("Not even all {n:,} rows in one class hold what is asked.", n=task.n_rows))
        task = task.with_ranges(self.ranges)
        with step("splitting groups"):
            group_of = _Splitting(task).run()
        if not task.holds(group_of, int(group_of.max(initial=-1)) + 1).all():
            raise InputError.of(
                "requirements of single classes; 'mondrian' takes those of a whole release", value="partition"
            )
        return LocalRecoding.of_groups(task, group_of)


@dataclass(frozen=True, eq=False)
class _Group:
    """Some classes, the label of each column, and the columns along which it may still be split."""

    classes: Ints
    labels: tuple[Label, ...]
    open_columns: frozenset[int]


class _Splitting:
    """The groups that wait, those that are done, and the rows that may still be left out."""

    def __init__(self, task: LocalTask) -> None:
        self.task = task
        self.trees = [LabelTree.of(task, one) for one in task.attributes]
        self.n_may_go = task.n_may_suppress
        # The labels below a label, and which of them each leaf has. The label is kept, so that its id stays its own.
        self._parts: dict[int, tuple[Label, list[Label], Ints]] = {}

    def run(self) -> Ints:
        """Return the group of each class, −1 for what is left out."""
        task = self.task
        columns = frozenset(range(len(self.trees)))
        waiting = [_Group(np.arange(task.n_classes), tuple(tree.top() for tree in self.trees), columns)]
        group_of = np.full(task.n_classes, -1, np.int64)
        n_groups = 0
        while waiting:
            group = waiting.pop()
            parts = self._split(group)
            if parts is None:
                group_of[group.classes] = n_groups
                n_groups += 1
            else:
                # Back to front, so that the first part is next.
                waiting += reversed(parts)
        return group_of

    def _split(self, group: _Group) -> list[_Group] | None:
        """Split a group along the first column that can be, widest label first; None if none can."""
        weights = self.task.column_weights
        widest_first = sorted(group.open_columns, key=lambda index: (-weights[index] * group.labels[index].cost, index))
        for index in widest_first:
            parts = self._split_along(group, index)
            if parts is not None:
                return parts
        return None

    def _split_along(self, group: _Group, index: int) -> list[_Group] | None:
        below, part_of_leaf = self._below(index, group.labels[index])
        if not below:
            return None
        part_of = part_of_leaf[self.task.attributes[index].leaf_of[group.classes]]
        rows = np.bincount(part_of, self.task.sizes[group.classes], len(below)).astype(np.int64)
        there = np.flatnonzero(rows)
        if len(there) == 1:
            # All have the same label below: nothing is split, and it may be one level further down.
            return [_with_label(group, group.classes, index, below[int(there[0])])]
        holds = groups_hold(self.task, group.classes, part_of, rows)
        holding = [int(part) for part in there if holds[part]]
        failing = [int(part) for part in there if not holds[part]]
        n_joined = self._n_to_join(group, part_of, rows, holding, failing) if failing else 0
        if n_joined is None:
            return None
        smallest_first = sorted(holding, key=lambda part: (int(rows[part]), part))
        stay = {*failing, *smallest_first[:n_joined]} if n_joined >= 0 else set()
        parts = [
            _with_label(group, group.classes[part_of == part], index, below[part])
            for part in holding
            if part not in stay
        ]
        if stay:
            left = group.classes[np.isin(part_of, list(stay))]
            parts.append(_Group(left, group.labels, group.open_columns - {index}))
        return parts

    def _n_to_join(
        self, group: _Group, part_of: Ints, rows: Ints, holding: Sequence[int], failing: Sequence[int]
    ) -> int | None:
        """Return how many parts that hold must join those that fail; −1 if these are left out, None if all must."""
        if not holding:
            return None
        smallest_first = sorted(holding, key=lambda part: (int(rows[part]), part))
        for n_joined in range(len(holding)):
            together = np.isin(part_of, [*failing, *smallest_first[:n_joined]])
            n_rows = np.array([int(self.task.sizes[group.classes[together]].sum())])
            if groups_hold(self.task, group.classes[together], np.zeros(int(together.sum()), np.int64), n_rows)[0]:
                return n_joined
            if n_joined == 0 and n_rows[0] <= self.n_may_go:
                self.n_may_go -= int(n_rows[0])
                return -1
        return None

    def _below(self, index: int, label: Label) -> tuple[list[Label], Ints]:
        if id(label) not in self._parts:
            below = self.trees[index].below(label)
            part_of_leaf = np.zeros(self.task.attributes[index].n_leaves + 1, np.int64)
            for number, one in enumerate(below):
                part_of_leaf[one.leaves] = number
            self._parts[id(label)] = label, below, part_of_leaf
        _, below, part_of_leaf = self._parts[id(label)]
        return below, part_of_leaf


def _with_label(group: _Group, classes: Ints, index: int, label: Label) -> _Group:
    return _Group(classes, (*group.labels[:index], label, *group.labels[index + 1 :]), group.open_columns)
