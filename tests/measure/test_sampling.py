from __future__ import annotations

import datetime
import math
from dataclasses import dataclass

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.core.seeds import generator
from tokumei.data.cells import read_range_cells, read_set_cells
from tokumei.data.generalized import GeneralizedHistory
from tokumei.data.history import History
from tokumei.measure.sampling import DrawnCells, measure_on_draws
from tokumei.measure.utility.rows import Rows
from tokumei.measure.utility.statistic import Statistic

ORIGINAL = History.of(
    pl.DataFrame(
        {
            "customer": ["a", "a", "b", "b"],
            "date": [datetime.date(2011, 1, day) for day in (1, 2, 3, 9)],
            "item": ["x", "y", "x", "z"],
            "price": [0.28, 0.29, 0.31, 0.35],
            "quantity": [2, 3, 4, 7],
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
    "x {y;z} * *",
    "[0.28;0.30] 0.29 * *",
    "[2;3] 3 * *",
)


def test_draws_reach_all_that_a_cell_stands_for_and_nothing_else() -> None:
    cells = DrawnCells.of(ORIGINAL, GENERALIZED)
    rng = generator(1, "test")
    rows = pl.concat([cells.draw(rng).frame.with_row_index() for _ in range(300)])

    def drawn(row: int, column: str) -> list[object]:
        return rows.filter(pl.col("index") == row)[column].unique().sort().to_list()

    assert drawn(0, "date") == [datetime.date(2011, 1, 1)]
    assert drawn(1, "date") == [datetime.date(2011, 1, day) for day in (1, 2, 3)]
    assert drawn(2, "date") == [datetime.date(2011, 1, day) for day in range(1, 10)]
    assert [drawn(row, "item") for row in range(3)] == [["x"], ["y", "z"], ["x", "y", "z"]]
    assert drawn(0, "price") == [0.28, 0.29, 0.30]
    assert drawn(1, "price") == [0.29]
    assert drawn(2, "price") == [number / 100 for number in range(28, 36)]
    assert [drawn(row, "quantity") for row in range(3)] == [[2, 3], [3], [2, 3, 4, 5, 6, 7]]
    assert [drawn(row, "customer") for row in range(4)] == [["7"], ["7"], ["8"], [None]]
    assert rows.filter(pl.col("index") == 3).drop("index").null_count().row(0) == (300,) * 7


def test_history_that_was_not_generalized_is_drawn_as_it_is() -> None:
    drawn = DrawnCells.of(ORIGINAL, GeneralizedHistory.of(ORIGINAL)).draw(generator(1))
    assert drawn.frame.equals(ORIGINAL.frame)


def test_mean_over_draws_nears_what_is_expected() -> None:
    # The quantity is 2 or 3 with the same chance, so the mean is off by 0 or 1/4.
    half = release("7 7 8 8", "* * * *", "* * * *", "* * * *", "[2;3] 3 4 7")
    score = measure_on_draws(Statistic("mean", "quantity"), ORIGINAL, half, seed=3, n_draws=100)
    assert score.interval is not None
    assert score.value == pytest.approx(1 / 8, abs=0.02)
    assert score.interval[0] < 1 / 8 < score.interval[1]


def test_same_seed_same_score_and_another_seed_another() -> None:
    one, two, other = (
        measure_on_draws(Statistic("sum", "price"), ORIGINAL, GENERALIZED, seed=seed, n_draws=5) for seed in (1, 1, 2)
    )
    assert one == two
    assert one.value != other.value


@dataclass
class Counted:
    """Gives 1, 2, 3, … as its scores."""

    n: int = 0

    def measure(self, original: History, released: History) -> Score:
        self.n += 1
        return Score("counted", self.n, best=0, worst=math.inf)


def test_interval_is_students() -> None:
    score = measure_on_draws(Counted(), ORIGINAL, GENERALIZED, seed=1, n_draws=3)
    # The mean of 1, 2, 3 has the standard error 1/√3; t of two degrees of freedom is 4.302653.
    half = 4.302653 / math.sqrt(3)
    assert score.value == 2
    assert score.interval == pytest.approx((max(0, 2 - half), 2 + half))


def test_one_draw_has_no_interval_and_none_is_refused() -> None:
    assert measure_on_draws(Rows(), ORIGINAL, GENERALIZED, seed=1, n_draws=1).interval is None
    with pytest.raises(InputError, match="n_draws"):
        measure_on_draws(Rows(), ORIGINAL, GENERALIZED, seed=1, n_draws=0)


def test_everything_suppressed_can_be_drawn() -> None:
    stars = release("7 7 8 8", "* * * *", "* * * *", "* * * *", "* * * *")
    assert measure_on_draws(Rows(), ORIGINAL, stars, seed=1, n_draws=2).value == 0
