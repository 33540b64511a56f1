"""Columns of frames as notebooks have them: periods, intervals, numbers that no interval holds, cells of two types."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tokumei as tk
from tokumei.tasks.preparing import made_hierarchy

N = 60
PLAIN = [float(n) for n in range(N)]


@pytest.mark.parametrize(
    ("odd", "found"),
    [(math.inf, "inf"), (-math.inf, "-inf"), (1e300, r"1e\+300"), (math.nan, "NaN"), (-1.7e308, r"-1.7e\+308")],
)
def test_number_that_no_interval_holds_is_named(odd: float, found: str) -> None:
    with pytest.raises(tk.errors.InputError, match=f"column x: found '{found}', expected a finite number") as refused:
        tk.anonymize(tk.Table(pl.DataFrame({"x": [*PLAIN, odd]}), qi=["x"]), k=5)
    assert ("null-values" in str(refused.value)) == math.isnan(odd)


def test_missing_numbers_of_pandas_are_missing() -> None:
    frame = pd.DataFrame({"x": [math.nan if n % 7 == 0 else n for n in PLAIN]})
    made = tk.anonymize(tk.Table(frame, qi=["x"]), k=5)
    assert made.frame["x"].isna().sum() == 9


@pytest.mark.parametrize("step", [5e-324, 1e-310, 2.3e-16, 1e90])
def test_intervals_of_any_width_cover_their_numbers(step: float) -> None:
    values = pl.Series("x", [step * n for n in range(N)])
    made, _ = made_hierarchy("x", values)
    assert len(made.leaves) == values.n_unique()
    assert len(set(made.labels_at(made.height))) == 1


@pytest.mark.parametrize(
    "cells",
    [
        [10**25 + n for n in range(N)],
        [n if n % 2 else str(n) for n in range(N)],
        np.arange(N) * 1j,
        [f"{n}\udce9" for n in range(N)],
    ],
)
def test_column_of_pandas_that_cannot_be_read_is_named(cells: object) -> None:
    with pytest.raises(tk.errors.InputError, match="column x: expected cells of one type"):
        tk.Table(pd.DataFrame({"x": cells}), qi=["x"])


def test_intervals_that_pandas_cut_have_an_order() -> None:
    frame = pd.DataFrame(
        {"age": pd.cut(np.arange(N) % 40, 8), "day": pd.period_range("2026-01-01", periods=N, freq="D")}
    )
    frame.loc[3, :] = None
    made = tk.anonymize(tk.Table(frame, qi=["age", "day"]), k=5, suppress=0.1)
    assert made.k is not None and made.k >= 5
    told = made.to_dict()["hierarchies_made"]
    assert "in the order of the ranges" in told["age"]
    assert told["day"].startswith("days")


def test_days_that_are_periods_are_the_days_of_a_history() -> None:
    days = pd.period_range("2026-01-01", periods=N, freq="D")
    frame = pd.DataFrame({"who": np.arange(N) % 9, "when": days, "what": "bread", "paid": 1.5, "n": 1})
    shop = tk.History(frame, customer="who", date="when", item="what", price="paid", quantity="n")
    assert shop.frame["date"].to_list() == days.to_timestamp().date.tolist()


def test_history_without_rows_cannot_be_grouped() -> None:
    frame = pd.DataFrame({"who": ["a"], "when": ["2026-01-01"], "what": "bread", "paid": 1.5, "n": 1}).iloc[:0]
    shop = tk.History(frame, customer="who", date="when", item="what", price="paid", quantity="n")
    with pytest.raises(tk.errors.CannotAnonymize, match="0 customers cannot be put into groups"):
        tk.anonymize(shop, method="generalize")
