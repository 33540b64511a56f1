"""Halve sublattices until all minimal nodes are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokumei.core.progress import step
from tokumei.hierarchies.lattice import Node
from tokumei.methods.search.problem import JudgedNode, Problem
from tokumei.methods.search.result import Found, check_monotone
from tokumei.methods.search.tags import Tags, check_size


@dataclass(frozen=True)
class Ola:
    """Find every minimal node by halving sublattices, tag what follows, and take the one with the least loss.

    Optimal lattice anonymization (El Emam et al. 2009). A minimal node holds while no finer one does. Where records
    may be suppressed a coarser node can lose less, so that the result is optimal only without.

    Example: five people, (f, 31), (f, 35), (m, 31), (m, 31) and (f, 42), of whom none may be suppressed, in classes of
    two or more. Ages become bands, 30s and 40s, and then `*`; the loss is Prec. Half way up (sex, band) fails, because
    of 42. Half way from there to the top (sex, `*`) holds, so that the top need not be looked at, and (`*`, band)
    fails, so that neither need (`*`, age) and (sex, age). With three of six nodes counted (sex, `*`) is the only
    minimal one: the result, with a loss of 1/2.
    """

    def search(self, problem: Problem) -> Found:
        """Collect the minimal nodes and choose."""
        check_monotone(problem, "ola")
        check_size(problem.lattice)
        with step("searching"):
            halving = _Halving(problem)
            for coarsest in problem.lattice.coarsest:
                halving.search(problem.lattice.bottom, coarsest)
        best: JudgedNode | None = None
        for node in halving.minimal():
            judged = problem.judge(node)
            if judged.holds and problem.is_better(judged, best):
                best = judged
        return Found.of(problem, best, is_proven=not problem.n_may_suppress and problem.is_rising)


class _Halving:
    """The tags and the candidates of one search."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.lattice = problem.lattice
        self.tags = Tags(problem.lattice)
        self.holds, self.fails = self.tags.marks(), self.tags.marks()
        self.heights = self.tags.sum_over_levels([[float(rank) for rank in ranks] for ranks in self.lattice.ranks])

    def search(self, low: Node, high: Node) -> None:
        """Look at the layer half way between two nodes, and go on in the halves it leaves."""
        between = [
            [
                level
                for level in range(len(h.levels))
                if (level == a or h.finer[a, level]) and (level == b or h.finer[level, b])
            ]
            for a, b, h in zip(low, high, self.lattice.hierarchies, strict=True)
        ]
        inside = np.ix_(*between)
        if (self.holds[inside] | self.fails[inside]).all():
            return
        height = self.lattice.height(high) - self.lattice.height(low)
        if height <= 1:
            for node in (low, high):
                self._is_holding(node)
            return
        indices = np.argwhere(self.heights[inside] == self.lattice.height(low) + height // 2)
        layer = [tuple(levels[at] for levels, at in zip(between, index, strict=True)) for index in indices]
        # Where levels cross a layer can be empty; its ends are then looked at by themselves.
        for node in layer or [low, high]:
            is_holding = self._is_holding(node)
            if layer:
                self.search(*((low, node) if is_holding else (node, high)))

    def minimal(self) -> list[Node]:
        """Return the nodes that hold while no finer neighbor does."""
        holding = [tuple(int(level) for level in node) for node in np.argwhere(self.holds)]
        return [node for node in holding if not any(self.holds[below] for below in self.lattice.finer_neighbors(node))]

    def _is_holding(self, node: Node) -> bool:
        if not self.holds[node] and not self.fails[node]:
            if self.problem.judge(node).holds:
                self.holds[self.tags.coarser(node)] = True
            else:
                self.fails[self.tags.finer(node)] = True
        return bool(self.holds[node])
