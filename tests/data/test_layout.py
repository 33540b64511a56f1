from __future__ import annotations

import csv
import io
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.core.errors import FaultList, InputError
from tokumei.data.files.csv import read_csv
from tokumei.data.files.layout import Layout, check_layout
from tokumei.data.files.text_bytes import inside_quotes


def layout_of(*blocks: str, delimiter: str = ",") -> Layout:
    return check_layout([block.encode() for block in blocks], delimiter, FaultList("file"))


def test_layout_counts_records_and_columns() -> None:
    layout = layout_of("a,b\n1,2\n3,4")
    assert (layout.n_records, layout.n_columns, layout.has_quotes, layout.line_end) == (3, 2, False, "\n")
    assert [layout.line_of(record) for record in range(3)] == [1, 2, 3]


def test_layout_of_quoted_line_ends_knows_the_line_of_each_record() -> None:
    layout = layout_of('a,b\r\n"1\r\n1",2\r\n3,4\r\n"5\n\n",6\r\n7,8\r\n')
    assert (layout.n_records, layout.line_end) == (5, "\r\n")
    assert [layout.line_of(record) for record in range(5)] == [1, 2, 4, 5, 8]


def test_layout_with_known_columns_measures_the_first_line_too() -> None:
    with pytest.raises(InputError) as caught:
        check_layout([b"1,2\n3,4,5\n"], ",", FaultList("file"), n_columns=3)
    assert str(caught.value) == "file, line 1: found '2 cells: 1,2', expected 3 cells"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_longest_line_does_not_count_its_end(end: str) -> None:
    check_layout([f"12345{end}".encode()], ",", FaultList("file"), longest_record=5)
    with pytest.raises(InputError, match="found '6 bytes', expected lines of at most 5 bytes"):
        check_layout([f"123456{end}".encode()], ",", FaultList("file"), longest_record=5)


def cells_per_row(text: str) -> list[int] | None:
    """Count the cells of each row of a text, character by character; None when it is broken.

    This is what `check_layout` should accept, written as slowly and plainly as can be.
    """
    counts, ends, n_cells, state = [], set(), 1, "start"
    index = 0
    while index < len(text):
        letter, after = text[index], text[index + 1 : index + 2]
        if state == "quoted":
            if letter == '"' and after == '"':
                index += 1
            elif letter == '"':
                state = "closed"
        elif letter == ",":
            n_cells, state = n_cells + 1, "start"
        elif letter == "\n" or (letter == "\r" and after == "\n"):
            counts.append(n_cells)
            ends.add(letter)
            index += letter == "\r"
            n_cells, state = 1, "start"
        elif letter == "\r" or state == "closed":
            return None
        elif letter == '"':
            if state != "start":
                return None
            state = "quoted"
        else:
            state = "bare"
        index += 1
    if text and not text.endswith("\n"):
        counts.append(n_cells)
    is_whole = counts and state != "quoted" and len(ends) < 2 and len(set(counts)) == 1
    return counts if is_whole else None


texts = st.text(alphabet='a,"\n', max_size=24) | st.text(alphabet='a,"\n\r', max_size=24)


@settings(deadline=None, max_examples=cases(300))
@given(text=texts)
@example(text='"a""b",""\n"\n",a')
@example(text='a\r\n"a"\r\n')
@example(text="\n\na\n")
@example(text='""""')
def test_layout_agrees_with_a_plain_reader(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    counts = cells_per_row(text)
    if counts is None:
        with pytest.raises(InputError):
            layout_of(*([text] if text else []))
        return
    layout = layout_of(text)
    assert (layout.n_records, layout.n_columns) == (len(counts), counts[0])
    path = tmp_path_factory.getbasetemp() / "plain.csv"
    path.write_bytes(text.encode())
    names = [str(column) for column in range(counts[0])]
    frame = read_csv(path, columns=names, delimiter=",").frame
    # The csv module gives no cell at all for an empty line.
    rows = [tuple(cell or None for cell in row or [""]) for row in csv.reader(io.StringIO(text, newline=""))]
    assert frame.rows() == rows


@settings(deadline=None, max_examples=cases(200))
@given(text=texts, cuts=st.lists(st.integers(0, 24), max_size=4))
def test_layout_is_the_same_however_the_file_is_cut_into_blocks(text: str, cuts: list[int]) -> None:
    indices = [0, *sorted(cuts), len(text)]
    blocks = [text[start:end] for start, end in pairwise(indices) if text[start:end]]
    outcomes: list[object] = []
    for pieces in ([text] if text else [], blocks):
        try:
            layout = layout_of(*pieces)
            lines = [layout.line_of(record) for record in range(layout.n_records)]
            outcomes.append((layout.n_columns, layout.has_quotes, layout.line_end, lines))
        except InputError as error:
            outcomes.append(error.as_dict())
    assert outcomes[0] == outcomes[1]


@given(st.lists(st.sampled_from([0, 1, 5, 40]), max_size=12))
def test_bytes_inside_quotes_are_marked_whether_quotes_are_few_or_many(lengths: list[int]) -> None:
    data = b'"'.join(b"x" * length for length in lengths)
    plain = [data.count(b'"', 0, index + 1) % 2 == 1 for index in range(len(data))]
    marked = inside_quotes(np.frombuffer(data, np.uint8))
    assert (marked.tolist() if marked is not None else [False] * len(data)) == plain
