"""Look at every node."""

from __future__ import annotations

from dataclasses import dataclass

from tokumei.core.progress import step
from tokumei.methods.search.problem import JudgedNode, Problem
from tokumei.methods.search.result import Found


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
