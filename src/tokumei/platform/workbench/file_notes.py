"""What was repaired or noticed when a file was read, said on its first page.

The library notes it in a log, for whoever listens; here each note becomes a sentence that has its Japanese.
"""

from __future__ import annotations

import codecs
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from tokumei.core.text import Text
from tokumei.data.files.csv import first_bytes
from tokumei.data.files.formats import EXCEL, ODS, TEXT_SUFFIXES, format_of, read_frame
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.files.text_bytes import SHIFT_JIS, find_encoding

NOTES = logging.getLogger("tokumei.notes")
RENAMED = Reading(rename=True)
# How each note of the library begins, and what a page says; what follows the name of the file is its {what}.
SAID = {
    "%s: names that are empty or stand": "Columns without a name of their own were named: {what}.",
    "%s: lines end in": "Lines end in two ways; both are read as the end of a line.",
    "%s: read as missing": "Read as missing: {what}.",
    "%s: an Excel workbook": "The file is an Excel workbook, though its name says otherwise; it is read as one.",
    "%s: read as %s": "The encoding was found: {what}.",
    "%s: the first column has no name": "The first column has no name and is read as {what}.",
}


class _Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.notes: list[Text] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep what is known to pages, without where the file lies."""
        form = next((said for begins, said in SAID.items() if str(record.msg).startswith(begins)), None)
        if form is None:
            return
        args = record.args if isinstance(record.args, tuple) else ()
        # The file stands first; advice for a shell stands after what was read.
        what = str(args[1]) if len(args) > 1 else ""
        said = Text(form, what=what) if "{what}" in form else Text(form)
        if said not in self.notes:
            self.notes.append(said)


@contextmanager
def noted() -> Iterator[list[Text]]:
    """Collect what reading notes."""
    listener, before = _Listener(), NOTES.level
    NOTES.addHandler(listener)
    NOTES.setLevel(logging.INFO)
    try:
        yield listener.notes
    finally:
        NOTES.removeHandler(listener)
        NOTES.setLevel(before)


def read_repaired(path: Path) -> tuple[pl.DataFrame, Reading, list[Text]]:
    """Read a file whose header may have empty and repeated names: the frame, how it is read, and what was noted."""
    may_rename = format_of(path) in (*TEXT_SUFFIXES, EXCEL, ODS)
    with noted() as notes:
        frame = read_frame(path, RENAMED if may_rename else AS_IT_IS)
    is_renamed = any(one.form == SAID["%s: names that are empty or stand"] for one in notes)
    notes += copies_noted(frame)
    return frame, RENAMED if is_renamed else AS_IT_IS, notes


def form_of(path: Path) -> str:
    """Return the form of the file by the name under which a release is handed out in it."""
    suffix = format_of(path)
    if suffix in (EXCEL, ODS):
        return "release.xlsx"
    if suffix not in TEXT_SUFFIXES:
        return ""
    head = first_bytes(path)
    if head.startswith(codecs.BOM_UTF8):
        return "release-bom.csv"
    return "release-shift-jis.csv" if find_encoding(head, is_whole=False) == SHIFT_JIS else "release.csv"


def copies_noted(frame: pl.DataFrame) -> list[Text]:
    """Note how many rows read as one above them does."""
    if any(dtype.is_nested() for dtype in frame.schema.values()):
        return []
    n_copies = frame.height - frame.n_unique()
    form = (
        "Rows that read exactly as another does: {n:,}. They are copies, or people who are alike in all that is here."
    )
    return [Text(form, n=n_copies)] if n_copies else []
