"""Texts that stand for a missing value, in columns of every kind."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from tokumei.data.files.missing import with_missing

BIG = 2**53 + 1


@pytest.mark.parametrize(
    ("values", "kind", "texts", "left"),
    [
        # As 64-bit floats the two would be one.
        ([BIG, BIG - 1], pl.Int64, [str(BIG)], [None, BIG - 1]),
        ([2**64 - 1, 2**64 - 2], pl.UInt64, [str(2**64 - 1)], [None, 2**64 - 2]),
        ([BIG, -9], pl.Int64, ["-9.0", "9.5", "1e3"], [BIG, None]),
        ([1000, -9], pl.Int16, ["1e3", str(BIG), "1e999999999"], [None, -9]),
        # None of these is an age of 255 or less, or a number at all.
        ([255, 0], pl.UInt8, ["-1", "256", "nan", "2_5_5", ""], [255, 0]),
        ([0.5, -9.0], pl.Float32, ["0.5", "-9"], [None, None]),
        ([0.1, 2.0], pl.Float32, ["0.1"], [None, 2.0]),
        ([math.nan, 2.0, math.inf], pl.Float64, ["nan"], [None, 2.0, math.inf]),
        ([math.nan, 2.0], pl.Float32, ["NaN", "2"], [None, None]),
        ([Decimal("1.50"), Decimal("2.00")], pl.Decimal(10, 2), ["1.5", "2.004"], [None, Decimal("2.00")]),
        (["-9", "x"], pl.Categorical, ["-9"], [None, "x"]),
        ([True, False], pl.Boolean, ["true"], [None, False]),
        ([[1], [2]], pl.List(pl.Int64), ["1"], [[1], [2]]),
    ],
)
def test_missing_values_are_compared_as_their_column_holds_them(
    values: list[Any], kind: Any, texts: list[str], left: list[Any]
) -> None:
    frame = pl.DataFrame({"one": pl.Series(values, dtype=kind)})
    found = with_missing(frame.lazy(), texts).collect()
    assert found["one"].to_list() == left
    assert found.schema == frame.schema
