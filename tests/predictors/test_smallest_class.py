from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.seeds import generator
from tokumei.predictors.fitted_margins import SmallestClass, normal_above, poisson_up_to


def smallest(sizes: list[float], *, most: int = 1_000, spread: float = 0) -> SmallestClass:
    return SmallestClass(np.array(sizes), np.ones(len(sizes)), spread, most)


def test_single_class_has_the_chances_of_a_poisson_number() -> None:
    # Of mean 2: one row with chance 2e⁻², two with 2e⁻²; none is no class.
    one = smallest([2.0])
    assert one.chance_up_to(0) == 0
    assert one.chance_up_to(1) == pytest.approx(2 * math.exp(-2))
    assert one.chance_up_to(2) == pytest.approx(4 * math.exp(-2))


def test_two_classes_are_both_above_m_or_empty() -> None:
    chance = math.exp(-1)
    assert smallest([1.0, 1.0]).chance_up_to(1) == pytest.approx(1 - (1 - chance) ** 2)


def test_weights_stand_for_that_many_classes() -> None:
    weighted = SmallestClass(np.array([3.0, 40.0]), np.array([2.0, 1.0]), 0, 1_000)
    assert weighted.chance_up_to(5) == pytest.approx(smallest([3.0, 3.0, 40.0]).chance_up_to(5))


def test_quantile_is_the_least_size_that_is_likely_enough() -> None:
    # 2e⁻² = 0.271, 4e⁻² = 0.541.
    one = smallest([2.0])
    assert [one.quantile(chance) for chance in (0.2, 0.27, 0.28, 0.5)] == [1, 1, 2, 2]


def test_known_bound_is_never_exceeded() -> None:
    assert smallest([500.0], most=400).quantile(0.9) == 400
    assert smallest([500.0], most=3).quantile(0.01) == 3
    assert smallest([500.0], most=400).chance_up_to(400) == 1


def test_hopeless_class_is_taken_for_the_bound() -> None:
    # Expected to be empty, so that nothing is below the bound but by a small chance.
    assert smallest([1e-9], most=70).quantile(0.5) == 70


def test_large_class_has_the_quantiles_of_a_normal_number() -> None:
    # 10,000 ± 100: the 10 % quantile lies 1.2816 standard deviations down.
    one = smallest([10_000.0], most=20_000)
    assert one.quantile(0.1) == pytest.approx(10_000 - 128, abs=2)
    assert one.quantile(0.5) == pytest.approx(10_000, abs=1)


def test_spread_widens_the_band_and_keeps_the_mean() -> None:
    # A factor of spread 0.2 on 10,000 outweighs chance: e^(−1.2816·0.2 − 0.02) at the 10 % quantile.
    one = smallest([10_000.0], most=100_000, spread=0.2)
    assert one.quantile(0.1) == pytest.approx(10_000 * math.exp(-1.2816 * 0.2 - 0.02), rel=0.03)
    assert one.quantile(0.9) == pytest.approx(10_000 * math.exp(1.2816 * 0.2 - 0.02), rel=0.03)


@pytest.mark.parametrize("m", [51, 200, 5_000])
def test_approximate_sum_agrees_with_the_exact_one(m: int) -> None:
    means = np.array([0.7, 0.9, 1, 1.1, 1.4]) * m
    n = np.arange(m + 1)
    logs = np.cumsum(np.log(np.maximum(n, 1)))
    exact = [np.exp(-mean + n * math.log(mean) - logs).sum() for mean in means]
    assert poisson_up_to(m, means) == pytest.approx(exact, abs=3e-4)


def test_normal_tail_is_right_also_where_it_is_tiny() -> None:
    z = np.array([-6.0, -1, 0, 0.5, 3, 8])
    assert normal_above(z) == pytest.approx([math.erfc(each / math.sqrt(2)) / 2 for each in z], rel=1e-6)


def test_median_agrees_with_drawn_tables() -> None:
    sizes = np.geomspace(5, 500, 60)
    drawn = generator(1, "smallest").poisson(sizes, (4_000, 60))
    ks = np.where(drawn > 0, drawn, 10**9).min(axis=1)
    predicted = smallest(sizes.tolist(), most=10_000)
    for chance in (0.1, 0.5, 0.9):
        assert abs(predicted.quantile(chance) - np.quantile(ks, chance, method="inverted_cdf")) <= 1


@given(
    st.lists(st.floats(1e-6, 1e5), min_size=1, max_size=8), st.sampled_from([0.0, 0.1, 0.8]), st.integers(1, 100_000)
)
def test_quantiles_rise_with_the_chance_within_the_bound(sizes: list[float], spread: float, most: int) -> None:
    distribution = smallest(sizes, most=most, spread=spread)
    quantiles = [distribution.quantile(chance) for chance in (0.05, 0.1, 0.5, 0.9, 0.95)]
    assert quantiles == sorted(quantiles)
    assert quantiles[0] >= 1
    assert quantiles[-1] <= most
