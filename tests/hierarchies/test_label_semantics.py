from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.label_semantics import LeafSets, Vocabulary, meanings

AGES = Hierarchy.of_levels(
    "age", [["20", "21", "25", "30"], ["20-24", "20-24", "25-29", "30-34"], ["young", "young", "young", "old"]]
)


def leaves_of(hierarchy: Hierarchy, label: str | None, *, is_numeric: bool = False) -> list[str]:
    held = meanings(hierarchy, [label], is_numeric=is_numeric)[:, 0]
    return [leaf for leaf, is_held in zip([*hierarchy.leaves, "missing"], held, strict=True) if is_held]


@pytest.mark.parametrize(
    ("label", "leaves"),
    [
        ("20", ["20"]),
        ("20-24", ["20", "21"]),
        ("young", ["20", "21", "25"]),
        ("*", ["20", "21", "25", "30", "missing"]),
        (None, ["missing"]),
        ("{20;old}", ["20", "30"]),
    ],
)
def test_label_of_a_hierarchy_stands_for_its_leaves(label: str | None, leaves: list[str]) -> None:
    assert leaves_of(AGES, label) == leaves


@pytest.mark.parametrize(
    ("label", "leaves"),
    [
        ("21-25", ["21", "25"]),
        ("0-999999999999999999999999999999", ["20", "21", "25", "30"]),
        ("[20.5, 30]", ["21", "25", "30"]),
        ("[20.5, 30)", ["21", "25"]),
        ("22-24", []),
        ("21.0", ["21"]),
        ("22", []),
        ("{21-25;30}", ["21", "25", "30"]),
        ("{21-25, 30}", ["21", "25", "30"]),
        ("[20.5, 30[", ["21", "25"]),
        ("]20, 25]", ["21", "25"]),
        ("(20, 25]", ["21", "25"]),
        ("<25", ["20", "21"]),
        (">=25", ["25", "30"]),
    ],
)
def test_range_of_a_numeric_column_stands_for_the_leaves_in_it(label: str, leaves: list[str]) -> None:
    assert leaves_of(AGES, label, is_numeric=True) == leaves


CODES = Hierarchy.of_levels("code", [["13053", "13068", "14850", "1305"], ["near", "near", "far", "near"]])


@pytest.mark.parametrize(
    ("label", "leaves"),
    [
        ("130**", ["13053", "13068"]),
        ("1****", ["13053", "13068", "14850"]),
        ("**0**", ["13053", "13068"]),
        ("130*", ["1305"]),
        ("{130**;far}", ["13053", "13068", "14850"]),
        ("{14850, 1305}", ["14850", "1305"]),
    ],
)
def test_mask_stands_for_the_leaves_that_agree_with_it(label: str, leaves: list[str]) -> None:
    assert leaves_of(CODES, label) == leaves


def test_value_with_a_comma_is_one_member_and_a_mask_that_nothing_fits_is_refused() -> None:
    towns = Hierarchy.of_levels("town", [["Nara, Japan", "Nara", "Japan"]])
    assert leaves_of(towns, "{Nara, Japan}") == ["Nara, Japan"]
    assert leaves_of(towns, "{Nara;Japan}") == ["Nara", "Japan"]
    for label in ("2****", "130***", "{13053, 9}"):
        with pytest.raises(InputError):
            meanings(CODES, [label])


def test_range_of_negative_numbers_is_read_with_two_dots() -> None:
    degrees = Hierarchy.of_levels("degrees", [["-7", "3", "-5", "-1"]])
    assert leaves_of(degrees, "-5..-1", is_numeric=True) == ["-5", "-1"]
    assert leaves_of(degrees, "-5..3", is_numeric=True) == ["3", "-5", "-1"]


def test_text_at_several_levels_stands_for_the_most() -> None:
    towns = Hierarchy.of_levels("town", [["Nara", "Uji", "Kobe"], ["Nara", "Nara", "Kobe"]])
    assert leaves_of(towns, "Nara") == ["Nara", "Uji"]


def test_single_label_of_a_level_stands_for_the_missing_value_too() -> None:
    towns = Hierarchy.of_levels("town", [["Nara", "Uji"], ["Japan", "Japan"]])
    assert leaves_of(towns, "Japan") == ["Nara", "Uji", "missing"]
    # A column that happens to hold one value was not recoded.
    assert leaves_of(Hierarchy.of_levels("town", [["Nara"]]), "Nara") == ["Nara"]


@pytest.mark.parametrize(
    "label", ["x", "21-25", "", "{20;x}", "{{20};21}", "{" * 5000 + "}" * 5000, "[1, 2", "9" * 100_000 + "x", "{}"]
)
def test_label_without_a_meaning_is_refused_with_column_and_value(label: str) -> None:
    with pytest.raises(InputError) as raised:
        meanings(AGES, ["20", label])
    (fault,) = raised.value.faults
    assert (fault.column, fault.value) == ("age", label)


def test_flat_column_has_its_values_as_leaves_whatever_their_type() -> None:
    flat = Vocabulary.of("age", [pl.Series([30, 4, None]), pl.Series(["12"])], is_numeric=True)
    assert flat.indices(pl.Series([4, 12, 30, None])).tolist() == [0, 1, 2, 3]
    assert flat.indices(pl.Series(["4", "30"])).tolist() == [0, 2]
    codes, sets = flat.read(pl.Series(["4-12", None, "*", "4-12"]))
    assert codes.tolist() == [1, 2, 0, 1]
    assert sets.sizes.tolist() == [4, 2, 1]


def test_value_that_is_no_leaf_is_refused() -> None:
    with pytest.raises(InputError, match="column age: found '99'"):
        Vocabulary(AGES).indices(pl.Series(["20", "99"]))


def test_range_in_a_column_of_words_is_refused_with_what_to_do() -> None:
    flat = Vocabulary.of("age", [pl.Series(["31", "35"])], is_numeric=False)
    with pytest.raises(InputError, match=r"found '30-34'.*a range only in a column declared to be of numbers"):
        flat.leaf_sets(["30-34"])


def test_numbers_that_share_a_float_stay_apart() -> None:
    values = ["9007199254740992", "9007199254740993", "1e308", "-1e308"]
    column = Vocabulary.of("n", [pl.Series(values)], is_numeric=True)
    assert column.indices(pl.Series(values)).tolist() == [1, 2, 3, 0]
    sets = column.leaf_sets(["9007199254740993-9007199254740999"])
    assert (sets.first.tolist(), sets.end.tolist()) == ([2], [3])


def test_numeric_column_with_a_word_is_refused() -> None:
    with pytest.raises(InputError, match="found 'old', expected a finite number"):
        meanings(Hierarchy.of_levels("age", [["1", "old"]]), ["1"], is_numeric=True)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=9, unique=True), st.integers(-9, 9), st.integers(0, 9))
def test_range_stands_for_the_numbers_in_it(values: list[int], low: int, width: int) -> None:
    hierarchy = Hierarchy.of_levels("n", [[str(value) for value in values]])
    high = low + width
    held = meanings(hierarchy, [f"{low}..{high}", f"[{low}, {high + 0.5})"], is_numeric=True)
    expected = [low <= value <= high for value in values]
    assert held[:-1, 0].tolist() == held[:-1, 1].tolist() == expected


@given(st.data())
def test_contain_and_rows_say_the_same(data: st.DataObject) -> None:
    labels = data.draw(st.lists(st.sampled_from(["20", "21", "20-24", "young", "old", "*", None, "{21;30}", "25-29"])))
    vocabulary = Vocabulary(AGES, is_numeric=True)
    sets = vocabulary.leaf_sets(labels)
    table = sets.rows(np.arange(5))
    assert sets.sizes.tolist() == table.sum(axis=0).tolist()
    for index in range(5):
        codes = np.arange(len(labels))
        assert sets.contain(codes, np.full(len(labels), index)).tolist() == table[index].tolist()


def test_label_at_each_index_is_the_one_that_holds_it() -> None:
    # Labels 0 and 1 alternate, 2 has no leaf, and index 5 has no label.
    sets = LeafSets.of(7, [[(0, 2), (4, 5)], [(2, 4), (6, 7)], []])
    assert sets.label_at is not None
    assert sets.label_at.tolist() == [0, 0, 1, 1, 0, -1, 1]
    assert LeafSets.of(3, [[(0, 2)], [(1, 3)]]).label_at is None
    assert LeafSets.of(2, []).label_at.tolist() == [-1, -1]  # type: ignore[union-attr]


@given(st.lists(st.sampled_from(["20", "21", "25", "30", "99", None]), min_size=1, max_size=8), st.data())
def test_indices_of_some_rows_are_those_of_their_values_alone(values: list[str | None], data: st.DataObject) -> None:
    rows = np.array(data.draw(st.lists(st.integers(0, len(values) - 1))), np.int64)
    cells, vocabulary = pl.Series(values, dtype=pl.String), Vocabulary(AGES)
    if "99" in [values[row] for row in rows]:
        with pytest.raises(InputError, match=r"^people\.csv, column age: found '99'"):
            vocabulary.indices(cells, rows, file="people.csv")
    else:
        assert vocabulary.indices(cells, rows).tolist() == vocabulary.indices(cells.gather(rows)).tolist()


def test_label_that_means_nothing_is_told_with_its_file() -> None:
    with pytest.raises(InputError, match=r"^release\.csv, column age: found '2x'"):
        Vocabulary(AGES).read(pl.Series(["20", "2x"]), file="release.csv")
