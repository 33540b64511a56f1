"""Files that are to be checked, made readable: other encodings and Excel sheets become CSV in UTF-8, with a note.

This runs in the limited process of a job, since a workbook is a program's work to read. What was converted stands in
the file NOTES beside the files, for whoever asked.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from tokumei.contest.edition import FileRole, Files, files_in
from tokumei.data.files.atomic import atomic_path, write_text
from tokumei.data.files.encodings import UTF_8, find_encoding
from tokumei.data.files.source import is_gzip, read_bytes

NOTES = "notes.json"
ISO_DATE = re.compile(rb"\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b")
SAMPLE = 4096
ZIP_MAGIC = b"PK\x03\x04"


def convert(folder: Path, roles: Sequence[FileRole], data: Files) -> None:
    """Convert the files of a folder in place where they need it, and note which and how.

    data: the files that everybody gets; dates and times of a workbook are written as they are there.
    """
    notes = notes_of(folder)
    write = _iso_cell if any(ISO_DATE.search(path.read_bytes()[:SAMPLE]) for path in data.values()) else _cell
    for path in files_in(folder, roles).values():
        note = _convert(path, write)
        if note is not None:
            notes.append(note)
    if notes:
        write_text(folder / NOTES, json.dumps(notes, ensure_ascii=False))


def notes_of(folder: Path) -> list[dict[str, str]]:
    """Return what was converted in a folder: the file, its former format, and the sheet if it has one."""
    path = folder / NOTES
    found: list[dict[str, str]] = json.loads(path.read_text("utf-8")) if path.is_file() else []
    return found


def _convert(path: Path, write: Callable[[Any], str]) -> dict[str, str] | None:
    with path.open("rb") as handle:
        is_workbook = handle.read(len(ZIP_MAGIC)) == ZIP_MAGIC
    if is_workbook:
        sheet, text = _sheet_as_csv(path, write)
        _write(path, text.encode())
        return {"file": path.name, "was": "excel", "sheet": sheet}
    data = read_bytes(path)
    encoding = find_encoding(data)
    if encoding in (None, UTF_8):
        # What cannot be told is left for the check, which says where the first odd byte stands.
        return None
    _write(path, data.decode(encoding).encode())
    return {"file": path.name, "was": encoding, "sheet": ""}


def _write(path: Path, data: bytes) -> None:
    packed = gzip.compress(data, mtime=0) if is_gzip(path) else data
    with atomic_path(path) as draft:
        draft.write_bytes(packed)


def _sheet_as_csv(path: Path, write: Callable[[Any], str]) -> tuple[str, str]:
    """Return the name of a workbook's only sheet, and its cells as lines."""
    import fastexcel

    from tokumei.data.files.excel import read_excel

    frame = read_excel(path, has_header=False)
    (sheet,) = fastexcel.read_excel(path).sheet_names
    lines = [",".join(write(value) for value in row) for row in frame.iter_rows()]
    return sheet, "".join(f"{line}\n" for line in lines)


def _iso_cell(value: Any) -> str:
    """Write a cell with dates as 2011-01-05 and times with seconds."""
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return value.isoformat() if isinstance(value, date | time) else _cell(value)


def _cell(value: Any) -> str:
    """Write a cell as the contests write theirs: dates as 2011/1/5, whole numbers without a point."""
    if value is None:
        return ""
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, datetime):
        return f"{_cell(value.date())} {_cell(value.time())}"
    if isinstance(value, date):
        return f"{value.year}/{value.month}/{value.day}"
    if isinstance(value, time):
        return f"{value.hour}:{value.minute:02d}"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = str(value)
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if any(mark in text for mark in ',"\r\n') else text
