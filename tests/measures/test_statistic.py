from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

from tokumei.data.history import History
from tokumei.measures.utility.purchases import Statistic


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
