"""Builders of numbers, years and dates: answers worked out by hand."""

import datetime as dt
from fractions import Fraction
from itertools import pairwise
from typing import Literal

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.core.errors import InputError
from tokumei.hierarchies.builders.dates import Calendar, Decades
from tokumei.hierarchies.builders.from_data import FromData
from tokumei.hierarchies.builders.intervals import Intervals, Magnitudes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.labels import NumberRange, read_range, scale_of


def rows(hierarchy: Hierarchy) -> list[tuple[str, ...]]:
    """The labels of each leaf without the top, from the leaf up."""
    return list(zip(*(hierarchy.labels_at(level) for level in range(hierarchy.height)), strict=True))


def test_intervals_of_whole_numbers_end_with_the_last_one_in_them() -> None:
    hierarchy = Intervals(width=5).build("age", pl.Series([31, 23, 23, 4, None]))
    assert rows(hierarchy) == [
        ("4", "0-4", "0-9", "0-19"),
        ("23", "20-24", "20-29", "20-39"),
        ("31", "30-34", "30-39", "20-39"),
    ]


def test_magnitudes_lie_between_one_two_and_five_of_each_power_of_ten() -> None:
    hierarchy = Magnitudes().build("income", pl.Series([1299, 730, 0, 5, 99_999]))
    assert rows(hierarchy) == [
        ("0", "0", "0", "0", "0"),
        ("5", "5-9", "1-9", "1-99", "1-9999"),
        ("730", "500-999", "100-999", "100-9999", "1-9999"),
        ("1299", "1000-1999", "1000-9999", "100-9999", "1-9999"),
        ("99999", "50000-99999", "10000-99999", "10000-999999", "10000-99999999"),
    ]


def test_magnitudes_of_fractions_are_exact_at_edges_mirrored_at_zero_and_end_in_one_interval() -> None:
    hierarchy = Magnitudes(decades=2).build("x", pl.Series(["0.2", "-0.2", "0.19", "1", "0.004"]))
    assert rows(hierarchy) == [
        ("-0.2", "[-0.2, -0.1)", "[-1, -0.1)"),
        ("0.004", "[0, 0.1)", "[0, 0.1)"),
        ("0.19", "[0.1, 0.2)", "[0.1, 1)"),
        ("0.2", "[0.2, 0.5)", "[0.1, 1)"),
        ("1", "[1, 2)", "[1, 10)"),
    ]


@pytest.mark.parametrize("values", [["0"], ["-3", "3"], ["1e-200", "1"], ["999", "1000"], ["-9e15", "9e15"]])
def test_magnitudes_nest_and_hold_their_numbers(values: list[str]) -> None:
    hierarchy = Magnitudes().build("x", pl.Series(values))
    hierarchy.check_nested()
    assert sorted(hierarchy.leaves) == sorted(values)


def test_magnitudes_of_numbers_that_floats_confuse_are_refused() -> None:
    with pytest.raises(InputError, match="numbers below 2"):
        Magnitudes().build("x", pl.Series(["9007199254740993"]))


def test_intervals_of_text_order_by_number_and_keep_the_text() -> None:
    hierarchy = Intervals(width=10, factors=()).build("x", pl.Series(["100", "9", "09", "+20"]))
    assert rows(hierarchy) == [("09", "0-9"), ("9", "0-9"), ("+20", "20-29"), ("100", "100-109")]


def test_intervals_of_fractions_lie_on_an_exact_grid() -> None:
    # In floats 0.3 / 0.1 is 2.9999999999999996 and would fall into the third interval.
    hierarchy = Intervals(width=0.1, factors=(10,)).build("x", pl.Series([0.3, 2.55, -0.05]))
    assert rows(hierarchy) == [
        ("-0.05", "[-0.1, 0)", "[-1, 0)"),
        ("0.3", "[0.3, 0.4)", "[0, 1)"),
        ("2.55", "[2.5, 2.6)", "[2, 3)"),
    ]


def test_intervals_coded_at_both_ends_are_cut_there_at_every_level() -> None:
    hierarchy = Intervals(width=5, factors=(2,), bottom=15, top=78).build("age", pl.Series([3, 15, 19, 76, 78, 99]))
    assert rows(hierarchy) == [
        ("3", "<15", "<15"),
        ("15", "15-19", "15-19"),
        ("19", "15-19", "15-19"),
        ("76", "75-77", "70-77"),
        ("78", "≥78", "≥78"),
        ("99", "≥78", "≥78"),
    ]


def test_intervals_coded_at_fractions_take_them_as_they_are_written() -> None:
    # The float 0.1 is a little more than a tenth, and must not be taken to lie above the value 0.1.
    hierarchy = Intervals(width=0.1, factors=(), bottom=0.1, top=0.3).build("x", pl.Series(["0.1", "0.3"]))
    assert hierarchy.labels_at(1) == ["[0.1, 0.2)", "≥0.3"]


def test_intervals_below_zero_and_of_one_number_are_readable() -> None:
    assert rows(Intervals(width=5, factors=()).build("x", pl.Series([-3]))) == [("-3", "-5..-1")]
    assert rows(Intervals(width=1, factors=()).build("x", pl.Series([7]))) == [("7", "7")]


def test_intervals_start_none_begins_at_a_round_number_below_the_smallest_value() -> None:
    values = pl.Series([17, 26, 27])
    assert Intervals(width=10, factors=(), start=None).build("x", values).labels_at(1) == ["10-19", "20-29", "20-29"]
    # Fives are the greatest round steps no wider than seven: from 15.
    assert Intervals(width=7, factors=(), start=None).build("x", values).labels_at(1) == ["15-21", "22-28", "22-28"]
    quarters = Intervals(width=0.25, factors=(), start=None).build("x", pl.Series([0.31, 0.6]))
    assert quarters.labels_at(1) == ["[0.2, 0.45)", "[0.45, 0.7)"]


@pytest.mark.parametrize("text", ["abc", "", "1,5", "nan", "inf", "1e400", " 7", "７"])
def test_intervals_of_what_is_no_number_name_it(text: str) -> None:
    with pytest.raises(InputError, match=r"column age: found .*, expected a finite number"):
        Intervals().build("age", pl.Series(["3", text]))


def test_intervals_of_not_a_number_in_a_column_of_floats_are_refused() -> None:
    with pytest.raises(InputError, match="found 'NaN'"):
        Intervals().build("x", pl.Series([1.0, float("nan")]))


def test_intervals_of_a_number_with_a_huge_exponent_are_made_at_once() -> None:
    hierarchy = Intervals(width=1, factors=()).build("x", pl.Series(["1e-999999999"]))
    assert hierarchy.labels_at(1) == ["0"]


def test_intervals_unreadable_values_are_listed_and_counted() -> None:
    with pytest.raises(InputError, match="and 5 more"):
        Intervals().build("x", pl.Series([f"v{number}" for number in range(25)]))


@pytest.mark.parametrize(
    ("options", "column"),
    [
        ({"width": 0}, "width"),
        ({"width": float("inf")}, "width"),
        ({"factors": (2, 1)}, "factors"),
        ({"bottom": 10, "top": 10}, "top"),
        ({"start": float("nan")}, "start"),
    ],
)
def test_intervals_bad_option_is_named(options: dict[str, float], column: str) -> None:
    with pytest.raises(InputError, match=f"option {column}"):
        Intervals(**options)  # type: ignore[arg-type]


def test_decades_of_years_and_of_dates() -> None:
    years = Decades(half_centuries=True).build("birth", pl.Series(["2001", "1963", "1949"]))
    assert rows(years) == [
        ("1949", "1940s", "1900-1949", "1900-1999"),
        ("1963", "1960s", "1950-1999", "1900-1999"),
        ("2001", "2000s", "2000-2049", "2000-2099"),
    ]
    assert rows(Decades().build("birth", pl.Series([dt.date(1963, 5, 2)]))) == [
        ("1963-05-02", "1963", "1960s", "1900-1999")
    ]
    assert Decades().build("birth", pl.Series(["1963/5/2"])).labels_at(1) == ["1963"]
    assert Decades().build("birth", pl.Series([1963.0])).leaves == ("1963.0",)


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (["1963", "19x3"], "19x3"),
        (["1963", "1963-05-02"], "1963"),
        ([1963.5], "1963.5"),
        ([12345], "12345"),
        (["1963-02-30"], "1963-02-30"),
        ([True], "Boolean"),
    ],
)
def test_decades_of_what_is_no_year_name_it(values: list[object], found: str) -> None:
    with pytest.raises(InputError, match=f"column birth: found '{found}'"):
        Decades().build("birth", pl.Series(values))


def test_calendar_of_days_gives_month_quarter_and_year() -> None:
    hierarchy = Calendar().build("day", pl.Series([dt.date(2011, 12, 9), dt.date(2011, 3, 9), dt.date(2010, 4, 1)]))
    assert rows(hierarchy) == [
        ("2010-04-01", "2010-04", "2010-Q2", "2010"),
        ("2011-03-09", "2011-03", "2011-Q1", "2011"),
        ("2011-12-09", "2011-12", "2011-Q4", "2011"),
    ]


def test_calendar_of_text_reads_both_ways_of_writing() -> None:
    hierarchy = Calendar().build("day", pl.Series(["2011/10/1", "2011/9/30", "2011-09-30"]))
    assert hierarchy.leaves == ("2011-09-30", "2011/9/30", "2011/10/1")
    assert hierarchy.labels_at(1) == ["2011-09", "2011-09", "2011-10"]


@pytest.mark.parametrize("text", ["2011-02-29", "2011-3-32", "9/3/2011", "2011-03-09 noon"])
def test_calendar_of_what_is_no_date_names_it(text: str) -> None:
    with pytest.raises(InputError, match=r"column day: found .*, expected a real date"):
        Calendar().build("day", pl.Series([text]))
    with pytest.raises(InputError, match="a column of dates"):
        Calendar().build("day", pl.Series([20111309]))


def test_from_data_equal_frequency_ends_at_round_numbers() -> None:
    # Ten rows in four groups of 2.5. After the first, of the numbers from 2 to 5, lies 4 or 2; 4 is nearer the middle.
    hierarchy = FromData(groups=4).build("x", pl.Series([1, 1, 1, 1, 5, 6, 7, 8, 9, 20]))
    assert rows(hierarchy) == [
        ("1", "0-4", "0-7"),
        ("5", "5-7", "0-7"),
        ("6", "5-7", "0-7"),
        ("7", "5-7", "0-7"),
        ("8", "8-29", "8-29"),
        ("9", "8-29", "8-29"),
        ("20", "8-29", "8-29"),
    ]


def test_from_data_equal_frequency_of_one_frequent_value_keeps_neighbors_apart() -> None:
    hierarchy = FromData(groups=4).build("x", pl.Series([1, *[2] * 98, 3]))
    # The outermost ends are multiples of five, so that neither 1 nor 3 is told.
    assert rows(hierarchy) == [("1", "0-1", "0-2"), ("2", "2", "0-2"), ("3", "3-4", "3-4")]


def test_from_data_equal_width_is_a_round_step() -> None:
    # A quarter of 19 is 4.75, a quarter of 8.25 is 2.0625: fives, as the next round steps.
    whole = FromData(kind="equal-width", groups=4).build("x", pl.Series(["1", "5", "6", "20"]))
    assert rows(whole) == [
        ("1", "0-4", "0-9", "0-19"),
        ("5", "5-9", "0-9", "0-19"),
        ("6", "5-9", "0-9", "0-19"),
        ("20", "20-24", "20-29", "20-39"),
    ]
    parts = FromData(kind="equal-width", groups=4).build("x", pl.Series([1.5, 3.57, 9.75]))
    assert rows(parts) == [("1.5", "[0, 5)"), ("3.57", "[0, 5)"), ("9.75", "[5, 10)")]


@settings(max_examples=cases(60))
@given(
    st.lists(st.one_of(st.integers(-99, 999), st.decimals(-99, 9999, places=2).map(float)), min_size=1, max_size=40),
    st.integers(2, 9),
    st.sampled_from(["equal-width", "equal-frequency"]),
)
def test_from_data_intervals_hold_their_numbers_and_end_at_no_outermost_one(
    values: list[float], groups: int, kind: Literal["equal-width", "equal-frequency"]
) -> None:
    column = pl.Series([float(value) for value in values])
    hierarchy = FromData(kind=kind, groups=groups).build("x", column)
    hierarchy.check_nested()
    numbers = [Fraction(leaf) for leaf in hierarchy.leaves]
    for level in range(1, hierarchy.height):
        labels = hierarchy.labels_at(level)
        told = [read_range(label) or NumberRange(Fraction(label), Fraction(label)) for label in labels]
        for number, one in zip(numbers, told, strict=True):
            assert one.low <= number < one.high or (number == one.high and not one.is_open)
        # Equal labels are those of neighbors, and no two labels overlap.
        assert all(one == after or one.high <= after.low for one, after in pairwise(told))
        if kind == "equal-frequency":
            is_whole = all(number.denominator == 1 for number in numbers)
            ends = told[0].low, told[-1].high + is_whole
            # Multiples of five of the finest units that the numbers have.
            finest = Fraction(1, scale_of(numbers))
            assert all(end % (5 * finest) == 0 for end in ends)


def test_from_data_tight_equal_frequency_counts_rows() -> None:
    # Ten rows in four groups of 2.5: the four 1s fill the first and most of the second, whose middle is row 2.
    hierarchy = FromData(groups=4, ranges="tight").build("x", pl.Series([1, 1, 1, 1, 5, 6, 7, 8, 9, 20]))
    assert rows(hierarchy) == [
        ("1", "1", "1-5"),
        ("5", "5", "1-5"),
        ("6", "6-7", "6-20"),
        ("7", "6-7", "6-20"),
        ("8", "8-20", "6-20"),
        ("9", "8-20", "6-20"),
        ("20", "8-20", "6-20"),
    ]


def test_from_data_tight_equal_frequency_of_one_frequent_value_joins_neighbors() -> None:
    hierarchy = FromData(groups=4, ranges="tight").build("x", pl.Series([1, *[2] * 98, 3]))
    assert rows(hierarchy) == [("1", "1", "1-2"), ("2", "2", "1-2"), ("3", "3", "3")]


def test_from_data_tight_equal_width_of_whole_numbers() -> None:
    hierarchy = FromData(kind="equal-width", groups=4, ranges="tight").build("x", pl.Series(["1", "5", "6", "20"]))
    assert rows(hierarchy) == [
        ("1", "1-5", "1-10"),
        ("5", "1-5", "1-10"),
        ("6", "6-10", "1-10"),
        ("20", "16-20", "11-20"),
    ]


def test_from_data_tight_equal_width_of_fractions_rounds_the_width_up() -> None:
    # A quarter of 8.25 is 2.0625, which is rounded up to 2.07; the largest value closes the last interval.
    hierarchy = FromData(kind="equal-width", groups=4, ranges="tight").build("x", pl.Series([1.5, 3.57, 9.75]))
    assert rows(hierarchy) == [
        ("1.5", "[1.5, 3.57)", "[1.5, 5.64)"),
        ("3.57", "[3.57, 5.64)", "[1.5, 5.64)"),
        ("9.75", "[7.71, 9.75]", "[5.64, 9.75]"),
    ]


def test_from_data_tight_equal_width_that_fits_exactly_keeps_the_largest_in_the_last() -> None:
    hierarchy = FromData(kind="equal-width", groups=2, ranges="tight").build("x", pl.Series([0.0, 0.5, 1.0]))
    assert hierarchy.labels_at(1) == ["[0, 0.5)", "[0.5, 1]", "[0.5, 1]"]


def test_from_data_of_one_value_has_only_the_top() -> None:
    for kind in ("equal-width", "equal-frequency"):
        assert rows(FromData(kind=kind).build("x", pl.Series([7.5]))) == [("7.5",)]
