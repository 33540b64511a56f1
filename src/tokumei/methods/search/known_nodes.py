"""What is known of nodes: of those not counted, because of others or of a few attributes, and of those that were.

**A few attributes prove** that whoever is alone with two of them is alone with all. A record whose class over two or
three attributes is smaller than k has an even smaller class over all of them. So the two-way and three-way tables,
which are small, give every node a number of records it must suppress at least, before any node is counted.

**Counted nodes** with their k are table C of Oguri's thesis, which later runs extend.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError
from tokumei.core.text import counted
from tokumei.data.files.disk import write_text
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.methods.search.packed import PackedLattice
from tokumei.methods.search.problem import Problem

# Marks and bounds of this many nodes fit into a gigabyte.
MOST_NODES = 40_000_000


def check_size(lattice: Lattice) -> None:
    """Refuse a lattice whose nodes do not fit memory."""
    if lattice.n_nodes > MOST_NODES:
        expected = f"a lattice of at most {MOST_NODES:,} nodes; the method 'best-effort' takes larger ones"
        raise InputError.of(expected, value=counted(lattice.n_nodes, "node"))


class Tags:
    """Marks and bounds over all nodes at once, in arrays with one axis for each attribute."""

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice
        self.shape = tuple(len(hierarchy.levels) for hierarchy in lattice.hierarchies)
        self._is_nested = all(hierarchy.is_nested for hierarchy in lattice.hierarchies)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.lattice.n_nodes

    def marks(self) -> npt.NDArray[np.bool_]:
        """Return an array that marks no node."""
        return np.zeros(self.shape, bool)

    def finer(self, node: Node) -> Any:
        """Return the index of a node and all that it follows from."""
        if self._is_nested:
            return tuple(slice(0, level + 1) for level in node)
        return np.ix_(
            *(
                [other for other in range(len(h.levels)) if other == level or h.finer[other, level]]
                for level, h in zip(node, self.lattice.hierarchies, strict=True)
            )
        )

    def coarser(self, node: Node) -> Any:
        """Return the index of a node and all that follow from it."""
        if self._is_nested:
            return tuple(slice(level, None) for level in node)
        return np.ix_(
            *(
                [other for other in range(len(h.levels)) if other == level or h.finer[level, other]]
                for level, h in zip(node, self.lattice.hierarchies, strict=True)
            )
        )

    def node(self, index: int) -> Node:
        """Return the node at an index of the flattened array."""
        return tuple(int(level) for level in np.unravel_index(index, self.shape))

    def sum_over_levels(self, costs: list[list[float]]) -> npt.NDArray[np.float64]:
        """Return for each node the sum of what its levels cost."""
        out = np.zeros(self.shape)
        for index, of_levels in enumerate(costs):
            axis = [1] * len(self.shape)
            axis[index] = len(of_levels)
            out += np.array(of_levels).reshape(axis)
        return out


Floats = npt.NDArray[np.float64]
# A table larger than this costs more than it proves.
MOST_CELLS = 200_000
# Cells of a table at all levels of its attributes that are counted at once.
MOST_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class Proof:
    """For each node a number of records that must be suppressed at least, and what it took to know it."""

    least_suppressed: Floats
    n_nodes: int
    n_classes: int


def prove_by_margins(packed: PackedLattice, tags: Tags, k: int, n_way: int) -> Proof:
    """Count tables of so many attributes at all their levels: each is a node with the other attributes at the top."""
    out = np.zeros(tags.shape)
    n_nodes = n_classes = 0
    columns, sizes = packed.leaf_columns()
    weights = sizes.astype(np.float64)
    attributes, n_leaves = [], []
    for index, (labels, leaf_sizes) in enumerate(zip(packed.indices, packed.leaf_sizes, strict=True)):
        # Leaves that no record has, and often there is none missing, would only make tables larger. The others stand
        # by their coarsest labels first, so that what a label joins stands together at every level that nests.
        occurring = np.flatnonzero(leaf_sizes)
        occurring = occurring[np.lexsort([codes[occurring] for codes in labels.of_leaf])]
        place = np.zeros(len(leaf_sizes), np.int64)
        place[occurring] = np.arange(len(occurring))
        columns[index] = place[columns[index]]
        attributes.append(_AllLevels.of([codes[occurring] for codes in labels.of_leaf]))
        n_leaves.append(len(occurring))
    for subset in _affordable(n_leaves, n_way):
        # The attribute with the most leaves first: joining those makes the table small for the others.
        indices = sorted(subset, key=lambda index: -n_leaves[index])
        shape = [n_leaves[index] for index in indices]
        keys = columns[indices[0]]
        for index in indices[1:]:
            keys = keys * n_leaves[index] + columns[index]
        table = np.asarray(np.bincount(keys, weights, math.prod(shape)), np.float64).reshape(shape)
        alone = _n_alone(table, [attributes[index] for index in indices], k)
        axes = [len(one.starts) if index in subset else 1 for index, one in enumerate(attributes)]
        np.maximum(out, alone.transpose(np.argsort(indices)).reshape(axes), out=out)
        n_nodes += alone.size
        # The sum over all choices of levels of a product is the product of the sums.
        n_classes += math.prod(attributes[index].n_labels for index in indices)
    return Proof(out, n_nodes, n_classes)


def _affordable(n_leaves: Sequence[int], n_way: int) -> list[tuple[int, ...]]:
    """Choose the sets of attributes to count: all of one size, and where such a table is too large, its subsets.

    A birth date beside a postal code has more cells than a proof is worth, but either alone rules out much.
    """
    found: list[tuple[int, ...]] = []
    left = list(itertools.combinations(range(len(n_leaves)), min(n_way, len(n_leaves))))
    while left:
        is_small = [math.prod(n_leaves[index] for index in subset) <= MOST_CELLS for subset in left]
        found += [subset for subset, fits in zip(left, is_small, strict=True) if fits]
        parts = {
            part
            for subset, fits in zip(left, is_small, strict=True)
            if not fits and len(subset) > 1
            for part in itertools.combinations(subset, len(subset) - 1)
        }
        left = sorted(part for part in parts if not any(set(part) <= set(one) for one in found))
    return found


@dataclass(frozen=True, eq=False)
class _AllLevels:
    """The labels of all levels of an attribute, one level after the other; the first are its leaves."""

    # Where the labels of each level start.
    starts: npt.NDArray[np.int64]
    n_labels: int
    # For each level above the leaves what is added up: the labels of the level below, or leaves in another order; and
    # where each label starts in it.
    runs: Sequence[tuple[npt.NDArray[np.int64] | None, npt.NDArray[np.int64]]]

    @classmethod
    def of(cls, levels: Sequence[npt.NDArray[np.int64]]) -> _AllLevels:
        runs: list[tuple[npt.NDArray[np.int64] | None, npt.NDArray[np.int64]]] = []
        below = np.arange(len(levels[0]))
        for indices in levels[1:]:
            firsts = _starts(indices)
            if len(firsts) == len(np.unique(indices)) and np.isin(firsts, below).all():
                runs.append((None, np.searchsorted(below, firsts)))
                below = firsts
            else:
                order = np.argsort(indices, kind="stable")
                runs.append((order, _starts(indices[order])))
                # Nothing can be added up from labels whose leaves do not stand together.
                below = np.zeros(0, np.int64)
        starts = np.cumsum([0, len(levels[0]), *(len(firsts) for _, firsts in runs)])
        return cls(starts[:-1], int(starts[-1]), runs)

    def join(self, table: Floats, axis: int) -> Floats:
        """Replace the leaves along an axis by the labels of all levels, with the sum under each."""
        shape = table.shape
        levels = [table.reshape(math.prod(shape[:axis]), shape[axis], -1)]
        for order, firsts in self.runs:
            below = levels[-1] if order is None else levels[0][:, order]
            levels.append(np.add.reduceat(below, firsts, axis=1))
        joined: Floats = np.concatenate(levels, axis=1)
        return joined.reshape(*shape[:axis], self.n_labels, *shape[axis + 1 :])


def _starts(indices: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return where runs of equal indices start."""
    return np.flatnonzero(np.diff(indices, prepend=-1))


def _n_alone(table: Floats, attributes: Sequence[_AllLevels], k: int) -> Floats:
    """Count the records in cells smaller than k, for every choice of levels of the attributes."""
    first, *others = attributes
    joined = first.join(table, 0)
    n_at_once = max(1, MOST_AT_ONCE // max(1, math.prod(one.n_labels for one in others)))
    parts = []
    for start in range(0, len(joined), n_at_once):
        cells = joined[start : start + n_at_once]
        for axis, one in enumerate(others, 1):
            cells = one.join(cells, axis)
        alone = np.where(cells < k, cells, 0.0)
        for axis, one in enumerate(others, 1):
            alone = np.add.reduceat(alone, one.starts, axis=axis)
        parts.append(alone)
    return np.asarray(np.add.reduceat(np.concatenate(parts), first.starts, axis=0))


KIND = "tokumei counted nodes"


@dataclass(frozen=True)
class CountedTable:
    """The k of nodes of a lattice over a table of so many rows."""

    lattice: Lattice
    n_rows: int
    ks: Mapping[Node, int]

    @classmethod
    def empty(cls, problem: Problem) -> CountedTable:
        """Make a table without nodes."""
        return cls(problem.lattice, problem.n_rows, {})

    @classmethod
    def read(cls, file: Path, problem: Problem) -> CountedTable:
        """Read the table of earlier runs; one of other rows or levels is an InputError, never overwritten."""
        lattice = problem.lattice
        try:
            read = json.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError.of(f"a file that can be read ({error.strerror})", file=file) from None
        except ValueError as error:
            raise InputError.of(f"a table of counted nodes in JSON ({error})", file=file) from None
        if not isinstance(read, dict) or read.get("kind") != KIND:
            raise InputError.of("a table of counted nodes that 'pak' wrote", file=file)
        made_for = {"rows": read.get("rows"), "labels": read.get("labels")}
        wanted = {"rows": problem.n_rows, "labels": _labels(lattice)}
        for what, value in wanted.items():
            if made_for[what] != value:
                expected = f"a table of counted nodes of the same {what}, {json.dumps(value, ensure_ascii=False)}"
                raise InputError.of(expected, file=file, value=json.dumps(made_for[what], ensure_ascii=False))
        try:
            return cls(lattice, problem.n_rows, {_node(lattice, one["levels"]): _k(one["k"]) for one in read["nodes"]})
        except (KeyError, TypeError, ValueError) as error:
            raise InputError.of(f"nodes with 'levels' and a 'k' of 1 or more ({error})", file=file) from None

    def extended(self, problem: Problem) -> CountedTable:
        """Add the nodes that a search has counted; what it counted itself counts more."""
        counted = {node: problem.judge(node).smallest for node in problem.counted_nodes()}
        return CountedTable(self.lattice, self.n_rows, {**self.ks, **counted})

    def write(self, file: Path) -> None:
        """Write the table, fewest classes first."""
        nodes = sorted(self.ks, key=lambda node: (self.lattice.class_count(node), node))
        rows: list[dict[str, object]] = [
            {"levels": self.lattice.levels(node), "classes": self.lattice.class_count(node), "k": self.ks[node]}
            for node in nodes
        ]
        table = {"kind": KIND, "rows": self.n_rows, "labels": _labels(self.lattice), "nodes": rows}
        write_text(file, json.dumps(table, ensure_ascii=False, indent=1) + "\n")


def _labels(lattice: Lattice) -> dict[str, list[int]]:
    """Return for each attribute how many labels each level has."""
    return {one.attribute: [len(level) for level in one.levels] for one in lattice.hierarchies}


def _node(lattice: Lattice, levels: Mapping[str, int]) -> Node:
    node = tuple(levels[name] for name in lattice.attributes)
    if node not in lattice:
        raise ValueError(f"no node {levels}")
    return node


def _k(k: object) -> int:
    if not isinstance(k, int) or k < 1:
        raise ValueError(f"not a k: {k}")
    return k
