from __future__ import annotations

import datetime

import polars as pl

from tokumei.core.seeds import generator
from tokumei.data.cells import read_range_cells, read_set_cells
from tokumei.data.history import History
from tokumei.data.release import GeneralizedHistory
from tokumei.measures.generalized_histories import DrawnCells

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


def test_everything_suppressed_can_be_drawn() -> None:
    stars = release("7 7 8 8", "* * * *", "* * * *", "* * * *", "* * * *")
    assert DrawnCells.of(ORIGINAL, stars).draw(generator(1)).frame.height == ORIGINAL.frame.height
