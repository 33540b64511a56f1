from __future__ import annotations

import pytest
from tests.measures.pairs import Columns, in_order, table

from tokumei.core.errors import InputError
from tokumei.measures.table.generalized import CorrelationError

NUMBERS = {"a": [1, 2, 3, 4], "b": [1, 2, 3, 4]}


def error(original: Columns, released: Columns) -> float:
    return CorrelationError().measure(table(original), table(released), in_order(released)).value


def test_correlation_error_of_the_worked_example() -> None:
    assert error(NUMBERS, NUMBERS | {"b": ["1-2", "1-2", "3-4", "3-4"]}) == pytest.approx(1 / 10)


def test_correlation_error_of_a_column_turned_round_is_whole() -> None:
    assert error(NUMBERS, NUMBERS | {"b": [4, 3, 2, 1]}) == pytest.approx(1)


def test_correlation_error_of_a_column_that_says_nothing_is_the_correlation_lost() -> None:
    assert error(NUMBERS, NUMBERS | {"b": ["*"] * 4}) == pytest.approx(1 / 2)


def test_correlation_error_leaves_rows_with_missing_values_out_of_a_pair() -> None:
    assert error(NUMBERS, NUMBERS | {"b": [1, None, None, 4]}) == pytest.approx(0, abs=1e-12)


def test_correlation_error_of_one_column_of_numbers_is_refused() -> None:
    mixed = {"a": [1, 2], "town": ["A", "B"]}
    with pytest.raises(InputError, match="columns of numbers, 2 or more"):
        error(mixed, mixed)
