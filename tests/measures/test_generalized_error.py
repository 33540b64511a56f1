from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.data.cells import RangeCells, read_range_cells, read_set_cells
from tokumei.data.history import History
from tokumei.data.release import GeneralizedHistory
from tokumei.measures.generalized_histories import cell_errors, measure_generalized_error, range_errors

# Standard deviations: 1 day, 0.01, 2 pieces.
ORIGINAL = History.of(
    pl.DataFrame(
        {
            "customer": ["a", "a", "b", "b"],
            "date": [datetime.date(2011, 1, day) for day in (1, 1, 3, 3)],
            "item": ["x", "y", "x", "z"],
            "price": [1.00, 1.02, 1.00, 1.02],
            "quantity": [1, 5, 1, 5],
        }
    )
)


def release(customer: str, date: str, item: str, price: str, quantity: str) -> GeneralizedHistory:
    return GeneralizedHistory(
        customer=pl.Series(customer.split()),
        date=read_range_cells(pl.Series(date.split()), lambda cell: cell.str.to_date("%Y/%m/%d", strict=False)),
        item=read_set_cells(pl.Series(item.split())),
        price=read_range_cells(pl.Series(price.split()), lambda cell: cell.cast(pl.Float64, strict=False)),
        quantity=read_range_cells(pl.Series(quantity.split()), lambda cell: cell.cast(pl.Int64, strict=False)),
    )


GENERALIZED = release(
    "7 7 8 *",
    "2011/1/1 [2011/1/1;2011/1/3] * *",
    "x {y;z} {x;y;z} *",
    "[1.00;1.02] 1.02 [1.00;1.00] *",
    "[1;5] [4;5] * *",
)


def test_error_of_each_cell_by_hand() -> None:
    errors = cell_errors(ORIGINAL, GENERALIZED)
    # Day 1 against days 1, 2, 3: (0 + 1 + 2)/3 days.
    assert errors["date"].to_list() == pytest.approx([0, 1, 1, 1])
    assert errors["item"].to_list() == pytest.approx([0, 1 / 2, 2 / 3, 1])
    # 1.00 against 1.00, 1.01, 1.02: 0.01 on average.
    assert errors["price"].to_list() == pytest.approx([1, 0, 0, 1])
    # 1 against 1 … 5: 2 on average; 5 against 4 and 5: 1/2.
    assert errors["quantity"].to_list() == pytest.approx([1, 1 / 4, 1, 1])


def test_score_is_the_mean_of_the_column_means() -> None:
    score = measure_generalized_error(ORIGINAL, GENERALIZED)
    means = {"date": 3 / 4, "item": (1 / 2 + 2 / 3 + 1) / 4, "price": 2 / 4, "quantity": 3.25 / 4}
    assert dict(score.inputs) == pytest.approx(means)
    assert score.value == pytest.approx(sum(means.values()) / 4)


def test_untouched_history_is_0_and_wholly_suppressed_1() -> None:
    assert measure_generalized_error(ORIGINAL, GeneralizedHistory.of(ORIGINAL)).value == 0
    stars = release("* * * *", "* * * *", "* * * *", "* * * *", "* * * *")
    assert measure_generalized_error(ORIGINAL, stars).value == 1


def test_wide_range_is_worse_than_a_star() -> None:
    wide = release("7 7 8 8", "* * * *", "* * * *", "* * * *", "[1;99] [1;99] [1;99] [1;99]")
    assert measure_generalized_error(ORIGINAL, wide).value > 1


def test_other_number_of_rows_is_refused() -> None:
    with pytest.raises(InputError, match="as many rows as the original, 4"):
        measure_generalized_error(ORIGINAL, GENERALIZED.filter(pl.Series([True, True, True, False])))


def test_column_without_spread_counts_what_is_not_the_truth_as_suppressed() -> None:
    truth = pl.Series([3, 3])
    cells = read_range_cells(pl.Series(["3", "[3;4]"]), lambda cell: cell.cast(pl.Int64, strict=False))
    assert range_errors(truth, cells, 1).tolist() == [0, 1]


@given(st.lists(st.tuples(*[st.integers(-20, 20)] * 3), min_size=2, max_size=8))
def test_range_errors_are_the_mean_over_the_grid(rows: list[tuple[int, int, int]]) -> None:
    truth = np.array([x for x, _, _ in rows], float)
    low, high = (np.array([side(a, b) for _, a, b in rows]) for side in (min, max))
    sigma = float(np.std(truth))
    cells = RangeCells(pl.Series([1] * len(rows), dtype=pl.UInt8), pl.Series(low), pl.Series(high))
    plain = [np.mean(np.abs(np.arange(a, b + 1) - x)) for x, a, b in zip(truth, low, high, strict=True)]
    expected = [mean / sigma if sigma else float(mean > 0) for mean in plain]
    assert range_errors(pl.Series(truth), cells, 1).tolist() == pytest.approx(expected)
