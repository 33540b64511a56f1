from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.data.cells import Kind, RangeCells, SetCells, read_range_cells, read_set_cells


def as_int(cell: pl.Expr) -> pl.Expr:
    return cell.cast(pl.Int64, strict=False)


def as_text(number: pl.Expr) -> pl.Expr:
    return number.cast(pl.String)


BROKEN_RANGES = [
    "",
    "x",
    "[",
    "]",
    "[]",
    "[;]",
    "[1]",
    "[1;]",
    "[;2]",
    "[2;1]",
    "[1;2;3]",
    "[1;2",
    "1;2",
    "1]",
    "{1;2}",
]
BROKEN_SETS = ["", "{", "}", "{}", "{;}", "{a;}", "{a;a}", "{a;*}", "{{a}}", "{a;b", "a}", "a;b", "[a;b]", "**"]


def test_range_cells_read_values_ranges_and_stars() -> None:
    cells = read_range_cells(pl.Series(["7", "[3;9]", "[4;4]", "*"]), as_int)
    assert list(zip(cells.kind, cells.low, cells.high, strict=True)) == [
        (Kind.VALUE, 7, 7),
        (Kind.RANGE, 3, 9),
        (Kind.RANGE, 4, 4),
        (Kind.SUPPRESSED, None, None),
    ]


@pytest.mark.parametrize("text", [*BROKEN_RANGES, "[*;3]", None])
def test_range_cell_that_cannot_be_read_is_broken(text: str | None) -> None:
    assert read_range_cells(pl.Series([text], dtype=pl.String), as_int).kind.to_list() == [Kind.BROKEN]


def test_set_cells_read_values_sets_and_stars() -> None:
    cells = read_set_cells(pl.Series(["22728", "{a;b}", "{c}", "*"]))
    assert cells.kind.to_list() == [Kind.VALUE, Kind.SET, Kind.SET, Kind.SUPPRESSED]
    assert cells.members.to_list() == [["22728"], ["a", "b"], ["c"], None]
    assert cells.sizes().to_list() == [1, 2, 1, None]


@pytest.mark.parametrize("text", [*BROKEN_SETS, None])
def test_set_cell_that_cannot_be_read_is_broken(text: str | None) -> None:
    assert read_set_cells(pl.Series([text], dtype=pl.String)).kind.to_list() == [Kind.BROKEN]


def test_cells_contain_their_whole_leaf_set() -> None:
    ranges = read_range_cells(pl.Series(["5", "[1;6]", "[1;6]", "*"]), as_int)
    assert ranges.contains(pl.Series([5, 6, 7, 99])).to_list() == [True, True, False, True]
    sets = read_set_cells(pl.Series(["a", "{a;b}", "{a;b}", "*"]))
    assert sets.contains(pl.Series(["a", "b", "c", "z"])).to_list() == [True, True, False, True]


def test_cells_of_values_suppress_what_is_missing() -> None:
    ranges = RangeCells.of(pl.Series([1, None]))
    assert ranges.kind.to_list() == [Kind.VALUE, Kind.SUPPRESSED]
    assert ranges.to_text(as_text).to_list() == ["1", "*"]
    sets = SetCells.of(pl.Series(["a", None]))
    assert sets.members.to_list() == [["a"], None]
    assert sets.to_text().to_list() == ["a", "*"]


def test_filter_keeps_the_marked_cells() -> None:
    mask = pl.Series([False, True, True])
    ranges = read_range_cells(pl.Series(["1", "[2;3]", "*"]), as_int).filter(mask)
    assert (len(ranges), ranges.to_text(as_text).to_list()) == (2, ["[2;3]", "*"])
    sets = read_set_cells(pl.Series(["a", "{b;c}", "*"])).filter(mask)
    assert (len(sets), sets.to_text().to_list()) == (2, ["{b;c}", "*"])


numbers = st.integers(-99, 99)
range_texts = st.one_of(
    st.just("*"), numbers.map(str), st.tuples(numbers, numbers).map(lambda pair: f"[{min(pair)};{max(pair)}]")
)
names = st.text("abcXYZ019", min_size=1, max_size=3)
set_texts = st.one_of(
    st.just("*"),
    names,
    st.lists(names, min_size=1, max_size=4, unique=True).map(lambda list_: "{" + ";".join(list_) + "}"),
)


@given(st.lists(range_texts, max_size=6))
def test_range_cells_written_are_what_was_read(texts: list[str]) -> None:
    cells = read_range_cells(pl.Series(texts, dtype=pl.String), as_int)
    assert cells.to_text(as_text).to_list() == texts


@given(st.lists(set_texts, max_size=6))
def test_set_cells_written_are_what_was_read(texts: list[str]) -> None:
    cells = read_set_cells(pl.Series(texts, dtype=pl.String))
    assert cells.to_text().to_list() == texts


@given(st.lists(st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=3, unique=True), max_size=5))
def test_sets_of_any_names_are_read_as_they_were_written(members: list[list[str]]) -> None:
    kinds = [Kind.SET if len(one) > 1 else Kind.VALUE for one in members]
    cells = SetCells(pl.Series(kinds, dtype=pl.UInt8), pl.Series(members, dtype=pl.List(pl.String)))
    read = read_set_cells(cells.to_text())
    assert (read.kind.to_list(), read.members.to_list()) == (kinds, members)
