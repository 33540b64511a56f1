"""Adult with nine quasi-identifiers: what optimal finds against every node counted."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import count_classes
from tokumei.hierarchies.files import read_hierarchies
from tokumei.hierarchies.lattice import Lattice
from tokumei.measures.losses import LOSSES
from tokumei.measures.safety.class_sizes import KAnonymity
from tokumei.methods.search.optimal import Optimal
from tokumei.methods.search.problem import JudgedNode, Problem

COLUMNS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
COLUMNS.append("salary-class")
KS, SUPPRESSIONS, LOSS_NAMES = (2, 5, 10), (0.0, 0.02, 0.1), ("prec", "ncp", "discernibility")
Adult = tuple[Lattice, ClassCounts]


@pytest.fixture(scope="module")
def adult(shared_data: Path) -> Adult:
    lattice = Lattice.of(read_hierarchies(shared_data / "adult" / "hierarchies", COLUMNS))
    return lattice, count_classes(shared_data / "adult" / "adult.csv.gz", COLUMNS)


def problem(adult: Adult, k: int, suppression: float, loss: str) -> Problem:
    return Problem(*adult, [KAnonymity(k)], LOSSES.make(loss), suppression)


def test_optimal_equals_every_node_counted(adult: Adult) -> None:
    lattice, _ = adult
    assert lattice.n_nodes == 12_960
    keys = list(itertools.product(KS, SUPPRESSIONS, LOSS_NAMES))
    asked = {key: problem(adult, *key) for key in keys}
    shared = asked[keys[0]].packed
    best: dict[tuple[int, float, str], JudgedNode | None] = dict.fromkeys(keys)
    n_holding = 0
    for one in asked.values():
        # Counting is shared, judging is not: each node is rolled up once for all questions.
        one.packed = shared
    for node in itertools.chain.from_iterable(lattice.by_height):
        sizes = shared.at(node).classes.sizes
        for k, loss in itertools.product(KS, LOSS_NAMES):
            # What a node loses does not depend on how much may be suppressed; where that is too much, nobody asks.
            n_small = int(sizes[sizes < k].sum())
            if n_small > asked[k, SUPPRESSIONS[-1], loss].n_may_suppress:
                continue
            judged = asked[k, SUPPRESSIONS[-1], loss].judge(node)
            assert (judged.holds, judged.n_suppressed) == (True, n_small)
            for suppression in SUPPRESSIONS:
                key = (k, suppression, loss)
                if n_small <= asked[key].n_may_suppress:
                    best[key] = judged if asked[key].is_better(judged, best[key]) else best[key]
                    n_holding += key == (5, 0.0, "prec")
    assert n_holding == 87
    for key in keys:
        found, wanted = Optimal().search(problem(adult, *key)).judged, best[key]
        assert wanted is not None
        assert (found.node, found.n_suppressed, found.loss) == (wanted.node, wanted.n_suppressed, wanted.loss), key
        if key == (5, 0.0, "prec"):
            assert found.loss == pytest.approx(2 / 3)
