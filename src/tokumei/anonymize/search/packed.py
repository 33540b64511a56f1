"""The classes of any node, each one integer, rolled up from the nearest node already counted.

A class is packed into bit fields, one for each attribute, which hold the indices of its labels. Going to a coarser
level replaces one field through a small table; classes that became equal are found by sorting. 32 bits are used where
they are enough, else 64; more attributes than that take two words or more. A sensitive attribute's values take a field
of their own, below the others, so that the same steps roll up its histograms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.anonymize.search.finer_nodes import FinerNodes
from tokumei.counting.class_counts import ClassCounts, Histogram
from tokumei.counting.grouping import radix_order
from tokumei.hierarchy.hierarchy import Hierarchy
from tokumei.hierarchy.lattice import Lattice, Node

Word = npt.NDArray[Any]
Sizes = npt.NDArray[np.int64]
WORD_BITS = 64
SMALL_WORD_BITS = 32
# Rolling up fewer classes than this costs no more than calling numpy at all.
SHORT_WAY = 500
# So many classes of counted nodes are kept to roll others up from: half a gigabyte.
MOST_KEPT = 40_000_000


@dataclass(frozen=True)
class Field:
    """Where an attribute stands in a packed class: which word, from which bit on, how many bits."""

    word: int
    shift: int
    bits: int

    @property
    def mask(self) -> int:
        """The bits of the field, moved down to the lowest."""
        return (1 << self.bits) - 1

    def read(self, words: Sequence[Word]) -> Word:
        """Take the indices of an attribute's labels out of packed classes."""
        word = words[self.word]
        found: Word = (word >> word.dtype.type(self.shift)) & word.dtype.type(self.mask)
        return found


@dataclass(frozen=True)
class Packed:
    """Packed classes in ascending order, each once, with their sizes."""

    words: tuple[Word, ...]
    sizes: Sizes

    def __len__(self) -> int:
        return len(self.sizes)

    def taken(self, indices: npt.NDArray[np.int64]) -> Packed:
        """Give some of the classes."""
        return Packed(tuple(word[indices] for word in self.words), self.sizes[indices])


def lay_fields(n_values: Sequence[int]) -> list[Field]:
    """Give each attribute a field wide enough for its values; a new word starts where one is full."""
    fields: list[Field] = []
    word = shift = 0
    for n in n_values:
        bits = max(1, (n - 1).bit_length())
        if shift + bits > WORD_BITS:
            word, shift = word + 1, 0
        fields.append(Field(word, shift, bits))
        shift += bits
    return fields


def pack(columns: Sequence[npt.NDArray[np.int64]], fields: Sequence[Field], sizes: Sizes) -> Packed:
    """Pack columns of indices into classes and join those that are equal."""
    n_words = max((field.word for field in fields), default=0) + 1
    top_bit = max((field.shift + field.bits for field in fields), default=1)
    words: list[npt.NDArray[np.uint64]] = [np.zeros(len(sizes), np.uint64) for _ in range(n_words)]
    for column, field in zip(columns, fields, strict=True):
        words[field.word] |= column.astype(np.uint64) << np.uint64(field.shift)
    is_small = n_words == 1 and top_bit <= SMALL_WORD_BITS
    return joined([word.astype(np.uint32) for word in words] if is_small else words, sizes)


def joined(words: Sequence[Word], sizes: Sizes) -> Packed:
    """Sort packed classes and add up the sizes of equal ones."""
    if len(sizes) < 2:
        return Packed(tuple(words), sizes)
    size_bits = int(sizes.max()).bit_length()
    if len(words) == 1 and int(words[0].max()).bit_length() + size_bits <= WORD_BITS:
        return _joined_with_sizes(words[0], sizes, size_bits)
    order = radix_order(words)
    ordered = [word[order] for word in words]
    is_first = ordered[0][1:] != ordered[0][:-1]
    for word in ordered[1:]:
        is_first |= word[1:] != word[:-1]
    starts = np.concatenate(([0], np.flatnonzero(is_first) + 1))
    return Packed(tuple(word[starts] for word in ordered), np.add.reduceat(sizes[order], starts))


def _joined_with_sizes(word: Word, sizes: Sizes, size_bits: int) -> Packed:
    """Sort classes with their sizes in the lowest bits, since numbers alone are sorted several times as fast."""
    shift = np.uint64(size_bits)
    both = (word.astype(np.uint64) << shift) | sizes.astype(np.uint64)
    both.sort()
    ordered = both >> shift
    starts = np.concatenate(([0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1))
    sums = np.add.reduceat((both & np.uint64((1 << size_bits) - 1)).astype(np.int64), starts)
    return Packed((ordered[starts].astype(word.dtype),), sums)


@dataclass(frozen=True)
class LabelIndices:
    """For one hierarchy the index of each leaf's label at each level; a missing value stands last, until the top."""

    hierarchy: Hierarchy

    @cached_property
    def of_leaf(self) -> list[npt.NDArray[np.int64]]:
        """of_leaf[level][leaf]: the index of the leaf's label."""
        return [self.hierarchy.codes_with_missing(level) for level in range(len(self.hierarchy.levels))]

    @cached_property
    def _tables(self) -> dict[tuple[int, int], npt.NDArray[np.int64]]:
        return {}

    def between(self, fine: int, coarse: int) -> npt.NDArray[np.int64]:
        """Give for each label of a level the index of its label at a coarser one."""
        if (fine, coarse) not in self._tables:
            table = np.zeros(int(self.of_leaf[fine].max()) + 1, np.int64)
            table[self.of_leaf[fine]] = self.of_leaf[coarse]
            self._tables[fine, coarse] = table
        return self._tables[fine, coarse]


@dataclass(frozen=True)
class NodeClasses:
    """The classes of one node and, for each sensitive attribute, the pairs of class and value."""

    node: Node
    classes: Packed
    pairs: dict[str, Packed]


class PackedLattice:
    """The nodes of a lattice over counted rows: gives the classes of any of them."""

    def __init__(self, lattice: Lattice, counts: ClassCounts) -> None:
        self.lattice = lattice
        self.indices = [LabelIndices(hierarchy) for hierarchy in lattice.hierarchies]
        columns = [
            leaf_indices(h, counts)[counts.codes[counts.columns.index(h.attribute)]] for h in lattice.hierarchies
        ]
        # An index for missing values is kept only where some are missing: often that saves the bit that makes 32.
        n_leaves = [len(hierarchy.leaves) for hierarchy in lattice.hierarchies]
        n_indices = [n + bool((column == n).any()) for n, column in zip(n_leaves, columns, strict=True)]
        self.n_rows = counts.n_rows
        self.fields = lay_fields(n_indices)
        # A sensitive value stands in the lowest bits, so that the pairs of a class stand together.
        self.values = {name: histogram.values for name, histogram in counts.histograms.items()}
        self.pair_fields = {name: lay_fields([len(values), *n_indices]) for name, values in self.values.items()}
        pairs = {}
        for name, histogram in counts.histograms.items():
            at = [histogram.value_of.astype(np.int64), *(column[histogram.class_of] for column in columns)]
            pairs[name] = pack(at, self.pair_fields[name], histogram.counts)
        bottom = NodeClasses(lattice.bottom, pack(columns, self.fields, counts.sizes), pairs)
        self.leaf_sizes = [
            np.bincount(column, counts.sizes, n + 1).astype(np.int64)
            for column, n in zip(columns, n_leaves, strict=True)
        ]
        self._by_labels = sorted(range(len(n_leaves)), key=lambda index: -n_leaves[index])
        self._counted: dict[Node, NodeClasses] = {}
        self._finer = FinerNodes(lattice)
        self._keep(bottom)

    def at(self, node: Node) -> NodeClasses:
        """Give the classes of a node, rolled up from the node with the fewest classes that it follows from."""
        if node in self._counted:
            return self._counted[node]
        source = self._counted[self._finer.nearest(node)]
        if len(source.classes) > SHORT_WAY:
            source = self._half_way(source, node)
        made = self._rolled(source, node)
        if self._finer.n_classes + len(made.classes) <= MOST_KEPT:
            self._keep(made)
        return made

    def _keep(self, made: NodeClasses) -> None:
        self._counted[made.node] = made
        self._finer.add(made.node, len(made.classes))

    def counts(self, classes: NodeClasses) -> ClassCounts:
        """Give a node's classes in the form that requirements read; domains are in the order of the hierarchies."""
        histograms = {}
        for name, pairs in classes.pairs.items():
            value = self.pair_fields[name][0]
            # What is left above the value's bits is the class.
            class_part = pairs.words[0] >> pairs.words[0].dtype.type(value.bits)
            class_of = _runs([class_part, *pairs.words[1:]])
            value_of = value.read(pairs.words).astype(np.int32)
            histograms[name] = Histogram(self.values[name], class_of, value_of, pairs.sizes)
        domains = tuple(
            pl.Series(h.attribute, [*h.levels[level].labels, None], pl.String)
            for h, level in zip(self.lattice.hierarchies, classes.node, strict=True)
        )
        codes = [self.labels(classes.classes, index).astype(np.int32) for index in range(len(domains))]
        return ClassCounts(self.lattice.attributes, domains, np.stack(codes), classes.classes.sizes, histograms)

    def leaf_columns(self) -> tuple[list[npt.NDArray[np.int64]], Sizes]:
        """Give the leaf of each attribute for each class at the bottom, and the sizes of those classes."""
        bottom = self._counted[self.lattice.bottom].classes
        return [self.labels(bottom, index) for index in range(len(self.fields))], bottom.sizes

    def labels(self, classes: Packed, attribute: int) -> npt.NDArray[np.int64]:
        """Give the index of each class's label of one attribute."""
        return self.fields[attribute].read(classes.words).astype(np.int64)

    def _half_way(self, source: NodeClasses, node: Node) -> NodeClasses:
        """Go to a far node by way of another that differs from it in the attributes with the fewest labels only.

        Those with many labels come first, since they merge most classes. Few combinations of them are ever asked for,
        so that the node half way serves many others.
        """
        changed = [index for index in self._by_labels if node[index] != source.node[index]]
        if len(changed) < 2:
            return source
        taken = set(changed[: (len(changed) + 1) // 2])
        half = tuple(
            new if index in taken else old for index, (new, old) in enumerate(zip(node, source.node, strict=True))
        )
        return self.at(half)

    def _rolled(self, source: NodeClasses, node: Node) -> NodeClasses:
        changed = [index for index, level in enumerate(node) if level != source.node[index]]
        classes = self._recoded(source.classes, self.fields, changed, source.node, node)
        pairs = {
            name: self._recoded(packed, self.pair_fields[name][1:], changed, source.node, node)
            for name, packed in source.pairs.items()
        }
        return NodeClasses(node, classes, pairs)

    def _recoded(
        self, packed: Packed, fields: Sequence[Field], changed: Sequence[int], fine: Node, coarse: Node
    ) -> Packed:
        words = list(packed.words)
        for index in changed:
            field = fields[index]
            dtype = words[field.word].dtype.type
            table = self.indices[index].between(fine[index], coarse[index])
            # Adding the difference replaces the field; it wraps around where the new index is smaller.
            step = (table - np.arange(len(table))).astype(np.int64).astype(np.uint64)
            difference = (step << np.uint64(field.shift)).astype(dtype)
            words[field.word] = words[field.word] + np.take(difference, field.read(words), mode="clip")
        return joined(words, packed.sizes)


def leaf_indices(hierarchy: Hierarchy, counts: ClassCounts) -> npt.NDArray[np.int64]:
    """Give the leaf of each value of a counted column; a missing value has the index after the last leaf."""
    index = {leaf: number for number, leaf in enumerate(hierarchy.leaves)}
    # At level 0 every value is labeled with its leaf, so that a value without one is an error here.
    labels = hierarchy.recoding(0).labels_of(counts.domain(hierarchy.attribute))
    is_missing = counts.domain(hierarchy.attribute).is_null()
    missing = len(hierarchy.leaves)
    found = [missing if gone else index[label] for label, gone in zip(labels, is_missing, strict=True)]
    return np.array(found, np.int64)


def _runs(words: Sequence[Word]) -> npt.NDArray[np.int64]:
    """Give each run of equal entries its number, from 0."""
    if not len(words[0]):
        return np.zeros(0, np.int64)
    is_new = np.zeros(len(words[0]), bool)
    for word in words:
        is_new[1:] |= word[1:] != word[:-1]
    return np.cumsum(is_new)
