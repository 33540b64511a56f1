"""The classes of any node, each one integer, rolled up from the nearest node already counted.

A class is packed into bit fields, one for each attribute, which hold the indices of its labels. Going to a coarser
level replaces one field through a small table; classes that became equal are found by sorting. The lowest bits are left
free for the size of a class, so that numbers alone are sorted, which takes a fraction of sorting by a key; where all of
it does not fit into 64 bits, sizes stand apart and classes take as many words as they need. A sensitive attribute's
values take a field of their own, below the others, so that the same steps roll up its histograms.

The nearest of the nodes that a node follows from is the one with the fewest classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.engines.class_counts import ClassCounts, no_label
from tokumei.engines.grouping import radix_order
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice, Node

WORD_BITS = 64
# More classes than any node has.
TOO_MANY = np.iinfo(np.int64).max


class FinerNodes:
    """Nodes with the number of their classes.

    The levels of a node stand in one number, each below a bit that is kept free. Where these bits are set in one node
    and the levels of another are taken off, each bit is left unless the other is coarser there: one subtraction
    compares all attributes. Levels that do not follow from every finer one are looked up, as are those that no longer
    fit.
    """

    def __init__(self, lattice: Lattice) -> None:
        self.n_classes = 0
        self._nodes: list[Node] = []
        self._sizes: npt.NDArray[np.int64] = np.zeros(64, np.int64)
        self._codes: npt.NDArray[np.uint64] = np.zeros(64, np.uint64)
        self._shift_of: dict[int, int] = {}
        self._guards = shift = 0
        for index, hierarchy in enumerate(lattice.hierarchies):
            bits = (len(hierarchy.levels) - 1).bit_length()
            if hierarchy.is_nested and shift + bits < WORD_BITS:
                self._shift_of[index] = shift
                self._guards |= 1 << (shift + bits)
                shift += bits + 1
        self._looked_up = {
            index: hierarchy for index, hierarchy in enumerate(lattice.hierarchies) if index not in self._shift_of
        }

    def add(self, node: Node, n_classes: int) -> None:
        """Remember a node."""
        at = len(self._nodes)
        if at == len(self._sizes):
            self._sizes = np.concatenate([self._sizes, np.zeros_like(self._sizes)])
            self._codes = np.concatenate([self._codes, np.zeros_like(self._codes)])
        self._nodes.append(node)
        self._sizes[at], self._codes[at] = n_classes, self._code(node)
        self.n_classes += n_classes

    def nearest(self, node: Node) -> Node:
        """Return the node with the fewest classes that a node follows from, the first of several."""
        n, guards = len(self._nodes), np.uint64(self._guards)
        follows = (np.uint64(self._code(node) | self._guards) - self._codes[:n]) & guards == guards
        for index, hierarchy in self._looked_up.items():
            level = node[index]
            at = np.array([one[index] for one in self._nodes])
            follows &= (at <= level) if hierarchy.is_nested else ((at == level) | hierarchy.finer[at, level])
        return self._nodes[int(np.where(follows, self._sizes[:n], TOO_MANY).argmin())]

    def _code(self, node: Node) -> int:
        code = 0
        for index, shift in self._shift_of.items():
            code |= node[index] << shift
        return code


Word = npt.NDArray[np.uint64]
Sizes = npt.NDArray[np.int64]
# Rolling up fewer classes than this costs no more than calling numpy at all.
SHORT_WAY = 500
# So many classes of counted nodes are kept to roll others up from: half a gigabyte.
MOST_KEPT = 30_000_000


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

    def read(self, words: Sequence[Word]) -> npt.NDArray[np.int64]:
        """Take the indices of an attribute's labels out of packed classes."""
        return ((words[self.word] >> np.uint64(self.shift)) & np.uint64(self.mask)).view(np.int64)


@dataclass(frozen=True)
class Packed:
    """Packed classes in ascending order, each once, with their sizes."""

    words: tuple[Word, ...]
    sizes: Sizes

    def __len__(self) -> int:
        return len(self.sizes)

    def taken(self, indices: npt.NDArray[np.int64]) -> Packed:
        """Return some of the classes."""
        return Packed(tuple(word[indices] for word in self.words), self.sizes[indices])


def lay_fields(n_values: Sequence[int], lowest: int = 0) -> list[Field]:
    """Assign each attribute a field wide enough for its values, from a bit on; a full word starts another."""
    fields: list[Field] = []
    word, shift = 0, lowest
    for n in n_values:
        bits = max(1, (n - 1).bit_length())
        if shift + bits > WORD_BITS:
            word, shift = word + 1, 0
        fields.append(Field(word, shift, bits))
        shift += bits
    return fields


def joined(words: Sequence[Word], sizes: Sizes, size_bits: int) -> Packed:
    """Sort packed classes and add up the sizes of equal ones; size_bits: how many of the lowest bits sizes may take."""
    if len(sizes) < 2:
        return Packed(tuple(words), sizes)
    if size_bits:
        return _joined_with_sizes(words[0], sizes, size_bits)
    order = radix_order(words)
    ordered = [word[order] for word in words]
    is_first = np.ones(len(sizes), bool)
    np.not_equal(ordered[0][1:], ordered[0][:-1], out=is_first[1:])
    for word in ordered[1:]:
        is_first[1:] |= word[1:] != word[:-1]
    starts = np.flatnonzero(is_first)
    return Packed(tuple(word[starts] for word in ordered), np.add.reduceat(sizes[order], starts))


def _joined_with_sizes(word: Word, sizes: Sizes, size_bits: int) -> Packed:
    both = word + sizes.view(np.uint64)
    both.sort()
    ordered = both & np.uint64((1 << WORD_BITS) - (1 << size_bits))
    is_last = np.empty(len(both), bool)
    is_last[-1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_last[:-1])
    lasts = np.flatnonzero(is_last)
    # A class has what all up to its last entry have, less what those before it have.
    up_to = np.cumsum((both - ordered).view(np.int64))[lasts]
    sums = up_to.copy()
    sums[1:] -= up_to[:-1]
    return Packed((ordered[lasts],), sums)


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
        """Return for each label of a level the index of its label at a coarser one."""
        if (fine, coarse) not in self._tables:
            table = np.zeros(int(self.of_leaf[fine].max()) + 1, np.int64)
            table[self.of_leaf[fine]] = self.of_leaf[coarse]
            self._tables[fine, coarse] = table
        return self._tables[fine, coarse]


class Layout:
    """How the classes of some attributes are packed, and how they are rolled up."""

    def __init__(self, indices: Sequence[LabelIndices], n_values: Sequence[int], n_rows: int) -> None:
        """Lay fields for attributes of so many values; those beyond the hierarchies' stand first and are kept."""
        size_bits = n_rows.bit_length()
        fields = lay_fields(n_values, size_bits)
        self.size_bits = 0 if any(field.word for field in fields) else size_bits
        self.fields = fields if self.size_bits else lay_fields(n_values)
        self._indices = indices
        self._of_hierarchies = self.fields[len(n_values) - len(indices) :]
        self._steps: dict[tuple[int, int, int], Word] = {}

    def pack(self, columns: Sequence[npt.NDArray[np.int64]], sizes: Sizes) -> Packed:
        """Pack columns of indices into classes and join those that are equal."""
        n_words = max((field.word for field in self.fields), default=0) + 1
        words = [np.zeros(len(sizes), np.uint64) for _ in range(n_words)]
        for column, field in zip(columns, self.fields, strict=True):
            words[field.word] |= column.astype(np.uint64) << np.uint64(field.shift)
        return joined(words, sizes.astype(np.int64, copy=False), self.size_bits)

    def rolled(self, packed: Packed, fine: Node, coarse: Node) -> Packed:
        """Return the classes of a coarser node."""
        words = list(packed.words)
        for index, (old, new) in enumerate(zip(fine, coarse, strict=True)):
            if old != new:
                field = self._of_hierarchies[index]
                # Adding the difference replaces the field; it wraps around where the new index is smaller.
                difference = np.take(self._step(index, old, new), field.read(words), mode="clip")
                words[field.word] = words[field.word] + difference
        return joined(words, packed.sizes, self.size_bits)

    def _step(self, index: int, fine: int, coarse: int) -> Word:
        """Return for each label of a level what is added to a class to move it to a coarser one."""
        if (index, fine, coarse) not in self._steps:
            table = self._indices[index].between(fine, coarse)
            step = (table - np.arange(len(table))).astype(np.uint64)
            self._steps[index, fine, coarse] = step << np.uint64(self._of_hierarchies[index].shift)
        return self._steps[index, fine, coarse]


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
        # An index for missing values is kept only where some are missing: often that saves a bit.
        n_leaves = [len(hierarchy.leaves) for hierarchy in lattice.hierarchies]
        n_indices = [n + bool((column == n).any()) for n, column in zip(n_leaves, columns, strict=True)]
        self.n_rows = counts.n_rows
        self._of_classes = Layout(self.indices, n_indices, counts.n_rows)
        # A sensitive value stands below all else, so that the pairs of a class stand together.
        self._histograms = dict(counts.histograms)
        self._of_pairs = {
            name: Layout(self.indices, [one.n_codes, *n_indices], counts.n_rows)
            for name, one in self._histograms.items()
        }
        pairs = {}
        for name, histogram in counts.histograms.items():
            at = [histogram.value_of.astype(np.int64), *(column[histogram.class_of] for column in columns)]
            pairs[name] = self._of_pairs[name].pack(at, histogram.counts)
        bottom = NodeClasses(lattice.bottom, self._of_classes.pack(columns, counts.sizes), pairs)
        self.leaf_sizes = [
            np.bincount(column, counts.sizes, n + 1).astype(np.int64)
            for column, n in zip(columns, n_leaves, strict=True)
        ]
        self._by_labels = sorted(range(len(n_leaves)), key=lambda index: -n_leaves[index])
        self._counted: dict[Node, NodeClasses] = {}
        self._finer = FinerNodes(lattice)
        self._keep(bottom)

    def at(self, node: Node) -> NodeClasses:
        """Return the classes of a node, rolled up from the node with the fewest classes that it follows from."""
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
        """Return a node's classes in the form that requirements read; domains are in the order of the hierarchies."""
        histograms = {}
        for name, pairs in classes.pairs.items():
            value = self._of_pairs[name].fields[0]
            # What is left above the value's bits is the class.
            class_part = pairs.words[0] >> np.uint64(value.shift + value.bits)
            class_of = _runs([class_part, *pairs.words[1:]])
            value_of = value.read(pairs.words).astype(np.int32)
            one = self._histograms[name]
            histograms[name] = replace(one, class_of=class_of, value_of=value_of, counts=pairs.sizes)
        domains = tuple(
            pl.Series(h.attribute, [*h.levels[level].labels, None], pl.String)
            for h, level in zip(self.lattice.hierarchies, classes.node, strict=True)
        )
        codes = [self.labels(classes.classes, index).astype(np.int32) for index in range(len(domains))]
        return ClassCounts(self.lattice.attributes, domains, np.stack(codes), classes.classes.sizes, histograms)

    def leaf_columns(self) -> tuple[list[npt.NDArray[np.int64]], Sizes]:
        """Return the leaf of each attribute for each class at the bottom, and the sizes of those classes."""
        bottom = self._counted[self.lattice.bottom].classes
        return [self.labels(bottom, index) for index in range(len(self.indices))], bottom.sizes

    def labels(self, classes: Packed, attribute: int) -> npt.NDArray[np.int64]:
        """Return the index of each class's label of one attribute."""
        return self._of_classes.fields[attribute].read(classes.words)

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
        classes = self._of_classes.rolled(source.classes, source.node, node)
        pairs = {name: self._of_pairs[name].rolled(packed, source.node, node) for name, packed in source.pairs.items()}
        return NodeClasses(node, classes, pairs)


def leaf_indices(hierarchy: Hierarchy, counts: ClassCounts) -> npt.NDArray[np.int64]:
    """Return the leaf of each value of a counted column; a missing value has the index after the last leaf."""
    domain = counts.domain(hierarchy.attribute)
    index = {leaf: number for number, leaf in enumerate(hierarchy.leaves)}
    # At level 0 every value is labeled with its leaf. Text is that label; other values are read as theirs.
    labels = domain if domain.dtype == pl.String else hierarchy.recoding(0).labels_of(domain)
    missing = len(hierarchy.leaves)
    is_missing = domain.is_null()
    found = np.array(
        [missing if gone else index.get(label, -1) for label, gone in zip(labels, is_missing, strict=True)], np.int64
    )
    if (found < 0).any():
        raise no_label(hierarchy.attribute, domain.filter(pl.Series(found < 0)))
    return found


def _runs(words: Sequence[Word]) -> npt.NDArray[np.int64]:
    """Assign numbers to the runs of equal entries, from 0."""
    if not len(words[0]):
        return np.zeros(0, np.int64)
    is_new = np.zeros(len(words[0]), bool)
    for word in words:
        is_new[1:] |= word[1:] != word[:-1]
    return np.cumsum(is_new)
