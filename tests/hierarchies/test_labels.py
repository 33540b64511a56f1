from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.hierarchies.labels import ENDLESS, NumberRange, interval_label, read_range, whole_label


@pytest.mark.parametrize("label", ["24-20", "[3, 3)", "[5, 1]", "1-2-3", "-5--1", "[1,2;3]", "[1e999, 2]", "[nan, 2]"])
def test_range_that_covers_nothing_is_no_range(label: str) -> None:
    assert read_range(label) is None


def test_range_is_read_exactly() -> None:
    assert read_range("[0.1, 0.3)") == NumberRange(Fraction(1, 10), Fraction(3, 10), is_open=True)
    assert read_range("20-24") == NumberRange(Fraction(20), Fraction(24))


def test_range_of_others_is_read_with_the_ends_that_belong_to_it() -> None:
    two, five = Fraction(2), Fraction(5)
    assert read_range("[2, 5[") == read_range("[2, 5)") == NumberRange(two, five, is_open=True)
    assert read_range("]2, 5]") == read_range("(2, 5]") == NumberRange(two, five, is_open_below=True)
    assert read_range("(2, 5)") == NumberRange(two, five, is_open=True, is_open_below=True)
    assert read_range("<5") == NumberRange(-ENDLESS, five, is_open=True)
    assert read_range(">= 2") == NumberRange(two, ENDLESS)
    assert read_range("[5, 5[") is None
    assert read_range("<") is None


def test_number_of_a_long_hostile_text_is_not_read() -> None:
    assert read_range("[" + "9" * 200_000 + "x, 3]") is None


@given(st.integers(-(10**6), 10**6), st.integers(1, 10**6))
def test_range_that_was_written_is_read_back(first: int, width: int) -> None:
    low, high = Fraction(first), Fraction(first + width)
    assert read_range(whole_label(low, high)) == NumberRange(low, high)
    assert read_range(interval_label(low / 8, high / 8, is_whole=False)) == NumberRange(low / 8, high / 8, is_open=True)


@pytest.mark.parametrize(
    ("inner", "outer", "is_within"),
    [
        ("30-39", "28-39", True),
        ("30-39", "31-40", False),
        ("[1, 2)", "[1, 2]", True),
        ("[1, 2]", "[1, 2)", False),
        ("(1, 2]", "[1, 2]", True),
        ("[1, 2]", ">=1", True),
    ],
)
def test_range_lies_within_another_that_holds_all_its_numbers(inner: str, outer: str, is_within: bool) -> None:
    one, other = read_range(inner), read_range(outer)
    assert one is not None
    assert other is not None
    assert one.lies_within(other) == is_within
