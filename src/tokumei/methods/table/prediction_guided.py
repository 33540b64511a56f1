"""Predict where nodes begin to hold, start there, and go finer or coarser."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.registry import part_options
from tokumei.engines.class_counts import ClassCounts
from tokumei.hierarchies.lattice import Node
from tokumei.methods.search.problem import JudgedNode, Problem
from tokumei.methods.search.result import Found, check_monotone
from tokumei.methods.search.tags import Tags, check_size
from tokumei.predictors.predictor import PREDICTORS, Fitted, Predictor

# Predictions of so many nodes take about a second; in a larger lattice they are asked for along a way down.
MOST_PREDICTED = 3000
# A predictor used here may count tables of so many classes: larger ones cost more than they save.
LARGEST_TABLE = 50


@dataclass(frozen=True)
class PredictionGuided:
    """Look first at the node that loses least of all that are predicted to hold, and let each look correct the next.

    Oguri's idea (see `pak`) with any predictor, for any loss, and up to a proof. The nodes that the predictor counts
    are checked too, and count as such. Where the first node holds the search goes finer, where it fails coarser; once
    nothing that is predicted to hold could lose less, the rest is proved to fail, fewest classes first, since one that
    fails rules out all finer ones. It counts fewer classes until its proof than OLA, Incognito and `optimal` do.

    Example: five people, (f, 31), (f, 35), (m, 31), (m, 31) and (f, 42), of whom none may be suppressed, in classes of
    two or more. Ages become bands, 30s and 40s, and then `*`; the loss is Prec. The power law is drawn through nodes
    with few classes, in so small a lattice all six, and these are checked with it. It would have led to (sex, band),
    for which it predicts a k of just 2, but 42 is alone there. Of those that hold, (sex, `*`) and (`*`, `*`), the first
    loses less, 1/2.
    """

    predictor: str = field(default="power-law", metadata={"help": "Which predictor says where to start."})

    def search(self, problem: Problem) -> Found:
        """Predict, look, correct, and go on until nothing better is left."""
        check_monotone(problem, "prediction-guided")
        check_size(problem.lattice)
        k = problem.k
        if not k:
            raise InputError.of("a k, which 'prediction-guided' predicts", option="method", value="prediction-guided")
        with step("searching"):
            fitted = self._predictor(k).fit(problem.lattice, lambda node: _counted(problem, node))
            search = _FromPrediction(problem, fitted, k)
            search.follow_predictions()
            search.prove_the_rest()
        return Found.of(problem, search.best, is_proven=problem.is_cell_loss and problem.is_rising)

    def _predictor(self, k: int) -> Predictor:
        wanted = {"k_p": k, "most_classes": LARGEST_TABLE}
        known = {option.name for option in part_options(PREDICTORS.get(self.predictor))}
        return PREDICTORS.make(self.predictor, **{name: value for name, value in wanted.items() if name in known})


def _counted(problem: Problem, node: Node) -> ClassCounts:
    """Count a node for the predictor, which may ask for its labels; it counts as checked."""
    problem.judge(node)
    return problem.counts.roll_up(problem.counts.maps(problem.recodings(node)))


class _FromPrediction:
    """What is known while looking: what was ruled out, the best so far, and how far predictions were off."""

    def __init__(self, problem: Problem, fitted: Fitted, k: int) -> None:
        self.problem, self.fitted, self.k = problem, fitted, k
        self.tags = Tags(problem.lattice)
        self.is_done = self.tags.marks()
        self.best: JudgedNode | None = None
        levels = [[float(np.log(len(level))) for level in h.levels] for h in problem.lattice.hierarchies]
        self.class_counts: npt.NDArray[np.float64] = self.tags.sum_over_levels(levels)
        self.rise = (
            self.tags.sum_over_levels([[cost.rise for cost in costs] for costs in problem.level_costs])
            if problem.is_cell_loss
            # Without a known rise the class count says which node is finer.
            else -self.class_counts
        )
        # How many times too large a prediction turned out to be at most.
        self.excess = 1.0
        for node in problem.counted_nodes():
            self._look_at(node)

    def follow_predictions(self) -> None:
        """Look at the least loss predicted to hold, until nothing that is predicted to hold could win."""
        while (node := self._most_promising()) is not None:
            judged = self._look_at(node)
            if not judged.holds:
                self.excess = max(self.excess, self.fitted.predict(node).k / max(1, judged.smallest)) * (1 + 1e-9)

    def prove_the_rest(self) -> None:
        """Look at all that could still win, fewest classes first."""
        while True:
            left = np.where(self._could_win(), self.class_counts, np.inf)
            index = int(np.argmin(left))
            if np.isinf(left.flat[index]):
                return
            self._look_at(self.tags.node(index))

    def _most_promising(self) -> Node | None:
        could_win = self._could_win()
        if self.tags.n_nodes <= MOST_PREDICTED:
            hopeful = could_win & (self._predictions >= self.k * self.excess)
            left = np.where(hopeful, self.rise, np.inf)
            index = int(np.argmin(left))
            return None if np.isinf(left.flat[index]) else self.tags.node(index)
        node = self._finest_by_walking()
        return node if could_win[node] else None

    @cached_property
    def _predictions(self) -> npt.NDArray[np.float64]:
        """The predicted k of every node."""
        predicted = [self.fitted.predict(node).k for node in self.problem.lattice]
        return np.array(predicted).reshape(self.tags.shape)

    def _finest_by_walking(self) -> Node:
        """Walk down from the top by the least rise, as long as nodes are predicted to hold."""
        lattice = self.problem.lattice
        node = lattice.top
        while True:
            finer = sorted(lattice.finer_neighbors(node), key=lambda one: float(self.rise[one]))
            below = next((one for one in finer if self.fitted.predict(one).k >= self.k * self.excess), None)
            if below is None:
                return node
            node = below

    def _look_at(self, node: Node) -> JudgedNode:
        """Check a node and rule out what follows."""
        judged = self.problem.judge(node)
        self.is_done[node] = True
        if not judged.holds:
            self.is_done[self.tags.finer(node)] = True
            return judged
        if not self.problem.n_may_suppress:
            # Nothing coarser loses less where nothing is suppressed.
            self.is_done[self.tags.coarser(node)] = True
        if self.best is None or self._is_better(judged):
            self.best = judged
        return judged

    def _could_win(self) -> npt.NDArray[np.bool_]:
        if self.best is None:
            return ~self.is_done
        if self.problem.is_cell_loss:
            limit = self.best.loss + self.problem.slack(self.best)
        else:
            limit = float(self.rise[self.best.node])
        return ~self.is_done & (self.rise <= limit)

    def _is_better(self, judged: JudgedNode) -> bool:
        if self.problem.is_cell_loss or self.best is None:
            return self.problem.is_better(judged, self.best)
        return bool(self.rise[judged.node] < self.rise[self.best.node])
