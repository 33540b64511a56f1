from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest

from tokumei.attacks.linkage.fields import (
    KIND_PRIOR,
    UNTOLD,
    FieldLevels,
    date_levels,
    item_levels,
    number_levels,
    time_levels,
)

KINDS = (np.zeros(2, np.int64), np.zeros(3, np.int64))


def test_numbers_are_compared_by_the_released_one_as_a_share() -> None:
    field = number_levels("quantity")(pl.Series([10, 100]), pl.Series([10, 5, 1000]), KINDS)
    assert field is not None
    # Known 10 and 100 beside released 5, 10 and 1000: a half, equal, more than four times; less, a tenth, ten times.
    assert field.levels is not None
    assert field.levels.tolist() == [[1, 5, 11], [0, 0, 11]]
    assert field.chance.sum(axis=1) == pytest.approx(np.ones(3))


def test_weight_of_a_level_is_how_often_counterparts_are_there_over_how_often_anybody_is() -> None:
    field = number_levels("quantity")(pl.Series([10, 100]), pl.Series([10, 5, 1000]), KINDS)
    assert field is not None
    certain = np.zeros((4, 12))
    certain[:, 5] = 1
    weights = field.weigh(certain)
    # Of the two known rows one equals the released 10; rows of any value, and a made-up one, pull it down.
    assert 1 < weights[field.cases[0], 5] < 1 / field.chance[field.cases[0], 5] + 1e-6
    assert weights[field.cases[0], 5] == pytest.approx(1 / field.chance[field.cases[0], 5])
    assert (weights[:, UNTOLD] == 1).all()


def test_dates_are_compared_within_a_month_and_times_by_minutes() -> None:
    days = [pl.Series([datetime.date(2011, 1, 5)] * 2), pl.Series([datetime.date(2011, 1, day) for day in (5, 7, 31)])]
    field = date_levels(days[0], days[1], KINDS)
    assert field is not None
    assert field.levels is not None
    assert field.levels.tolist() == [[0, 2, 5]]
    # Other months tell nothing.
    assert date_levels(days[0], pl.Series([datetime.date(2011, 2, 5)] * 3), KINDS) is None
    times = [pl.Series([datetime.time(9, 0)] * 2), pl.Series([datetime.time(9, 5), datetime.time(9, 0), None])]
    found = time_levels(times[0], times[1], KINDS)
    assert found is not None
    assert found.levels is not None
    assert sorted(found.levels[0].tolist()) == [UNTOLD, 0, 1]


@pytest.mark.parametrize("seed", range(5))
def test_chances_of_levels_are_those_counted_row_by_row(seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = rng.integers(-1, 3, (6, 5)).astype(np.int8)
    levels[0, 0] = 2
    codes, kinds = (rng.integers(0, 6, 40), rng.integers(0, 5, 30)), (rng.integers(0, 3, 40), rng.integers(0, 4, 30))
    field = FieldLevels.of(codes, levels, np.zeros(5, np.int64), kinds)

    def counted(value: int, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[float]:
        return [float(sum(levels[one, value] == level for one in rows)) for level in range(3)]

    usual = np.sum([counted(value, codes[0]) for value in codes[1]], axis=0)
    for row, (value, kind) in enumerate(zip(codes[1], kinds[1], strict=True)):
        overall = np.array(counted(value, codes[0])) + usual / usual.sum()
        plain = KIND_PRIOR * overall / overall.sum() + counted(value, codes[0][kinds[0] == kind])
        assert field.chance[field.cases[row]] == pytest.approx(plain / plain.sum())


def test_what_a_side_does_not_tell_is_no_field() -> None:
    assert number_levels("price")(pl.Series([None, None], dtype=pl.Float64), pl.Series([1.0, 2.0, 3.0]), KINDS) is None
    # Kinds alone are compared as kinds.
    assert item_levels(pl.Series(["22", "84"]), pl.Series(["22728", "84029", "84030"]), KINDS) is None
    field = item_levels(pl.Series(["22728", "84029"]), pl.Series(["22728", "84029", "84030"]), KINDS)
    assert field is not None
    assert field.levels_of(np.array([0, 0]), np.array([0, 1])).tolist() == [0, 1]
