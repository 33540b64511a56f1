from __future__ import annotations

import math

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.engines.history_rows import rows_of
from tokumei.measures.utility.customers import RfmTable, customer_values


def history(*rows: tuple[str, int, float, int]) -> History:
    frame = pl.DataFrame(list(rows), schema=["customer", "day", "price", "quantity"], orient="row")
    return History.of(frame.with_columns(date=pl.date(2011, 1, pl.col("day")), item=pl.lit("x")))


# With two ranks a and b are early and cheap, c and d late and dear; all bought on one day only.
ORIGINAL = history(("a", 1, 1.0, 1), ("b", 2, 1.0, 2), ("c", 3, 1.0, 3), ("d", 4, 2.0, 2))


def test_customer_that_changes_its_segment_is_an_error_in_two_cells() -> None:
    # The table was 2, 2 and becomes 2, 1, 1: squares of the difference 0 + 1 + 1, of the counts 8 and 6.
    released = history(("a", 1, 1.0, 1), ("b", 2, 1.0, 2), ("c", 3, 1.0, 3), ("d", 4, 0.5, 2))
    assert RfmTable(2).measure(ORIGINAL, released).value == pytest.approx(math.sqrt(2 / 14))
    # The root mean square over 8 cells is 1/2, and the counts go from 0 to 2.
    assert RfmTable(2, "range").measure(ORIGINAL, released).value == pytest.approx(1 / 4)


def test_tables_without_a_common_segment_are_worst() -> None:
    released = history(("a", 1, 9.0, 1), ("b", 2, 9.0, 2))
    assert RfmTable(2).measure(ORIGINAL, released).value == 1


def test_only_ids_changed_is_exactly_0() -> None:
    released = History(ORIGINAL.frame.with_columns(customer="P" + pl.col("customer")).reverse())
    assert RfmTable().measure(ORIGINAL, released).value == 0


def test_frequency_counts_days_and_money_all_rows() -> None:
    values = customer_values(rows_of(history(("a", 1, 0.1, 3), ("a", 1, 0.2, 1), ("a", 9, 1.0, 1))))
    assert values.select("frequency", "money").row(0) == (2, 15_000)


def test_everything_deleted_is_worst_and_nothing_to_begin_with_best() -> None:
    gone = History(ORIGINAL.frame.with_columns(pl.when(pl.lit(value=False)).then(pl.all())))
    assert RfmTable().measure(ORIGINAL, gone).value == 1
    assert RfmTable().measure(gone, gone).value == 0


def test_one_rank_is_refused() -> None:
    with pytest.raises(InputError, match="n_ranks"):
        RfmTable(1).measure(ORIGINAL, ORIGINAL)
