"""The work of predicting, estimated from numbers of kinds, against what folding up goes through."""

from __future__ import annotations

import numpy as np
import pytest

from tokumei.predictors import two_way
from tokumei.predictors.folding_cost import Work, trees_of_tables, work_of
from tokumei.predictors.one_way import Floats
from tokumei.predictors.two_way import Folded, TwoWay, expected_sizes


def table(first: int, second: int) -> TwoWay:
    return TwoWay(first, second, np.arange(2), np.arange(2), np.array([[3, 1], [1, 3]]))


def test_attributes_hang_on_that_of_fewest_labels() -> None:
    trees = trees_of_tables([table(0, 2), table(1, 2)], n_labels=[9, 2, 30, 5], n_levels=[2, 3, 4, 5])
    assert [(tree.attribute, tree.n_levels) for tree in trees] == [(1, 3 * 4 * 2), (3, 5)]
    assert trees[0].children[0].attribute == 2
    assert trees[0].children[0].children[0].attribute == 0


def test_work_of_a_pair_by_hand() -> None:
    trees = trees_of_tables([table(0, 1)], n_labels=[2, 3], n_levels=[2, 2])
    # For each of 2 labels the 3 of the other are counted together, and combined with it; the node takes what is left.
    one = work_of(trees, [{0: 2, 1: 3}], n_nodes=1)
    assert one == Work(calls=2 + 2 + 1, sizes=6 + 6 + 6, kept=6 + 6)
    # Of 10 nodes there are at most 2 · 2 branches.
    ten = work_of(trees, [{0: 2, 1: 3}], n_nodes=10)
    assert (ten.calls, ten.sizes) == (4 * 4 + 10, 12 * 4 + 6 * 10)


def test_independent_attributes_are_combined_one_by_one() -> None:
    trees = trees_of_tables([], n_labels=[2, 3, 4], n_levels=[2, 2, 2])
    assert work_of(trees, [{0: 2, 1: 3, 2: 4}], n_nodes=1) == Work(calls=3, sizes=2 + 6 + 24)


@pytest.mark.parametrize("n_labels", [[40, 3, 60], [9, 200, 30]])
def test_estimate_is_near_what_folding_goes_through(n_labels: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    gone: list[int] = []
    together = two_way._together

    def counted(logs: Floats, weights: Floats) -> tuple[Floats, Floats]:
        gone.append(len(logs))
        return together(logs, weights)

    monkeypatch.setattr(two_way, "_together", counted)
    rng = np.random.default_rng(1)
    # Both others hang on the attribute in the middle.
    middle = rng.random(n_labels[1]) + 0.5
    middle = 1_000 * middle / middle.sum()
    one, other = (rng.random((n_labels[at], n_labels[1])) + 0.1 for at in (0, 2))
    one, other = (each / each.sum(axis=0) * middle for each in (one, other))
    rows = {0: one.sum(axis=1), 1: middle, 2: other.sum(axis=1)}
    expected_sizes(rows, {(0, 1): one, (1, 2): other.T}, Folded({}, {}))
    trees = trees_of_tables([table(0, 1), table(1, 2)], n_labels, [1, 1, 1])
    estimated = work_of(trees, [dict(enumerate(n_labels))], n_nodes=1)
    assert len(gone) / 2 < estimated.calls < 2 * len(gone)
    assert sum(gone) / 3 < estimated.sizes < 3 * sum(gone)
