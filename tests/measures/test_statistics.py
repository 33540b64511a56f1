from __future__ import annotations

import pytest
from tests.measures.pairs import Columns, in_order, table

from tokumei.core.errors import InputError
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.table.generalized import CorrelationError, Statistics

AGES = {"age": [20, 20, 24, 24]}


def shifts(original: Columns, released: Columns, **options: object) -> dict[str, dict[str, float]]:
    score = Statistics(**options).measure(table(original), table(released), in_order(released))  # type: ignore[arg-type]
    found: dict[str, dict[str, float]] = score.inputs["shifts"]
    return found


def test_statistics_of_the_worked_example() -> None:
    whole = Statistics().measure(table(AGES), table({"age": ["20-24"] * 4}), in_order(AGES))
    assert whole.value == 0
    single = Statistics().measure(table(AGES), table({"age": ["20"] * 4}), in_order(AGES))
    assert single.value == 3 / 5
    assert single.inputs["shifts"]["age"] == {"mean": 1, "variance": 1, "median": 0, "least": 0, "greatest": 1}


def test_statistics_of_numbers_that_no_original_has_are_taken_as_they_are() -> None:
    moved = shifts(AGES, {"age": [20.0, 20.0, 24.0, 25.0]})["age"]
    # The mean moves by 1/4 and the greatest by 1, of a spread of 2.
    assert (moved["mean"], moved["greatest"], moved["median"]) == (1 / 8, 1 / 2, 0)


def test_statistics_spread_a_label_over_the_leaves_of_its_hierarchy() -> None:
    tree = Hierarchy.of_levels("age", [["20", "22", "24"], ["*", "*", "*"]])
    moved = shifts(AGES, {"age": ["*"] * 4}, hierarchies={"age": tree})["age"]
    # A third each at 20, 22 and 24: the variance is 8/3 where it was 4.
    assert moved["variance"] == pytest.approx(1 / 3)
    assert (moved["mean"], moved["median"], moved["greatest"]) == (0, 1, 0)


def test_statistics_leave_missing_values_out_and_lose_all_of_an_empty_column() -> None:
    assert set(shifts(AGES, {"age": [20, 24, None, None]})["age"].values()) == {0}
    assert set(shifts(AGES, {"age": [None, None, None, None]})["age"].values()) == {1}


def test_statistics_of_text_need_to_be_told_what_is_a_number() -> None:
    texts = {"age": ["20", "20", "24", "24"]}
    with pytest.raises(InputError, match="columns of numbers, 1 or more"):
        Statistics().measure(table(texts), table(texts), in_order(texts))
    assert Statistics(numeric=("age",)).measure(table(texts), table(texts), in_order(texts)).value == 0


def test_statistics_of_a_constant_column_count_any_shift_as_whole() -> None:
    assert shifts({"age": [20, 20]}, {"age": [20, 21]})["age"]["mean"] == 1


def test_statistics_and_correlations_do_not_look_at_text() -> None:
    # No hierarchy says what "south" stands for, and nobody asks.
    people = {"age": [20, 24, 28], "income": [1, 2, 3], "town": ["A", "B", "C"]}
    released = people | {"town": ["south"] * 3}
    for part in (Statistics(), CorrelationError()):
        assert part.measure(table(people), table(released), in_order(released)).value == 0
