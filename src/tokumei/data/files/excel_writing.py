"""A frame as an Excel workbook of one sheet, in the least of its form that spreadsheets read."""

from __future__ import annotations

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
# A text reads as it did only where its number is written in the one shortest way: 1.10 and -0 would become 1.1 and 0.
SHORTEST = r"^(0|-?[1-9][0-9]{0,14}|-?(0|[1-9][0-9]{0,14})\.[0-9]{0,8}[1-9])$"
# What XML cannot hold.
FORBIDDEN = r"[\x00-\x08\x0b\x0c\x0e-\x1f]"
# So many rows are written at once.
ROWS_EACH = 10_000


def write_excel(frame: pl.DataFrame, path: Path | str) -> None:
    """Write a workbook; a column of plain numbers has them as numbers, all else is text, missing values are empty."""
    if frame.height >= MOST_ROWS or frame.width > MOST_COLUMNS:
        expected = Text("at most {rows:,} rows and {columns:,} columns for Excel", rows=MOST_ROWS, columns=MOST_COLUMNS)
        raise InputError.of(expected, file=path)
    texts = frame.select(pl.all().cast(pl.String))
    _check(texts, Path(path))
    are_numbers = [
        bool(texts[name].drop_nulls().str.contains(SHORTEST if dtype == pl.String else NUMBER).all())
        for name, dtype in frame.schema.items()
    ]
    with atomic_path(Path(path)) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in PARTS.items():
            archive.writestr(name, HEAD + text)
        with archive.open(SHEET, "w") as sheet:
            for text in _sheet(texts, are_numbers):
                sheet.write(text.encode())


def _check(texts: pl.DataFrame, path: Path) -> None:
    """Refuse a cell or a name of a column that a workbook would have to cut."""
    expected = Text("at most {n:,} characters in a cell of Excel, none of them a control character", n=LONGEST_CELL)
    for name in texts.columns:
        cells = pl.concat([pl.Series([name]), texts[name].alias("")])
        is_lost = (cells.str.len_chars() > LONGEST_CELL) | cells.str.contains(FORBIDDEN)
        at = is_lost.fill_null(value=False).arg_true()
        if len(at):
            value = repr(cells[at[0]])[1:-1][:60]
            raise InputError.of(expected, file=path, line=at[0] + 1, column=name, value=value)


def _sheet(texts: pl.DataFrame, are_numbers: list[bool]) -> Iterator[str]:
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
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
