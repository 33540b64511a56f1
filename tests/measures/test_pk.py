from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases
from tests.swap_odds import Matrix, least_swap_odds, pk_of_matrices

from tokumei.core.errors import InputError
from tokumei.measures.safety.pk_anonymity import clamped_gaussian_ratio, laplace_ratio, pk_of_ratio

# Of two values each is kept with probability ½ and otherwise drawn from both.
HALF_KEPT = np.array([[0.75, 0.25], [0.25, 0.75]])
# Three records of two columns each, the first of three values.
Record = tuple[int, int]


def link_probability(
    matrices: Sequence[Matrix], original: Sequence[Record], released: Sequence[Record], person: int, record: int
) -> float:
    """Share of one link among all assignments of people to records, each as likely as what it says was drawn."""
    all_weights = linked = 0.0
    for assignment in itertools.permutations(range(len(original))):
        weight = math.prod(
            matrix[original[one][column], released[other][column]]
            for one, other in enumerate(assignment)
            for column, matrix in enumerate(matrices)
        )
        all_weights += weight
        linked += weight * (assignment[person] == record)
    return linked / all_weights if all_weights else 0.0


def plain_odds(matrix: Matrix) -> float:
    rows, columns = (range(size) for size in matrix.shape)
    odds = [1.0]
    for u, other_u, v, other_v in itertools.product(rows, rows, columns, columns):
        below = matrix[u, v] * matrix[other_u, other_v]
        if below > 0:
            odds.append(matrix[u, other_v] * matrix[other_u, v] / below)
    return min(odds)


@st.composite
def matrices_of(draw: st.DrawFn, n_values: int) -> Matrix:
    weights = draw(
        st.lists(
            st.lists(st.integers(0, 5), min_size=n_values, max_size=n_values).filter(any),
            min_size=n_values,
            max_size=n_values,
        )
    )
    matrix = np.array(weights, float)
    shares: Matrix = matrix / matrix.sum(axis=1, keepdims=True)
    return shares


def test_two_records_of_two_values_are_linked_as_often_as_k_says() -> None:
    # Kept (¾)² against exchanged (¼)²: the right link has 9/10, and k = 1 + 1/9.
    assert link_probability([HALF_KEPT], [(0, 0), (1, 0)], [(0, 0), (1, 0)], 0, 0) == pytest.approx(0.9)
    assert pk_of_matrices([HALF_KEPT], 2) == pytest.approx(10 / 9)


def test_person_unlike_all_others_is_linked_as_often_as_k_says() -> None:
    # One way to be right with (¾)⁴, and three to swap with (¼)²·(¾)²: 9/12, and k = 1 + 3/9.
    people = [(0, 0), (1, 0), (1, 0), (1, 0)]
    assert link_probability([HALF_KEPT], people, people, 0, 0) == pytest.approx(0.75)
    assert pk_of_matrices([HALF_KEPT], 4) == pytest.approx(4 / 3)


def test_ten_records_half_kept_are_pk_anonymous_with_k_2() -> None:
    assert pk_of_matrices([HALF_KEPT], 10) == pytest.approx(2)
    assert pk_of_matrices([HALF_KEPT, HALF_KEPT], 82) == pytest.approx(2)


def test_matrices_that_tell_nothing_give_all_records_and_those_that_tell_all_give_one() -> None:
    assert pk_of_matrices([np.full((3, 3), 1 / 3)], 7) == pytest.approx(7)
    assert pk_of_matrices([np.eye(3)], 7) == 1
    assert pk_of_matrices([], 7) == 7
    assert pk_of_matrices([HALF_KEPT], 0) == 0
    # Everything becomes the one value, though the matrix has room for another.
    assert pk_of_matrices([np.array([[1.0, 0.0], [1.0, 0.0]])], 7) == 7


@given(st.integers(1, 5).flatmap(matrices_of))
def test_least_odds_of_a_swap_are_those_of_all_swaps(matrix: Matrix) -> None:
    assert least_swap_odds(matrix) == pytest.approx(plain_odds(matrix))


@settings(max_examples=cases(60))
@given(
    st.tuples(matrices_of(3), matrices_of(2)),
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=4, max_size=4),
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=4, max_size=4),
)
def test_no_link_in_any_release_is_likelier_than_1_in_k(
    matrices: tuple[Matrix, Matrix], original: list[Record], released: list[Record]
) -> None:
    k = pk_of_matrices(matrices, 4)
    for person, record in itertools.product(range(4), range(4)):
        assert link_probability(matrices, original, released, person, record) <= 1 / k + 1e-9


def test_noise_gives_the_k_of_its_largest_likelihood_ratio() -> None:
    # Ages from 20 to 30 with Laplace noise of scale 5: e² either way, so k = 1 + 99/e⁴.
    assert pk_of_ratio(laplace_ratio(10, 5), 100) == pytest.approx(1 + 99 * math.exp(-4))
    # Φ(−1) is 0.1587, so an end is 3.15 times as likely from itself as from the other.
    assert clamped_gaussian_ratio(5, 5) == pytest.approx(0.5 / 0.158655254)
    assert pk_of_ratio(clamped_gaussian_ratio(1000, 1), 100) == 1
    assert pk_of_ratio(math.inf, 100) == 1
    assert pk_of_ratio(1, 100) == 100


@pytest.mark.parametrize("width", [0.5, 1, 3])
def test_ratio_of_clamped_noise_is_the_largest_over_fine_steps(width: float) -> None:
    from scipy.stats import norm

    # Sums in small steps, all below 0 and above the width in the two outer ones.
    values = np.linspace(0, width, 21)
    steps = np.concatenate(([-np.inf], np.linspace(0, width, 401), [np.inf]))
    matrix = np.diff(norm.cdf(steps[None, :] - values[:, None]), axis=1)
    assert clamped_gaussian_ratio(width, 1) ** -2 == pytest.approx(least_swap_odds(matrix))


def test_noise_and_ratios_out_of_range_are_input_errors() -> None:
    with pytest.raises(InputError, match="bounded range"):
        laplace_ratio(math.inf, 1)
    with pytest.raises(InputError, match="more than 0"):
        laplace_ratio(1, 0)
    with pytest.raises(InputError, match="at least 1"):
        pk_of_ratio(0.5, 10)
    with pytest.raises(InputError, match="number of records"):
        pk_of_ratio(1, -1)
