from __future__ import annotations

from datetime import date

import polars as pl
import pytest

from tokumei.data.cells import Kind, RangeCells, SetCells
from tokumei.data.history import History
from tokumei.data.release import GeneralizedHistory

HISTORY = History.of(
    pl.DataFrame(
        {
            "customer": ["1", None, "2"],
            "date": [date(2011, 1, 5), None, date(2011, 2, 6)],
            "item": ["A", None, "B"],
            "price": [1.5, None, 2.0],
            "quantity": [3, None, 4],
        }
    )
)


def test_generalized_history_of_a_plain_one_says_all() -> None:
    release = GeneralizedHistory.of(HISTORY)
    assert release.n_rows == 3
    assert release.customer.to_list() == ["1", "*", "2"]
    assert release.is_deleted.to_list() == [False, True, False]
    assert release.date.kind.to_list() == [Kind.VALUE, Kind.SUPPRESSED, Kind.VALUE]
    assert release.contains(HISTORY).rows() == [(True,) * 4] * 3


def test_contains_tells_which_cell_does_not_hold_the_truth() -> None:
    other = History(HISTORY.frame.with_columns(item=pl.lit("A"), quantity=pl.lit(3, pl.Int64)))
    assert GeneralizedHistory.of(HISTORY).contains(other).row(2) == (True, False, True, False)


def test_filter_keeps_the_marked_rows_of_all_columns() -> None:
    kept = GeneralizedHistory.of(HISTORY).filter(pl.Series([False, False, True]))
    assert (kept.n_rows, kept.customer.to_list(), kept.item.members.to_list()) == (1, ["2"], [["B"]])


def test_columns_of_different_lengths_are_refused() -> None:
    short = RangeCells.of(pl.Series([1.0]))
    with pytest.raises(ValueError, match="as many rows"):
        GeneralizedHistory(pl.Series(["1", "2"]), short, SetCells.of(pl.Series(["A"])), short, short)
