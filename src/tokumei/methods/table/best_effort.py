"""As good a node as can be found in the time there is."""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass, field

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.hierarchies.lattice import Node
from tokumei.methods.search.problem import JudgedNode, Problem
from tokumei.methods.search.result import Found


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
