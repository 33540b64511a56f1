"""Workbooks of Excel (.xlsx) and OpenDocument (.ods), read only; UCI gives out the Online Retail data so.

Cells that the reader gives as missing, though something stands there, are faults.
"""

from __future__ import annotations

import html
import logging
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import FaultList, InputError, needing
from tokumei.core.text import Text, counted
from tokumei.data.files.csv import check_header, told_apart
from tokumei.data.files.disk import BLOCK, UNPACK_LIMIT, check_is_file, unchanged

log = logging.getLogger("tokumei.notes")
SHEET = re.compile(rb"<(?:\w+:)?sheet\s[^<>]*>")
RELATIONSHIP = re.compile(rb"<(?:\w+:)?Relationship\s[^<>]*>")
ATTRIBUTE = re.compile(rb"""([\w:]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
# A cell that shows #DIV/0! or the like.
ERROR_CELL = re.compile(rb"""<(?:\w+:)?c\s[^<>]*\bt\s*=\s*["']e["'][^<>]*>""")
# A formula without the value that Excel puts beside it: other programs write such cells.
FORMULA_ALONE = re.compile(
    rb"(<(?:\w+:)?c\s[^<>]*>)\s*<(?:\w+:)?f\b(?:[^<>]*/>|[^<>]*>[^<]*</(?:\w+:)?f>)\s*</(?:\w+:)?c>"
)
CELL_NAME = re.compile(r"([A-Z]+)([0-9]+)")
# Longer than any cell with a formula, of at most 8,192 characters in Excel, so that none is lost between two blocks.
SHEET_OVERLAP = 1 << 16


def check_cells(path: Path, sheet: str) -> None:
    """Note which cells of a sheet show errors, and refuse formulas whose values are not in the file."""
    errors: dict[str, None] = {}
    formulas: dict[str, None] = {}
    with zipfile.ZipFile(path) as archive:
        for text in _texts(archive, _part_of(archive, sheet)):
            # The search for whole cells is slow, and most sheets have neither.
            if b'"e"' in text or b"'e'" in text:
                errors |= dict.fromkeys(_name(tag) for tag in ERROR_CELL.findall(text))
            if b"/f>" in text or b"<f " in text:
                formulas |= dict.fromkeys(_name(tag) for tag in FORMULA_ALONE.findall(text))
    faults = FaultList(str(path))
    for name in formulas:
        found = CELL_NAME.fullmatch(name)
        column, line = (found[1], int(found[2])) if found else (name, None)
        faults.add(
            "a cell with a value; its formula was never computed: open the file in Excel or LibreOffice, and save it",
            line=line,
            column=column,
            value="",
        )
    faults.raise_if_any()
    if errors:
        told = f"{counted(len(errors), 'cell')} with an error of Excel, the first {next(iter(errors))}"
        log.info("%s: read as missing: %s", path, told)


def _part_of(archive: zipfile.ZipFile, sheet: str) -> str:
    """Return the name of the archive's part that holds a sheet; empty where the workbook does not say."""
    try:
        book, links = archive.read("xl/workbook.xml"), archive.read("xl/_rels/workbook.xml.rels")
    except KeyError:
        return ""
    ids = [one for one in map(_attributes, SHEET.findall(book)) if one.get("name") == sheet]
    key = next((value for one in ids for name, value in one.items() if name.endswith(":id")), None)
    target = next(
        (one.get("Target", "") for one in map(_attributes, RELATIONSHIP.findall(links)) if one.get("Id") == key), ""
    )
    return target.removeprefix("/") if target.startswith("/") else f"xl/{target}"


def _attributes(tag: bytes) -> dict[str, str]:
    pairs = (
        (name.decode(), (double or single).decode(errors="replace")) for name, double, single in ATTRIBUTE.findall(tag)
    )
    return {name: html.unescape(value) for name, value in pairs}


def _texts(archive: zipfile.ZipFile, part: str) -> Iterator[bytes]:
    """Unpack a part block by block, each with the end of the one before it."""
    if part not in archive.namelist():
        return
    rest = b""
    with archive.open(part) as handle:
        while block := handle.read(BLOCK):
            yield rest + block
            rest = (rest + block)[-SHEET_OVERLAP:]


def _name(tag: bytes) -> str:
    return _attributes(tag).get("r", "?")


# The reader makes room for the whole rectangle up to the last cell, 32 bytes each, however few are filled.
CELL_LIMIT = 50_000_000
CELL = re.compile(rb"""\br\s*=\s*["']([A-Z]{1,3})([0-9]{1,7})["']""")
# A sheet without such cells has at most 26 columns and 999,999 rows, which is well within the limit.
# It starts with a plain letter, which the search skips to three times as fast as to a word boundary.
FAR_CELL = re.compile(rb"""r\s*=\s*["'](?:[A-Z]{2,3}[0-9]|[A-Z][0-9]{7})""")
# What the reader calls a column without a name, with its number.
UNNAMED = "__UNNAMED__"
# What the reader puts behind a name that stands in the header before.
NUMBERED = re.compile(r"_[0-9]+$")
# Longer than any match, so that none is lost between two blocks.
CELL_OVERLAP = 64
# The sheets of an OpenDocument file, and what a reader looks at in them.
ODS_CONTENT = "content.xml"
# In the value of an attribute > may stand, and < may not.
ODS_TAG = re.compile(
    rb"""<table:(table|table-row|table-cell|covered-table-cell)(?=[\s/>])((?:[^<>"']|"[^"<]*"|'[^'<]*')*)>"""
)
LONGEST_TAG = 8 * BLOCK
ODS_ROWS = re.compile(rb"""table:number-rows-repeated\s*=\s*["']([0-9]{1,9})""")
ODS_COLUMNS = re.compile(rb"""table:number-columns-repeated\s*=\s*["']([0-9]{1,9})""")


def read_excel(
    path: Path | str,
    *,
    sheet: str | None = None,
    skip_rows: int = 0,
    has_header: bool = True,
    rename: bool = False,
    unpack_limit: int = UNPACK_LIMIT,
) -> pl.DataFrame:
    """Read one sheet of a workbook; its first row below those skipped names the columns, else numbers do.

    A column that mixes numbers and text comes out as text, whole numbers without a decimal point, so that invoice
    536365 and item 85123A stay what they are. A workbook with several sheets needs the name of one.
    """
    with needing("Reading workbooks", "excel"):
        import fastexcel
    # Without a handler its remarks on empty columns would go to the terminal.
    logging.getLogger("fastexcel").addHandler(logging.NullHandler())
    path = check_is_file(path)
    with unchanged(path):
        check_size(path, unpack_limit)
        try:
            book = fastexcel.read_excel(path)
            name = _choose_sheet(book.sheet_names, sheet, path)
            check_cells(path, name)
            # Types are told from all rows: the first returned invoice, C536379, comes after a hundred others.
            options = {"header_row": skip_rows} if has_header else {"header_row": None, "skip_rows": skip_rows}
            frame = pl.read_excel(
                path,
                sheet_name=name,
                engine="calamine",
                infer_schema_length=None,
                read_options=options,
                drop_empty_cols=False,
            )
            names = _header(book, name, skip_rows, frame.columns) if has_header else frame.columns
        except (fastexcel.FastExcelError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            reason = str(error).partition("\n")[0]
            what = "an OpenDocument sheet (.ods) with a table ({why})"
            form = what if path.suffix.lower() == ".ods" else "an Excel workbook (.xlsx) with a table ({why})"
            raise InputError.of(Text(form, why=reason), file=path) from None
    if not has_header:
        return frame.rename({name: str(number) for number, name in enumerate(frame.columns, 1)})
    is_named = {
        name: bool(said) or frame[name].null_count() < frame.height
        for name, said in zip(frame.columns, names, strict=True)
    }
    said = [said for name, said in zip(frame.columns, names, strict=True) if is_named[name]]
    apart = told_apart(said, path) if rename else said
    check_header(apart, path, line=skip_rows + 1)
    kept = frame.select(name for name in frame.columns if is_named[name])
    return kept.rename(dict(zip(kept.columns, apart, strict=True)))


def _header(book: Any, sheet: str, skip_rows: int, columns: Sequence[str]) -> list[str]:
    """Return the names in the file, where the reader numbered repeated ones."""
    names = ["" if name.startswith(UNNAMED) else name for name in columns]
    if not any(NUMBERED.sub("", name) in names for name in names if NUMBERED.search(name)):
        return names
    first = book.load_sheet(sheet, header_row=None, skip_rows=skip_rows, n_rows=1, dtypes="string").to_polars()
    return ["" if name is None else name for name in first.row(0)]


def check_size(path: Path, unpack_limit: int = UNPACK_LIMIT) -> None:
    """Refuse a workbook that would not fit into memory, before a reader tries.

    The sizes that a zip file states of itself can lie, so it is unpacked here, block by block.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            n_unpacked = 0
            if any(one.filename == ODS_CONTENT for one in archive.infolist()):
                _check_repeated_cells(archive, path)
            has_far_cells = False
            for rest, block in _unpacked(archive):
                n_unpacked += len(block)
                if n_unpacked > unpack_limit:
                    found = f"{n_unpacked:,} bytes so far"
                    expected = Text("at most {n:,} bytes when unpacked", n=unpack_limit)
                    raise InputError.of(expected, file=path, value=found)
                has_far_cells = has_far_cells or FAR_CELL.search(rest + block) is not None
            if has_far_cells:
                _check_n_cells(archive, path)
    # Python names a bad header with one, a bad stream with another, and a password with yet another.
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError) as error:
        raise InputError.of(
            Text("an Excel workbook (.xlsx), which is a zip file ({why})", why=error), file=path
        ) from None


def _check_repeated_cells(archive: zipfile.ZipFile, path: Path) -> None:
    """Refuse sheets of OpenDocument that are large by repeating cells; empty ones at the ends do not count."""
    n_above = n_columns = at = repeated = n_errors = 0
    for block in _whole_tags(archive, path):
        for kind, rest in ODS_TAG.findall(block):
            if kind == b"table":
                n_above = n_columns = repeated = 0
            elif kind == b"table-row":
                n_above, repeated, at = n_above + repeated, _times(ODS_ROWS, rest), 0
            else:
                at += _times(ODS_COLUMNS, rest)
                n_errors += b'calcext:value-type="error"' in rest
                if b"value-type" in rest:
                    n_columns = max(n_columns, at)
                    _check_rectangle(n_columns, n_above + repeated, path)
    if n_errors:
        log.info("%s: read as missing: %s with an error", path, counted(n_errors, "cell"))


def _whole_tags(archive: zipfile.ZipFile, path: Path) -> Iterator[bytes]:
    """Unpack the sheets of OpenDocument block by block, each up to where a tag begins."""
    part = copy(archive.getinfo(ODS_CONTENT))
    part.file_size = 1 << 62
    rest = b""
    with archive.open(part) as handle:
        while block := handle.read(BLOCK):
            whole, mark, rest = (rest + block).rpartition(b"<")
            rest = mark + rest
            if len(rest) > LONGEST_TAG:
                expected = Text("tags and texts of at most {n:,} bytes", n=LONGEST_TAG)
                raise InputError.of(expected, file=path, value=rest[:CELL_OVERLAP].decode(errors="replace"))
            yield whole
    yield rest


def _check_rectangle(n_columns: int, n_rows: int, path: Path) -> None:
    if n_columns * n_rows > CELL_LIMIT:
        found = Text("{columns} and {rows}", columns=counted(n_columns, "column"), rows=counted(n_rows, "row"))
        raise InputError.of(Text("sheets of at most {n:,} cells", n=CELL_LIMIT), file=path, value=found)


def _times(pattern: re.Pattern[bytes], tag: bytes) -> int:
    found = pattern.search(tag)
    return max(1, int(found[1])) if found else 1


def _unpacked(archive: zipfile.ZipFile) -> Iterator[tuple[bytes, bytes]]:
    """Unpack all parts block by block, each block with the end of the one before it."""
    for stated in archive.infolist():
        if stated.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise zipfile.BadZipFile(f"{stated.filename} is packed in a way that Excel does not use")
        part = copy(stated)
        # Python stops reading at the stated size, other readers at the end of the stream.
        part.file_size = 1 << 62
        rest = b""
        with archive.open(part) as handle:
            while block := handle.read(BLOCK):
                yield rest, block
                rest = block[-CELL_OVERLAP:]


def _check_n_cells(archive: zipfile.ZipFile, path: Path) -> None:
    n_columns = n_rows = 1
    for rest, block in _unpacked(archive):
        for letters, digits in CELL.findall(rest + block):
            n_columns = max(n_columns, _column_number(letters))
            n_rows = max(n_rows, int(digits))
    _check_rectangle(n_columns, n_rows, path)


def _column_number(letters: bytes) -> int:
    """Return the position of a column: A is 1, Z 26, AA 27."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number


def _choose_sheet(names: list[str], wanted: str | None, path: Path) -> str:
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted is None or wanted not in names:
        raise InputError.of(
            Text("the name of one sheet: {names}", names=", ".join(names)), file=path, option="sheet", value=wanted
        )
    return wanted
