"""The node with the least loss: by looking at every node, or at few and proving the rest away."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tokumei.core.progress import step
from tokumei.hierarchies.lattice import Node
from tokumei.methods.search.known_nodes import Tags, check_size, prove_by_margins
from tokumei.methods.search.problem import Found, JudgedNode, Problem


@dataclass(frozen=True)
class Exhaustive:
    """Count every node and take the one that holds with the least loss: slow, and right by definition.

    Every other search is tested against it. The number of nodes is the product of the numbers of levels, so that it is
    for small lattices; `optimal` gives the same node.

    Example: five people, (f, 31), (f, 35), (m, 31), (m, 31) and (f, 42), of whom none may be suppressed, in classes of
    two or more. Ages become bands, 30s and 40s, and then `*`; the loss is Prec. Only two of six nodes hold, and
    (sex, `*`) loses less.

    | node        | alone                        | Prec |
    |-------------|------------------------------|------|
    | (sex, age)  | (f, 31), (f, 35) and (f, 42) | 0    |
    | (sex, band) | (f, 40s)                     | 1/4  |
    | (sex, `*`)  | nobody                       | 1/2  |
    | (`*`, age)  | 35 and 42                    | 1/2  |
    | (`*`, band) | 40s                          | 3/4  |
    | (`*`, `*`)  | nobody                       | 1    |
    """

    def search(self, problem: Problem) -> Found:
        """Count from the bottom up, so that every node has a finer one close by to be rolled up from."""
        best: JudgedNode | None = None
        with step("checking nodes", problem.lattice.n_nodes) as bar:
            for layer in problem.lattice.by_height:
                for node in layer:
                    judged = problem.judge(node)
                    if judged.holds and problem.is_better(judged, best):
                        best = judged
                bar.advance(len(layer))
        return Found.of(problem, best, is_proven=True)


@dataclass(frozen=True)
class Optimal:
    """Find the least-loss generalization that meets your settings, equal to looking at every node.

    Three things prove a node away without counting it. It is finer than one that fails. Its rise, known from its levels
    or at least that of a finer node, reaches the best loss found. Or its rise together with the penalty of a coarser
    node does: finer nodes suppress those records too, and more of each is lost. What is left is taken by the smallest
    bound, along chains that are searched by halves for the place where nodes begin to hold.

    Example: five people, (f, 31), (f, 35), (m, 31), (m, 31) and (f, 42), of whom none may be suppressed, in classes of
    two or more. Ages become bands, 30s and 40s, and then `*`; the loss is Prec. Tables of two columns are counted
    first, and rule out every node in which somebody is alone: those whose ages are not `*`. Two are left and hold;
    (sex, `*`) loses 1/2, (`*`, `*`) loses 1.
    """

    def search(self, problem: Problem) -> Found:
        """Search until no node is left that could be better."""
        check_size(problem.lattice)
        if not problem.n_rows:
            # Of no rows nothing is lost anywhere.
            return Found.of(problem, problem.judge(problem.lattice.bottom), is_proven=True)
        with step("searching"):
            return Found.of(problem, _BranchAndBound(problem).run(), is_proven=True)


class _BranchAndBound:
    """The state of one search."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.tags = Tags(problem.lattice)
        self.is_known_to_hold = self.tags.marks()
        self.best: JudgedNode | None = None
        # What a node must lose less than to be better than the best, and at most to be as good.
        self.less_than = self.at_most = math.inf
        least_suppressed = self._least_suppressed()
        self.rise, self.penalty = self._rises(), self._least_penalties(least_suppressed)
        # Both added up; infinite for nodes that need no more looking at: counted, or finer than one that fails.
        self.bound: npt.NDArray[np.float64] = np.where(
            least_suppressed > problem.n_may_suppress, math.inf, self.rise + self.penalty
        )

    def run(self) -> JudgedNode | None:
        while (node := self._most_promising()) is not None:
            if self.is_known_to_hold[node] or not self.problem.is_monotone:
                self._look_at(node)
            else:
                self._search_chain(self._chain_from(node))
        return self.best

    def _rises(self) -> npt.NDArray[np.float64]:
        """Return the rise of every node, exact for losses that add up over cells, else at least what it must be."""
        if not self.problem.is_cell_loss:
            return self._least_size_losses()
        return self.tags.sum_over_levels([[cost.rise for cost in costs] for costs in self.problem.level_costs])

    def _least_suppressed(self) -> npt.NDArray[np.float64]:
        """Return how many records every node suppresses at least, as two or three attributes prove."""
        problem = self.problem
        # Three-way tables pay where records may be suppressed, if the bound can use their number.
        n_way = 3 if problem.n_may_suppress and problem.is_cell_loss else 2
        proof = prove_by_margins(problem.packed, self.tags, problem.k, n_way)
        problem.note_checked(proof.n_nodes, proof.n_classes)
        return proof.least_suppressed

    def _least_penalties(self, least_suppressed: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the penalty that every node has at least."""
        problem = self.problem
        if not problem.is_cell_loss:
            penalty = problem.loss.least_penalty(least_suppressed, problem.k, problem.n_rows)  # type: ignore[union-attr]
            return np.asarray(penalty)
        rest = [[float(cost.rest.min()) for cost in costs] for costs in problem.level_costs]
        return self.tags.sum_over_levels(rest) * (least_suppressed / problem.n_rows)

    def _least_size_losses(self) -> npt.NDArray[np.float64]:
        """Return the least rise that a node with so many classes can have: that of classes of equal size."""
        loss, n_rows = self.problem.loss, self.problem.n_rows
        n_labels = [
            [math.log(int((one.label_sizes(level) > 0).sum())) for level in range(len(one.hierarchy.levels))]
            for one in self.problem.attributes
        ]
        # A hair more classes than there can be, so that rounding never rules out a node.
        n_classes = np.exp(self.tags.sum_over_levels(n_labels)) * (1 + 1e-9)
        return np.asarray(loss.least_rise(np.minimum(n_classes, n_rows), n_rows))  # type: ignore[union-attr]

    def _most_promising(self) -> Node | None:
        """Return the node with the smallest bound, or None when no node can be better than the best."""
        while True:
            node = self.tags.node(int(self.bound.argmin()))
            bound = self.bound[node]
            if bound == math.inf:
                return None
            if self._can_win(node):
                return node
            if bound > self.at_most:
                return None
            # It can only equal the best, and would not be preferred.
            self.bound[node] = math.inf

    def _can_win(self, node: Node) -> bool:
        """Whether a node may turn out better than the best: by less loss, or by preference among equals."""
        bound = self.bound.item(node)
        if bound < self.less_than or self.best is None:
            return bound < math.inf
        return bound <= self.at_most and self.problem.is_preferred(node, self.best.node)

    def _chain_from(self, node: Node) -> list[Node]:
        """Return a chain from a node up to one that is known to hold or cannot be better, by the smallest bounds."""
        chain = [node]
        while True:
            above = [other for other in self.problem.lattice.coarser_neighbors(chain[-1]) if self._can_win(other)]
            if not above or self.is_known_to_hold[chain[-1]]:
                return chain
            chain.append(min(above, key=self.bound.item))

    def _search_chain(self, chain: list[Node]) -> None:
        """Find where the chain begins to hold; every look proves something away."""
        low, high = 0, len(chain)
        # Once a good node is known its end is looked at first: if that fails, so does all of the chain.
        middle = high // 2 if self.best is None else high - 1
        while low < high:
            node = chain[middle]
            if self.is_known_to_hold[node] or self._look_at(node).holds:
                high = middle
            else:
                low = middle + 1
            middle = (low + high) // 2

    def _look_at(self, node: Node) -> JudgedNode:
        """Count a node and note all that follows."""
        problem = self.problem
        judged = problem.judge(node)
        if not problem.is_cell_loss:
            self._learn(self.rise, self.tags.coarser(node), judged.rise)
        if judged.holds:
            if problem.is_better(judged, self.best):
                self.best, slack = judged, problem.slack(judged)
                self.less_than, self.at_most = judged.loss - slack, judged.loss + slack
            if problem.is_monotone:
                self.is_known_to_hold[self.tags.coarser(node)] = True
            if problem.penalty_shrinks and judged.penalty:
                self._learn(self.penalty, self.tags.finer(node), judged.penalty)
        elif problem.is_monotone:
            self.bound[self.tags.finer(node)] = math.inf
        self.bound[node] = math.inf
        return judged

    def _learn(self, of: npt.NDArray[np.float64], nodes: Any, at_least: float) -> None:
        """Raise the rise or the penalty of nodes to what it is at least, and with it their bounds."""
        of[nodes] = np.maximum(of[nodes], at_least)
        # What needs no more looking at stays infinite.
        self.bound[nodes] = np.maximum(self.bound[nodes], self.rise[nodes] + self.penalty[nodes])
