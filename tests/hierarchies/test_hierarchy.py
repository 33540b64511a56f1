"""Levels over leaves: how they nest, cross, and recode a column."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.hierarchies.hierarchy import Hierarchy, Level

AGES = Hierarchy.of_levels(
    "age",
    [
        ["15", "25", "35", "65"],
        ["10s", "20s", "30s", "60s"],
        ["-29", "-29", "30s", "60+"],
        ["minor", "adult", "adult", "senior"],
        ["*", "*", "*", "*"],
    ],
)
NESTED = Hierarchy.of_levels("age", [["23", "27", "31"], ["20-29", "20-29", "30-39"], ["*", "*", "*"]])


def test_level_of_labels_keeps_their_first_order() -> None:
    level = Level.of(["b", "a", "b"])
    assert level.labels == ("b", "a")
    assert level.codes.tolist() == [0, 1, 0]


def test_hierarchy_repeated_leaf_is_refused_with_both_lines() -> None:
    with pytest.raises(InputError) as caught:
        Hierarchy.of_levels("x", [["a", "b", "a"], ["*", "*", "*"]])
    assert caught.value.faults[0].line == 3
    assert "line 1" in str(caught.value)


def test_hierarchy_level_with_more_labels_than_the_one_before_is_refused() -> None:
    with pytest.raises(InputError, match="at most 1 labels"):
        Hierarchy.of_levels("x", [["a", "b"], ["*", "*"], ["c", "d"]])


def test_hierarchy_without_values_is_refused() -> None:
    with pytest.raises(InputError, match="at least one value"):
        Hierarchy.of_levels("x", [[]])


def test_hierarchy_finer_of_crossing_levels_compares_neither() -> None:
    assert not AGES.is_nested
    assert not AGES.finer[2, 3]
    assert not AGES.finer[3, 2]
    # The leaves and the decades group alike, so that the earlier one counts as the finer.
    assert AGES.finer[0, 1]
    assert not AGES.finer[1, 0]


def test_hierarchy_steps_of_crossing_levels_lead_to_both() -> None:
    assert AGES.above == ((1,), (2, 3), (4,), (4,), ())
    assert AGES.below == ((), (0,), (1,), (1,), (2, 3))


def test_check_nested_crossing_levels_names_leaf_and_label() -> None:
    with pytest.raises(InputError) as caught:
        AGES.check_nested()
    [fault] = caught.value.faults
    assert (fault.line, fault.column, fault.value) == (2, "4", "adult")
    assert fault.expected == "'minor', the label of '-29' above"


def test_recoding_of_a_level_labels_numbers_and_leaves_missing_ones() -> None:
    labels = NESTED.recoding(1).labels_of(pl.Series([31, None, 23]))
    assert labels.to_list() == ["30-39", None, "20-29"]


def test_recoding_of_the_top_labels_missing_ones_too() -> None:
    assert NESTED.recoding(2).labels_of(pl.Series(["27", None])).to_list() == ["*", "*"]


def test_check_level_outside_names_the_attribute() -> None:
    with pytest.raises(InputError, match="column age: found '3', expected a level from 0 to 2"):
        NESTED.recoding(3)


def test_with_top_adds_one_only_where_there_is_none() -> None:
    bare = Hierarchy.of_levels("x", [["a", "b"]])
    assert bare.with_top().levels[-1].labels == ("*",)
    assert NESTED.with_top() is NESTED


def test_from_level_keeps_the_levels_that_follow() -> None:
    five = AGES.from_level(2)
    assert five.leaves == ("-29", "30s", "60+")
    assert [len(level) for level in five.levels] == [3, 1]
    assert five.named("years").attribute == "years"


def test_hierarchies_of_the_same_labels_are_equal_and_hash_alike() -> None:
    again = Hierarchy.of_levels("age", [["23", "27", "31"], ["20-29", "20-29", "30-39"], ["*", "*", "*"]])
    other = Hierarchy.of_levels("age", [["23", "27", "31"], ["20-29", "30-39", "30-39"], ["*", "*", "*"]])
    assert again == NESTED
    assert hash(again) == hash(NESTED)
    assert other != NESTED
    assert NESTED.levels[0] != "23"


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=1, max_size=8))
def test_level_is_finer_where_each_of_its_labels_lies_in_one_of_the_other(labels: list[tuple[str, str]]) -> None:
    levels = [[str(at) for at in range(len(labels))], [one for one, _ in labels], [two for _, two in labels]]
    hierarchy = Hierarchy("x", tuple(Level.of(level) for level in levels))
    follows = all(two == other for one, two in labels for same, other in labels if one == same)
    assert hierarchy.finer[1, 2] == follows
    assert hierarchy.is_nested == follows
