"""Columns of very many values: what is read and labeled at once is what each value alone gives."""

from __future__ import annotations

import datetime as dt
import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.hierarchies.builders.dates import Calendar
from tokumei.hierarchies.builders.intervals import Grid, Intervals
from tokumei.hierarchies.hierarchy import Hierarchy, Level, _follows
from tokumei.hierarchies.leaves import (
    exactly,
    number_leaves,
    number_texts,
    numbers_of,
    read_date,
    read_floats,
    read_number,
)
from tokumei.hierarchies.written_dates import read_days

WRITTEN = st.one_of(
    st.integers(-(10**31), 10**31).map(str),
    st.floats().map(repr),
    st.decimals(-1000, 1000, places=3).map(str),
    st.sampled_from(
        ["1", "1.0", "01", "+1", ".5", "5.", "1e3", "1e999", "1_000", "٣", "1\n", " 1", "", "nan", "-0", "-0.0"]
    ),
)
NUMBERS = WRITTEN.filter(lambda text: read_number(text) is not None)


@given(st.lists(WRITTEN, max_size=8))
def test_floats_are_those_of_the_numbers_read_one_by_one(texts: list[str]) -> None:
    plain = [math.nan if (number := read_number(text)) is None else float(number) for text in texts]
    np.testing.assert_array_equal(read_floats(texts), np.array(plain, float))


@given(st.lists(NUMBERS, min_size=1, max_size=8))
def test_numbers_come_in_the_order_of_their_fractions(texts: list[str]) -> None:
    values = pl.Series(texts)
    floats, ordered = number_texts("age", values)
    plain = number_leaves("age", values)
    assert ordered == [text for _, text in plain]
    assert floats.tolist() == [float(number) for number, _ in plain]


@given(
    st.lists(NUMBERS, min_size=1, max_size=12),
    st.sampled_from([0.1, 0.3, 1.0, 5.0, 7.5, 1e-9, 1e12, 5e-324]),
    st.sampled_from([0.0, 0.3, -2.5, 1e15]),
    st.none() | st.sampled_from([-1.5, 0.0, 0.3]),
    st.none() | st.sampled_from([0.7, 3.0, 1e6]),
)
def test_intervals_of_many_numbers_are_those_of_each(
    texts: list[str], width: float, start: float, bottom: float | None, top: float | None
) -> None:
    ends = (None if end is None else exactly(end) for end in (bottom, top))
    grid = Grid(exactly(start), exactly(width), *ends)
    # Beside what was drawn also numbers on the edges, which floats miss.
    texts = [*texts, *(repr(start + step * width) for step in range(-3, 4)), "0.3", "0.30000000000000004"]
    plain = [grid.index(read_number(text) or Fraction(0)) for text in texts]
    assert grid.indices(read_floats(texts), texts) == plain


def test_multiples_of_a_tenth_begin_their_intervals() -> None:
    made = Intervals(0.1, (), start=0.0).build("dose", pl.Series([f"{n / 10:.1f}" for n in range(30)]))
    assert made.labels_at(1)[:4] == ["[0, 0.1)", "[0.1, 0.2)", "[0.2, 0.3)", "[0.3, 0.4)"]


def test_leaf_that_is_no_number_is_named_among_many() -> None:
    leaves = [str(number) for number in range(50)] + ["old"]
    with pytest.raises(InputError, match="'old', expected a number of at most 1e\\+100"):
        numbers_of(Hierarchy.of_levels("age", [leaves, ["*"] * 51]))


DAYS = st.dates(dt.date(1, 1, 1)).map(str)
ODD_DAYS = st.sampled_from(
    ["2011-02-29", "0000-01-01", "2011-13-01", "2011/3/9", "2011-03-09 25:00", "2011-03-09T9:05"]
)


@given(st.lists(DAYS, min_size=25, max_size=30), st.lists(ODD_DAYS, max_size=2))
def test_days_of_many_texts_are_those_of_each(days: list[str], odd: list[str]) -> None:
    texts = [*days, *odd]
    plain = [read_date(text) for text in texts]
    if None not in plain:
        assert read_days(texts) == plain
    elif not any("/" in text for text in odd):
        assert read_days(texts) is None


def test_times_of_day_have_the_labels_of_their_day() -> None:
    made = Calendar(decades=True).build("seen", pl.Series([f"2011-03-{n:02} 09:05" for n in range(1, 31)]))
    columns = [made.labels_at(level)[8] for level in range(made.height + 1)]
    assert columns == ["2011-03-09 09:05", "2011-03-09", "2011-03", "2011-Q1", "2011", "2010-2019", "*"]


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz")), min_size=1, max_size=8))
def test_level_follows_if_each_label_lies_in_one(pairs: list[tuple[str, str]]) -> None:
    fine, coarse = (Level.of(side) for side in zip(*pairs, strict=True))
    assert _follows(fine, coarse) == (len(set(pairs)) == len({label for label, _ in pairs}))
