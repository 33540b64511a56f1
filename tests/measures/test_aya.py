from __future__ import annotations

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.table import Table
from tokumei.measures.table.row_by_row import Aya


def table(amounts: list[float]) -> Table:
    names = [f"n{int(amount)}" for amount in amounts]
    return Table.with_quasi_identifiers({"q": names, "s": amounts}, ["q"], sensitive=["s"])


# Every row has a code of its own; each released amount has moved a little.
ORIGINAL = table([0, 1, 2, 3, 4, 5, 6, 7])
RELEASED = table([0.1, 1.1, 2.1, 3.1, 4.1, 5.1, 6.1, 7.1])


def test_aya_of_true_row_numbers_is_zero() -> None:
    assert Aya().measure(ORIGINAL, RELEASED, pl.Series(range(8))).value == 0


def test_aya_counts_rows_declared_among_the_farthest_quarter() -> None:
    # Row 0 is declared to be the one that is far from all: 7 of 7 others are nearer, in 1 row of 8.
    original = Table.with_quasi_identifiers({"s": [0.0, 1, 2, 3, 4, 5, 6, 1000]}, [], sensitive=["s"])
    released = Table.with_quasi_identifiers({"s": [0.1, 1, 2, 3, 4, 5, 6, 1000]}, [], sensitive=["s"])
    assert Aya().measure(original, released, pl.Series([7, 1, 2, 3, 4, 5, 6, 7])).value == 4 / 8


def test_aya_counts_rows_as_far_by_half() -> None:
    # The standard deviation of the amounts is 2.3, and what is farther is as far. From row 0, declared to be row 7, the
    # rows 0, 1 and 2 are nearer and 3 to 6 as far: 3 + 4/2 of 7, not more than three quarters. Row 7 likewise.
    assert Aya().measure(ORIGINAL, RELEASED, pl.Series([7, 1, 2, 3, 4, 5, 6, 0])).value == 0


def test_aya_of_rows_that_are_alike_is_zero() -> None:
    alike = Table.with_quasi_identifiers({"q": ["a"] * 4, "s": [1, 1, 1, 1]}, ["q"], sensitive=["s"])
    assert Aya().measure(alike, alike, pl.Series([3, 2, 1, 0])).value == 0


def test_aya_compares_as_many_rows_as_told() -> None:
    assert Aya(3).measure(ORIGINAL, RELEASED, pl.Series(range(8))).inputs["n_compared"] == 3
    with pytest.raises(InputError, match="at least 1"):
        Aya(0)
