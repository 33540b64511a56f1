"""Cuts through a value tree: each value is generalized as far as its own branch is, not all to one level.

| value | level 1 | level 2 | the cut {23, 27, 30-39} |
|-------|---------|---------|-------------------------|
| 23    | 20-29   | *       | 23                      |
| 27    | 20-29   | *       | 27                      |
| 31    | 30-39   | *       | 30-39                   |
| 38    | 30-39   | *       | 30-39                   |
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.counting.recoding import Recoding
from tokumei.hierarchy.hierarchy import Hierarchy

MOST_CUTS = 1_000_000

Label = tuple[int, str]
"""A level and a label of that level: the text alone may stand at two levels."""


@dataclass(frozen=True, eq=False)
class Cut:
    """For each leaf the level of the ancestor that stands for it; an ancestor stands for all its leaves or none."""

    hierarchy: Hierarchy
    levels: npt.NDArray[np.int32]

    def __post_init__(self) -> None:
        self.hierarchy.check_nested()
        if len(self.levels) != len(self.hierarchy.leaves):
            expected = f"{len(self.hierarchy.leaves)} levels, one for each leaf"
            raise InputError.of(expected, column=self.hierarchy.attribute, value=len(self.levels))
        for level in np.unique(self.levels):
            self.hierarchy.check_level(int(level))
            codes = self.hierarchy.levels[level].codes
            is_at = self.levels == level
            split = np.isin(codes, codes[is_at]) & ~is_at
            for leaf in np.flatnonzero(split)[:1]:
                label = self.hierarchy.levels[level].labels[codes[leaf]]
                expected = f"level {level}, since '{label}' stands for it"
                raise InputError.of(f"{expected} and others", column=self.hierarchy.attribute, value=self._leaf(leaf))

    @classmethod
    def at_level(cls, hierarchy: Hierarchy, level: int) -> Cut:
        """Make the cut that generalizes every value to one level."""
        hierarchy.check_level(level)
        return cls(hierarchy, np.full(len(hierarchy.leaves), level, np.int32))

    @classmethod
    def of_labels(cls, hierarchy: Hierarchy, labels: Iterable[Label]) -> Cut:
        """Make the cut of these labels; a leaf below none or below two of them is an InputError that names it."""
        levels = np.full(len(hierarchy.leaves), -1, np.int32)
        for level, label in sorted(set(labels)):
            is_below = _is_below(hierarchy, (level, label))
            for leaf in np.flatnonzero(is_below & (levels >= 0))[:1]:
                other = hierarchy.levels[levels[leaf]]
                expected = f"one label for each leaf, not both '{other.labels[other.codes[leaf]]}' and '{label}'"
                raise InputError.of(expected, column=hierarchy.attribute, value=hierarchy.leaves[leaf])
            levels[is_below] = level
        for leaf in np.flatnonzero(levels < 0)[:1]:
            expected = "a label for each leaf"
            raise InputError.of(expected, column=hierarchy.attribute, value=hierarchy.leaves[leaf])
        return cls(hierarchy, levels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cut):
            return NotImplemented
        return np.array_equal(self.levels, other.levels) and self.hierarchy == other.hierarchy

    def __hash__(self) -> int:
        return hash((self.hierarchy.attribute, self.levels.tobytes()))

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """The labels of the cut, in the order of their first leaves."""
        return tuple(dict.fromkeys(self._label(leaf) for leaf in range(len(self.levels))))

    @property
    def n_values(self) -> int:
        """Number of values that the column can hold after the cut."""
        return len(self.labels)

    def recoding(self) -> Recoding:
        """Give what happens to the values; a text that stands at two levels of the cut gets its level added."""
        n_uses = Counter(text for _, text in self.labels)
        texts = {(level, text): text if n_uses[text] == 1 else f"{text} (level {level})" for level, text in self.labels}
        if len(set(texts.values())) < len(texts):
            raise InputError.of("labels that differ", column=self.hierarchy.attribute)
        return Recoding(
            self.hierarchy.attribute,
            pl.Series("value", list(self.hierarchy.leaves), pl.String),
            pl.Series("label", [texts[self._label(leaf)] for leaf in range(len(self.levels))], pl.String),
            self.hierarchy.label_of_missing(int(self.levels.min())),
        )

    def refine(self, label: Label) -> Cut:
        """Give the cut with one label replaced by its children."""
        self._check_has(label)
        if label[0] == 0:
            raise InputError.of("a label above the leaves", column=self.hierarchy.attribute, value=label[1])
        return self._with(_is_below(self.hierarchy, label), label[0] - 1)

    def coarsen(self, label: Label) -> Cut:
        """Give the cut with one label, and all else below its parent, replaced by the parent."""
        self._check_has(label)
        parent = label[0] + 1
        if parent > self.hierarchy.height:
            raise InputError.of("a label below the top", column=self.hierarchy.attribute, value=label[1])
        codes = self.hierarchy.levels[parent].codes
        first_leaf = int(np.argmax(_is_below(self.hierarchy, label)))
        return self._with(codes == codes[first_leaf], parent)

    def is_finer_or_equal(self, other: Cut) -> bool:
        """Whether the other cut follows from this one by generalizing further."""
        if self.hierarchy != other.hierarchy:
            raise InputError.of(
                f"a cut of the same hierarchy as {self.hierarchy.attribute}", value=other.hierarchy.attribute
            )
        return bool(np.all(self.levels <= other.levels))

    def _with(self, is_changed: npt.NDArray[np.bool_], level: int) -> Cut:
        return Cut(self.hierarchy, np.where(is_changed, np.int32(level), self.levels))

    def _leaf(self, leaf: int) -> str:
        return self.hierarchy.leaves[leaf]

    def _label(self, leaf: int) -> Label:
        level = int(self.levels[leaf])
        found = self.hierarchy.levels[level]
        return level, found.labels[found.codes[leaf]]

    def _check_has(self, label: Label) -> None:
        if label not in self.labels:
            listed = ", ".join(f"{text} (level {level})" for level, text in self.labels[:10])
            raise InputError.of(f"a label of the cut: {listed}", column=self.hierarchy.attribute, value=label)


def n_cuts(hierarchy: Hierarchy) -> int:
    """Count all cuts: a label can stand for its leaves itself, or each of its children is cut in its own way."""
    hierarchy.check_nested()
    counts = [1] * len(hierarchy.leaves)
    for level in range(1, len(hierarchy.levels)):
        counts = [1 + math.prod(counts[child] for child in children) for children in _children(hierarchy, level)]
    return math.prod(counts)


def all_cuts(hierarchy: Hierarchy) -> Iterator[Cut]:
    """Make every cut, the coarsest first; more than a million are refused."""
    n = n_cuts(hierarchy)
    if n > MOST_CUTS:
        raise InputError.of(f"a hierarchy of at most {MOST_CUTS:,} cuts", column=hierarchy.attribute, value=f"{n:,}")
    children = [[], *(_children(hierarchy, level) for level in range(1, len(hierarchy.levels)))]
    tops = range(len(hierarchy.levels[-1]))
    for nodes in _choices(children, hierarchy.height, tops):
        yield Cut.of_labels(hierarchy, ((level, hierarchy.levels[level].labels[code]) for level, code in nodes))


def _choices(children: list[list[list[int]]], level: int, codes: Iterable[int]) -> Iterator[list[tuple[int, int]]]:
    """Give every way to cut the trees below some labels of one level, as lists of level and code."""
    each = [list(_ways(children, level, code)) for code in codes]
    for chosen in itertools.product(*each):
        yield list(itertools.chain.from_iterable(chosen))


def _ways(children: list[list[list[int]]], level: int, code: int) -> Iterator[list[tuple[int, int]]]:
    yield [(level, code)]
    if level > 0:
        yield from _choices(children, level - 1, children[level][code])


def _children(hierarchy: Hierarchy, level: int) -> list[list[int]]:
    """For each label of a level the codes of its children one level below."""
    fine, coarse = hierarchy.levels[level - 1], hierarchy.levels[level]
    first_leaf = np.unique(fine.codes, return_index=True)[1]
    children: list[list[int]] = [[] for _ in range(len(coarse))]
    for child, leaf in enumerate(first_leaf):
        children[coarse.codes[leaf]].append(child)
    return children


def _is_below(hierarchy: Hierarchy, label: Label) -> npt.NDArray[np.bool_]:
    """Whether each leaf lies below a label."""
    hierarchy.check_level(label[0])
    level = hierarchy.levels[label[0]]
    if label[1] not in level.labels:
        raise InputError.of(f"a label of level {label[0]}", column=hierarchy.attribute, value=label[1])
    out: npt.NDArray[np.bool_] = level.codes == level.labels.index(label[1])
    return out
