"""As good a node as can be found in the time there is."""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass, field

from tokumei.anonymize.search.problem import Problem
from tokumei.anonymize.search.result import Found
from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.hierarchy.lattice import Node


@dataclass(frozen=True)
class BestEffort:
    """Go down from the top, the most promising node first, until time is up; the best node met is the result.

    For lattices too large to search whole. It always gives a node that holds if the coarsest does, and says whether
    it got to the end: then nothing that holds loses less.

    Example: five people, (f, 31), (f, 35), (m, 31), (m, 31) and (f, 42), of whom none may be suppressed, in classes of
    two or more. Ages become bands, 30s and 40s, and then `*`; the loss is Prec. The top, (`*`, `*`), holds and loses 1.
    Of the two nodes below it (sex, `*`) holds and loses 1/2, (`*`, band) does not hold, because of 42. Below (sex, `*`)
    there is (sex, band), which fails. Nothing is left to go down from: (sex, `*`) is the result, and nothing that holds
    loses less.
    """

    seconds: float = field(default=10.0, metadata={"help": "How long to search."})

    def search(self, problem: Problem) -> Found:
        """Search from the top down along nodes that hold."""
        if not self.seconds > 0:
            raise InputError.of("more than 0 seconds", option="seconds", value=self.seconds)
        deadline = time.perf_counter() + self.seconds
        best = problem.judge(problem.lattice.top)
        if not best.holds:
            return Found.of(problem, None, is_proven=False)
        queue: list[tuple[float, Node]] = [(best.loss, best.node)]
        seen: set[Node] = {best.node}
        is_finished = True
        with step("searching", self.seconds) as bar:
            last = time.perf_counter()
            while queue and is_finished:
                for node in problem.lattice.finer_neighbors(heapq.heappop(queue)[1]):
                    now = time.perf_counter()
                    bar.advance(now - last)
                    last = now
                    if now > deadline:
                        is_finished = False
                        break
                    if node in seen:
                        continue
                    seen.add(node)
                    judged = problem.judge(node)
                    if judged.holds:
                        heapq.heappush(queue, (judged.loss, node))
                        if problem.is_better(judged, best):
                            best = judged
        # Below a node that fails nothing holds, so that an empty queue means all that hold were met.
        return Found.of(problem, best, is_proven=is_finished and problem.is_monotone)
