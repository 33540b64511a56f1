"""What noise costs, worked by hand, and noise that is what it is said to be."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, norm

from tokumei.core.errors import InputError
from tokumei.methods.perturbing.perturbation import Floats, Ints
from tokumei.methods.synthetic.private_noise import (
    Coins,
    bun_steinke_epsilon,
    chosen_privately,
    delta_of,
    discrete_gaussian,
    epsilon_of,
    gaussian_rho,
    rho_of,
    selection_rho,
)


def test_first_bound_by_hand() -> None:
    # ρ = 1/2 and δ = e^(−2): 1/2 + 2·√(1/2 · 2) = 2.5.
    assert bun_steinke_epsilon(0.5, math.exp(-2)) == pytest.approx(2.5)
    assert gaussian_rho(3.0, 1) == pytest.approx(1 / 18)
    assert gaussian_rho(3.0, 2) == pytest.approx(4 / 18)
    assert selection_rho(0.4) == pytest.approx(0.02)


def test_tight_bound_by_hand() -> None:
    # The least is at α = 2 where 3ρ − ε + ln(1/2) = 0: with ρ = 1/2, ε = 3/2 − ln 2. There it is e^(1 − ε)·(1/2)²/1.
    epsilon = 1.5 - math.log(2)
    assert delta_of(0.5, epsilon) == pytest.approx(math.exp(1 - epsilon) / 4)
    assert delta_of(0.5, epsilon) == pytest.approx(math.exp(-0.5) / 2)


def test_tight_bound_of_the_usual_budget() -> None:
    assert rho_of(1.0, 1e-9) == pytest.approx(0.014973, abs=1e-6)
    assert delta_of(rho_of(1.0, 1e-9), 1.0) == pytest.approx(1e-9, rel=1e-6)
    assert epsilon_of(rho_of(1.0, 1e-9), 1e-9) == pytest.approx(1.0)
    # Two of half the ρ are the whole, and more than two of half the ε.
    assert epsilon_of(0.5 * rho_of(1.0, 1e-9), 1e-9) == pytest.approx(0.697, abs=1e-3)


@given(st.floats(0.001, 5), st.floats(0.01, 10))
def test_bound_lies_between_the_first_one_and_the_truth_of_gaussian_noise(rho: float, epsilon: float) -> None:
    # The exact δ of Gaussian noise with sensitivity 1 (Balle and Wang 2018).
    sigma = 1 / math.sqrt(2 * rho)
    exact = norm.cdf(0.5 / sigma - epsilon * sigma) - math.exp(epsilon) * norm.cdf(-0.5 / sigma - epsilon * sigma)
    found = delta_of(rho, epsilon)
    assert exact <= found * (1 + 1e-9)
    if 1e-200 < found < 1:
        assert epsilon <= bun_steinke_epsilon(rho, found) * (1 + 1e-9)


@settings(max_examples=30)
@given(st.floats(0.01, 5), st.floats(1e-12, 0.1))
def test_conversions_undo_each_other_and_never_promise_too_much(epsilon: float, delta: float) -> None:
    rho = rho_of(epsilon, delta)
    assert delta_of(rho, epsilon) <= delta
    assert epsilon_of(rho, delta) == pytest.approx(epsilon, rel=1e-6)


def p_value(drawn: Ints, sigma: float) -> float:
    """Hold draws against the chances of a discrete Gaussian, by χ² over cells of 5 expected draws or more."""
    values = np.arange(-int(12 * sigma) - 3, int(12 * sigma) + 4)
    chances = np.exp(-(values**2) / (2 * sigma**2))
    expected = len(drawn) * chances / chances.sum()
    counts = np.bincount(drawn - values[0], minlength=len(values))
    is_common = expected >= 5
    found = np.append(counts[is_common], counts[~is_common].sum())
    told = np.append(expected[is_common], expected[~is_common].sum())
    return float(chisquare(found, told * found.sum() / told.sum()).pvalue)


@pytest.mark.parametrize("sigma", [0.5, 1.0, 3.0, 20.0])
def test_noise_has_the_chances_it_should_and_a_slightly_wrong_sigma_fails(sigma: float) -> None:
    drawn = discrete_gaussian(sigma, 40_000, Coins(5, str(sigma)))
    # σ² is rounded up to a 64th.
    exact = math.sqrt(math.ceil(sigma**2 * 64) / 64)
    assert p_value(drawn, exact) > 1e-3
    assert p_value(drawn, exact * 1.05) < 1e-3
    assert p_value(drawn, exact * 0.95) < 1e-3


def test_large_noise_has_its_deviation_and_larger_is_refused() -> None:
    drawn = discrete_gaussian(2_000.0, 20_000, Coins(1))
    assert drawn.std() == pytest.approx(2_000, rel=0.02)
    with pytest.raises(InputError, match="more epsilon"):
        discrete_gaussian(5_001.0, 1, Coins(1))


def test_coin_shows_heads_with_chance_of_an_exponential() -> None:
    for numerator, denominator in ((0, 3), (1, 3), (3, 3), (10, 3)):
        heads = Coins(2, f"{numerator}").with_chance_of_exp(np.full(40_000, numerator), denominator)
        chance = math.exp(-numerator / denominator)
        assert heads.mean() == pytest.approx(chance, abs=4 * math.sqrt(chance * (1 - chance) / 40_000) + 1e-12)


def test_whole_numbers_are_equally_likely_and_follow_the_seed() -> None:
    drawn = Coins(3).below(7, 70_000)
    assert chisquare(np.bincount(drawn, minlength=7)).pvalue > 1e-3
    assert (Coins(3).below(7, 70_000) == drawn).all()
    assert (Coins(4).below(7, 70_000) != drawn).any()


def plain_chances(scores: Floats, sensitivity: float, epsilon: float) -> Floats:
    weights = np.exp(epsilon * (scores - scores.max()) / (2 * sensitivity))
    return np.asarray(weights / weights.sum())


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(1.0, 0.5), (3.0, 2.0)])
def test_choice_has_the_chances_of_the_exponential_mechanism_and_another_epsilon_fails(
    sensitivity: float, epsilon: float
) -> None:
    scores = np.array([0.0, 2.0, 5.0, 5.5])
    coins = Coins(8)
    n = 4_000
    counts = np.bincount([chosen_privately(scores, sensitivity, epsilon, coins) for _ in range(n)], minlength=4)
    assert chisquare(counts, n * plain_chances(scores, sensitivity, epsilon)).pvalue > 1e-3
    for wrong in (epsilon / 2, epsilon * 2):
        assert chisquare(counts, n * plain_chances(scores, sensitivity, wrong)).pvalue < 1e-3


def test_score_that_is_far_behind_is_never_chosen() -> None:
    assert {chosen_privately([0, 1e6, -1e9], 1.0, 1.0, Coins(seed)) for seed in range(20)} == {1}
