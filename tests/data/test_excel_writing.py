"""Workbooks that are written, and text in other encodings: read back they say the same."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.files.formats import format_of, read_frame, write_frame

PEOPLE = pl.DataFrame({"氏名": ["佐藤 & <b>", None, " x "], "n": ["1", "2.5", None], "zip": ["012", "123", "456"]})


def test_workbook_reads_back_with_numbers_as_numbers_and_codes_as_text(tmp_path: Path) -> None:
    write_frame(PEOPLE, tmp_path / "people.xlsx")
    found = read_frame(tmp_path / "people.xlsx")
    assert found["氏名"].to_list() == ["佐藤 & <b>", None, " x "]
    assert found["n"].to_list() == [1.0, 2.5, None]
    assert found["zip"].to_list() == ["012", "123", "456"]


def test_numbers_that_a_spreadsheet_would_change_are_written_as_text(tmp_path: Path) -> None:
    codes = {"card": ["1234567890123456", "1"], "formula": ["=1+1", "x"], "version": ["1.10", "2.0"]}
    long = pl.DataFrame({**codes, "gain": ["-0.5", "3"]})
    write_frame(long, tmp_path / "long.xlsx")
    found = read_frame(tmp_path / "long.xlsx")
    assert found.drop("gain").equals(long.drop("gain"))
    assert found["gain"].to_list() == [-0.5, 3.0]


@pytest.mark.parametrize("value", ["x\x07", "x" * 32_768])
def test_text_that_a_workbook_would_cut_is_named_and_nothing_is_written(tmp_path: Path, value: str) -> None:
    with pytest.raises(InputError, match=r"line 3, column note: found 'x.*at most 32,767 characters"):
        write_frame(pl.DataFrame({"note": ["a", value]}), tmp_path / "a.xlsx")
    assert not (tmp_path / "a.xlsx").exists()


@pytest.mark.parametrize(("encoding", "begins"), [("cp932", b"\x8e"), ("utf-8-sig", b"\xef\xbb\xbf")])
def test_text_is_written_in_an_encoding_and_read_back(tmp_path: Path, encoding: str, begins: bytes) -> None:
    write_frame(PEOPLE, tmp_path / "people.csv", encoding=encoding)
    assert (tmp_path / "people.csv").read_bytes().startswith(begins)
    assert read_frame(tmp_path / "people.csv").equals(PEOPLE)


def test_sign_that_an_encoding_lacks_is_named_with_its_line_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 3: found '😀', expected signs of the encoding cp932"):
        write_frame(pl.DataFrame({"a": ["x", "😀"]}), tmp_path / "a.csv", encoding="cp932")
    assert not (tmp_path / "a.csv").exists()


def test_workbook_is_known_by_what_it_holds_and_an_old_one_is_told_the_way(tmp_path: Path) -> None:
    write_frame(PEOPLE, tmp_path / "people.xlsx")
    (tmp_path / "people.xlsx").rename(tmp_path / "people.csv")
    assert format_of(tmp_path / "people.csv") == ".xlsx"
    assert read_frame(tmp_path / "people.csv").width == 3
    (tmp_path / "old.csv").write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + b"rest")
    with pytest.raises(InputError, match=r"save it as \.xlsx"):
        read_frame(tmp_path / "old.csv")
    # Bytes that only begin like a packed file are text to whoever says so.
    (tmp_path / "odd.csv").write_bytes(b"PK\x03\x04,b\n1,2\n")
    assert format_of(tmp_path / "odd.csv") == ".csv"
