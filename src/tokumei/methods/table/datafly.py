"""Generalize the attribute with the most values until few enough records stick out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokumei.hierarchies.lattice import Node
from tokumei.methods.search.problem import JudgedNode, Problem
from tokumei.methods.search.result import Found


@dataclass(frozen=True)
class Datafly:
    """Go up one level at a time, in the attribute with the most labels, until the node holds (Sweeney 1997).

    It counts one node a step, at most as many as there are levels to go up. The loss plays no part, so another node may
    lose less; only the bottom, if it holds with nobody suppressed, is known to be best. Of attributes with equally many
    labels the least preferred goes first, else the one that stands first.

    Example: five people, (f, 31), (f, 35), (m, 31), (m, 31) and (f, 42), of whom none may be suppressed, in classes of
    two or more. Ages become bands, 30s and 40s, and then `*`; the loss is Prec. Three ages are more than two sexes, so
    ages become bands. (f, 40s) is alone. Now both have two labels, and sex, which stands first, becomes `*`. The one in
    the 40s is still alone, so age becomes `*`, too. The result (`*`, `*`) loses 1, where (sex, `*`) would have held and
    lost 1/2.
    """

    def search(self, problem: Problem) -> Found:
        """Climb from the bottom; of attributes with equally many labels the least preferred goes first."""
        judged = problem.judge(problem.lattice.bottom)
        while not judged.holds:
            above = next_up(problem, judged.node)
            if above is None:
                return Found.of(problem, None, is_proven=False)
            judged = problem.judge(above)
        return Found.of(problem, judged, is_proven=_is_bottom(problem, judged))


def next_up(problem: Problem, node: Node) -> Node | None:
    """Return the next node up, or None at the top."""
    classes = problem.packed.at(node).classes
    best: tuple[tuple[int, int], Node] | None = None
    for index, hierarchy in enumerate(problem.lattice.hierarchies):
        steps = hierarchy.above[node[index]]
        if not steps:
            continue
        n_labels = len(np.unique(problem.packed.labels(classes, index)))
        name = hierarchy.attribute
        given_up = problem.preference.index(name) if name in problem.preference else len(problem.preference)
        key = (n_labels, given_up)
        if best is None or key > best[0]:
            best = key, (*node[:index], steps[0], *node[index + 1 :])
    return None if best is None else best[1]


def _is_bottom(problem: Problem, judged: JudgedNode) -> bool:
    """Only a bottom that suppresses nothing is known to be best."""
    return judged.node == problem.lattice.bottom and judged.n_suppressed == 0 and problem.is_rising
