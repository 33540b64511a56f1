from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.predictors.two_way import MOST_SIZES, deviance, expected_sizes, spanning_tree


def test_independent_attributes_multiply() -> None:
    sizes, weights = expected_sizes({0: np.array([25.0, 75.0]), 1: np.array([10.0, 90.0])}, {})
    assert sorted(sizes) == pytest.approx([2.5, 7.5, 22.5, 67.5])
    assert weights.tolist() == [1, 1, 1, 1]


def test_pair_that_depends_has_its_own_rows_and_none_where_it_never_occurs() -> None:
    rows = {0: np.array([40.0, 60.0]), 1: np.array([30.0, 70.0])}
    sizes, weights = expected_sizes(rows, {(0, 1): np.array([[30.0, 10.0], [0.0, 60.0]])})
    assert sorted(sizes) == pytest.approx([10, 30, 60])
    assert weights.sum() == 3


def test_third_attribute_hangs_on_the_one_it_depends_on() -> None:
    # Given b's label, a and c are independent: 30·10/50, 30·40/50 and so on.
    rows = {0: np.array([40.0, 60.0]), 1: np.array([50.0, 50.0]), 2: np.array([40.0, 60.0])}
    ab, bc = np.array([[30.0, 10.0], [20.0, 40.0]]), np.array([[10.0, 40.0], [30.0, 20.0]])
    sizes, weights = expected_sizes(rows, {(0, 1): ab, (1, 2): bc})
    by_hand = [ab[a, b] * bc[b, c] / 50 for a, b, c in itertools.product(range(2), repeat=3)]
    assert np.repeat(sizes, weights.astype(int)).tolist() == pytest.approx(sorted(by_hand), rel=0.01)


def test_equal_sizes_are_counted_together() -> None:
    sizes, weights = expected_sizes({index: np.full(10, 100.0) for index in range(9)}, {})
    assert sizes == pytest.approx([1_000 / 10**9])
    assert weights == pytest.approx([10**9])


def test_many_different_sizes_stay_few() -> None:
    rows = {index: np.geomspace(1, 1_000, 50) for index in range(6)}
    sizes, weights = expected_sizes(rows, {})
    assert len(sizes) <= MOST_SIZES + 1
    assert weights.sum() == pytest.approx(50**6)
    assert (sizes * weights).sum() == pytest.approx(rows[0].sum(), rel=0.05)


def test_classes_that_are_next_to_impossible_stay_above_zero() -> None:
    sizes, _ = expected_sizes({index: np.array([1e-40, 1.0]) for index in range(10)}, {})
    assert sizes.min() > 0


def test_spanning_tree_takes_what_depends_most() -> None:
    strong, weak = np.array([[9.0, 1.0], [1.0, 9.0]]), np.array([[6.0, 4.0], [4.0, 6.0]])
    dependence = {pair: deviance(rows) for pair, rows in {(0, 1): weak, (0, 2): strong, (1, 2): strong}.items()}
    assert spanning_tree(dependence) == [(0, 2), (1, 2)]


@given(
    st.lists(st.lists(st.integers(1, 40), min_size=2, max_size=3), min_size=2, max_size=3).filter(
        lambda rows: len({len(row) for row in rows}) == 1
    ),
    st.lists(st.integers(1, 40), min_size=1, max_size=3),
)
def test_sizes_are_those_of_all_classes_one_by_one(pair: list[list[int]], third: list[int]) -> None:
    ab = np.array(pair, float)
    c = np.array(third) * ab.sum() / sum(third)
    sizes, weights = expected_sizes({0: ab.sum(axis=1), 1: ab.sum(axis=0), 2: c}, {(0, 1): ab})
    each = np.sort(np.outer(ab.ravel(), c / c.sum()).ravel())
    assert weights.sum() == len(each)
    # Sizes counted together are at most one step apart.
    assert np.repeat(np.sort(sizes), weights[np.argsort(sizes)].astype(int)) == pytest.approx(each, rel=0.05)


def test_sizes_of_very_many_labels_are_counted_together_and_lose_nobody() -> None:
    many = np.random.default_rng(1).integers(1, 90, 9_000).astype(np.float64)
    few = many.sum() * np.array([0.5, 0.3, 0.2])
    sizes, weights = expected_sizes({0: many, 1: few, 2: few[::-1]}, {})
    assert len(sizes) <= 300
    # Each class of 9,000 × 3 × 3 is there, and all rows are, but for what counting together costs.
    assert weights.sum() == pytest.approx(81_000)
    assert (sizes * weights).sum() == pytest.approx(many.sum(), rel=0.01)


@given(
    st.lists(st.lists(st.integers(0, 40), min_size=3, max_size=3), min_size=2, max_size=4),
    st.lists(st.integers(1, 4), min_size=4, max_size=4),
)
def test_labels_that_are_alike_may_stand_as_one(pair: list[list[int]], times: list[int]) -> None:
    # As many labels as `times` say, each alike; 1 is added so that none is without rows.
    n_alike = np.array(times[: len(pair)])
    each = np.repeat(np.array(pair, float) + 1, n_alike, axis=0)
    kinds = (np.array(pair, float) + 1) * n_alike[:, None]
    third = each.sum() * np.array([0.2, 0.3, 0.5])
    plain = expected_sizes({0: each.sum(axis=1), 1: each.sum(axis=0), 2: third}, {(0, 1): each})
    rows = {0: kinds.sum(axis=1), 1: kinds.sum(axis=0), 2: third}
    ones = np.ones(3, np.int64)
    found = expected_sizes(rows, {(0, 1): kinds}, n_alike={0: n_alike, 1: ones, 2: ones})
    by_class = [
        np.repeat(np.sort(sizes), np.rint(weights[np.argsort(sizes)]).astype(int)) for sizes, weights in (plain, found)
    ]
    # Sizes counted together are at most one step apart.
    assert by_class[0] == pytest.approx(by_class[1], rel=0.05)
