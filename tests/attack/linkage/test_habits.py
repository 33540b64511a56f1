from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import log_softmax

from tokumei.attack.linkage.habits import KINDS, RIDGE, Habits, habit_codes, learn_weights

# Two periods of two pseudonyms each; P1 and Q1 buy the same.
ROWS = pl.DataFrame(
    {
        "item": ["22728", "85123A", "22728", "84029"],
        "price": [1.0, 2.0, 1.0, 3.0],
        "quantity": [12, 1, 12, 2],
    }
)
NAMES = np.array([0, 1, 2, 1])


def features() -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    habits = Habits(habit_codes(ROWS), np.arange(4), np.array([0, 0, 1, 1]), NAMES)
    # Customer 0 was P1, customer 1 was P2 and customer 2 has not been found.
    matched = csr_array(np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 0, 0]]))
    return habits.features(matched, 1)


def test_habits_favor_who_bought_the_same_before() -> None:
    for kind in range(len(KINDS)):
        of_kind = features()[:, :, kind]
        assert of_kind[0, 0] > 0
        assert of_kind[[0, 1, 1], [1, 0, 1]].tolist() == [0, 0, 0]


def test_habits_of_who_was_not_found_say_nothing() -> None:
    assert not features()[2].any()


def test_habits_see_a_pseudonym_that_lives_on() -> None:
    assert features()[:, :, -1].tolist() == [[0, 0], [0, 1], [0, 0]]


def test_weights_are_large_for_what_tells_and_none_for_what_does_not() -> None:
    rng = np.random.default_rng(1)
    answers = rng.integers(0, 5, 200)
    values = rng.normal(size=(200, 5, 2))
    values[np.arange(200), answers, 0] += 2
    weights = learn_weights(values, answers, np.zeros(5))
    # Normal values that differ by two in the mean have a log likelihood ratio of slope two.
    assert weights == pytest.approx([2, 0], abs=0.4)


@pytest.mark.parametrize("seed", range(5))
def test_weights_are_those_of_a_general_minimizer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    answers, log_prior = rng.integers(0, 6, 40), rng.normal(size=6)
    values = rng.normal(size=(40, 6, 3)) * (1, 5, 20)
    values[np.arange(40), answers] += (1, 5, 20 * seed)

    def loss(weights: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        chances = log_softmax(values @ weights + log_prior, axis=1)
        return float(RIDGE * weights @ weights - chances[np.arange(40), answers].sum())

    plain = minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-6}).x
    assert learn_weights(values, answers, log_prior) == pytest.approx(plain, abs=2e-3)


@pytest.mark.parametrize("seed", range(5))
def test_features_of_who_is_matched_as_before_are_not_computed_again(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    slots = np.repeat(np.arange(12), 5)
    values = [rng.integers(0, n_values, len(slots)) for n_values in (4, 9)]
    habits = Habits(values, slots, np.repeat(np.arange(3), 4), rng.integers(0, 6, 12))

    def draw() -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """Match each of five customers in each period to one of four slots, or to none."""
        chosen = rng.integers(-1, 4, (5, 3))
        return np.concatenate([chosen[:, [at]] == np.arange(4) for at in range(3)], axis=1).astype(float)

    first, second = draw(), draw()
    second[:3] = first[:3]
    before = csr_array(first), habits.all_features(csr_array(first))
    plain = habits.all_features(csr_array(second))
    n_computed: list[int] = []
    features = Habits.features

    def counted(self: Habits, matched: csr_array, period: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        n_computed.append(matched.shape[0])
        return features(self, matched, period)

    monkeypatch.setattr(Habits, "features", counted)
    again = habits.all_features(csr_array(second), before)
    assert all(np.array_equal(one, other) for one, other in zip(again, plain, strict=True))
    assert max(n_computed, default=0) <= 2
    assert all(one is not other for one, other in zip(again, before[1], strict=True))
