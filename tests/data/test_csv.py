from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.core.errors import InputError
from tokumei.data.files.csv import (
    check_has_columns,
    find_delimiter,
    first_bytes,
    first_record,
    header_names,
    read_csv,
    scan_csv,
    write_csv,
)

Write = Callable[..., Path]


def test_read_csv_gives_text_and_missing_cells(write: Write) -> None:
    text = read_csv(write('age;city\n34;"Tokyo;\nJapan"\n;""\n'))
    assert text.frame.to_dict(as_series=False) == {"age": ["34", None], "city": ["Tokyo;\nJapan", None]}
    assert (text.line_of(0), text.line_of(1)) == (2, 4)


def test_read_csv_without_header_takes_the_names_given(write: Write) -> None:
    text = read_csv(write("1,2\n3,4\n"), columns=["a", "b"])
    assert text.frame.rows() == [("1", "2"), ("3", "4")]
    assert text.line_of(1) == 2


def test_read_csv_of_a_header_alone_has_no_rows(write: Write) -> None:
    assert read_csv(write("a,b\n")).frame.shape == (0, 2)
    assert read_csv(write("a,b")).frame.shape == (0, 2)


def test_read_csv_of_one_column_keeps_empty_lines_as_missing(write: Write) -> None:
    assert read_csv(write("a\n1\n\n2\n")).frame["a"].to_list() == ["1", None, "2"]


def test_read_csv_of_quoted_header_reads_doubled_quotes_and_line_ends(write: Write) -> None:
    text = read_csv(write('"5"" disk","two\nlines"\n1,2\n'))
    assert text.frame.to_dict(as_series=False) == {'5" disk': ["1"], "two\nlines": ["2"]}
    assert text.line_of(0) == 3


@pytest.mark.parametrize("encoding", ["cp932", "utf-8-sig", "utf-16", "UTF8"])
def test_read_csv_in_another_encoding(encoding: str, write: Write) -> None:
    path = write("品名,数\n茶,2\n".encode(encoding))
    for frame in (read_csv(path, encoding=encoding).frame, scan_csv(path, encoding=encoding).collect()):
        assert frame.to_dict(as_series=False) == {"品名": ["茶"], "数": ["2"]}


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("utf-9", "an encoding that Python knows"),
        ("rot13", "an encoding of text"),
        ("ascii", "file.csv, line 2: found 'e8 8c b6 0a', expected text in ascii"),
        ("utf-8\0", "an encoding that Python knows"),
        ("idna", "text in idna"),
    ],
)
def test_read_csv_in_an_encoding_that_does_not_fit_is_refused(encoding: str, expected: str, write: Write) -> None:
    with pytest.raises(InputError) as caught:
        read_csv(write("a\n茶\n"), encoding=encoding)
    assert expected in str(caught.value)


@pytest.mark.parametrize("delimiter", ["ab", "；", '"', "\n"])
def test_delimiter_of_another_kind_is_refused(delimiter: str, write: Write) -> None:
    for read in (read_csv, scan_csv):
        with pytest.raises(InputError, match="option delimiter"):
            read(write("a,b\n1,2\n"), delimiter=delimiter)


@pytest.mark.parametrize(
    ("head", "delimiter"),
    [
        (b"a,b;c,d", ","),
        (b"a;b\n1,2,3", ";"),
        (b'"a,b,c"\tb', "\t"),
        (b"a|b|c", "|"),
        (b"alone", ","),
        (b"", ","),
        (b"1,{A;B;C;D},[1;2],*", ","),
        (b"size [w,h,d];price", ";"),
        (b"[id];[name]", ";"),
        (b"[0,10),[10,20)", ","),
        (b"{a;b;c}", ";"),
    ],
)
def test_find_delimiter_takes_the_most_used_outside_quotes_and_brackets(head: bytes, delimiter: str) -> None:
    assert find_delimiter(head) == delimiter


def test_first_record_goes_on_inside_quotes() -> None:
    assert first_record(b'"a\n""b",c\r\n1,2\r\n') == b'"a\n""b",c'
    assert first_record(b"a,b") == b"a,b"
    assert header_names(b'"a\nb",,"c"\n', ",") == ["a\nb", "", "c"]


def test_header_of_long_names_and_doubled_quotes_is_read_whole() -> None:
    names = ["x" * 200_000, 'a "b", c', "", " d\r\ne "]
    head = ",".join('"' + name.replace('"', '""') + '"' for name in names) + "\r\n1,2,3,4\r\n"
    assert header_names(head.encode(), ",") == names


def test_first_bytes_are_unpacked(write: Write) -> None:
    assert first_bytes(write("a,b\n1,2\n", "file.csv.gz")) == b"a,b\n1,2\n"


def test_check_has_columns_names_those_there_are() -> None:
    with pytest.raises(InputError, match="found 'c', expected a column of the file: a, b"):
        check_has_columns(["a", "c"], ["a", "b"], "file")


def test_write_csv_reads_back_and_is_the_same_every_time(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ['5" disk', "x,y", None], "b": ["line\nend", "r\r", "z"]})
    for name in ("out.csv", "out.csv.gz"):
        write_csv(frame, tmp_path / name)
        first = (tmp_path / name).read_bytes()
        write_csv(frame.lazy(), tmp_path / name)
        assert (tmp_path / name).read_bytes() == first
        assert read_csv(tmp_path / name).frame.equals(frame)
    assert first.startswith(b"\x1f\x8b")


def test_write_csv_with_windows_line_ends_and_without_header(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, 2], "b": [date(2011, 1, 2), None]})
    write_csv(frame, tmp_path / "out.csv", delimiter=";", has_header=False, line_end="\r\n")
    assert (tmp_path / "out.csv").read_bytes() == b"1;2011-01-02\r\n2;\r\n"


@pytest.mark.parametrize("value", [[1, 2], timedelta(1)])
def test_write_csv_of_lists_and_durations_is_refused(tmp_path: Path, value: object) -> None:
    with pytest.raises(InputError, match="column a"):
        write_csv(pl.DataFrame({"a": [value]}), tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


cells = st.text(alphabet='a,;"\n\r\té ', min_size=1, max_size=6) | st.none()


@settings(deadline=None, max_examples=cases(150))
@given(
    rows=st.lists(st.tuples(cells, cells), max_size=5),
    delimiter=st.sampled_from(",;\t|"),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
def test_what_was_written_reads_and_scans_the_same(
    rows: list[tuple[str | None, str | None]],
    delimiter: str,
    line_end: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.getbasetemp() / "written.csv"
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.String}, orient="row")
    write_csv(frame, path, delimiter=delimiter, line_end=line_end)
    assert read_csv(path, delimiter=delimiter).frame.equals(frame)
    assert scan_csv(path, delimiter=delimiter).collect().equals(frame)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp932"])
def test_encoding_is_found_and_said(write: Write, encoding: str, caplog: pytest.LogCaptureFixture) -> None:
    path = write("氏名,年齢\n山田,40代\n".encode(encoding))
    with caplog.at_level("INFO", "tokumei.notes"):
        found = [read_csv(path, encoding=None).frame, scan_csv(path, encoding=None).collect()]
    assert [frame.to_dict(as_series=False) for frame in found] == [{"氏名": ["山田"], "年齢": ["40代"]}] * 2
    assert str(path) in caplog.text


@pytest.mark.parametrize("text", ["café rouge", "Zoë", "don’t", "Müller", "£5", "Ångström"])
def test_western_text_in_an_old_encoding_is_read_by_its_letters_or_refused_and_not_read_as_japanese(
    write: Write, text: str
) -> None:
    path = write(f"name,n\nplain,1\n{text},2\n".encode("cp1252"))
    if text in ("don’t", "£5"):
        with pytest.raises(InputError, match=r"line 3.*expected UTF-8 \(give its --encoding"):
            read_csv(path, encoding=None)
    else:
        assert read_csv(path, encoding=None).frame["name"].to_list() == ["plain", text]
    assert read_csv(path, encoding="cp1252").frame["name"].to_list() == ["plain", text]


def test_lines_above_the_table_are_skipped_and_still_counted(write: Write) -> None:
    path = write(b'title "odd\n\na,b\n1,2\n3,4\n5,x\n')
    text = read_csv(path, skip_rows=2)
    assert text.frame.rows() == [("1", "2"), ("3", "4"), ("5", "x")]
    assert text.line_of(2) == 6
    with pytest.raises(InputError, match="line 8: found '1 cell: 7', expected 2 cells"):
        read_csv(write(b"title\n\na,b\n1,2\n3,4\n5,6\n7,8\n7\n"), skip_rows=2)
    with pytest.raises(InputError, match="more than the 9 lines to skip"):
        read_csv(path, skip_rows=9)


def test_table_below_a_title_is_advised_to_be_skipped_to(write: Write) -> None:
    path = write(b"Labor force survey\nstatistics office\na,b\n1,2\n3,4\n")
    with pytest.raises(InputError, match=r"line 3: found '2 cells: a,b'.*--skip-rows 2") as caught:
        read_csv(path, encoding=None)
    assert caught.value.n_faults == 1


def test_blanks_of_any_length_separate_cells(write: Write) -> None:
    path = write(b" 00001 19970101  1   11.77 \n 00002\t19970112  1   12.00\n")
    frame = read_csv(path, delimiter="blanks", has_header=False).frame
    assert frame.rows() == [("00001", "19970101", "1", "11.77"), ("00002", "19970112", "1", "12.00")]
    assert frame.columns == ["1", "2", "3", "4"]


def test_null_values_are_missing(write: Write) -> None:
    path = write(b'a,b\nNA,1\n"NA",-\nNAB,2\n')
    assert read_csv(path, null_values=["NA", "-"]).frame.rows() == [(None, "1"), (None, None), ("NAB", "2")]
