"""Rows as labels of each column's levels, with a missing value as a label of its own until nothing is said of any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.methods.local.encoding import encode_rows, flat_hierarchy
from tokumei.methods.local.task import Codes, Ints, LocalAttribute
from tokumei.methods.perturbation import Original


@dataclass(frozen=True, eq=False)
class LabeledClasses:
    """The classes of rows with equal values: how many rows each has, and its label at any level of any column."""

    attributes: tuple[LocalAttribute, ...]
    sizes: Ints

    @classmethod
    def of(cls, original: Original, columns: Sequence[str]) -> LabeledClasses:
        """Count the rows of some columns; a column without a hierarchy has its values and nothing coarser but all."""
        trees = {name: _tree(name, original.hierarchies, original.frame[name]) for name in columns}
        task = encode_rows(original.frame, trees, []).task
        return cls(task.attributes, task.sizes)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.sizes.sum())

    def n_labels(self, index: int, level: int) -> int:
        """Return the number of labels of a level, the missing value's among them."""
        return self.attributes[index].hierarchy.n_labels_with_missing(level)

    def label_of_leaves(self, index: int, level: int) -> Codes:
        """Return the label of each leaf, the missing value's leaf last."""
        return self.attributes[index].hierarchy.codes_with_missing(level).astype(np.int32)

    def labels(self, index: int, level: int) -> Codes:
        """Return the label of each class at a level."""
        return self.label_of_leaves(index, level)[self.attributes[index].leaf_of]

    def texts(self, index: int, level: int) -> list[str | None]:
        """Return the words of each label; the missing value has none."""
        hierarchy = self.attributes[index].hierarchy
        labels = hierarchy.levels[level].labels
        return [*labels] if hierarchy.says_nothing(level) else [*labels, None]

    def counts(self, index: int, level: int) -> Ints:
        """Count the rows of each label."""
        return np.bincount(self.labels(index, level), self.sizes, self.n_labels(index, level)).astype(np.int64)


def _tree(name: str, hierarchies: Mapping[str, Hierarchy], values: pl.Series) -> Hierarchy:
    return (hierarchies.get(name) or flat_hierarchy(name, values)).with_top()
