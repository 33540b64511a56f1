"""Searches that start where nodes are predicted to hold, and go finer or coarser from there.

`pak` goes where a power law says that k is reached, and stops there or searches on (Oguri 2016, section 5.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.registry import part_options
from tokumei.engines.class_counts import ClassCounts
from tokumei.hierarchies.lattice import Node
from tokumei.methods.search.known_nodes import CountedTable, Tags, check_size
from tokumei.methods.search.problem import Found, JudgedNode, Problem, check_monotone
from tokumei.predictors.power_law import PowerLaw
from tokumei.predictors.predictor import PREDICTORS, Fitted, Predictor


@dataclass(frozen=True)
class Pak:
    """Count a few small nodes, draw the power law through their k, and start at the node nearest to what it predicts.

    Power approximation of k-anonymity (Oguri, doctoral thesis, SOKENDAI 2016, section 5.2). z nodes with the fewest
    classes are counted; with the whole table they give the law k = α·x^β + 1, and the law the class count x at which k
    is reached. If the node whose class count is nearest holds, the search stops, or goes on to finer nodes if asked
    (top-down, as Incognito does: nothing finer than a node that failed is counted). If it fails, coarser nodes follow,
    most classes first, until one holds (bottom-up). The result is the node with the most classes among those counted
    that hold, which need not be the one with the least loss; with `finer` no node with more classes holds.

    Every counted node goes to the thesis's table C. Kept in a file, it spares the next run the sampling, and gives it a
    better law. It tells the k of nodes that do not hold: keep it with the original. What is released is always counted
    anew, so that a table of another day can cost classes but no safety.

    Example: five people, (f, 31), (f, 35), (m, 31), (m, 31) and (f, 42), of whom none may be suppressed, in classes of
    two or more. Ages become bands, 30s and 40s, and then `*`. With z = 1 the node (sex, `*`) is counted: two classes,
    the smaller of two people. The law through it and the whole table, five people in one class, reaches 2 at a class
    count of 3.4, and the nearest node is (`*`, age) with three classes, where 35 is alone. It fails; the next coarser
    one is (sex, `*`), which holds.
    """

    needs_monotone: ClassVar[bool] = True

    z: int = field(default=11, metadata={"help": "How many nodes are counted for the law, fewest classes first."})
    finer: bool = field(
        default=False, metadata={"help": "Search finer nodes, too, until none with more classes can hold."}
    )
    below: bool = field(
        default=False, metadata={"help": "Start at no more classes than predicted, even if a node with more is nearer."}
    )
    table: str = field(
        default="", metadata={"help": "File of the nodes counted so far (table C): used if it is there, and extended."}
    )

    def __post_init__(self) -> None:
        if self.z < 1:
            raise InputError.of("1 node or more", option="z", value=self.z)

    def search(self, problem: Problem) -> Found:
        """Sample, predict, look, and go coarser or finer."""
        check_monotone(problem, "pak")
        check_size(problem.lattice)
        k = problem.k
        if not k:
            raise InputError.of("a k, which 'pak' predicts", option="method", value="pak")
        file = Path(self.table) if self.table else None
        known = CountedTable.read(file, problem) if file and file.exists() else CountedTable.empty(problem)
        with step("searching"):
            search = _FromLaw(problem, known, k)
            search.sample(self.z)
            start = search.nearest(search.predicted_class_count(), is_below=self.below)
            best = search.go_coarser(start)
            if self.finer:
                best = search.go_finer(best)
        if file:
            known.extended(problem).write(file)
        return Found.of(problem, best, is_proven=False)


def nodes_before(problem: Problem, method: Pak, node: Node) -> list[Node] | None:
    """Return the nodes that a search without `finer` looked at before one; None if it would not have come by it.

    Where the walk starts depends on k alone, so that the problem need not ask for more.
    """
    search = _FromLaw(problem, CountedTable.empty(problem), problem.k)
    search.sample(method.z)
    start = search.nearest(search.predicted_class_count(), is_below=method.below)
    walk = [search.node(index) for index in range(start, len(search.order))]
    return walk[: walk.index(node)] if node in walk else None


class _FromLaw:
    """The nodes in the order of the walk, what is known of them, and the walk itself."""

    def __init__(self, problem: Problem, known: CountedTable, k: int) -> None:
        self.problem, self.known, self.k = problem, known, k
        self.tags = Tags(problem.lattice)
        self.fails = self.tags.marks()
        sizes = [np.array([float(len(level)) for level in h.levels]) for h in problem.lattice.hierarchies]
        preferred = [problem.lattice.attributes.index(name) for name in problem.preference]
        self.axes = [*preferred, *(index for index in range(len(sizes)) if index not in preferred)]
        self.shape = tuple(len(sizes[axis]) for axis in self.axes)
        class_counts: npt.NDArray[np.float64] = np.ones(())
        for axis in self.axes:
            class_counts = np.multiply.outer(class_counts, sizes[axis])
        # Most classes first; of equally many, those that keep preferred attributes finer.
        self.order = np.argsort(-class_counts.reshape(-1), kind="stable")
        self.class_counts = class_counts.reshape(-1)[self.order]
        if not problem.n_may_suppress:
            for node, smallest in known.ks.items():
                if smallest < k:
                    self.fails[self.tags.finer(node)] = True

    def sample(self, z: int) -> None:
        """Count the z nodes with the fewest classes; a table of earlier runs with as many spares it."""
        smallest = self._with_more_than(1)[:z]
        if len(self.known.ks) < len(smallest):
            for index in smallest:
                self._look_at(self.node(index))

    def predicted_class_count(self) -> float:
        """Return the class count at which the law through all counted nodes reaches k."""
        problem = self.problem
        points = {**self.known.extended(problem).ks, problem.lattice.top: problem.n_rows}
        class_counts = [problem.lattice.class_count(node) for node in points]
        if len(set(class_counts)) < 2:
            return float(self.class_counts[0])
        law = PowerLaw().fit_points(problem.lattice, class_counts, [max(1, one) for one in points.values()])
        if law.beta < 0:
            return law.inverse(self.k)
        # It falls nowhere: all nodes reach k, or none does.
        return float(self.class_counts[0 if law.alpha + 1 >= self.k else -1])

    def nearest(self, class_count: float, *, is_below: bool) -> int:
        """Return the place in the order of the node with the nearest class count; of two as near, the smaller."""
        far = np.abs(self.class_counts - min(class_count, float(self.class_counts[0])))
        if is_below:
            far = np.where(self.class_counts <= max(class_count, float(self.class_counts[-1])), far, np.inf)
        nearest = self.class_counts[far == far.min()].min()
        return int(np.flatnonzero(self.class_counts == nearest)[0])

    def go_coarser(self, start: int) -> JudgedNode | None:
        """Look at the start and, as long as nothing holds, at all that has no more classes, most classes first."""
        for index in range(start, len(self.order)):
            node = self.node(index)
            if not self.fails[node] and (judged := self._look_at(node)).holds:
                return judged
        return None

    def go_finer(self, best: JudgedNode | None) -> JudgedNode | None:
        """Look at all with more classes, fewest first, that are not finer than one that failed."""
        n_classes = self.problem.lattice.class_count(best.node) if best else 0
        for index in self._with_more_than(n_classes):
            node = self.node(index)
            if not self.fails[node] and (judged := self._look_at(node)).holds and self._has_more(judged, best):
                best = judged
        return best

    def _with_more_than(self, n_classes: int) -> npt.NDArray[np.intp]:
        """Return the places of the nodes with more classes, fewest classes first."""
        n_nodes = int(np.count_nonzero(self.class_counts > n_classes))
        return np.argsort(self.class_counts[:n_nodes], kind="stable")

    def _has_more(self, judged: JudgedNode, best: JudgedNode | None) -> bool:
        if best is None:
            return True
        ours, theirs = (self.problem.lattice.class_count(one.node) for one in (judged, best))
        return ours > theirs or (ours == theirs and self.problem.is_preferred(judged.node, best.node))

    def _look_at(self, node: Node) -> JudgedNode:
        judged = self.problem.judge(node)
        if not judged.holds:
            self.fails[self.tags.finer(node)] = True
        return judged

    def node(self, index: int | np.intp) -> Node:
        levels: Sequence[int] = [int(one) for one in np.unravel_index(int(self.order[index]), self.shape)]
        node = [0] * len(levels)
        for axis, level in zip(self.axes, levels, strict=True):
            node[axis] = level
        return tuple(node)


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

    needs_monotone: ClassVar[bool] = True

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
