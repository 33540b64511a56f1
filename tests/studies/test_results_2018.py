"""The formulas behind the studies of PWSCUP 2018, worked out by hand."""

from __future__ import annotations

import datetime
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.data.history import History
from tokumei.data.release import GeneralizedHistory
from tokumei.measures.generalized_histories import measure_generalized_error
from tokumei.measures.table.row_by_row import pearson_correlation
from tokumei_studies.results._pwscup2018_tables import UTILITY, all_columns
from tokumei_studies.results.pwscup2018_classes import chance_of_naming, is_safe
from tokumei_studies.results.pwscup2018_correlations import rounding_reach
from tokumei_studies.results.pwscup2018_guesses_needed import TABLE_4, least_right
from tokumei_studies.results.pwscup2018_use_cases import (
    DELETED,
    GROUPS,
    Measured,
    correlation_with_utility,
    delete_rows,
    make_releases,
    suppress_cells,
)


@pytest.fixture(scope="module")
def history() -> History:
    days = [datetime.date(2011, 1, 1) + datetime.timedelta(days=day) for day in range(200)]
    frame = pl.DataFrame(
        {
            "customer": [str(100 + day // 10) for day in range(200)],
            "date": days,
            "item": [f"I{day % 7}" for day in range(200)],
            "price": [1.0 + day % 3 for day in range(200)],
            "quantity": [1 + day % 5 for day in range(200)],
        }
    )
    return History.of(frame, name="T")


def test_right_guesses_of_six_never_suffice_and_of_seven_all_are_needed() -> None:
    # (1/3)⁶ = 1/729 is above 0.0005, (1/3)⁷ = 1/2187 below.
    assert least_right(6) is None
    assert least_right(7) == 7


def test_printed_table_has_seventy_entries_that_grow_with_the_guesses() -> None:
    entries = [r for column in TABLE_4.values() for r in column]
    assert len(entries) == 70
    numbers = [r for r in entries if r is not None]
    assert numbers == sorted(numbers)


def test_naming_two_of_a_class_of_three_is_as_likely_as_naming_all() -> None:
    assert chance_of_naming(1, 3) == Fraction(1, 3)
    assert chance_of_naming(2, 3) == chance_of_naming(3, 3) == Fraction(1, 6)


def test_class_of_three_is_safe_if_one_in_two_may_be_named() -> None:
    # 1/3 ≤ 1/2 and 1/6 ≤ 1/4, but 1/6 > 1/8.
    assert not is_safe(3, Fraction(1, 2))
    # 1/4, 1/12 and 1/24 against 1/2, 1/4, 1/8 and 1/16.
    assert is_safe(4, Fraction(1, 2))
    assert not is_safe(6)
    assert is_safe(7)


def test_rounding_reach_of_perfectly_correlated_values_is_nothing_to_first_order() -> None:
    assert rounding_reach([1, 2, 3], [2, 4, 6], 0.5) == pytest.approx(0)


def test_rounding_reach_of_uncorrelated_values_is_the_sum_of_slopes() -> None:
    # Values −1, 0, 1 and 1, −2, 1: lengths √2 and √6. The slopes are 1/√6 · (1 + 2 + 1)/√2 and 1/√2 · (1 + 0 + 1)/√6.
    expected = 0.1 * (4 / np.sqrt(12) + 2 / np.sqrt(12))
    assert rounding_reach([-1, 0, 1], [1, -2, 1], 0.1) == pytest.approx(expected)


@given(
    st.lists(st.tuples(*[st.floats(-10, 10)] * 2), min_size=4, max_size=8),
    st.lists(st.tuples(*[st.floats(-1, 1)] * 2), min_size=8, max_size=8),
)
def test_rounding_reach_is_not_exceeded_by_small_changes(
    pairs: list[tuple[float, float]], moves: list[tuple[float, float]]
) -> None:
    one, other = (np.array(side) for side in zip(*pairs, strict=True))
    # Nearly equal values can turn their order at any change.
    if one.std() < 0.5 or other.std() < 0.5:
        return
    step = 1e-6
    moved = [
        side + step * np.array([move[index] for move in moves[: len(pairs)]]) for index, side in enumerate((one, other))
    ]
    before, after = pearson_correlation(list(one), list(other)), pearson_correlation(list(moved[0]), list(moved[1]))
    assert before is not None
    assert after is not None
    assert abs(after - before) <= rounding_reach(list(one), list(other), step) + 1e-9


def test_printed_columns_are_those_of_thirteen_releases() -> None:
    columns = all_columns()
    assert len(columns) == 5 + 2 + 7 + 7 + 7
    assert {len(column.values) for column in columns} == {len(UTILITY)} == {13}
    # What never changes has no correlation.
    assert all((len(set(column.values)) == 1) == (column.correlation is None) for column in columns)


def test_suppressed_share_is_the_utility_and_keeps_every_customer(history: History) -> None:
    release = suppress_cells(history, 0.3, "A")
    assert measure_generalized_error(history, release).value == pytest.approx(0.3, abs=0.06)
    assert not release.is_deleted.any()
    assert release.contains(history).to_numpy().all()


def test_deleted_share_is_the_utility(history: History) -> None:
    release = delete_rows(history, 0.3, "A")
    share = float(release.is_deleted.to_numpy().mean())
    assert share == pytest.approx(0.3, abs=0.1)
    assert measure_generalized_error(history, release).value == pytest.approx(share)


def test_releases_are_thirteen_and_hold_the_original(history: History) -> None:
    releases = list(make_releases(history))
    assert len(releases) == len({name for _, name, _ in releases}) == 13
    for _, _, release in releases:
        assert isinstance(release, GeneralizedHistory)
        assert release.contains(history).to_numpy().all()


def test_correlation_is_of_all_releases_or_of_one_kind() -> None:
    found = [
        Measured(GROUPS, "a", 0.1, {"use": 1.0}),
        Measured(GROUPS, "b", 0.2, {"use": 2.0}),
        Measured(DELETED, "c", 0.1, {"use": 2.0}),
        Measured(DELETED, "d", 0.2, {"use": 1.0}),
    ]
    assert correlation_with_utility(found, "use", GROUPS) == pytest.approx(1)
    assert correlation_with_utility(found, "use", DELETED) == pytest.approx(-1)
    assert correlation_with_utility(found, "use") == pytest.approx(0)
