"""Grow the set of attributes and keep only what held with fewer."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from tokumei.core.progress import step
from tokumei.hierarchies.lattice import Node
from tokumei.methods.search.problem import JudgedNode, Problem
from tokumei.methods.search.result import Found, check_monotone

Levels = tuple[int, ...]
Subset = tuple[int, ...]


@dataclass(frozen=True)
class Incognito:
    """Find all nodes that hold, for one attribute, then two, and so on, each from those that held with one fewer.

    LeFevre et al. 2005: a node over some attributes can hold only if it does over each part of them (subset join), and
    is counted from finer counts (roll-up). An attribute that is left out stands at its top level. Of all that hold the
    one with the least loss is taken; where records may be suppressed only the minimal ones are weighed.

    Example: five people, (f, 31), (f, 35), (m, 31), (m, 31) and (f, 42), of whom none may be suppressed, in classes of
    two or more. Ages become bands, 30s and 40s, and then `*`; the loss is Prec. Of single attributes sex holds as it
    is, three women and two men; ages hold neither as they are nor as bands, because of 42, but as `*`. So of the six
    nodes over both only (sex, `*`) and (`*`, `*`) are left, and neither is counted anew. The first is minimal: the
    result, with a loss of 1/2.
    """

    def search(self, problem: Problem) -> Found:
        """Grow subsets until they hold all attributes."""
        check_monotone(problem, "incognito")
        attributes = range(len(problem.lattice.hierarchies))
        held: dict[Subset, set[Levels]] = {(): {()}}
        with step("growing subsets", len(attributes)) as bar:
            for size in range(1, len(attributes) + 1):
                held = {
                    subset: _holding(problem, subset, _joined(problem, subset, held))
                    for subset in itertools.combinations(attributes, size)
                }
                bar.advance()
        best: JudgedNode | None = None
        for node in sorted(_minimal(problem, held[tuple(attributes)])):
            judged = problem.judge(node)
            if judged.holds and problem.is_better(judged, best):
                best = judged
        return Found.of(problem, best, is_proven=not problem.n_may_suppress and problem.is_rising)


def _joined(problem: Problem, subset: Subset, held: dict[Subset, set[Levels]]) -> list[Levels]:
    """Return the levels over a subset whose every part held."""
    hierarchies = [problem.lattice.hierarchies[index] for index in subset]
    last = range(len(hierarchies[-1].levels))
    parts = [(drop, held[subset[:drop] + subset[drop + 1 :]]) for drop in range(len(subset))]
    return [
        levels
        for levels in ((*start, level) for start in held[subset[:-1]] for level in last)
        if all(levels[:drop] + levels[drop + 1 :] in kept for drop, kept in parts)
    ]


def _holding(problem: Problem, subset: Subset, candidates: list[Levels]) -> set[Levels]:
    """Check candidates from the finest up; what follows from one that holds needs no check."""
    lattice = problem.lattice
    holding: set[Levels] = set()
    known: set[Levels] = set()
    wanted = set(candidates)

    def whole(levels: Levels, end: Node) -> Node:
        at = dict(zip(subset, levels, strict=True))
        return tuple(at.get(index, level) for index, level in enumerate(end))

    for levels in sorted(candidates, key=lambda one: (lattice.height(whole(one, lattice.top)), one)):
        # Where coarsest levels cross, the others may hold at any of them.
        if levels in known or any(problem.judge(whole(levels, end)).holds for end in lattice.coarsest):
            holding.add(levels)
            for index, attribute in enumerate(subset):
                for level in lattice.hierarchies[attribute].above[levels[index]]:
                    above = (*levels[:index], level, *levels[index + 1 :])
                    if above in wanted:
                        known.add(above)
    return holding


def _minimal(problem: Problem, holding: set[Levels]) -> list[Node]:
    """Return the nodes that hold while no finer neighbor does."""
    return [node for node in holding if not any(finer in holding for finer in problem.lattice.finer_neighbors(node))]
