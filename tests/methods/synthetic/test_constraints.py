"""What holds in every row of a table holds in every row that is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.methods.perturbing.perturbation import Original
from tokumei.methods.synthetic.constraints import Constrained


def found(frame: pl.DataFrame, declared: tuple[str, ...] = (), rare: int = 2) -> list[str]:
    return Constrained.of(Original(frame, ()), declared, rare, finds=True).words


def random_table(seed: int, n: int, *, has_missing: bool) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    state = random.integers(0, 3, n)
    city = state * 2 + random.integers(0, 2, n)
    start = random.integers(0, 100, n)
    a, b = random.integers(0, 50, n) / 100, random.integers(1, 50, n) / 100
    frame = pl.DataFrame(
        {
            "city": [f"c{one}" for one in city],
            "state": [f"s{one}" for one in state],
            "start": start,
            "end": start + random.integers(0, 60, n),
            "last": start + random.integers(60, 80, n) + random.integers(0, 60, n),
            "a": a,
            "b": b,
            "sum": (a + b).round(2),
        }
    ).with_columns(
        first=pl.lit(np.datetime64("2020-01-01")).cast(pl.Date) + pl.duration(days="start"),
        then=(pl.lit(np.datetime64("2020-01-01")).cast(pl.Date) + pl.duration(days="end")).dt.to_string("%Y-%m-%d"),
    )
    if has_missing:
        gone = pl.Series(random.random(n) < 0.2)
        frame = frame.with_columns(
            pl.when(gone).then(None).otherwise(pl.col(name)).alias(name) for name in ("start", "a", "sum")
        )
    return frame


def broken(frame: pl.DataFrame) -> dict[str, int]:
    """Count the rows in which something does not hold."""
    days = frame.with_columns(pl.col("then").str.to_date())
    return days.select(
        order=(pl.col("start") > pl.col("end")).sum(),
        further=(pl.col("start") > pl.col("last")).sum(),
        dates=(pl.col("first") > pl.col("then")).sum(),
        sums=((pl.col("a") + pl.col("b") - pl.col("sum")).abs() > 1e-9).sum(),
        missing=(pl.col("a").is_null() != pl.col("sum").is_null()).sum(),
        parents=pl.col("city").n_unique() != pl.struct("city", "state").n_unique(),
    ).row(0, named=True)


@pytest.mark.parametrize("method", ["copula", "sequential-trees"])
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(40, 150), has_missing=st.booleans())
def test_what_holds_in_a_random_table_holds_in_new_rows(method: str, seed: int, n: int, has_missing: bool) -> None:
    frame = random_table(seed, n, has_missing=has_missing)
    assert not any(broken(frame).values())
    table = tk.Table(frame, qi=["city"], sensitive=[name for name in frame.columns if name != "city"])
    made = tk.anonymize(table, method=method, hold_out=0, anyway=True, seed=seed, rare=2)
    assert not any(broken(made.frame).values()), made.facts["constraints"]
    assert made.frame.columns == frame.columns
    assert [one for one in made.facts["constraints"] if "->state" in one or "->city" in one]
    assert [one for one in made.facts["constraints"] if "=" in one and "+" in one]


def test_three_kinds_are_found_and_said_as_they_are_declared() -> None:
    n = 24
    frame = pl.DataFrame(
        {
            "a": [1, 2, 3, 4, 5, 6] * 4,
            "b": [5, 1, 9, 2, 7, 4] * 4,
            "total": [6, 3, 12, 6, 12, 10] * 4,
            "city": ["x", "y", "z"] * 8,
            "state": ["p", "q", "q"] * 8,
            "start": list(range(n)),
            "end": [one + one % 4 for one in range(n)],
        }
    )
    assert {"total=a+b", "city->state", "start<=end"} <= set(found(frame))
    # One alone is declared, and nothing is looked for.
    told = Constrained.of(Original(frame, ()), ("start<=end",), 2, finds=False)
    assert told.words == ["start<=end"]
    assert told.original.frame["end"].to_list() == [one % 4 for one in range(n)]


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("total=a+b", "total=a\\+b holds"),
        ("b<=a", "b<=a holds"),
        ("a", "start<=end"),
        ("a<=nobody", "released columns"),
        ("city->a", "holds"),
        ("city<=a", "numbers or dates"),
    ],
)
def test_declared_constraint_that_does_not_hold_is_one_clear_error(declared: str, message: str) -> None:
    frame = pl.DataFrame({"a": [1, 2], "b": [1, 3], "total": [2, 4], "city": ["x", "x"]})
    with pytest.raises(InputError, match=message) as caught:
        found(frame, (declared,))
    if "holds" in message:
        assert caught.value.faults[0].line in (1, 2)


def test_order_that_would_hold_by_chance_is_not_taken_for_one() -> None:
    frame = pl.DataFrame({"flag": [0, 1] * 20, "count": [1, 2, 3, 4] * 10, "far": [3, 9, 10, 11] * 10})
    # Shuffled, a count is above the far number in none of 40 rows but those of 4 and 3: 40 · 1/16.
    assert found(frame) == []


def test_parent_of_a_column_of_truth_values_is_kept() -> None:
    frame = pl.DataFrame({"is_ill": [True, False] * 20, "word": ["yes", "no"] * 20, "day": [1, 2, 3, 4] * 10})
    made = tk.anonymize(
        tk.Table(frame, qi=["day"], sensitive=["is_ill", "word"]), method="copula", hold_out=0, anyway=True, seed=1
    )
    assert made.frame.schema == frame.schema
    assert set(made.frame.select("is_ill", "word").rows()) == {(True, "yes"), (False, "no")}


def test_nothing_is_found_where_nothing_holds() -> None:
    random = np.random.default_rng(0)
    frame: Any = pl.DataFrame({name: random.integers(0, 50, 80) for name in "abcd"})
    assert found(frame) == []
