from __future__ import annotations

import pytest
from tests.measures.pairs import Columns, in_order, table

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.measures.table.crosstab_error import CrosstabError

PEOPLE = {"sex": list("ffmm"), "town": list("AABB")}


def error(original: Columns, released: Columns) -> Score:
    return CrosstabError().measure(table(original), table(released), in_order(released))


def test_crosstab_error_of_the_worked_example() -> None:
    score = error(PEOPLE, PEOPLE | {"town": ["*", "*", "B", "B"]})
    assert score.value == 1 / 4
    assert score.inputs == {"worst": "sex, town", "worst_error": 1 / 4}


def test_crosstab_error_of_exchanged_columns_is_whole() -> None:
    assert error(PEOPLE, PEOPLE | {"town": list("BBAA")}).value == 1


def test_crosstab_error_of_fewer_rows_with_the_same_shares_is_none() -> None:
    assert error(PEOPLE, {"sex": ["f", "m"], "town": ["A", "B"]}).value == 0


def test_crosstab_error_of_one_column_compares_its_shares() -> None:
    assert error({"town": list("AABB")}, {"town": list("AAAB")}).value == 1 / 4


def test_crosstab_error_keeps_missing_values_apart() -> None:
    assert error({"town": ["A", "A", "A", None]}, {"town": ["A", "A", "*", None]}).value == 0
    assert error({"town": ["A", "A"]}, {"town": ["A", None]}).value == 1 / 2


def test_crosstab_error_of_many_numbers_is_by_tenths() -> None:
    numbers = list(range(100))
    # All within their own tenth: nobody is in another cell.
    shuffled = [10 * (number // 10) + (number + 3) % 10 for number in numbers]
    assert error({"age": numbers}, {"age": shuffled}).value == 0
    assert error({"age": numbers}, {"age": [f"{10 * (n // 10)}-{10 * (n // 10) + 9}" for n in numbers]}).value < 1e-12
    assert error({"age": numbers}, {"age": ["0-9"] * 100}).value == pytest.approx(9 / 10)


def test_crosstab_error_of_many_words_is_by_the_most_frequent() -> None:
    words = [f"w{number}" for number in range(80)] + ["w0"] * 20
    assert error({"word": words}, {"word": words[::-1]}).value == 0
    assert error({"word": words}, {"word": ["w79"] * 100}).value == pytest.approx(1 - 31 / 100)


def test_crosstab_error_of_a_label_without_a_meaning_is_refused() -> None:
    with pytest.raises(InputError, match="column town: found 'C'"):
        error(PEOPLE, PEOPLE | {"town": list("AABC")})
    with pytest.raises(InputError, match="column town: expected the columns of the original"):
        error(PEOPLE, {"sex": list("ffmm")})


def test_crosstab_error_of_one_column_that_says_nothing_is_that_of_its_shares() -> None:
    assert error({"town": ["A", "B"]}, {"town": ["*", "*"]}).value == 0
