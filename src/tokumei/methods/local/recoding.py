"""What becomes of every class: a label for each of its cells, or nothing at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokumei.hierarchies.hierarchy import SUPPRESSED
from tokumei.methods.local.task import Bools, Codes, Floats, Ints, LocalAttribute, LocalTask


@dataclass(frozen=True, eq=False)
class LabelCells:
    """The cells of one attribute: for each class the index of its label, and what each label costs.

    The cost is the certainty penalty: the share of the attribute's values that a label covers, or of its width if it is
    numeric; 0 while it tells the value. A label of None is the missing value itself.
    """

    codes: Codes
    labels: tuple[str | None, ...]
    costs: Floats


@dataclass(frozen=True, eq=False)
class LocalRecoding:
    """The cells of every class, an attribute each, and the classes that are left out."""

    cells: tuple[LabelCells, ...]
    is_suppressed: Bools

    @classmethod
    def of_groups(cls, task: LocalTask, group_of: Ints) -> LocalRecoding:
        """Write all classes of a group alike, as closely as labels allow; group −1 is left out."""
        return cls(tuple(cells_of_groups(one, group_of) for one in task.attributes), group_of < 0)

    def n_suppressed(self, task: LocalTask) -> int:
        """Return the number of rows that are left out."""
        return int(task.sizes[self.is_suppressed].sum())

    def shares(self, task: LocalTask) -> dict[str, float]:
        """Return what each attribute contributes to the certainty penalty; a row left out counts as covering all."""
        out = {}
        for attribute, cells, weight in zip(task.attributes, self.cells, task.column_weights, strict=True):
            cost = np.where(self.is_suppressed, 1.0, cells.costs[cells.codes])
            out[attribute.name] = float(cost @ task.sizes) * float(weight) / max(1, task.n_rows)
        return out


def cells_of_groups(attribute: LocalAttribute, group_of: Ints) -> LabelCells:
    """Return for each group the closest label that covers its leaves.

    That is a range for a numeric attribute, for others the finest label of the hierarchy; where the missing value
    stands with others, only the label that says nothing covers both.
    """
    n_groups = int(group_of.max(initial=-1)) + 1
    if not n_groups:
        return LabelCells(np.zeros(len(group_of), np.int32), (SUPPRESSED,), np.ones(1))
    low, high = _ends(attribute.leaf_of, group_of, n_groups)
    cells = _ranges(attribute, low, high) if attribute.is_numeric else _labels(attribute, group_of, low, high)
    label_of_group, labels, costs = cells
    # A class that is left out has no cell; it is given the first label, which nobody will see.
    return LabelCells(np.where(group_of >= 0, label_of_group[group_of], 0).astype(np.int32), labels, costs)


Labeled = tuple[Ints, tuple[str | None, ...], Floats]


def _ends(codes: Codes, group_of: Ints, n_groups: int) -> tuple[Ints, Ints]:
    """Return the least and the greatest code in each group."""
    is_in = group_of >= 0
    low, high = np.full(n_groups, np.iinfo(np.int64).max), np.full(n_groups, -1, np.int64)
    np.minimum.at(low, group_of[is_in], codes[is_in])
    np.maximum.at(high, group_of[is_in], codes[is_in])
    return low, high


def _ranges(attribute: LocalAttribute, low: Ints, high: Ints) -> Labeled:
    """Write each run of leaves as a range of numbers."""
    missing, numbers = attribute.missing, attribute.numbers
    is_value = high < missing
    low[is_value], high[is_value] = attribute.cells.cover(low[is_value], high[is_value])
    pairs, label_of = np.unique(low * (missing + 1) + high, return_inverse=True)
    first, last = pairs // (missing + 1), pairs % (missing + 1)
    is_range = last < missing
    labels: list[str | None] = [None if code == missing else SUPPRESSED for code in first.tolist()]
    for index, label in zip(
        np.flatnonzero(is_range).tolist(),
        range_labels(attribute, first[is_range], last[is_range]),
        strict=True,
    ):
        labels[index] = label
    costs = np.where(first == missing, 0.0, 1.0)
    width = float(numbers[-1] - numbers[0])
    costs[is_range] = (numbers[last[is_range]] - numbers[first[is_range]]) / (width or 1.0)
    return label_of.reshape(-1), tuple(labels), costs


def range_labels(attribute: LocalAttribute, first: Ints, last: Ints) -> list[str]:
    """Write the ranges of numbers from some leaves to others, both included; a single leaf is written as it is."""
    leaves, grid = attribute.hierarchy.leaves, attribute.cells
    pairs = zip(first.tolist(), last.tolist(), strict=True)
    return [leaves[low] if low == high else grid.label(low, high) for low, high in pairs]


def _labels(attribute: LocalAttribute, group_of: Ints, low: Ints, high: Ints) -> Labeled:
    """Return for each group the label of the finest level that covers it."""
    levels = attribute.hierarchy.levels
    n_groups = len(low)
    label_of = np.full(n_groups, -1, np.int64)
    labels: list[str | None] = [SUPPRESSED, None]
    costs = [1.0, 0.0]
    has_missing = high == attribute.missing
    label_of[has_missing] = np.where(low[has_missing] == attribute.missing, 1, 0)
    for level in levels:
        left = np.flatnonzero(label_of < 0)
        if not len(left):
            break
        codes = np.append(level.codes, -1)[attribute.leaf_of]
        least, most = _ends(codes, np.where((group_of >= 0) & (label_of[group_of] < 0), group_of, -1), n_groups)
        covered = left[least[left] == most[left]]
        n_leaves = np.bincount(level.codes, minlength=len(level))
        used, index = np.unique(least[covered], return_inverse=True)
        label_of[covered] = len(labels) + index
        labels += [level.labels[code] for code in used]
        costs += [float(n) / attribute.n_leaves if n > 1 else 0.0 for n in n_leaves[used]]
    label_of[label_of < 0] = 0
    return label_of, tuple(labels), np.array(costs)
