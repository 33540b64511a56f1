from __future__ import annotations

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.table import Table
from tokumei.measures.table.row_by_row import RowCount

FOUR, THREE = (Table.with_quasi_identifiers({"q": ["a"] * n}, ["q"]) for n in (4, 3))


def test_row_count_is_the_share_of_rows_gone() -> None:
    assert RowCount().measure(FOUR, THREE, pl.Series([0, 1, 2])).value == 0.25


def test_row_count_of_more_rows_than_there_were_is_refused() -> None:
    with pytest.raises(InputError, match="at most the original's 3 rows"):
        RowCount().measure(THREE, FOUR, pl.Series([0, 1, 2, 0]))
