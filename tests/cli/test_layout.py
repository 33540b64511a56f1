"""Tables and facts in any width: words are never broken."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tokumei.cli.output import block_lines, facts_lines, table_lines, wrapped


def test_table_in_wide_room_is_a_line_a_row_with_numbers_to_the_right() -> None:
    assert table_lines(["name", "n"], [["a", 10], ["bc", 1234]], 80) == [
        *("name      n", "────  ─────", "a        10", "bc    1,234")
    ]


def test_table_in_little_room_folds_its_sentences() -> None:
    lines = table_lines(["k", "why"], [[10, "more people would be found by it"]], 20)
    assert lines == [" k  why", "──  ────────────────", "10  more people", "    would be found", "    by it"]


def test_long_sentences_of_the_last_column_stand_below_their_rows() -> None:
    why = "its header says so, and nearly all of its different values are written as dates are"
    assert table_lines(["column", "distinct", "reason"], [["born", 4003, why]], 45) == [
        *("column  distinct", "    reason", "──────  ────────", "born       4,003"),
        *("    its header says so, and nearly all of its", "    different values are written as dates are"),
    ]


def test_table_that_does_not_fit_becomes_a_block_a_row() -> None:
    columns, rows = ["method", "suppressed"], [["local-recoding", 12345], ["optimal", 10]]
    assert table_lines(columns, rows, 20) is None
    assert block_lines(columns, rows, 20) == [
        *(("method      ", "local-recoding"), ("suppressed  ", "12,345"), ("", "")),
        *(("method      ", "optimal"), ("suppressed  ", "10")),
    ]


def test_block_keeps_columns_without_a_name() -> None:
    assert [value for _, value in block_lines(["", ""], [[1, 2]], 10)] == ["1", "2"]


def test_fact_that_is_long_goes_on_below_its_beginning() -> None:
    assert facts_lines({"note": "one two three"}, 14) == [("note  ", "one two"), ("      ", "three")]


def test_japanese_takes_two_places() -> None:
    assert wrapped("日本 東京", 5) == ["日本", "東京"]
    assert wrapped("日本 東京", 9) == ["日本 東京"]


cells = st.one_of(st.integers(0, 10**9), st.text("abc -", max_size=30), st.text("abc    ", max_size=99), st.none())


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(cells, min_size=n, max_size=n), max_size=4)), st.data())
def test_every_word_of_a_table_stands_whole_in_any_width(rows: list[list[object]], data: st.DataObject) -> None:
    columns = [f"column{index}" for index in range(len(rows[0]) if rows else 1)]
    width = data.draw(st.integers(5, 130))
    lines = table_lines(columns, rows, width)
    if lines is None:
        lines = [name + value for name, value in block_lines(columns, rows, width)]
    else:
        assert all(len(line) <= width for line in lines)
    found = " ".join(lines).split()
    for row in rows:
        for cell in row:
            shown = f"{cell:,}" if isinstance(cell, int) else "–" if cell is None else str(cell)
            assert all(word in found for word in shown.split())
