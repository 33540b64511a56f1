"""Blanks around names and cells: kept and told, or left out where they are asked to be or belong to the delimiter."""

from __future__ import annotations

import io
import logging
from pathlib import Path

import polars as pl
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.data.files.csv import BLANK, has_blanks_after, read_csv, trimmed
from tokumei.data.files.formats import read_frame, scan_frame
from tokumei.data.files.reading import Reading

# As the census file of the machine-learning repository is written: no header, a blank after each comma.
CENSUS = "39, State-gov, 77516, <=50K\n50, ?, 83311, <=50K\n38, Private, 215646, >50K\n"
TRIM = Reading(trim=True)


def test_blank_after_every_delimiter_belongs_to_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "tokumei.notes")
    path = tmp_path / "census.data"
    path.write_text(CENSUS)
    found = read_frame(path, Reading(has_header=False, null_values=("?",)))
    assert found.rows()[1] == ("50", None, "83311", "<=50K")
    assert "a blank stands after every ','" in caplog.text
    headed = tmp_path / "census.csv"
    headed.write_text("age, work, weight, income\n" + CENSUS)
    for frame in (read_frame(headed), scan_frame(headed).collect()):
        assert frame.columns == ["age", "work", "weight", "income"]
        assert frame.rows()[0] == ("39", "State-gov", "77516", "<=50K")
    # Numbers are numbers, so that the made hierarchy has intervals, and on an engine the classes are the same.
    assert tk.count_classes(str(headed), ["work"], engine="duckdb").n_classes == 3


def test_blanks_that_not_every_cell_has_are_part_of_the_cells(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("name,age\nA, 30\nB,31 \n")
    assert read_frame(path).rows() == [("A", " 30"), ("B", "31 ")]
    assert read_frame(path, TRIM).rows() == scan_frame(path, TRIM).collect().rows() == [("A", "30"), ("B", "31")]


@pytest.mark.parametrize("name", ["people.csv", "people.parquet", "people.xlsx"])
def test_trim_reads_names_and_cells_without_blanks(name: str, tmp_path: Path) -> None:
    path, rows = tmp_path / name, [("A ", " x", 1), ("\u3000", "y\t", 2)]
    frame = pl.DataFrame(rows, ["who ", " what", "n"], orient="row")
    if name.endswith(".xlsx"):
        with xlsxwriter.Workbook(path) as book:
            for number, row in enumerate((frame.columns, *rows)):
                book.add_worksheet() if not number else None
                book.worksheets()[0].write_row(number, 0, row)
    else:
        tk.write_frame(frame, path)
    found = read_frame(path, TRIM)
    assert found.columns == ["who", "what", "n"]
    assert found.select(pl.all().cast(pl.String)).rows() == [("A", "x", "1"), (None, "y", "2")]
    assert scan_frame(path, TRIM).collect().equals(found)


def test_names_that_are_alike_without_their_blanks_are_refused(tmp_path: Path) -> None:
    for name in ("people.csv", "people.parquet"):
        tk.write_frame(pl.DataFrame({"a": ["1"], "a ": ["2"]}), tmp_path / name)
        with pytest.raises(InputError, match="names that differ"):
            read_frame(tmp_path / name, TRIM)


def test_name_without_its_blanks_is_answered_with_the_option(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("name, age\nA,30\n")
    with pytest.raises(InputError, match=r"' age' \(the option trim reads names without blanks\)"):
        tk.Table(tmp_path / "people.csv", ["age"])
    assert tk.Table(tmp_path / "people.csv", ["age"], trim=True).frame["age"].to_list() == ["30"]


CELLS = st.text(alphabet=[*'ab1,;"', *BLANK], max_size=4)


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6))
def test_trimmed_cells_are_those_of_plain_python(rows: list[tuple[str, str]]) -> None:
    frame = pl.DataFrame(rows, ["one", " other "], orient="row")
    plain = [tuple(cell.strip(BLANK) or None for cell in row) for row in rows]
    found = trimmed(frame.lazy()).collect()
    assert found.columns == ["one", "other"]
    assert found.rows() == plain


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=6), st.booleans())
def test_blanks_belong_to_the_delimiter_if_no_cell_but_the_first_goes_without(
    rows: list[tuple[str, ...]], is_padded: bool
) -> None:
    cells = [[row[0], *(" " * is_padded + cell for cell in row[1:])] for row in rows]
    text = io.BytesIO()
    pl.DataFrame(cells, ["a", "b", "c"], orient="row").write_csv(text, include_header=False, quote_style="necessary")
    # A cell in quotes begins with its quote, so that a blank in it is none of the delimiter's.
    is_quoted = any(set(cell) & set(',"') or not cell for row in cells for cell in row[1:])
    expected = all(cell.startswith(" ") for row in cells for cell in row[1:]) and not is_quoted
    assert has_blanks_after(",", text.getvalue()) == expected


def test_contest_files_are_read_to_the_letter(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("a, b\nc, d\n")
    assert read_csv(tmp_path / "f.csv").frame.rows() == [("c", " d")]
