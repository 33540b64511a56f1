"""Searches that climb the lattice: Datafly and best effort for one node, Incognito and OLA for all minimal ones."""

from __future__ import annotations

import heapq
import itertools
import time
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.hierarchies.lattice import Node
from tokumei.methods.search.known_nodes import Tags, check_size
from tokumei.methods.search.problem import Found, JudgedNode, Problem, check_monotone


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


@dataclass(frozen=True)
class BestEffort:
    """Go down from the top, the most promising node first, until time is up; the best node met is the result.

    For lattices too large to search whole. It always gives a node that holds if the coarsest does, and says whether
    it got to the end: then nothing that holds loses less. Below a node that fails it looks only for requirements that a
    finer node may meet all the same, such as closeness where records may be suppressed.

    Example: five people, (f, 31), (f, 35), (m, 31), (m, 31) and (f, 42), of whom none may be suppressed, in classes of
    two or more. Ages become bands, 30s and 40s, and then `*`; the loss is Prec. The top, (`*`, `*`), holds and loses 1.
    Of the two nodes below it (sex, `*`) holds and loses 1/2, (`*`, band) does not hold, because of 42. Below (sex, `*`)
    there is (sex, band), which fails. Nothing is left to go down from: (sex, `*`) is the result, and nothing that holds
    loses less.
    """

    seconds: float = field(default=10.0, metadata={"help": "How long to search."})

    def search(self, problem: Problem) -> Found:
        """Search from the coarsest nodes down, along nodes that hold as far as finer ones can then hold only there."""
        if not self.seconds > 0:
            raise InputError.of("more than 0 seconds", option="seconds", value=self.seconds)
        deadline = time.perf_counter() + self.seconds
        best: JudgedNode | None = None
        # Where levels cross several nodes have none above them; below each there may be one that holds.
        coarsest = problem.lattice.coarsest
        seen: set[Node] = set(coarsest)
        queue: list[tuple[float, Node]] = []
        waiting = coarsest
        is_finished = True
        with step("searching", self.seconds) as bar:
            last = time.perf_counter()
            while waiting and is_finished:
                for node in waiting:
                    now = time.perf_counter()
                    bar.advance(now - last)
                    last = now
                    # The coarsest are looked at however little time there is.
                    if now > deadline and node not in coarsest:
                        is_finished = False
                        break
                    judged = problem.judge(node)
                    if judged.holds and problem.is_better(judged, best):
                        best = judged
                    # A node that fails comes last, and only where a finer one may hold all the same.
                    if judged.holds or not problem.is_monotone:
                        heapq.heappush(queue, (judged.loss, node))
                waiting = []
                while queue and not waiting:
                    finer = problem.lattice.finer_neighbors(heapq.heappop(queue)[1])
                    waiting = [node for node in finer if node not in seen]
                seen.update(waiting)
        # All that can hold were met where nothing waits any longer.
        return Found.of(problem, best, is_proven=is_finished)


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

    needs_monotone: ClassVar[bool] = True

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

    needs_monotone: ClassVar[bool] = True

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
