from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from tokumei.attacks.linkage import blocking
from tokumei.attacks.linkage.blocking import assign_all, match, match_chances


def test_match_prefers_the_best_for_all_over_the_best_for_one() -> None:
    # Both customers like pseudonym 0; only the first has another choice.
    found, sure = match(np.array([[20.0, 19.0], [20.0, -20.0]]))
    assert found.tolist() == [1, 0]
    assert (sure > 0.95).all()


def test_match_leaves_absent_who_fits_nobody() -> None:
    found, sure = match(np.array([[10.0], [-10.0]]))
    assert found.tolist() == [0, -1]
    assert (sure > 0.99).all()


@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 2**31))
def test_match_gains_as_much_as_the_best_assignment_of_all_pairs(n: int, m: int, seed: int) -> None:
    scores = np.random.default_rng(seed).normal(0, 4, (n, m))
    chances, absent = match_chances(scores)
    gain = np.maximum(chances - absent[:, None], 0)
    found, _ = match(scores)
    at = np.flatnonzero(found >= 0)
    assert len(set(found[at])) == len(at)
    assert gain[at, found[at]].sum() == pytest.approx(gain[linear_sum_assignment(gain, maximize=True)].sum())


@given(st.integers(0, 8), st.integers(0, 8), st.integers(1, 6), st.integers(0, 2**31), st.sampled_from([0, 10**6]))
def test_assignment_of_gains_with_ties_is_as_good_as_the_best(
    n: int, m: int, n_steps: int, seed: int, most_cells: int
) -> None:
    # Few different gains tie; what no pair decides is left to the general solver.
    gain = np.random.default_rng(seed).integers(-1, n_steps, (n, m)) / n_steps
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocking, "MOST_CELLS", most_cells)
        found = assign_all(gain)
    at = np.flatnonzero(found >= 0)
    assert len(set(found[at])) == len(at)
    assert (gain[at, found[at]] > 0).all()
    positive = np.maximum(gain, 0)
    assert gain[at, found[at]].sum() == pytest.approx(positive[linear_sum_assignment(positive, maximize=True)].sum())


def test_match_without_pseudonyms_finds_nobody() -> None:
    found, sure = match(np.zeros((2, 0)))
    assert found.tolist() == [-1, -1]
    assert sure.tolist() == [1, 1]


def test_chances_of_a_customer_sum_to_one_and_of_a_pseudonym_to_at_most_one() -> None:
    scores = np.random.default_rng(1).normal(0, 3, (6, 4))
    chances, absent = match_chances(scores)
    assert chances.sum(axis=1) + absent == pytest.approx(np.ones(6))
    assert (chances.sum(axis=0) < 1 + 1e-6).all()
    # Most pseudonyms are somebody's.
    assert chances.sum() > 3.5


def test_match_tells_scores_beyond_all_bounds_apart() -> None:
    # Thousands of known rows: all but the last are as certain as a number can say, and only one is right.
    found, _ = match(np.array([[700.0, 900.0, 50.0], [2000.0, 1500.0, 1400.0], [40.0, 20.0, 30.0]]))
    assert found.tolist() == [1, 0, 2]
