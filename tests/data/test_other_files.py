"""JSON, files of statistics programs, Arrow and OpenDocument; names that repeat, NA, and lines that end in two ways."""

from __future__ import annotations

import datetime as dt
import json
import logging
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.journey.commands import tokumei

import tokumei as tk
from tokumei.core.errors import InputError, MissingExtra
from tokumei.data.files import excel, formats
from tokumei.data.files.csv import told_apart
from tokumei.data.files.formats import read_frame, scan_frame
from tokumei.data.files.json_rows import read_json
from tokumei.data.files.reading import Reading
from tokumei.data.files.statistics import read_statistics


def json_beside_notes(*arguments: object) -> dict[str, Any]:
    done = tokumei(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("Note: ")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


ROWS: list[dict[str, Any]] = [{"age": 31, "town": "Nara"}, {"age": 52, "town": None}, {"age": 9}]
FORMS = {
    "array": json.dumps(ROWS),
    "columns": '{"age": [31, 52, 9], "town": ["Nara", null, null]}',
    "lines": "\n".join(map(json.dumps, ROWS)),
    "lines with blank ones": "\ufeff\n" + "\r\n\n".join(map(json.dumps, ROWS)) + "\n",
    "pandas": '{"age": {"0": 31, "1": 52, "2": 9}, "town": {"0": "Nara", "1": null, "2": null}}',
}


@pytest.mark.parametrize("form", sorted(FORMS))
def test_json_is_read_in_every_form(form: str, tmp_path: Path) -> None:
    path = tmp_path / ("t.jsonl" if "lines with" in form else "t.json")
    path.write_text(FORMS[form], encoding="utf-8")
    assert read_frame(path).to_dict(as_series=False) == {"age": [31, 52, 9], "town": ["Nara", None, None]}


def test_json_keeps_the_digits_that_stand_there(tmp_path: Path) -> None:
    cells = {
        "mixed": '[1, "1", 1.50, true]',
        "long": "[12345678901234567890, 12345678901234567891, 1, 2]",
        "numbers": "[1, 2.5, 1e3, -0.25]",
        "truths": "[true, false, null, true]",
        "codes": "[1234567890123456789, 2234567890123456789, 32345678901234567890, null]",
        "one twice": "[1, 1.0, 0.10000000000000001, null]",
        "digits": "[0.12345678901234567890, 1, 2, 3]",
        "too large": "[1e400, 1, 2, 3]",
        "nothing": "[null, null, null, null]",
    }
    path = tmp_path / "t.json"
    path.write_text("{" + ", ".join(f'"{name}": {one}' for name, one in cells.items()) + "}")
    assert read_frame(path).to_dict(as_series=False) == {
        "mixed": ["1", "1", "1.50", "true"],
        "long": ["12345678901234567890", "12345678901234567891", "1", "2"],
        "numbers": [1.0, 2.5, 1000.0, -0.25],
        "truths": [True, False, None, True],
        "codes": ["1234567890123456789", "2234567890123456789", "32345678901234567890", None],
        "one twice": [1.0, 1.0, 0.1, None],
        "digits": ["0.12345678901234567890", "1", "2", "3"],
        "too large": ["1e400", "1", "2", "3"],
        "nothing": [None] * 4,
    }


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ('{"a": 1}\n{"a": {"b": 2}}\n', 2, "a single value"),
        ('{"a": 1}\n{"a": 1, "a": 2}\n', 2, "each name once"),
        ('{"a": 1}\n{"a": NaN}\n', 2, "a number or null"),
        ('{"a": 1}\n{"a": \n', 2, "JSON"),
        ('{"a": 1}\n[1]\n', 2, "an object"),
        ("[" * 100_000, 1, "a single value"),
        ('{"a": 1}\n{"' + 'a":{"' * 100_000, 2, "a single value"),
        ("", 1, "a file with content"),
    ],
)
def test_json_that_is_no_table_is_refused_with_its_line(text: str, line: int, expected: str, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(text)
    with pytest.raises(InputError, match=expected) as raised:
        read_frame(tmp_path / "t.jsonl")
    assert raised.value.faults[0].line == line


def test_json_of_other_shapes_names_those_that_are_read(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('{"columns": ["a"], "data": [[1], [2]]}')
    with pytest.raises(InputError, match="orient='records'"):
        read_frame(tmp_path / "t.json")


def test_json_of_a_new_name_in_each_line_does_not_fill_the_memory(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text("".join(f'{{"{number}": 1}}\n' for number in range(2_000)))
    with pytest.raises(InputError, match="at most 1,000,000 cells"):
        read_json(tmp_path / "t.jsonl", is_lines=True, cell_limit=1_000_000)
    with pytest.raises(InputError, match=r"at most 1,000 (bytes|characters)"):
        read_json(tmp_path / "t.jsonl", is_lines=True, limit=1_000)


PEOPLE = pl.DataFrame(
    {
        "sex": [1.0, 2, 2, 1],
        "income": [37.5, 98, 41, 99],
        "town": ["Nara", "", "Oslo", "Nara"],
        "born": [dt.date(1985, 4, 1)] * 4,
    }
)
LABELS = {"sex": {1: "male", 2: "female"}, "income": {98: "don't know", 99: "refused"}}


def written(kind: str, folder: Path) -> Path:
    pyreadstat = pytest.importorskip("pyreadstat")
    path = folder / f"people.{kind}"
    more: dict[str, Any] = {} if kind == "xpt" else {"variable_value_labels": LABELS}
    if kind == "sav":
        more["missing_ranges"] = {"income": [99]}
    getattr(pyreadstat, {"dta": "write_dta", "sav": "write_sav", "xpt": "write_xport"}[kind])(PEOPLE, path, **more)
    return path


@pytest.mark.parametrize("kind", ["dta", "sav", "xpt"])
def test_statistics_files_are_read_by_their_labels(kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = written(kind, tmp_path)
    with caplog.at_level(logging.INFO, "tokumei.notes"):
        found = read_frame(path)
    assert found["sex"].to_list() == ([1, 2, 2, 1] if kind == "xpt" else ["male", "female", "female", "male"])
    assert found["income"].to_list() == [37.5, 98, 41, None if kind == "sav" else 99]
    assert found["town"].to_list() == ["Nara", None, "Oslo", "Nara"]
    assert found["born"].to_list() == [dt.date(1985, 4, 1)] * 4
    if kind != "xpt":
        assert 'income: codes stay, since not each has a label of its own: 98 ("don\'t know")' in caplog.text.replace(
            "'don't know'", '"don\'t know"'
        )
        assert read_frame(path, Reading(codes=True))["sex"].to_list() == [1, 2, 2, 1]
    assert ("99 ('refused') in 1 row" in caplog.text) == (kind == "sav")


def test_missing_letters_of_stata_are_missing_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = written("dta", tmp_path)
    # The double that Stata takes for .a.
    data = path.read_bytes().replace(struct.pack("<d", 37.5), struct.pack("<Q", 0x7FE0010000000000))
    path.write_bytes(data)
    with caplog.at_level(logging.INFO, "tokumei.notes"):
        assert read_frame(path)["income"].to_list() == [None, 98, 41, 99]
    assert "income: read as missing, as the file says: a in 1 row" in caplog.text


def test_statistics_files_go_through_a_command(tmp_path: Path) -> None:
    path = written("sav", tmp_path)
    asked = ["--qi", "sex,town", "--k", 2, "--suppress", 0.5, "--out", tmp_path / "out.csv"]
    for engine in ("local", "duckdb"):
        assert json_beside_notes("anonymize", "table", path, *asked, "--engine", engine, "--force")["k"] >= 2


@pytest.mark.parametrize("suffix", [".dta", ".por", ".sas7bdat", ".sav", ".xpt", ".zsav"])
@pytest.mark.parametrize("content", [b"", b"\0" * 5000, b"$FL2" + b"\xff" * 500])
def test_broken_statistics_file_is_refused(suffix: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / f"t{suffix}").write_bytes(content)
    with pytest.raises(InputError, match=rf"a whole \{suffix} file|a file with a column"):
        read_frame(tmp_path / f"t{suffix}")


def test_large_statistics_file_is_refused_by_its_header(tmp_path: Path) -> None:
    path = written("sav", tmp_path)
    with pytest.raises(InputError, match="at most 10 cells"):
        read_statistics(path, ".sav", cell_limit=10)
    with pytest.raises(InputError, match="at most 10 bytes when unpacked"):
        read_statistics(path, ".sav", byte_limit=10)


def test_extra_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.dta").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(MissingExtra, match=r"tokumei\[statistics\]"):
        read_frame(tmp_path / "t.dta")


FRAME = pl.DataFrame({"age": [31, 52], "town": ["Nara", None], "when": [dt.datetime(2020, 1, 1, 8, 30)] * 2})


@pytest.mark.parametrize("write", [pl.DataFrame.write_ipc, pl.DataFrame.write_ipc_stream])
@pytest.mark.parametrize("suffix", [".arrow", ".feather", ".ipc"])
def test_arrow_is_read_as_a_file_and_as_a_stream(write: Callable[..., Any], suffix: str, tmp_path: Path) -> None:
    write(FRAME, tmp_path / f"t{suffix}")
    assert read_frame(tmp_path / f"t{suffix}").equals(FRAME)
    assert scan_frame(tmp_path / f"t{suffix}").collect().equals(FRAME)


def test_arrow_that_is_broken_old_or_packed_to_fill_the_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.arrow"
    for content, expected in (
        (b"", "a whole Arrow file"),
        (b"ARROW1\0\0junk", "a whole Arrow"),
        (b"FEA1", "version 2"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=expected):
            read_frame(path)
    pl.DataFrame({"zeros": pl.zeros(1_000_000, pl.Int64, eager=True)}).write_ipc(path, compression="zstd")
    monkeypatch.setattr(formats, "CELL_LIMIT", 1000)
    with pytest.raises(InputError, match=r"at most [0-9,]+ cells"):
        read_frame(path)


CELL = '<table:table-cell office:value-type="string"{more}><text:p>{text}</text:p></table:table-cell>'
ODS_HEAD = (
    '<?xml version="1.0"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>'
    '<table:table table:name="People"><table:table-column table:number-columns-repeated="16384"/>'
)
ODS_TAIL = (
    '<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/>'
    "</table:table-row></table:table></office:spreadsheet></office:body></office:document-content>"
)


def ods(rows: str, folder: Path) -> Path:
    with zipfile.ZipFile(folder / "t.ods", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "META-INF/manifest.xml",
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
        )
        archive.writestr("content.xml", ODS_HEAD + rows + ODS_TAIL)
    return folder / "t.ods"


def ods_row(*cells: str, more: str = "", rest: str = "") -> str:
    made = "".join(CELL.format(text=cell, more=more) for cell in cells)
    return f"<table:table-row{rest}>{made}</table:table-row>"


def test_open_document_is_read_like_excel(tmp_path: Path) -> None:
    path = ods(ods_row("age", "town", "age") + ods_row("31", "Nara", "x") + ods_row("NA", "Oslo", "y"), tmp_path)
    with pytest.raises(InputError, match="--rename"):
        read_frame(path)
    found = read_frame(path, Reading(rename=True)).to_dict(as_series=False)
    assert found == {"age": ["31", None], "town": ["Nara", "Oslo"], "age_2": ["x", "y"]}
    assert read_frame(path, Reading(has_header=False, sheet="People")).shape == (3, 3)


@pytest.mark.parametrize(
    "row",
    [
        ods_row("1", more=' table:number-columns-repeated="99999999"'),
        ods_row("1", more=' office:x=">" table:number-columns-repeated="99999999"'),
        ods_row("1", rest=' table:number-rows-repeated="99999999"'),
        ods_row("1", rest=' table:number-rows-repeated="9000"') * 6000,
        '<table:table-row><table:table-cell table:number-columns-repeated="60000000"/>'
        + ods_row("1").removeprefix("<table:table-row>"),
    ],
    ids=["columns", "hidden", "rows", "some rows", "after a gap"],
)
def test_open_document_that_repeats_cells_to_fill_the_memory_is_refused(row: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="sheets of at most 50,000,000 cells"):
        read_frame(ods(ods_row("a") + row, tmp_path))


def test_open_document_of_endless_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excel, "LONGEST_TAG", 1000)
    with pytest.raises(InputError, match="at most 1,000 bytes"):
        read_frame(ods(ods_row("a", "b" * 2_000_000), tmp_path))


@pytest.mark.parametrize("door", ["command", "keyword"])
def test_repeated_names_are_offered_as_numbered_ones(
    door: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("age,town,age\n31,Nara,9\n52,Oslo,8\n")
    with pytest.raises(InputError, match="--rename reads the second one as name_2"):
        tk.Table(path)
    if door == "command":
        found = json_beside_notes("data", "describe", path, "--rename")
        assert [one["name"] for one in found["columns"]] == ["age", "town", "age_2"]
    else:
        with caplog.at_level(logging.INFO, "tokumei.notes"):
            assert tk.Table(path, rename=True).frame.columns == ["age", "town", "age_2"]
        assert "age_2 for 'age'" in caplog.text
    assert told_apart(["a", "a", "a_2", "a"], path) == ["a", "a_3", "a_2", "a_4"]


@pytest.mark.parametrize("read", [read_frame, lambda path: scan_frame(path).collect()])
def test_na_beside_numbers_is_missing_and_told(
    read: Callable[[Path], pl.DataFrame], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "t.csv"
    path.write_text('age,country,mark,dot\n31,NA,-,.\nNA,JP,-,1.5\n"N/A",DE,-,\n9,NA,-,2\n')
    with caplog.at_level(logging.INFO, "tokumei.notes"):
        found = read(path).to_dict(as_series=False)
    # A country NA stands beside others, and a column of marks alone is no column of numbers.
    assert found == {
        "age": ["31", None, None, "9"],
        "country": ["NA", "JP", "DE", "NA"],
        "mark": ["-"] * 4,
        "dot": [None, "1.5", None, "2"],
    }
    assert "age: 'N/A', 'NA'; dot: '.'" in caplog.text
    assert read_frame(path, Reading(null_values=("-",)))["age"].to_list() == ["31", "NA", "N/A", "9"]


@pytest.mark.parametrize("engine", ["duckdb", "local"])
def test_lines_that_end_in_two_ways_and_na_are_read_alike_on_engines(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b'age,town\r\n31,\n31,Nara\r\nNA,\r\nNA,"Os\r\nlo"\n')
    asked = ["--qi", "age", "--k", 2, "--keep", "town", "--keep-anyway", "--out", tmp_path / "out.parquet"]
    assert json_beside_notes("anonymize", "table", path, *asked, "--engine", engine)["k"] == 2
    rows = pl.read_parquet(tmp_path / "out.parquet").rows()
    assert sorted(rows, key=str) == sorted([("31", None), ("31", "Nara"), (None, None), (None, "Os\r\nlo")], key=str)


@pytest.mark.parametrize(("name", "advice"), [("t.xls", "save the workbook as .xlsx"), ("t.rds", "write.csv")])
def test_form_that_is_not_read_names_the_way_out(name: str, advice: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=advice):
        read_frame(tmp_path / name)
