from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.anonymize.perturbing.bisection import last_that_holds


@given(st.floats(0, 1, exclude_max=True))
def test_last_number_is_found_to_the_last_digit_from_either_side(last: float) -> None:
    assert last_that_holds(lambda one: one <= last, 0, 1) == last
    if last:
        assert last_that_holds(lambda one: one >= last, 1, 0) == last


def test_square_root_of_two_is_found() -> None:
    assert last_that_holds(lambda one: one * one <= 2, 0, 2) == pytest.approx(math.sqrt(2), rel=1e-15)
