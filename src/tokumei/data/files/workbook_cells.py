"""Cells of a workbook that its reader gives as missing, though something stands there."""

from __future__ import annotations

import html
import logging
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tokumei.core.errors import FaultList
from tokumei.core.wording import counted
from tokumei.data.files.source import BLOCK

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
OVERLAP = 1 << 16


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
            rest = (rest + block)[-OVERLAP:]


def _name(tag: bytes) -> str:
    return _attributes(tag).get("r", "?")
