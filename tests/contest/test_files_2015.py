from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from tokumei.contest.editions.pwscup2015.files import SURVEY, Microdata
from tokumei.core.errors import InputError
from tokumei.data.files.strict import read_rows, write_rows
from tokumei.data.made_survey import make_survey

FORM = Microdata(("sex", "town"), ("income",))
FRAME = pl.DataFrame({"sex": ["f", "m", "f"], "town": ["01", "1", "東京 2"], "income": [5.0, -2.5, 1234.56]})
TEXT = b"sex,town,income\nf,01,5\nm,1,-2.5\nf,\xe6\x9d\xb1\xe4\xba\xac 2,1234.56\n"


def write(folder: Path, data: bytes, name: str = "X.csv") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def test_table_written_and_read_again_is_the_same(tmp_path: Path) -> None:
    FORM.write(FRAME, tmp_path / "X.csv")
    assert (tmp_path / "X.csv").read_bytes() == TEXT
    table = FORM.read(tmp_path / "X.csv", "X")
    assert table.frame.equals(FRAME)
    assert table.quasi_identifiers == ["sex", "town"]
    assert table.sensitive == ["income"]


def test_made_survey_has_the_form_of_the_contest(tmp_path: Path) -> None:
    SURVEY.write(make_survey(20, seed=1), tmp_path / "X.csv")
    assert SURVEY.read(tmp_path / "X.csv", "X").frame.shape == (20, 25)


def test_gzipped_table_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    packed = write(tmp_path, gzip.compress(TEXT.replace(b"\n", b"\r\n")), "X.csv.gz")
    assert FORM.read(packed, "X").frame.equals(FRAME)


def test_minus_zero_is_zero(tmp_path: Path) -> None:
    table = FORM.read(write(tmp_path, b"sex,town,income\nf,1,-0\n"), "X")
    FORM.write(table.frame, tmp_path / "Y.csv")
    assert (tmp_path / "Y.csv").read_bytes() == b"sex,town,income\nf,1,0\n"


@pytest.mark.parametrize(
    ("line", "column", "expected"),
    [
        (b"f,1,1e5", "income", "a number of at most 9 digits and 2 decimals"),
        (b"f,1,nan", "income", "a number"),
        (b"f,1,1.234", "income", "a number"),
        (b"f,1,1234567890", "income", "a number"),
        (b"f,1,", "income", "a number"),
        (b"f,,1", "town", "a word of 1 to 40 characters"),
        (b"f,=1+1,1", "town", "a word"),
        (b"f,-1,1", "town", "a word"),
        (b"f,\xe2\x80\x8b1,1", "town", "a word"),
    ],
)
def test_cell_that_does_not_fit_is_told_with_line_and_column(
    tmp_path: Path, line: bytes, column: str, expected: str
) -> None:
    path = write(tmp_path, b"sex,town,income\nf,1,1\n" + line + b"\n")
    with pytest.raises(InputError, match=expected) as caught:
        FORM.read(path, "X")
    (fault,) = caught.value.faults
    assert (fault.line, fault.column) == (3, column)


@pytest.mark.parametrize("header", [b"sex,income,town", b"f,1,1", b"sex,town,Income", b",,"])
def test_other_header_is_refused(tmp_path: Path, header: bytes) -> None:
    with pytest.raises(InputError, match=r"line 1: found .*, expected the header sex,town,income"):
        FORM.read(write(tmp_path, header + b"\nf,1,1\n"), "X")


def test_declared_column_twice_is_refused() -> None:
    with pytest.raises(InputError, match="names that differ"):
        Microdata(("sex",), ("sex",))


def test_source_is_any_csv_with_the_columns(tmp_path: Path) -> None:
    path = write(tmp_path, b"id;income;town;sex\n9;5;01;f\n")
    assert FORM.read_source(path).rows() == [("f", "01", 5.0)]
    with pytest.raises(InputError, match="found 'town'"):
        FORM.read_source(write(tmp_path, b"sex,income\nf,1\n"))
    with pytest.raises(InputError, match="line 2, column income: found 'much'"):
        FORM.read_source(write(tmp_path, b"sex,town,income\nf,1,much\n"))


def test_row_numbers_written_and_read_again_are_the_same(tmp_path: Path) -> None:
    write_rows([3, 1, 2], tmp_path / "I.csv")
    assert (tmp_path / "I.csv").read_bytes() == b"3\n1\n2\n"
    assert read_rows(tmp_path / "I.csv").to_list() == [3, 1, 2]


@pytest.mark.parametrize("cell", [b"0", b"01", b"-1", b"1.0", b"", b"1234567890"])
def test_row_number_that_is_none_is_refused(tmp_path: Path, cell: bytes) -> None:
    with pytest.raises(InputError, match=r"line 2, column row: .*a row number, counted from 1"):
        read_rows(write(tmp_path, b"1\n" + cell + b"\n2\n"))
