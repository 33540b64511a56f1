"""What is known of nodes that were not counted, because of those that were."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError
from tokumei.core.wording import counted
from tokumei.hierarchies.lattice import Lattice, Node

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
