"""Bad files of every kind: each gives one InputError that names file, line, column, value and what was expected."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases

from tokumei.contest.editions.pwscup2016 import files as pwscup2016
from tokumei.contest.editions.pwscup2017 import files as pwscup2017
from tokumei.contest.editions.pwscup2018 import files as pwscup2018
from tokumei.core.errors import Fault, FaultList, InputError
from tokumei.data.files import disk, strict
from tokumei.data.files.csv import read_csv, scan_csv
from tokumei.data.files.excel import read_excel
from tokumei.data.files.formats import read_parquet

Write = Callable[..., Path]

ROW_2017 = "15100,0,2010/12/1,9:09,21258,10.95,32\r\n"
ROW_2018 = "15100,2010/12/1,21258,10.95,32\r\n"


def faults_of(read: Callable[..., Any], *args: Any, **options: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        read(*args, **options)
    return caught.value


# What is in the file, then line, column and value of the first fault, and how what was expected starts.
SHAPES: dict[str, tuple[bytes, int, str | None, str | None, str]] = {
    "ragged_short": (b"a,b\n1,2\n3\n", 3, None, "1 cell: 3", "2 cells"),
    "ragged_long": (b"a,b\n1,2,3\n4,5\n", 2, None, "3 cells: 1,2,3", "2 cells"),
    "ragged_blank": (b"a,b\n\n1,2\n", 2, None, "an empty line", "2 cells"),
    "ragged_after_quoted_line_ends": (b'a,b\n"1\n1",2\n3\n', 4, None, "1 cell: 3", "2 cells"),
    "empty": (b"", 1, None, "", "a file with content"),
    "header_unnamed": (b"a,\n1,2\n", 1, "2", "", "a name for every column"),
    "header_repeated": (b"a,b,a\n1,2,3\n", 1, "3", "a", "names that differ"),
    "byte_order_mark": ("\ufeffa,b\n1,2\n".encode(), 1, None, "ef bb bf", "UTF-8 without a byte order mark"),
    "shift_jis": ("a,b\n1,2\n品名,3\n".encode("cp932"), 3, None, "95 69 96 bc", "UTF-8"),
    "not_utf8": (b"a,b\n1,\xff\xff\x80\n", 2, None, "ff ff 80 0a", "UTF-8"),
    "utf16": ("a,b\n1,2\n".encode("utf-16-le"), 1, None, "\0", "text without NUL bytes"),
    "utf16_marked": ("a,b\n1,2\n".encode("utf-16"), 1, None, "ff fe", "UTF-8 without a byte order mark"),
    "nul": (b"a,b\n1,2\n3,\x004\n", 3, None, "\0", "text without NUL bytes"),
    "old_mac_ends": (b"a,b\r1,2\r", 1, None, "\r", "a line end"),
    "return_in_line": (b"a,b\n1\r1,2\n", 2, None, "\r", "no carriage return inside a line"),
    "open_quote": (b'a,b\n1,2\n"3,4\n5,6\n', 3, None, '"3,4\n5,6', "a closing quote"),
    "open_quote_after_doubled": (b'a,b\n"3""\n""4,5\n', 2, None, '"3""\n""4,5', "a closing quote"),
    "quote_in_cell": (b'a,b\n1,5" disk\n2,3" disk\n', 2, None, '1,5" disk', 'a quote (")'),
    "text_after_quote": (b'a,b\n"1"x,2\n', 2, None, '"1"x,2', 'a quote (")'),
    "long_line": (b"a\n" + b"x" * 3_000_000 + b"\n1\n", 2, None, "3,000,000 bytes", "lines of at most 1,000,000"),
    "endless_line": (b"a\n" + b"x" * 3_000_000, 2, None, "3,000,000 bytes", "lines of at most 1,000,000"),
}


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("read", [read_csv, scan_csv])
def test_csv_of_bad_shape_names_the_index(read: Callable[..., Any], kind: str, write: Write) -> None:
    content, line, column, value, expected = SHAPES[kind]
    path = write(content)
    fault = faults_of(read, path).faults[0]
    assert (fault.file, fault.line, fault.column, fault.value) == (str(path), line, column, value)
    assert fault.expected.startswith(expected)


@pytest.mark.parametrize("kind", SHAPES)
def test_csv_of_bad_shape_packed_gives_the_same_faults(kind: str, write: Write) -> None:
    content = SHAPES[kind][0]
    plain = faults_of(read_csv, write(content))
    packed = faults_of(scan_csv, write(content, "file.csv.gz"))
    assert [fault.line for fault in plain.faults] == [fault.line for fault in packed.faults]


CONTEST_SHAPES = sorted(set(SHAPES) - {"header_unnamed", "header_repeated"})


@pytest.mark.parametrize("kind", CONTEST_SHAPES)
def test_contest_file_of_bad_shape_is_one_input_error(kind: str, write: Write) -> None:
    path = write(SHAPES[kind][0])
    for read in (pwscup2016.read_history, pwscup2017.read_release, pwscup2018.read_release):
        assert all(fault.file == str(path) for fault in faults_of(read, path).faults)


CELLS: dict[str, tuple[strict.ColumnType, str]] = {
    "word_for_integer": (strict.INTEGER, "seven"),
    "fraction_for_integer": (strict.INTEGER, "7.5"),
    "integer_too_large": (strict.INTEGER, "9" * 19),
    "nan": (strict.NUMBER, "nan"),
    "inf": (strict.NUMBER, "inf"),
    "minus_infinity": (strict.NUMBER, "-Infinity"),
    "number_too_large": (strict.NUMBER, "1e400"),
    "full_width_digits": (strict.INTEGER, "７"),
    "space_before_number": (strict.NUMBER, " 7"),
    "impossible_date": (strict.ISO_DATE, "2011-02-30"),
    "month_13": (strict.ISO_DATE, "2011-13-01"),
    "unpadded_date": (strict.ISO_DATE, "2011-2-3"),
    "yes_for_boolean": (strict.BOOLEAN, "yes"),
}


@pytest.mark.parametrize("kind", CELLS)
def test_cell_of_wrong_type_names_line_column_and_value(kind: str, write: Write) -> None:
    column_type, cell = CELLS[kind]
    path = write(f'name,value\n"one\nlady",\n"two",{cell}\n')
    text = read_csv(path)
    faults = FaultList(text.file)
    strict.read_columns(text, {"value": column_type.optional()}, faults)
    error = faults_of(faults.raise_if_any)
    assert error.faults == (Fault(column_type.expected, str(path), 4, "value", cell),)


CONTEST_CELLS: dict[str, tuple[str, str, str]] = {
    "customer": ("C15100,0,2010/12/1,9:09,21258,10.95,32", "customer", "C15100"),
    "invoice": ("15100,536365,2010/12/1,9:09,21258,10.95,32", "invoice", "536365"),
    "impossible_date": ("15100,0,2011/2/29,9:09,21258,10.95,32", "date", "2011/2/29"),
    "padded_date": ("15100,0,2010/12/01,9:09,21258,10.95,32", "date", "2010/12/01"),
    "iso_date": ("15100,0,2010-12-1,9:09,21258,10.95,32", "date", "2010-12-1"),
    "impossible_time": ("15100,0,2010/12/1,24:00,21258,10.95,32", "time", "24:00"),
    "padded_time": ("15100,0,2010/12/1,09:09,21258,10.95,32", "time", "09:09"),
    "seconds": ("15100,0,2010/12/1,9:09:30,21258,10.95,32", "time", "9:09:30"),
    "small_letters": ("15100,0,2010/12/1,9:09,85123a,10.95,32", "item", "85123a"),
    "long_item": ("15100,0,2010/12/1,9:09,1234567890,10.95,32", "item", "1234567890"),
    "price_with_three_decimals": ("15100,0,2010/12/1,9:09,21258,10.955,32", "price", "10.955"),
    "price_too_large": ("15100,0,2010/12/1,9:09,21258,100000,32", "price", "100000"),
    "price_nan": ("15100,0,2010/12/1,9:09,21258,nan,32", "price", "nan"),
    "price_inf": ("15100,0,2010/12/1,9:09,21258,inf,32", "price", "inf"),
    "price_1e400": ("15100,0,2010/12/1,9:09,21258,1e400,32", "price", "1e400"),
    "price_negative": ("15100,0,2010/12/1,9:09,21258,-1,32", "price", "-1"),
    "quantity_of_seven_digits": ("15100,0,2010/12/1,9:09,21258,10.95,1000000", "quantity", "1000000"),
    "quantity_with_fraction": ("15100,0,2010/12/1,9:09,21258,10.95,1.5", "quantity", "1.5"),
    "quantity_missing": ("15100,0,2010/12/1,9:09,21258,10.95,", "quantity", ""),
}


@pytest.mark.parametrize("kind", CONTEST_CELLS)
def test_contest_cell_of_wrong_form_names_line_column_and_value(kind: str, write: Write) -> None:
    row, column, value = CONTEST_CELLS[kind]
    path = write(f"{ROW_2017}{row}\r\n{ROW_2017}")
    error = faults_of(pwscup2017.read_history, path)
    assert error.n_faults == 1
    fault = error.faults[0]
    assert (fault.file, fault.line, fault.column, fault.value) == (str(path), 2, column, value)


@pytest.mark.parametrize(
    ("read", "header", "row"),
    [
        (pwscup2016.read_master, "customer,sex,birth,country", "12352,f,1950/1/1,Norway"),
        (pwscup2016.read_permutation, "row", "1"),
        (pwscup2017.read_master, "顧客,性別,生年,国", "12352,f,1950/1/1,Others"),
        (pwscup2017.read_history, "customer,invoice,date,time,item,price,quantity", ROW_2017.strip()),
        (pwscup2017.read_release, "ID,INVOICE,DATE,TIME,ITEM,PRICE,QUANTITY", "DEL,,,,,,"),
        (pwscup2017.read_truth, "customer," + ",".join(pwscup2017.PERIODS), "12352" + ",DEL" * 12),
        (pwscup2018.read_history, "customer,date,item,price,quantity", ROW_2018.strip()),
        (pwscup2018.read_release, "pseudonym,date,item,price,quantity", "*,*,*,*,*"),
        (pwscup2018.read_guess, "pseudonym,customer", "1,12352"),
    ],
)
def test_header_where_none_belongs_is_one_fault(read: Callable[..., Any], header: str, row: str, write: Write) -> None:
    read(write(f"{row}\n"))
    path = write(f"{header}\n{row}\n")
    expected = Fault("data in the first line, not a header", str(path), 1, None, header)
    error = faults_of(read, path)
    assert (error.faults, error.n_faults) == ((expected,), 1)


def test_contest_file_with_one_column_too_many_throughout_is_one_fault(write: Write) -> None:
    path = write(("1," + ROW_2017) * 30)
    error = faults_of(pwscup2017.read_history, path)
    assert error.n_faults == 1
    assert error.faults[0].expected == "7 cells"
    assert error.faults[0].line == 1


def test_contest_file_with_a_short_first_line_names_that_line(write: Write) -> None:
    error = faults_of(pwscup2017.read_history, write("15100,0\r\n" + ROW_2017 * 3))
    assert [(fault.line, fault.expected) for fault in error.faults] == [(1, "7 cells")]


def test_contest_file_with_windows_line_ends_reads_as_with_unix_ones(write: Write) -> None:
    windows = pwscup2017.read_history(write(ROW_2017 * 2, "windows.csv"))
    unix = pwscup2017.read_history(write(ROW_2017.replace("\r", "") * 2, "unix.csv"))
    assert windows.frame.equals(unix.frame)


def test_more_than_twenty_faults_are_listed_to_twenty_and_counted(write: Write) -> None:
    error = faults_of(read_csv, write("a,b\n" + "1\n" * 50))
    assert (len(error.faults), error.n_faults, error.n_unlisted) == (20, 50, 30)
    assert [fault.line for fault in error.faults] == list(range(2, 22))
    assert str(error).endswith("… and 30 more")


def test_more_than_twenty_bad_cells_are_listed_in_the_order_of_the_file(write: Write) -> None:
    row = "15100,0,2010/13/1,9:09,21258,10.95,x\r\n"
    error = faults_of(pwscup2017.read_history, write(row * 40))
    assert (len(error.faults), error.n_faults) == (20, 80)
    indices = [(fault.line, fault.column) for fault in error.faults]
    assert indices == [(line, column) for line in range(1, 11) for column in ("date", "quantity")]


def test_gzip_bomb_stops_at_the_limit(write: Write) -> None:
    path = write(b"a,b\n" + b"1,2\n" * 1_000_000, "bomb.csv.gz")
    assert path.stat().st_size < 20_000
    error = faults_of(read_csv, path, unpack_limit=100_000)
    assert error.faults[0].expected == "at most 100,000 bytes when unpacked"
    assert error.faults[0].file == str(path)


@pytest.mark.parametrize("n_bytes", [2, 9, 12, 60, -4, -1])
def test_cut_off_gzip_is_refused(n_bytes: int, write: Write) -> None:
    whole = gzip.compress("".join(f"{number},{number**3}\n" for number in range(100)).encode())
    path = write(whole[:n_bytes])
    for read in (read_csv, scan_csv, pwscup2017.read_history):
        assert faults_of(read, path).faults[0].expected.startswith("a whole gzip file")


@pytest.mark.parametrize("read", [read_csv, scan_csv, pwscup2017.read_history])
def test_file_that_changes_while_read_is_refused(
    read: Callable[..., Any], write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(ROW_2017)
    is_gzip = disk.is_gzip

    def append_and_tell(file: Path) -> bool:
        with path.open("ab") as handle:
            handle.write(ROW_2017.encode())
        return is_gzip(file)

    monkeypatch.setattr(disk, "is_gzip", append_and_tell)
    assert faults_of(read, path).faults[0].expected == "a file that does not change while it is read"


def test_file_that_vanishes_while_read_is_refused(write: Write) -> None:
    path = write("a,b\n1,2\n")
    stream = disk.blocks(path)
    next(stream)
    path.unlink()
    assert "does not change" in str(faults_of(next, stream))


@pytest.mark.parametrize("read", [read_csv, scan_csv, read_parquet, read_excel, pwscup2018.read_release])
def test_missing_file_and_folder_are_refused(read: Callable[..., Any], tmp_path: Path) -> None:
    assert "a file that exists" in str(faults_of(read, tmp_path / "none.csv"))
    assert faults_of(read, tmp_path).faults[0].file == str(tmp_path)
    assert "File name too long" in str(faults_of(read, tmp_path / ("x" * 300)))


def test_device_is_refused() -> None:
    assert "a regular file" in str(faults_of(read_csv, "/dev/zero"))


csv_like = st.text(alphabet=',;"\n\r\t a1é', max_size=60).map(lambda text: text.encode())
packed = st.binary(max_size=40).map(gzip.compress)
mutilated = st.binary(max_size=40).map(lambda data: disk.GZIP_MAGIC + data)
anything = st.one_of(st.binary(max_size=200), csv_like, packed, mutilated)


@settings(deadline=None, max_examples=cases(300))
@given(content=anything)
def test_arbitrary_bytes_read_or_raise_input_error(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "arbitrary.csv"
    path.write_bytes(content)
    outcomes: list[pl.DataFrame | str] = []
    readers: list[Callable[[], pl.DataFrame]] = [lambda: read_csv(path).frame, lambda: scan_csv(path).collect()]
    for read in readers:
        try:
            outcomes.append(read())
        except InputError as error:
            outcomes.append(str(error))
    first, second = outcomes
    if isinstance(first, pl.DataFrame) and isinstance(second, pl.DataFrame):
        assert first.equals(second)
    else:
        assert first == second


@settings(deadline=None, max_examples=cases(100))
@given(content=anything)
def test_arbitrary_bytes_as_contest_file_read_or_raise_input_error(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "arbitrary_contest.csv"
    path.write_bytes(content)
    for read in (pwscup2016.read_guess, pwscup2017.read_release, pwscup2018.read_release, pwscup2018.read_guess):
        try:
            found: Any = read(path)
        except InputError as error:
            assert error.n_faults >= 1
        else:
            assert found is not None


@settings(deadline=None, max_examples=cases(100))
@given(content=st.one_of(st.binary(max_size=200), st.binary(max_size=60).map(lambda data: b"PAR1" + data + b"PAR1")))
def test_arbitrary_bytes_as_parquet_or_workbook_raise_input_error(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "arbitrary"
    path.write_bytes(content)
    for read in (read_parquet, read_excel):
        assert faults_of(read, path).n_faults >= 1
