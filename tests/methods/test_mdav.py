from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.methods.perturbing.microaggregate import mdav, mdav_in_blocks
from tokumei.methods.perturbing.perturbation import Ints

Point = tuple[float, ...]
# Whole coordinates: their sums are exact in any order, so that ties are ties for both.
POINTS = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(-4, 4)] * width), min_size=1, max_size=40)
)


def plain_mdav(points: list[Point], k: int) -> list[list[int]]:
    """The definition, a point at a time; of points equally far the first in order."""
    left = sorted(range(len(points)), key=lambda one: (points[one], one))

    def distance(one: int, center: Point) -> float:
        total = 0.0
        for own, other in zip(points[one], center, strict=True):
            total += (own - other) * (own - other)
        return total

    def farthest(center: Point, but: int | None = None) -> int:
        # max gives the first of equals.
        return max((one for one in left if one != but), key=lambda one: distance(one, center))

    def mean() -> Point:
        return tuple(sum(column) / len(left) for column in zip(*(points[one] for one in left), strict=True))

    def take_around(one: int, but: int | None = None) -> list[int]:
        others = sorted((other for other in left if other not in (one, but)), key=lambda o: distance(o, points[one]))
        group = [one, *others[: k - 1]]
        for member in group:
            left.remove(member)
        return group

    groups = []
    while len(left) >= 3 * k:
        one = farthest(mean())
        other = farthest(points[one], but=one)
        groups += [take_around(one, but=other), take_around(other)]
    if len(left) >= 2 * k:
        groups.append(take_around(farthest(mean())))
    return [*groups, left] if left else groups


def as_sets(group_of: Ints) -> list[set[int]]:
    return [set(np.flatnonzero(group_of == group)) for group in range(int(group_of.max()) + 1)]


def test_seven_points_by_hand() -> None:
    # The mean of 0, 1, 2, 10, 11, 12, 50 is 12.3, from which 50 is farthest, and 0 is farthest from 50.
    points = np.array([[0], [1], [2], [10], [11], [12], [50]], float)
    assert as_sets(mdav(points, 2)) == [{6, 5}, {0, 1}, {2, 3, 4}]


def test_five_points_are_a_group_around_the_farthest_and_the_rest() -> None:
    points = np.array([[20], [22], [40], [42], [44]], float)
    # From their mean 33.6 the farthest is 20.
    assert as_sets(mdav(points, 2)) == [{0, 1}, {2, 3, 4}]


@pytest.mark.parametrize(("n", "sizes"), [(0, []), (1, [1]), (5, [5]), (6, [3, 3]), (8, [3, 5]), (9, [3, 3, 3])])
def test_groups_of_equal_points_have_k_to_2k_minus_1(n: int, sizes: list[int]) -> None:
    assert np.bincount(mdav(np.ones((n, 2)), 3)).tolist() == sizes


@given(POINTS, st.integers(1, 5))
def test_mdav_equals_its_plain_definition(points: list[Point], k: int) -> None:
    group_of = mdav(np.array(points, float), k)
    assert as_sets(group_of) == [set(group) for group in plain_mdav(points, k)]


@given(POINTS, st.integers(1, 5), st.randoms())
def test_mdav_makes_the_same_groups_of_points_in_any_order(
    points: list[Point], k: int, rng: np.random.Generator
) -> None:
    moved = list(points)
    rng.shuffle(moved)

    def groups(some: list[Point]) -> list[list[Point]]:
        group_of = mdav(np.array(some, float), k)
        return [sorted(some[one] for one in group) for group in as_sets(group_of)]

    assert groups(points) == groups(moved)


@given(POINTS, st.integers(1, 5), st.integers(1, 20))
def test_blocks_keep_groups_of_at_least_k(points: list[Point], k: int, block: int) -> None:
    sizes = np.bincount(mdav_in_blocks(np.array(points, float), k, block))
    assert sizes.sum() == len(points)
    assert sizes.min() >= min(k, len(points))
    assert sizes.max() <= max(2 * k - 1, 1)


def test_blocks_follow_the_direction_in_which_points_differ_most() -> None:
    rng = np.random.default_rng(1)
    line = rng.permutation(12)
    points = np.stack([line * 10.0, line * -20.0 + rng.random(12)], axis=1)
    group_of = mdav_in_blocks(points, 3, 6)
    # Which end a block begins with is of no matter.
    assert sorted(sorted(line[list(group)].tolist()) for group in as_sets(group_of)) == [
        [0, 1, 2],
        [3, 4, 5],
        [6, 7, 8],
        [9, 10, 11],
    ]


def test_many_points_are_grouped_as_by_selecting_from_all(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(1).integers(0, 40, (700, 2)).astype(float)
    fast = mdav(points, 3)
    monkeypatch.setattr("tokumei.methods.perturbing.microaggregate.RUN", 1_000)
    np.testing.assert_array_equal(fast, mdav(points, 3))
    assert as_sets(fast) == [set(group) for group in plain_mdav([tuple(one) for one in points.tolist()], 3)]
