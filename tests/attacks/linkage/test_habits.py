from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax

from tokumei.attacks.linkage import rows as habits_module
from tokumei.attacks.linkage.rows import KINDS, OWN, RIDGE, Habits, habit_codes, learn_weights

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Ratios = np.ndarray[tuple[int, ...], np.dtype[np.float32]]
Ints = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

# Two periods of two pseudonyms each; P1 and Q1 buy the same.
ROWS = pl.DataFrame(
    {
        "item": ["22728", "85123A", "22728", "84029"],
        "price": [1.0, 2.0, 1.0, 3.0],
        "quantity": [12, 1, 12, 2],
    }
)


def features() -> Ratios:
    habits = Habits(habit_codes(ROWS), np.arange(4), np.array([0, 0, 1, 1]))
    # Customer 0 was P1, customer 1 was P2 and customer 2 has not been found.
    return habits.all_features(np.array([[0, -1], [1, -1], [-1, -1]]))[1]


def test_habits_favor_who_bought_the_same_before() -> None:
    for kind in range(len(KINDS)):
        of_kind = features()[kind]
        assert of_kind[0, 0] > 0
        assert of_kind[[0, 1, 1], [1, 0, 1]].tolist() == [0, 0, 0]


def test_habits_of_who_was_not_found_say_nothing() -> None:
    assert not features()[:, 2].any()


def test_weights_are_large_for_what_tells_and_none_for_what_does_not() -> None:
    rng = np.random.default_rng(1)
    answers = rng.integers(0, 5, 200)
    values = rng.normal(size=(200, 5, 2))
    values[np.arange(200), answers, 0] += 2
    weights = learn_weights(values.transpose(2, 0, 1), answers, np.zeros(5))
    # Normal values that differ by two in the mean have a log likelihood ratio of slope two.
    assert weights == pytest.approx([2, 0], abs=0.4)


@pytest.mark.parametrize("seed", range(5))
def test_weights_are_those_of_a_general_minimizer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    answers, log_prior = rng.integers(0, 6, 40), rng.normal(size=6)
    values = rng.normal(size=(40, 6, 3)) * (1, 5, 20)
    values[np.arange(40), answers] += (1, 5, 20 * seed)

    def loss(weights: Floats) -> float:
        chances = log_softmax(values @ weights + log_prior, axis=1)
        return float(RIDGE * weights @ weights - chances[np.arange(40), answers].sum())

    plain = minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-6}).x
    for start in (None, rng.normal(size=3)):
        assert learn_weights(values.transpose(2, 0, 1), answers, log_prior, start) == pytest.approx(plain, abs=2e-3)


def made_habits(rng: np.random.Generator) -> tuple[Habits, list[Ints], Ints]:
    """Return habits of twelve slots in three periods, the values of their rows and the slots of these."""
    slots = np.repeat(np.arange(12), 5)
    values = [rng.integers(0, n_values, len(slots)) for n_values in (4, 9)]
    return Habits(values, slots, np.repeat(np.arange(3), 4)), values, slots


def draw(rng: np.random.Generator) -> Ints:
    """Match each of five customers in each period to one of four slots, or to none."""
    chosen = rng.integers(-1, 4, (5, 3))
    return np.where(chosen >= 0, chosen + np.array([0, 4, 8]), -1)


def plain_feature(values: list[Ints], slots: Ints, past: list[int], slot: int) -> list[float]:
    """Chance of each value of a slot, as the slots of other periods tell it."""
    found = []
    n_values = 0
    for codes in values:
        bought = [set(codes[slots == one].tolist()) for one in range(12)]
        common = {value: 1 + sum(value in of for of in bought) for value in range(int(codes.max()) + 1)}
        own = [value for one in past for value in bought[one]]
        n_values = len(bought[slot])
        ratios = [
            OWN / (1 - OWN) * own.count(value) / max(1, len(own)) * sum(common.values()) / common[value]
            for value in bought[slot]
        ]
        found.append(float(np.log1p(ratios).sum() / np.sqrt(n_values)))
    # Five rows in every slot: sizes differ by nothing.
    return [*found, float(np.sqrt(n_values)) if past else 0.0, 0.0]


@pytest.mark.parametrize("cells", [0, 10**9])
@pytest.mark.parametrize("seed", range(4))
def test_features_are_those_counted_value_by_value(monkeypatch: pytest.MonkeyPatch, seed: int, cells: int) -> None:
    # Values are multiplied pair by pair, some at a time, or as whole tables.
    monkeypatch.setattr(habits_module, "CELLS_A_PAIR", cells)
    monkeypatch.setattr(habits_module, "CHUNK_PAIRS", 7)
    rng = np.random.default_rng(seed)
    habits, values, slots = made_habits(rng)
    matched = draw(rng)
    for period, features in enumerate(habits.all_features(matched)):
        pasts = [[int(slot) for at, slot in enumerate(row) if slot >= 0 and at != period] for row in matched]
        plain = [
            [plain_feature(values, slots, past, slot) for slot in range(4 * period, 4 * period + 4)] for past in pasts
        ]
        assert features.transpose(1, 2, 0) == pytest.approx(np.array(plain))


@pytest.mark.parametrize("seed", range(5))
def test_features_of_who_is_matched_as_before_are_not_computed_again(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    habits, _, _ = made_habits(rng)
    first, second = draw(rng), draw(rng)
    second[:3] = first[:3]
    before = first, habits.all_features(first)
    plain = habits.all_features(second)
    n_computed: list[int] = []
    features = Habits._features

    def counted(self: Habits, matched: Ints) -> list[Ratios]:
        n_computed.append(len(matched))
        return features(self, matched)

    monkeypatch.setattr(Habits, "_features", counted)
    again = habits.all_features(second, before)
    assert all(one == pytest.approx(other, abs=1e-12) for one, other in zip(again, plain, strict=True))
    assert max(n_computed, default=0) <= 2
