from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.anonymize.perturbing.spread import standard_deviation


@pytest.mark.parametrize(
    ("numbers", "deviation"), [([], 0), ([7], 0), ([0.1] * 7, 0), ([30, 30, 50, 50], 10), ([1, np.nan, 3], 1)]
)
def test_standard_deviation_by_hand(numbers: list[float], deviation: float) -> None:
    assert standard_deviation(np.array(numbers, float)) == deviation


def test_standard_deviation_of_very_small_numbers_is_not_nothing() -> None:
    assert standard_deviation(np.array([1e-200, 3e-200])) == pytest.approx(1e-200)
    assert standard_deviation(np.array([0, 5e-324])) > 0


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.randoms())
def test_standard_deviation_is_numpys_and_the_same_in_any_order(numbers: list[float], rng: np.random.Generator) -> None:
    value = standard_deviation(np.array(numbers))
    assert value == pytest.approx(float(np.std(numbers)), rel=1e-6, abs=1e-6)
    rng.shuffle(numbers)
    assert standard_deviation(np.array(numbers)) == value
