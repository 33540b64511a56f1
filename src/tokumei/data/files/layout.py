"""The shape of a delimited text file, checked in one streaming pass before anything is parsed.

Parsers disagree on broken files and few say where the break is. So the bytes are checked first, block by
block and vectorized: encoding, NUL bytes, line ends, quotes, cells per row, length of lines.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tokumei.core.errors import LISTED_FAULTS, FaultList
from tokumei.core.text import Text, counted
from tokumei.data.files.text_bytes import CARRIAGE_RETURN, MARKS, Positions, Records, inside_quotes, opening_quote

log = logging.getLogger("tokumei.notes")
# A record longer than this is a broken file or an attack on memory. Contest lines have at most 8,000 characters.
LONGEST_RECORD = 1_000_000
# A record is read so far, to tell how long it is, and no further.
ENDLESS_RECORD = 4 * LONGEST_RECORD
# Enough of a line to recognize it by.
SHOWN_BYTES = 200
# By whether a carriage return stands before the line feed.
LINE_ENDS = {True: "\r\n", False: "\n"}


@dataclass(frozen=True)
class Layout:
    """What the pass found: how many records and cells, and on which line each record starts."""

    n_records: int
    n_columns: int
    has_quotes: bool
    line_end: str
    # The records that span several lines, and how many lines more than one they and all before them have.
    long_records: Positions
    extra_lines: Positions
    has_mixed_ends: bool = False

    def line_of(self, record: int) -> int:
        """Return the line, counted from 1, on which a record starts; the header is record 0."""
        n_long_before = int(np.searchsorted(self.long_records, record))
        return record + 1 + (int(self.extra_lines[n_long_before - 1]) if n_long_before else 0)


EMPTY = Layout(0, 0, False, "\n", np.zeros(0, np.int64), np.zeros(0, np.int64))
"""The layout of a file without a byte."""


class CellForms(NamedTuple):
    """How many cells a line should have: in all lines, by the header alone, or by the lines above."""

    plain: str
    as_in_header: str
    as_above: str


CELLS = CellForms(
    "{n:,} cells",
    "{n:,} cells as in the header: all lines below it end in '{delimiter}', which begins one more",
    "{n:,} cells as in the lines above (if the table begins here, give --skip-rows {m})",
)
ONE_CELL = CellForms(
    "1 cell",
    "1 cell as in the header: all lines below it end in '{delimiter}', which begins one more",
    "1 cell as in the lines above (if the table begins here, give --skip-rows {m})",
)


@dataclass
class LayoutPass:
    """The running state of the check over one file."""

    delimiter: str
    faults: FaultList
    # Known beforehand for a file without a header, else taken from the first record.
    n_columns: int | None = None
    longest_record: int = LONGEST_RECORD
    # Lines above the first block, which were not looked at.
    n_skipped: int = 0
    # Whether whoever reads could have said more of the file: its encoding, lines to skip.
    may_advise: bool = False
    # Whether lines may end in \\r\\n here and in \\n there.
    mixes_line_ends: bool = False
    n_records: int = 0
    n_lines: int = 0
    has_quotes: bool = False
    is_stopped: bool = False
    n_crlf: int = 0
    n_lf: int = 0
    n_ragged: int = 0
    ragged: list[tuple[int, int, str]] = field(default_factory=list)
    cell_counts: set[int] = field(default_factory=set)
    long_records: list[Positions] = field(default_factory=list)
    extra_lines: list[Positions] = field(default_factory=list)

    def run(self, blocks: Iterable[bytes]) -> Layout:
        """Check all blocks; the faults found are in `faults`."""
        tail = b""
        is_first = True
        for block in blocks:
            if is_first and self._has_byte_order_mark(block):
                break
            is_first = False
            tail = self._check_whole_records(tail + block)
            if not self.is_stopped and len(tail) > max(ENDLESS_RECORD, self.longest_record):
                self._add_endless_record(tail)
            if self.is_stopped:
                break
        if is_first and not self.is_stopped:
            self.faults.add("a file with content, not an empty one", line=1, value="")
        if tail and not self.is_stopped:
            self._check_last_record(tail)
        self._add_ragged()
        none = np.zeros(0, np.int64)
        return Layout(
            n_records=self.n_records,
            n_columns=self.n_columns or 0,
            has_quotes=self.has_quotes,
            line_end=LINE_ENDS[self.n_crlf > 0],
            has_mixed_ends=self.n_crlf > 0 and self.n_lf > 0,
            long_records=np.concatenate([none, *self.long_records]),
            extra_lines=np.cumsum(np.concatenate([none, *self.extra_lines])),
        )

    def _has_byte_order_mark(self, block: bytes) -> bool:
        for mark in MARKS:
            if block.startswith(mark):
                self.faults.add("UTF-8 without a byte order mark", line=1, value=mark.hex(" "))
                self.is_stopped = True
                return True
        return False

    def _check_whole_records(self, data: bytes) -> bytes:
        """Check all records that end in this data; give back the unfinished rest."""
        records = Records.of(data, ord(self.delimiter))
        if records is None:
            return data
        if self._is_clean_text(records):
            self._check_line_ends(records)
            self._check_quotes(records)
            self._check_cells(records)
            self._check_lengths(records)
            self._note_long_records(records)
        else:
            self.is_stopped = True
        self.n_records += len(records.ends)
        self.n_lines += len(records.line_ends)
        return data[len(records.data) :]

    def _check_last_record(self, tail: bytes) -> None:
        """Check what follows the last line end of the file."""
        uses_return = self.n_crlf > 0 and not self.n_lf
        if not self.n_lines - self.n_skipped and b"\n" not in tail and tail.count(b"\r") > 1:
            self.faults.add("a line end \\r\\n or \\n, not \\r alone", line=1, value="\r")
            self.is_stopped = True
            return
        if tail.endswith(b"\r"):
            # With the line feed that is put after it, this one would pass for half of a line end.
            line = self.n_lines + 1 + tail.count(b"\n")
            self.faults.add("a line end \\r\\n or \\n, not \\r alone", line=line, value="\r")
            uses_return, tail = self.n_crlf > 0, tail[:-1]
        rest = self._check_whole_records(tail + LINE_ENDS[uses_return].encode())
        if rest and not self.is_stopped:
            self._add_endless_record(tail)

    def _is_clean_text(self, records: Records) -> bool:
        """Refuse NUL bytes and what is not UTF-8, saying where it starts and what it may be instead."""
        data = records.data
        nul = data.find(b"\0")
        if nul >= 0:
            self.faults.add("text without NUL bytes (is it UTF-16?)", line=self._line_at(nul, records), value="\0")
            return False
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            advice = " (give its --encoding: cp932 for Shift-JIS, cp1252 for Western text)" if self.may_advise else ""
            found = data[error.start : error.start + 4].hex(" ")
            self.faults.add(Text("UTF-8{advice}", advice=advice), line=self._line_at(error.start, records), value=found)
            return False
        return True

    def _check_line_ends(self, records: Records) -> None:
        """Refuse a file that changes from one line end to the other, and a carriage return within a line."""
        # A line end inside a quoted cell is text, whatever its form.
        ends, has_return = records.ends, records.has_return
        was_mixed = self.n_crlf > 0 and self.n_lf > 0
        uses_return = self.n_crlf > 0 or (self.n_lf == 0 and bool(has_return[0]))
        self.n_crlf += int(has_return.sum())
        self.n_lf += int((~has_return).sum())
        if not was_mixed and self.n_crlf and self.n_lf and self.mixes_line_ends:
            log.info(
                "%s: lines end in \\r\\n here and in \\n there; both are read as the end of a line", self.faults.file
            )
        elif not was_mixed and self.n_crlf and self.n_lf:
            odd = int(ends[np.flatnonzero(has_return != uses_return)[0]])
            wanted = LINE_ENDS[uses_return].encode("unicode_escape").decode()
            found = LINE_ENDS[not uses_return]
            self.faults.add(
                Text("the line end {end} as above", end=wanted), line=self._line_at(odd, records), value=found
            )
        if b"\r" not in records.data:
            return
        is_lone = records.codes[:-1] == CARRIAGE_RETURN
        is_lone[ends[has_return] - 1] = False
        inside = inside_quotes(records.codes)
        if inside is not None:
            is_lone &= ~inside[:-1]
        lone = np.flatnonzero(is_lone)
        for index in lone[:LISTED_FAULTS]:
            self.faults.add("no carriage return inside a line", line=self._line_at(int(index), records), value="\r")
        self.faults.count_more(max(0, len(lone) - LISTED_FAULTS))

    def _check_quotes(self, records: Records) -> None:
        if not records.has_quotes:
            return
        self.has_quotes = True
        stray = records.stray_quotes(ord(self.delimiter))
        for index in stray[:LISTED_FAULTS]:
            around = _piece_of_line(records.data, int(index))
            line = self._line_at(int(index), records)
            self.faults.add('a quote (") only around a whole cell; inside it is written twice', line=line, value=around)
        self.faults.count_more(max(0, len(stray) - LISTED_FAULTS))

    def _check_cells(self, records: Records) -> None:
        n_cells = records.n_cells
        if self.n_columns is None:
            self.n_columns = int(n_cells[0])
        bad = np.flatnonzero(n_cells != self.n_columns)
        if not len(bad):
            return
        self.n_ragged += len(bad)
        self.cell_counts.update(np.unique(n_cells[bad])[:2].tolist())
        for record in bad[: LISTED_FAULTS - len(self.ragged)]:
            start, end = int(records.starts[record]), int(records.ends[record])
            text = _readable(records.data[start : min(end, start + SHOWN_BYTES)])
            self.ragged.append((self._line_at(start, records), int(n_cells[record]), text))

    def _add_ragged(self) -> None:
        """Report once what is wrong with every line in the same way."""
        forms = ONE_CELL if self.n_columns == 1 else CELLS
        form, values = forms.plain, {"n": self.n_columns or 0, "delimiter": self.delimiter}
        if self.ragged and len(self.cell_counts) == 1:
            first_line, n_cells, _ = self.ragged[0]
            n_fitting = self.n_records - self.n_ragged
            # The lines that fit all stand above: a title, and below it a table.
            if 0 < n_fitting == first_line - 1 - self.n_skipped and n_cells > (self.n_columns or 0):
                if n_fitting == 1 and all(text.endswith(self.delimiter) for _, _, text in self.ragged):
                    form = forms.as_in_header
                elif self.may_advise:
                    form = forms.as_above
                    values["m"] = first_line - 1
                n_fitting = 0
            if not n_fitting:
                del self.ragged[1:]
                self.n_ragged = 1
        expected = Text(form, **values)
        for line, n_cells, text in self.ragged:
            cells = Text("{cells}: {text}", cells=counted(n_cells, "cell"), text=text)
            self.faults.add(expected, line=line, value=cells if text else Text("an empty line"))
        self.faults.count_more(self.n_ragged - len(self.ragged))

    def _check_lengths(self, records: Records) -> None:
        lengths = records.ends - records.starts - records.has_return
        bad = np.flatnonzero(lengths > self.longest_record)
        for record in bad[:LISTED_FAULTS]:
            self._add_too_long(self._line_at(int(records.starts[record]), records), int(lengths[record]))
        self.faults.count_more(max(0, len(bad) - LISTED_FAULTS))

    def _add_too_long(self, line: int, length: int) -> None:
        expected = Text("lines of at most {n:,} bytes", n=self.longest_record)
        self.faults.add(expected, line=line, value=counted(length, "byte"))

    def _note_long_records(self, records: Records) -> None:
        if len(records.line_ends) > len(records.ends):
            n_lines = np.diff(np.searchsorted(records.line_ends, records.ends, "right"), prepend=0)
            is_long = np.flatnonzero(n_lines > 1)
            self.long_records.append(self.n_records + is_long)
            self.extra_lines.append(n_lines[is_long] - 1)

    def _add_endless_record(self, tail: bytes) -> None:
        """Report why a record does not end: a quote left open, or a line without end."""
        self.is_stopped = True
        opened = opening_quote(tail)
        if opened is None:
            self._add_too_long(self.n_lines + 1, len(tail))
        else:
            line = self.n_lines + 1 + tail.count(b"\n", 0, opened)
            found = _readable(tail[opened : opened + SHOWN_BYTES])
            self.faults.add("a closing quote for the one opened here", line=line, value=found)

    def _line_at(self, index: int, records: Records) -> int:
        return self.n_lines + 1 + int(np.searchsorted(records.line_ends, index))


def check_layout(
    blocks: Iterable[bytes],
    delimiter: str,
    faults: FaultList,
    *,
    n_columns: int | None = None,
    longest_record: int = LONGEST_RECORD,
    n_skipped: int = 0,
    may_advise: bool = False,
    mixes_line_ends: bool = False,
) -> Layout:
    """Check the bytes of a delimited file and raise for what is wrong with its shape.

    `n_columns` is what each line must have, where the file has no header that could tell; `n_skipped` lines stand above
    the first block.
    """
    checked = LayoutPass(
        delimiter, faults, n_columns, longest_record, n_skipped, may_advise, mixes_line_ends, n_lines=n_skipped
    )
    layout = checked.run(blocks)
    faults.raise_if_any()
    return layout


def _readable(data: bytes) -> str:
    """Decode a piece cut out of a text, which may start or end inside a character."""
    return data.decode("utf-8", errors="ignore").strip("\r\n")


def _piece_of_line(data: bytes, index: int) -> str:
    """Cut out what stands around a place in its line."""
    start = max(index - SHOWN_BYTES // 10, data.rfind(b"\n", 0, index) + 1)
    end = data.find(b"\n", index, index + SHOWN_BYTES // 10)
    return _readable(data[start : end if end >= 0 else index + SHOWN_BYTES // 10])
