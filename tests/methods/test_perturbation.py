from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.methods.perturbing.perturbation import (
    Original,
    check_enough,
    fewest_alike,
    last_that_holds,
    standard_deviation,
)


def test_numbers_of_a_text_column_are_read_and_missing_ones_are_not_a_number() -> None:
    original = Original(pl.DataFrame({"age": [" 31", "4.5", None]}), ("age",))
    np.testing.assert_array_equal(original.numbers("age"), [31.0, 4.5, np.nan])


@pytest.mark.parametrize("cell", ["inf", "nan", "1e101", "-1e300", "old", ""])
def test_numbers_that_no_sum_can_hold_are_refused(cell: str) -> None:
    with pytest.raises(InputError, match=r"line 2, column age: found .* expected a finite number of at most 1e\+100"):
        Original(pl.DataFrame({"age": ["31", cell]}), ("age",)).numbers("age")


def test_whole_numbers_stay_whole_unless_they_are_too_large_for_that() -> None:
    original = Original(pl.DataFrame({"age": ["31", None], "debt": ["1e50", "1"], "price": [0.5, 1.0]}), ("age",))
    assert original.with_numbers("age", np.array([40.0, np.nan])).to_list() == [40, None]
    assert original.with_numbers("age", np.array([40.0, np.nan])).dtype == pl.Int64
    assert original.with_numbers("age", np.array([40.5, np.nan])).dtype == pl.Float64
    assert original.with_numbers("debt", np.array([1e50, 1.0])).to_list() == [1e50, 1.0]
    assert original.with_numbers("price", np.array([2.0, 1.0])).dtype == pl.Float64


@pytest.mark.parametrize("cells", [[[1], [2]], [True, False], [{"a": 1}], [b"1"]])
def test_column_that_is_neither_numbers_nor_text_is_refused(cells: list[object]) -> None:
    with pytest.raises(InputError, match=r"column age: found .* expected a column of numbers or text"):
        Original(pl.DataFrame({"age": cells}), ("age",)).numbers("age")


def test_column_without_any_value_has_no_number() -> None:
    assert np.isnan(Original(pl.DataFrame({"age": [None, None]}), ("age",)).numbers("age")).all()


@given(st.floats(0, 1, exclude_max=True))
def test_last_number_is_found_to_the_last_digit_from_either_side(last: float) -> None:
    assert last_that_holds(lambda one: one <= last, 0, 1) == last
    if last:
        assert last_that_holds(lambda one: one >= last, 1, 0) == last


def test_square_root_of_two_is_found() -> None:
    assert last_that_holds(lambda one: one * one <= 2, 0, 2) == pytest.approx(math.sqrt(2), rel=1e-15)


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


PEOPLE = pl.DataFrame(
    {"age": [30, None, 30, None, None], "city": ["a", "a", "b", "b", "b"], "illness": ["v", "w", "x", "y", "z"]}
)


@pytest.mark.parametrize(
    ("changed", "missing_stays", "n"),
    [
        # Two in a, three in b; who has an illness is not known to whoever looks for a person.
        (["age"], False, 2),
        # Of those in a one has an age.
        (["age"], True, 1),
        (["age", "city"], False, 5),
        (["age", "city"], True, 2),
        (["city"], False, 2),
        ([], False, 1),
    ],
)
def test_fewest_rows_agree_on_what_is_not_changed(changed: list[str], missing_stays: bool, n: int) -> None:
    assert fewest_alike(Original(PEOPLE, ("age", "city")), changed, missing_stays=missing_stays) == n


def test_of_no_rows_none_agree() -> None:
    assert fewest_alike(Original(PEOPLE[:0], ("age", "city")), ["age"], missing_stays=True) == 0


def test_fewer_rows_than_k_are_too_few() -> None:
    check_enough(5, 5)
    with pytest.raises(CannotAnonymize, match="k = 5 needs as many rows that agree on what is not changed; the fewest"):
        check_enough(5, 4)
