"""Which of the nodes counted so far a node follows from, and which of these has the fewest classes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

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
