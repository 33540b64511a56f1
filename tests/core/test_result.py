"""Results show themselves: in one line, as HTML, as plain values and as a frame."""

from __future__ import annotations

import pandas as pd
import polars as pl

from tokumei.core.result import Answer, Facts, Rows, Sentence, frame_of, shown

FOUND = Answer(
    {"rows": 1234, "methods": [{"name": "optimal", "loss": 0.25}]},
    [Facts({"rows": 1234}), Rows(["method", "loss"], [["optimal", 0.25]]), Sentence("It <holds>.")],
)


def test_result_repr_is_one_line_of_facts() -> None:
    assert repr(FOUND) == "Answer(rows 1,234)"


def test_result_html_has_tables_and_no_markup_of_the_data() -> None:
    html = FOUND._repr_html_()
    assert "1,234" in html
    assert "<th>method</th>" in html
    assert "It &lt;holds&gt;." in html


def test_result_frame_is_its_first_table() -> None:
    assert FOUND.to_frame().equals(pl.DataFrame({"method": ["optimal"], "loss": [0.25]}))


def test_result_without_a_table_gives_its_facts_as_a_frame() -> None:
    assert Answer({"k": 5}).to_frame().rows() == [("k", "5")]


def test_result_without_sections_shows_all_values() -> None:
    assert Answer({"k": 5}).sections() == [Facts({"k": 5})]


def test_frame_keeps_values_of_a_column_that_mixes_numbers_and_words() -> None:
    assert frame_of(["value"], [[1], ["two"], [None]])["value"].to_list() == ["1", "two", None]


def test_frame_is_of_the_kind_that_its_caller_works_with() -> None:
    assert isinstance(frame_of(["a"], [[1]], "pandas"), pd.DataFrame)


def test_shown_values_cannot_move_the_cursor() -> None:
    assert shown("a\x1b[2Jb\nc") == "a\\x1b[2Jb\\nc"
    assert shown("\u202eabc") == "\\u202eabc"
    assert shown("日本") == "日本"


def test_nothing_is_shown_as_a_dash() -> None:
    nothing: list[object] = [None, [], {}, ()]
    assert [shown(value) for value in nothing] == ["–"] * 4
    assert [shown([0]), shown("")] == ["0", ""]


def test_shown_numbers_keep_their_digits() -> None:
    assert [shown(value) for value in (10, 12345, 0.123456, None, True, (1.5, 2))] == [
        *("10", "12,345", "0.1235", "–", "yes", "1.5, 2")
    ]
