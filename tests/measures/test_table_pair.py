from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.table import Table
from tokumei.measures.table.pair import TablePair


def table(**columns: list[object]) -> Table:
    return Table.with_quasi_identifiers(pl.DataFrame(columns), ["q"], sensitive=["s"])


def test_pair_gives_equal_values_equal_codes_and_missing_the_last() -> None:
    pair = TablePair.of(table(q=["b", None, "c"], s=[1, 2, 3]), table(q=["a", None], s=[1, 2]))
    assert pair.codes.tolist() == [[1], [3], [2]]
    assert pair.released_codes.tolist() == [[0], [3]]


def test_pair_of_nothing_but_missing_values_is_one_class() -> None:
    original = Table.with_quasi_identifiers(pl.DataFrame({"q": pl.Series([None, None], dtype=pl.String)}), ["q"])
    assert TablePair.of(original, original).codes.tolist() == [[0], [0]]


def test_distance_is_the_mean_of_unequal_codes_and_spreads() -> None:
    # The standard deviation of 0, 0, 2, 2 is 1.
    original = table(q=["a", "a", "b", "b"], s=[0, 0, 2, 2])
    pair = TablePair.of(original, table(q=["a", "a", "a"], s=[0.0, 0.5, 9.0]))
    assert pair.distances(np.array([0, 1, 2])).tolist() == [0, 0.25, 1]


def test_distance_where_the_original_never_varies_is_one() -> None:
    pair = TablePair.of(table(q=["a", "a"], s=[5, 5]), table(q=["a", "a"], s=[5, 6]))
    assert pair.distances(np.array([0, 1])).tolist() == [0, 0.5]


@pytest.mark.parametrize(
    ("released", "expected"),
    [
        (table(q=["a"], s=[None]), "numbers in a sensitive column"),
        (table(q=["a"], s=["1"]), "numbers in a sensitive column"),
        (table(q=["a", "a"], s=[1.0, None]), "line 2, column s: found '', expected a finite number"),
        (table(q=["a"], s=[float("inf")]), "expected a finite number"),
        (table(q=["a"], s=[1e200]), "expected a finite number"),
        (table(q=[1], s=[1]), "the type of the original, String"),
        (table(q=[], s=[]), "a row or more"),
        (Table.with_quasi_identifiers({"q": ["a"], "s": [1]}, ["q"]), "the sensitive columns of the original: s"),
        (Table.with_quasi_identifiers({"q": ["a"], "s": [1]}, [], sensitive=["s"]), "the quasi-identifiers of"),
    ],
)
def test_pair_of_tables_that_do_not_fit_is_refused(released: Table, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        TablePair.of(table(q=["a", "b"], s=[1, 2]), released)


@pytest.mark.parametrize("rows", [[0], [0, 2], [-1, 0], [0, None]])
def test_row_numbers_that_are_none_are_refused(rows: list[int | None]) -> None:
    pair = TablePair.of(table(q=["a", "b"], s=[1, 2]), table(q=["a", "b"], s=[1, 2]))
    with pytest.raises(InputError):
        pair.checked_rows(pl.Series(rows))
