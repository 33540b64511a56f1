from __future__ import annotations

import math
import statistics
from collections import Counter
from fractions import Fraction
from typing import Any, get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.data.history import History
from tokumei.measures.utility.purchases import Name, Statistic, compute, exact_sum


def history(*rows: tuple[int | None, float | None, int | None]) -> History:
    schema = {"day": pl.Int64, "price": pl.Float64, "quantity": pl.Int64}
    frame = pl.DataFrame(list(rows), schema=schema, orient="row")
    is_kept = pl.col("day").is_not_null()
    text = {"customer": pl.when(is_kept).then(pl.lit("a")), "item": pl.when(is_kept).then(pl.lit("x"))}
    return History.of(frame.with_columns(date=pl.date(2010, 1, pl.col("day")), **text))


# Prices 1, 2, 6: mean 3, variance 14/3. The release has 1, 2: mean 1.5, variance 0.25.
ORIGINAL = history((1, 1.0, 4), (2, 2.0, 4), (9, 6.0, 4))
RELEASED = history((1, 1.0, 4), (2, 2.0, 5), (None, None, None))


@pytest.mark.parametrize(
    ("statistic", "column", "error"),
    [
        ("rows", "price", 1),
        ("sum", "price", 6),
        ("mean", "price", 1.5),
        ("variance", "price", 14 / 3 - 0.25),
        ("deviation", "price", math.sqrt(14 / 3) - 0.5),
        ("maximum", "price", 4),
        ("minimum", "price", 0),
        ("median", "price", 0.5),
        ("sum", "quantity", 3),
        ("maximum", "quantity", 1),
        # Days since 2010-01-01 are 0, 1, 8 and then 0, 1.
        ("sum", "date", 8),
        ("mean", "date", 2.5),
        ("median", "date", 0.5),
    ],
)
def test_error_of_each_statistic(statistic: Any, column: Any, error: float) -> None:
    assert Statistic(statistic, column).measure(ORIGINAL, RELEASED).value == pytest.approx(error)


@pytest.mark.parametrize("statistic", ["rows", "sum", "mean", "variance", "deviation", "maximum", "minimum", "median"])
def test_release_without_rows_counts_as_0(statistic: Any) -> None:
    score = Statistic(statistic, "quantity").measure(ORIGINAL, history((None, None, None)))
    assert score.inputs["released"] == 0
    assert score.value == score.inputs["original"]


VALUES = st.lists(st.sampled_from([0.01, 0.1, 1.95, 2.5, 1e9, -3.0]) | st.floats(-1e6, 1e6), min_size=1, max_size=30)


def counted(values: list[float]) -> tuple[Any, Any]:
    found = sorted(Counter(values).items())
    return np.array([value for value, _ in found], np.float64), np.array([n for _, n in found], np.int64)


@given(VALUES)
def test_counted_values_give_the_digits_of_all_values(values: list[float]) -> None:
    mean = math.fsum(values) / len(values)
    found = {name: compute(name, *counted(values)) for name in get_args(Name)}
    variance = math.fsum((value - mean) ** 2 for value in values) / len(values)
    assert found == {
        "rows": len(values),
        "sum": math.fsum(values),
        "mean": mean,
        "variance": variance,
        "deviation": math.sqrt(variance),
        "maximum": max(values),
        "minimum": min(values),
        "median": statistics.median(values),
    }


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(1, 2**40)), max_size=9))
def test_sums_of_counted_values_are_rounded_once(cells: list[tuple[float, int]]) -> None:
    values, n_each = np.array([one for one, _ in cells], np.float64), np.array([n for _, n in cells], np.int64)
    assert exact_sum(values, n_each) == float(sum(Fraction(value) * n for value, n in cells))


def test_statistics_of_1_1_and_4_are_as_by_hand() -> None:
    found = {name: compute(name, *counted([1.0, 1.0, 4.0])) for name in get_args(Name)}
    assert found == {
        "rows": 3,
        "sum": 6,
        "mean": 2,
        "variance": 2,
        "maximum": 4,
        "minimum": 1,
        "median": 1,
        "deviation": pytest.approx(2**0.5),
    }
