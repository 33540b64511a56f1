"""What follows from knowing how a release was made: by the finest levels that hold, or by Mondrian's cuts.

**Levels.** A method that finds the best levels takes a finer one wherever all classes keep k rows. So for each column
some class would fall apart one level below, with a part of fewer than k. And a row that was suppressed, where others
were not, had fewer than k beside it in its class: it lies in none of those that were released.

**Mondrian.** Strict Mondrian stops where no cut leaves k rows on both sides. So of a group of n ≥ 2k rows that was not
cut, at least n − 2k + 2 rows share one value of every column of numbers, and of every tree some child of its label has
fewer than k. And it cuts at the median: where one half got more rows than the other, its value next to the cut stands
in as many rows as it got more, or else the cut would lie on the other side of that value. Which halves belong together
is found by cutting again: what each cut chose by follows from the labels of the groups it led to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tokumei.attacks.claims import MISSING, Claim
from tokumei.attacks.label_reading import LabelReading
from tokumei.attacks.public_knowledge import PublicKnowledge
from tokumei.core.errors import InputError
from tokumei.hierarchies.hierarchy import SUPPRESSED, Hierarchy
from tokumei.hierarchies.labels import number_label
from tokumei.hierarchies.leaves import read_number
from tokumei.methods.local.cuts import NumberAxis, TreeAxis
from tokumei.methods.local.task import Codes, Ints, LocalAttribute

# Methods that release at levels none of which could be finer.
MINIMAL = ("optimal", "exhaustive", "ola", "incognito")
NOT_FINER, SUPPRESSED_ROW = "not finer", "suppressed"


def not_finer(
    public: PublicKnowledge, readings: Sequence[LabelReading], k: int, *, is_complete: bool
) -> Iterator[Claim]:
    """Claim for each column that some class has a part of fewer than k rows one level below."""
    for reading in readings:
        if _level(reading) is None:
            continue
        reasons = []
        for number, label in enumerate(public.labels_of_classes(reading.column).tolist()):
            below = reading.children(label)
            if below is None:
                continue
            parts, names = list(below.leaves), list(below.texts)
            if reading.labels[label] == SUPPRESSED and not is_complete:
                parts, names = [*parts, frozenset([MISSING])], [*names, "(missing)"]
            text = f"fewer than {k} rows, and at least one, have one of: {', '.join(names)}"
            reasons.append(Claim(number, reading.column, NOT_FINER, "minority", 1, k - 1, text, parts=parts))
        if len(reasons) == 1:
            yield reasons[0]
        elif reasons:
            text = f"some class has fewer than {k} rows below one of its label's children"
            yield Claim(None, reading.column, NOT_FINER, "any", 1, k - 1, text, reasons=reasons)


def suppressed_rows(public: PublicKnowledge, readings: Sequence[LabelReading]) -> Iterator[Claim]:
    """Claim of rows that say nothing, beside others that do, that they lie in no class that was released."""
    nothing = np.ones(len(public.sizes), bool)
    for reading in readings:
        says_nothing = np.array([label == SUPPRESSED for label in reading.labels])
        nothing &= says_nothing[public.labels_of_classes(reading.column)]
    others = np.flatnonzero(~nothing)
    if not nothing.any() or not len(others) or any(_level(one, but=SUPPRESSED) is None for one in readings):
        return
    (number,) = np.flatnonzero(nothing).tolist()
    shares = np.ones(len(others))
    for reading in readings:
        sizes = np.array(reading.n_values) / max(1, reading.vocabulary.n_leaves)
        shares *= sizes[public.labels_of_classes(reading.column)[others]]
    text = f"no row lies in one of {len(others):,} released classes, which cover {min(1.0, shares.sum()):.1%} of all"
    yield Claim(number, None, SUPPRESSED_ROW, "outside", 0, 0, text)


def _level(reading: LabelReading, but: str | None = None) -> int | None:
    """Return the one level of all labels of a column, apart from untouched ones; None if unsure."""
    tree = reading.hierarchy
    if tree is None or any(reading.ranges[at] and not reading.are_of_a_tree for at in range(len(reading.labels))):
        return None
    try:
        tree.check_nested()
    except InputError:
        return None
    told = {label for label in reading.labels if label is not None and label != but}
    if not told:
        return tree.height
    found = [level for level, one in enumerate(tree.levels) if told <= set(one.labels)]
    return found[0] if len(found) == 1 else None


NOT_SPLIT, HALVES = "not split", "halves of a cut"


def not_split(
    public: PublicKnowledge, reading: LabelReading, k: int, *, is_ranged: bool, is_complete: bool
) -> Iterator[Claim]:
    """Claim of each group that might have been cut along a column why it was not."""
    for number, (label, size) in enumerate(
        zip(public.labels_of_classes(reading.column).tolist(), public.sizes.tolist(), strict=True)
    ):
        if size < 2 * k or not reading.is_generalized[label]:
            continue
        if is_ranged and reading.ranges[label] is not None:
            least = size - 2 * k + 2
            text = f"{least} rows or more have one value in common"
            yield Claim(number, reading.column, NOT_SPLIT, "pile", least, size - 1, text)
        elif not is_ranged and (below := reading.children(label)) is not None:
            if reading.labels[label] == SUPPRESSED and not is_complete:
                # A missing value among them would be another reason.
                continue
            text = f"fewer than {k} rows, and at least one, have one of: {', '.join(below.texts)}"
            yield Claim(number, reading.column, NOT_SPLIT, "minority", 1, k - 1, text, parts=below.leaves)


@dataclass(frozen=True, eq=False)
class _Column:
    """One column of all groups: the first and the last index of each group's label along the axis of the column."""

    reading: LabelReading
    axis: NumberAxis | TreeAxis
    first: Ints
    last: Ints


def halves(public: PublicKnowledge, readings: Sequence[LabelReading], ranged: Sequence[str]) -> Iterator[Claim]:
    """Claim how often the value next to a cut occurs, of all cuts that can be told from the labels.

    There must be no missing value, and each group must be written by the closest labels.
    """
    columns = []
    for one in readings:
        made = _column(public, one, is_ranged=one.column in ranged)
        if made is None:
            return
        columns.append(made)
    boxes = _Boxes(columns, np.array([one.first for one in columns]), np.array([one.last for one in columns]))
    open_nodes = [np.arange(len(public.sizes))]
    while open_nodes:
        groups = open_nodes.pop()
        if len(groups) < 2:
            continue
        parts, column = _cut(boxes, groups, public.sizes)
        open_nodes += parts
        if column is not None and isinstance(column.axis, NumberAxis):
            yield from _next_to_cut(public, column, *parts)


@dataclass(frozen=True, eq=False)
class _Boxes:
    """All groups in all columns, a row each column."""

    columns: Sequence[_Column]
    first: Ints
    last: Ints

    def wishes(self, groups: Ints) -> list[float]:
        """Return the joint cost of some groups' labels in each column, 0 where there is nothing to cut."""
        low, high = self.first[:, groups].min(axis=1), self.last[:, groups].max(axis=1)
        # As the method does, since rounding decides between columns that cost the same.
        weight = 1 / len(self.columns)
        return [
            weight * float(column.axis.widths(low[at : at + 1], high[at : at + 1])[0]) if low[at] < high[at] else 0.0
            for at, column in enumerate(self.columns)
        ]


def _cut(boxes: _Boxes, groups: Ints, sizes: Ints) -> tuple[list[Ints], _Column | None]:
    """Return the parts that Mondrian cut some groups into, and along which column; none if unclear."""
    wishes = boxes.wishes(groups)
    for at in sorted(range(len(wishes)), key=lambda at: -wishes[at]):
        if wishes[at] <= 0:
            break
        column = boxes.columns[at]
        if isinstance(column.axis, TreeAxis):
            parts = _children(column, groups)
        else:
            found = _median(column, groups, sizes)
            if found is None:
                return [], None
            parts = found
        if len(parts) > 1:
            return parts, column
    return [], None


def _children(column: _Column, groups: Ints) -> list[Ints]:
    """Group by the child that each group lies below; all together if one lies below several."""
    first, last = column.first[groups].astype(np.int32), column.last[groups].astype(np.int32)
    here, low, high = np.zeros(len(groups), np.int64), first.min(keepdims=True), last.max(keepdims=True)
    keys = column.axis.keys(first, here, low, high)
    if (keys != column.axis.keys(last, here, low, high)).any():
        return [groups]
    return [groups[keys == key] for key in np.unique(keys)]


def _median(column: _Column, groups: Ints, sizes: Ints) -> list[Ints] | None:
    """Return both sides of the best cut between groups; all together if there is none, None if unsure."""
    order = groups[np.argsort(column.first[groups], kind="stable")]
    reach = np.maximum.accumulate(column.last[order])
    places = np.flatnonzero(reach[:-1] < column.first[order][1:])
    if not len(places):
        return [groups]
    below = np.cumsum(sizes[order])
    smaller = np.minimum(below[places], below[-1] - below[places])
    best = places[smaller == smaller.max()]
    # Of two places that are as good, classes decide that nobody sees.
    return [order[: best[0] + 1], order[best[0] + 1 :]] if len(best) == 1 else None


def _next_to_cut(public: PublicKnowledge, column: _Column, lower: Ints, upper: Ints) -> Iterator[Claim]:
    n_lower, n_upper = int(public.sizes[lower].sum()), int(public.sizes[upper].sum())
    groups, at = (upper, column.first) if n_upper > n_lower else (lower, column.last)
    more = abs(n_upper - n_lower)
    edge = int(at[groups].min() if n_upper > n_lower else at[groups].max())
    holding = groups[at[groups] == edge]
    # A range has another row at its other end at least.
    most = public.sizes[holding] - (column.first[holding] < column.last[holding])
    for number, own in zip(holding.tolist(), most.tolist(), strict=True):
        least = more - int(most.sum()) + own
        if least > 1 and column.first[number] < column.last[number]:
            end = column.reading.ends[int(public.labels_of_classes(column.reading.column)[number])]
            value = end[0] if n_upper > n_lower else end[-1]
            text = f"{number_label(value)} occurs in {least} rows or more"
            yield Claim(
                *(number, column.reading.column, HALVES, "count", least, own, text, number_label(value), value),
                is_exact=True,
            )


def _column(public: PublicKnowledge, reading: LabelReading, *, is_ranged: bool) -> _Column | None:
    """Return a column as Mondrian cuts along it; None where its labels do not show it."""
    if None in reading.labels:
        return None
    codes = public.labels_of_classes(reading.column)
    return _numbers(reading, codes) if is_ranged else _tree(reading, codes)


def _numbers(reading: LabelReading, codes: Ints) -> _Column | None:
    ends = []
    for at, label in enumerate(reading.labels):
        number = read_number(label or "")
        own = [number, number] if number is not None else reading.ends[at]
        if len(own) != 2:
            return None
        ends.append((own[0], own[1]))
    scale = {end for pair in ends for end in pair}
    if reading.hierarchy is not None:
        scale |= set(reading.vocabulary.index_of_number)
    index_of = {number: at for at, number in enumerate(sorted(scale))}
    leaves = Hierarchy.of_levels(reading.column, [[number_label(number) for number in index_of]])
    axis = NumberAxis.of(LocalAttribute(leaves, is_numeric=True, leaf_of=np.zeros(0, np.int32)))
    first, last = (np.array([index_of[pair[side]] for pair in ends], np.int64)[codes] for side in (0, 1))
    return _Column(reading, axis, first, last)


def _tree(reading: LabelReading, codes: Ints) -> _Column | None:
    tree = reading.hierarchy
    if tree is None:
        # Labels without a tree tell where a group lies only if each is one value.
        return None
    try:
        tree.check_nested()
    except InputError:
        return None
    leaf_of: Codes = np.arange(len(tree.leaves), dtype=np.int32)
    axis = TreeAxis.of(LocalAttribute(tree, is_numeric=False, leaf_of=leaf_of))
    first, last = np.zeros(len(reading.labels), np.int64), np.zeros(len(reading.labels), np.int64)
    sets = reading.leaf_sets
    held = sets.rows(np.arange(sets.n_indices))[reading.vocabulary.index_of_leaf]
    for at in range(len(reading.labels)):
        own = axis.indices[held[:, at]]
        if not len(own):
            return None
        first[at], last[at] = own.min(), own.max()
    return _Column(reading, axis, first[codes], last[codes])
