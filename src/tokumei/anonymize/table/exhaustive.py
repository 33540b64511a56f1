"""Look at every node."""

from __future__ import annotations

from dataclasses import dataclass

from tokumei.anonymize.search.problem import Judged, Problem
from tokumei.anonymize.search.result import Found
from tokumei.core.progress import step


@dataclass(frozen=True)
class Exhaustive:
    """Count every node and take the one that holds with the least loss: slow, and right by definition."""

    def search(self, problem: Problem) -> Found:
        """Count from the bottom up, so that every node has a finer one close by to be rolled up from."""
        best: Judged | None = None
        with step("checking nodes", problem.lattice.n_nodes) as bar:
            for layer in problem.lattice.by_height:
                for node in layer:
                    judged = problem.judge(node)
                    if judged.holds and problem.is_better(judged, best):
                        best = judged
                bar.advance(len(layer))
        return Found.of(problem, best, is_proven=True)
