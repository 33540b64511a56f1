from __future__ import annotations

import datetime

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.measures.utility.purchases import Price


def at_prices(*prices: float | None) -> History:
    frame = pl.DataFrame({"price": prices}, schema={"price": pl.Float64})
    is_kept = pl.col("price").is_not_null()
    return History.of(
        frame.with_columns(
            customer=pl.when(is_kept).then(pl.lit("a")),
            item=pl.when(is_kept).then(pl.lit("x")),
            date=pl.when(is_kept).then(datetime.date(2011, 1, 1)),
            quantity=pl.when(is_kept).then(1),
        )
    )


def test_price_up_or_down_counts_by_smaller_over_larger() -> None:
    # 2 → 4 and 4 → 1 lose 1/2 and 3/4; the deleted row adds nothing, the same price nothing.
    assert Price().measure(at_prices(2, 4, 3, 1), at_prices(4, 1, None, 1)).value == 1.25 / 4


def test_price_of_0_that_stays_is_unchanged_and_that_changes_is_lost() -> None:
    assert Price().measure(at_prices(0, 0), at_prices(0, 1)).value == 0.5


def test_release_with_other_rows_is_refused() -> None:
    with pytest.raises(InputError, match="as many rows"):
        Price().measure(at_prices(1, 2), at_prices(1))


def test_price_below_0_counts_by_its_size_and_one_that_changes_its_sign_is_lost() -> None:
    # −2 → −4 loses 1/2, −1 → 0 and −3 → 3 all of it.
    assert Price().measure(at_prices(-2, -1, -3, -5), at_prices(-4, 0, 3, -5)).value == 2.5 / 4
