from __future__ import annotations

import io
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import xlsxwriter

from tokumei.core.errors import InputError
from tokumei.data.files import excel
from tokumei.data.files.excel import read_excel
from tokumei.data.online_retail import clean_retail

HEADER = ["InvoiceNo", "StockCode", "Description", "Quantity", "InvoiceDate", "UnitPrice", "CustomerID", "Country"]
AT = datetime(2010, 12, 1, 8, 26)
ROWS: list[list[Any]] = [
    [536365, "85123A", "WHITE HANGING HEART", 6, AT, 2.55, 17850, "United Kingdom"],
    [536365, 71053, "WHITE METAL LANTERN", 6, AT, 3.39, 17850, "United Kingdom"],
    # As in the real workbook, the first invoice with a letter comes long after the first rows.
    *[[536366 + number, 22633, "HAND WARMER", 1, AT, 1.85, 17850, "United Kingdom"] for number in range(150)],
    ["C536379", "D", "Discount", -1, AT, 27.5, 14527, "United Kingdom"],
    [536414, 22139, None, 56, AT, 0, None, "United Kingdom"],
]


def make_workbook(path: Path, sheets: dict[str, list[list[Any]]], cells: dict[str, Any] | None = None) -> Path:
    with xlsxwriter.Workbook(path, {"default_date_format": "m/d/yyyy h:mm"}) as workbook:
        for name, rows in sheets.items():
            sheet = workbook.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
            for index, value in (cells or {}).items():
                sheet.write(index, value)
    return path


def test_retail_workbook_keeps_numbers_and_text_of_one_column_as_text(tmp_path: Path) -> None:
    path = make_workbook(tmp_path / "Online Retail.xlsx", {"Online Retail": [HEADER, *ROWS]})
    frame = read_excel(path)
    assert frame.shape == (154, 8)
    assert frame["InvoiceNo"].to_list()[:2] + frame["InvoiceNo"].to_list()[-2:] == [
        "536365",
        "536365",
        "C536379",
        "536414",
    ]
    assert frame["StockCode"].to_list()[:3] == ["85123A", "71053", "22633"]
    assert frame["InvoiceDate"].to_list()[0] == AT
    assert frame["CustomerID"].to_list()[-2:] == [14527, None]
    assert clean_retail(frame).height == 152


def test_workbook_with_several_sheets_needs_the_name_of_one(tmp_path: Path) -> None:
    path = make_workbook(tmp_path / "two.xlsx", {"2009": [["a"], [1]], "2010": [["a"], [2]]})
    with pytest.raises(InputError, match="the name of one sheet: 2009, 2010"):
        read_excel(path)
    with pytest.raises(InputError, match="found '2011', expected the name of one sheet"):
        read_excel(path, sheet="2011")
    assert read_excel(path, sheet="2010").to_dict(as_series=False) == {"a": [2]}


def test_empty_sheet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="an Excel workbook"):
        read_excel(make_workbook(tmp_path / "empty.xlsx", {"a": []}))


def zip_of(parts: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [b"", b"a,b\n1,2\n", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, zip_of({"a.txt": b"text"})],
    ids=["empty", "text", "xls", "zip"],
)
def test_what_is_no_workbook_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file.xlsx"
    path.write_bytes(content)
    with pytest.raises(InputError, match="an Excel workbook") as caught:
        read_excel(path)
    assert caught.value.faults[0].file == str(path)


def test_cut_off_workbook_is_refused(tmp_path: Path) -> None:
    path = make_workbook(tmp_path / "file.xlsx", {"a": [["x"], [1]]})
    whole = path.read_bytes()
    for n_bytes in (4, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:n_bytes])
        with pytest.raises(InputError):
            read_excel(path)


def test_zip_bomb_stops_at_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "bomb.xlsx"
    path.write_bytes(zip_of({"xl/worksheets/sheet1.xml": b" " * 9_000_000}))
    with pytest.raises(InputError, match="at most 1,000,000 bytes when unpacked"):
        read_excel(path, unpack_limit=1_000_000)


def test_zip_bomb_that_lies_about_its_size_stops_at_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "bomb.xlsx"
    content = zip_of({"xl/worksheets/sheet1.xml": b" " * 9_000_000})
    path.write_bytes(content.replace((9_000_000).to_bytes(4, "little"), (90).to_bytes(4, "little")))
    with zipfile.ZipFile(path) as archive:
        assert archive.infolist()[0].file_size == 90
    with pytest.raises(InputError, match="at most 1,000,000 bytes when unpacked"):
        read_excel(path, unpack_limit=1_000_000)


def test_sheet_with_one_cell_far_away_is_refused(tmp_path: Path) -> None:
    # The reader would ask for half a terabyte and take the whole process down.
    path = make_workbook(tmp_path / "far.xlsx", {"a": [["x"], [1]]}, cells={"XFD1048576": 5})
    with pytest.raises(InputError, match="found '16,384 columns and 1,048,576 rows'"):
        read_excel(path)


def test_wide_sheet_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"c{number}" for number in range(40)]
    path = make_workbook(tmp_path / "wide.xlsx", {"a": [names, list(range(40))]})
    # Blocks shorter than a cell's name, so that names fall between two of them.
    monkeypatch.setattr(excel, "BLOCK", 7)
    assert read_excel(path).row(0) == tuple(range(40))
    monkeypatch.setattr(excel, "CELL_LIMIT", 79)
    with pytest.raises(InputError, match="found '40 columns and 2 rows'"):
        read_excel(path)


def test_empty_column_reads_without_a_word(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    frame = read_excel(make_workbook(tmp_path / "one.xlsx", {"a": [["x", "y"], [1, None], [2.5, None]]}))
    assert frame.equals(pl.DataFrame({"x": [1.0, 2.5], "y": pl.Series([None, None], dtype=pl.String)}))
    assert capfd.readouterr() == ("", "")


def test_column_without_a_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 1, column 2: found '', expected a name for every column"):
        read_excel(make_workbook(tmp_path / "one.xlsx", {"a": [["x", None, "z"], [1, 2, 3]]}))
