"""Whether a hierarchy fits a column."""

import datetime as dt

import polars as pl
import pytest

from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.leaves import check_hierarchy, missing_values

NUMBERS = Hierarchy.of_levels("x", [["1", "2", "10"], ["low", "low", "high"], ["*"] * 3])


@pytest.mark.parametrize(
    ("column", "missing"),
    [
        (pl.Series(["10", "1", None, "3", "3"]), ["3"]),
        (pl.Series([10, 11, 1, None, 3]), [3, 11]),
        (pl.Series([1.0, 2.5]), [2.5]),
        (pl.Series(["1", "a"], dtype=pl.Categorical), ["a"]),
        (pl.Series([None, None], dtype=pl.Int64), []),
        (pl.Series([dt.date(2011, 1, 2)]), [dt.date(2011, 1, 2)]),
        (pl.Series([True]), [True]),
    ],
)
def test_missing_values_are_given_once_and_in_order(column: pl.Series, missing: list[object]) -> None:
    assert missing_values(NUMBERS, column).to_list() == missing


def test_check_hierarchy_alone_tells_its_shape() -> None:
    check = check_hierarchy(NUMBERS)
    assert (check.n_leaves, check.n_levels, check.n_labels) == (3, 3, (3, 2, 1))
    assert check.has_single_top
    assert check.is_nested
    assert check.is_usable
    assert check.remarks == []


def test_check_hierarchy_with_a_column_tells_what_is_missing_and_unused() -> None:
    check = check_hierarchy(NUMBERS, pl.Series([1, 10, 12, None]))
    assert check.missing_values == ("12",)
    assert check.unused_leaves == ("2",)
    assert not check.is_usable
    assert check.remarks == [
        "The hierarchy lacks values of the column: '12'.",
        "The column never holds '2'.",
    ]


def test_check_hierarchy_leaves_that_read_alike_clash() -> None:
    twice = Hierarchy.of_levels("x", [["1", "01", "2"], ["*"] * 3])
    assert check_hierarchy(twice, pl.Series(["1", "01", "2"])).is_usable
    check = check_hierarchy(twice, pl.Series([1, 2]))
    assert check.clashing_leaves == ("1", "01")
    assert not check.is_usable


def test_check_hierarchy_crossing_without_top_is_remarked_but_usable() -> None:
    crossing = Hierarchy.of_levels("x", [list("abc"), list("uuv"), list("pqq")])
    check = check_hierarchy(crossing, pl.Series(["a", "b", "c"]))
    assert check.is_usable
    assert check.remarks == [
        "Levels cross: not every level follows from the one before.",
        "The coarsest level still tells 2 labels apart.",
    ]


def test_remarks_list_the_first_values_and_count_the_rest() -> None:
    check = check_hierarchy(NUMBERS, pl.Series(range(20, 30)))
    assert check.remarks[0] == ("The hierarchy lacks values of the column: '20', '21', '22', '23', '24' and 5 more.")
