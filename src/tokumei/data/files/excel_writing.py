"""A frame as an Excel workbook of one sheet, in the least of its form that spreadsheets read."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.data.files.disk import atomic_path

# What one sheet may hold, and the longest text of a cell.
MOST_ROWS, MOST_COLUMNS, LONGEST_CELL = 1_048_576, 16_384, 32_767
NAMESPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OF_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
PARTS = {
    "[Content_Types].xml": (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{TYPE}.worksheet+xml"/></Types>'
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{RELATIONS}"><Relationship Id="r1" Type="{OF_OFFICE}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/workbook.xml": (
        f'<workbook xmlns="{NAMESPACE}" xmlns:r="{OF_OFFICE}"><sheets><sheet name="release" sheetId="1" r:id="r1"/>'
        "</sheets></workbook>"
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{RELATIONS}"><Relationship Id="r1" Type="{OF_OFFICE}/worksheet" '
        'Target="worksheets/sheet1.xml"/></Relationships>'
    ),
}
SHEET = "xl/worksheets/sheet1.xml"
# A number that stays what it is when a spreadsheet reads it: no leading zero, no more digits than it keeps.
NUMBER = r"^-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,9})?$"
# What XML cannot hold.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
# So many rows are written at once.
ROWS_EACH = 10_000


def write_excel(frame: pl.DataFrame, path: Path | str) -> None:
    """Write a workbook; a column of plain numbers has them as numbers, all else is text, missing values are empty."""
    if frame.height >= MOST_ROWS or frame.width > MOST_COLUMNS:
        expected = Text("at most {rows:,} rows and {columns:,} columns for Excel", rows=MOST_ROWS, columns=MOST_COLUMNS)
        raise InputError.of(expected, file=path)
    with atomic_path(Path(path)) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in PARTS.items():
            archive.writestr(name, HEAD + text)
        with archive.open(SHEET, "w") as sheet:
            for text in _sheet(frame):
                sheet.write(text.encode())


def _sheet(frame: pl.DataFrame) -> Iterator[str]:
    texts = frame.select(pl.all().cast(pl.String))
    are_numbers = [bool(texts[name].drop_nulls().str.contains(NUMBER).all()) for name in texts.columns]
    yield f'{HEAD}<worksheet xmlns="{NAMESPACE}"><sheetData>'
    yield "<row>" + "".join(map(_text, texts.columns)) + "</row>"
    for part in texts.iter_slices(ROWS_EACH):
        for row in part.iter_rows():
            yield "<row>" + "".join(map(_cell, row, are_numbers)) + "</row>"
    yield "</sheetData></worksheet>"


def _cell(value: str | None, is_number: bool) -> str:
    if value is None:
        return "<c/>"
    return f"<c><v>{value}</v></c>" if is_number else _text(value)


def _text(value: str) -> str:
    cut = _FORBIDDEN.sub("", value)[:LONGEST_CELL]
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(cut)}</t></is></c>'
