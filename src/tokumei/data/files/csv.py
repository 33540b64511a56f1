"""CSV with any delimiter, plain or gzipped: every cell is text until a type is declared.

Blanks at the ends of names and cells belong to how a file is written and not to what it says. Besides the empty cell,
declared texts stand for a missing value.
"""

from __future__ import annotations

import csv
import io
import logging
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import FaultList, InputError
from tokumei.core.text import Text, counted
from tokumei.data.files.disk import BLOCK, UNPACK_LIMIT, atomic_path, blocks, check_is_file, is_gzip, read_bytes
from tokumei.data.files.layout import LONGEST_RECORD, Layout, check_layout
from tokumei.data.files.missing import Seen, missing_beside_numbers, with_found_missing, with_missing
from tokumei.data.files.reading import BLANKS
from tokumei.data.files.text_bytes import UTF_8, find_encoding, is_utf8, to_utf8
from tokumei.data.frames import PLAIN_NAME, check_no_patterns, is_pattern, is_single

# What is looked at to see whether a blank stands after every delimiter.
LOOKED_AT = 1 << 16
BLANK = " \t\u00a0\u3000"


def trimmed(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Strip blanks from the ends of names and texts; a text of blanks alone is missing."""
    kinds = frame.collect_schema()
    texts = [name for name, kind in kinds.items() if kind in (pl.String, pl.Categorical, pl.Enum)]
    cells = (pl.col(name).cast(pl.String).str.strip_chars(BLANK) for name in texts)
    cut = frame.with_columns(pl.when(cell != "").then(cell) for cell in cells)
    names = {name: name.strip(BLANK) for name in kinds}
    return cut.rename({name: short for name, short in names.items() if short != name})


def has_blanks_after(delimiter: str, data: bytes) -> bool:
    """Whether a blank stands after every delimiter at the start of a file, of which there must be some."""
    if delimiter.isspace():
        return False
    # The last byte may be a delimiter whose blank is cut off.
    mark, head = delimiter.encode(), data[:LOOKED_AT].removesuffix(delimiter.encode())
    unquoted = b"".join(head.split(b'"')[::2])
    n_marks = unquoted.count(mark)
    return n_marks > 0 and unquoted.count(mark + b" ") == n_marks


log = logging.getLogger("tokumei.notes")
DELIMITERS = ",;\t|"
BRACKETED = re.compile(rb"\{[^{}]*\}|\[[^\[\]]*\]")
# The first column as R and pandas write it, which has no name there.
ROW_NAMES = "row_names"
# They separate cells in some files, and are part of values in most: told, never taken.
OTHER_MARKS = "^~:#!"


@dataclass(frozen=True)
class TextFrame:
    """The cells of a CSV file as text, and where each row stood in the file."""

    frame: pl.DataFrame
    layout: Layout
    file: str
    has_header: bool
    n_skipped: int = 0

    def line_of(self, row: int) -> int:
        """Return the line of a row of the frame, counted from 1."""
        return self.n_skipped + self.layout.line_of(row + self.has_header)


def read_csv(
    path: Path | str,
    *,
    delimiter: str | None = None,
    columns: Sequence[str] | None = None,
    encoding: str | None = "utf-8",
    skip_rows: int = 0,
    null_values: Sequence[str] = (),
    has_header: bool = True,
    trim: bool | None = False,
    unpack_limit: int = UNPACK_LIMIT,
    longest_line: int = LONGEST_RECORD,
    mixes_line_ends: bool = True,
    rename: bool = False,
    finds_missing: bool = False,
) -> TextFrame:
    """Read a CSV file as text, an empty cell as missing.

    `columns` names the columns of a file without a header; without names they are called 1, 2, 3, … The delimiter is
    found from the first line unless it is given; the encoding is found where it is None. `trim` leaves out blanks at
    the ends of names and cells; None does so where a blank stands after every delimiter. `rename` tells columns of one
    name apart, and `finds_missing` reads NA and the like as missing beside numbers. Lines may end in two ways, with a
    note, if `mixes_line_ends` says so. Bad shape is an InputError that names the lines, one longer than `longest_line`
    bytes included.
    """
    path = check_is_file(path)
    data = to_utf8(read_bytes(path, unpack_limit=unpack_limit), path, encoding)
    data = without_first_lines(data, skip_rows, path)
    if delimiter == BLANKS:
        data, delimiter = _with_tabs_for_blanks(data), "\t"
    is_found = delimiter is None and columns is None
    delimiter = check_delimiter(delimiter) if delimiter else find_delimiter(data)
    has_header = has_header and columns is None
    seen = Seen(_pieces(data), delimiter)
    layout = check_layout(
        seen,
        delimiter,
        FaultList(str(path)),
        n_columns=None if columns is None else len(columns),
        longest_record=longest_line,
        n_skipped=skip_rows,
        may_advise=encoding is None,
        mixes_line_ends=mixes_line_ends,
    )
    names = columns if columns is not None else with_row_names(header_names(data, delimiter), path)
    if is_found:
        _tell_other_mark(data, names, path)
    trim = _is_trimmed(data, delimiter, path) if trim is None else trim
    if trim:
        names = [name.strip(BLANK) for name in names]
    if has_header:
        names = told_apart(names, path) if rename else names
        check_header(names, path, line=skip_rows + 1)
    elif columns is None:
        names = [str(number) for number in range(1, len(names) + 1)]
    frame = _scan(io.BytesIO(data), names, delimiter, layout, has_header=has_header)
    frame = trimmed(frame) if trim else frame
    if finds_missing and seen.may_have and not null_values:
        whole = frame.collect().lazy()
        frame = with_found_missing(whole, missing_beside_numbers(whole, path))
    return TextFrame(with_missing(frame, null_values).collect(), layout, str(path), has_header, skip_rows)


def scan_csv(
    path: Path | str,
    *,
    delimiter: str | None = None,
    encoding: str | None = "utf-8",
    trim: bool | None = False,
    finds_missing: bool = False,
) -> pl.LazyFrame:
    """Scan a CSV file with a header without loading it; its shape is checked in a streaming pass first."""
    path = check_is_file(path)
    head = first_bytes(path)
    found = encoding or find_encoding(head, is_whole=False) or UTF_8
    if not is_utf8(found) or is_gzip(path):
        # A packed file has to be unpacked as a whole; reading it once is as cheap as scanning it.
        options: dict[str, Any] = {"encoding": encoding, "trim": trim, "finds_missing": finds_missing}
        return read_csv(path, delimiter=delimiter, **options).frame.lazy()
    is_found = delimiter is None
    delimiter = check_delimiter(delimiter) if delimiter else find_delimiter(head)
    seen = Seen(blocks(path), delimiter)
    layout = check_layout(seen, delimiter, FaultList(str(path)), may_advise=encoding is None, mixes_line_ends=True)
    names = with_row_names(header_names(head, delimiter), path)
    if is_found:
        _tell_other_mark(head, names, path)
    trim = _is_trimmed(head, delimiter, path) if trim is None else trim
    if trim:
        names = [name.strip(BLANK) for name in names]
    check_header(names, path)
    frame = _scan(path, names, delimiter, layout, has_header=True)
    frame = trimmed(frame) if trim else frame
    return with_found_missing(frame, missing_beside_numbers(frame, path)) if finds_missing and seen.may_have else frame


def without_first_lines(data: bytes, n_lines: int, path: Path) -> bytes:
    """Cut off the lines above a table, whatever they hold."""
    start = 0
    for _ in range(n_lines):
        start = data.find(b"\n", start) + 1
        if not start:
            raise InputError.of(
                Text("more than the {lines} to skip", lines=counted(n_lines, "line")),
                file=path,
                value=counted(data.count(10), "line"),
            )
    return data[start:]


def write_csv(
    frame: pl.DataFrame | pl.LazyFrame,
    path: Path | str,
    *,
    delimiter: str = ",",
    has_header: bool = True,
    line_end: str = "\n",
) -> None:
    """Write a CSV file atomically, gzipped if its name ends in .gz."""
    path = Path(path)
    for name, kind in frame.lazy().collect_schema().items():
        if not is_single(kind):
            raise InputError.of("columns of single values, which a CSV file can hold", column=name, value=kind)
    with atomic_path(path) as draft:
        # Polars puts neither a name nor a time in the gzip header: the same frame gives the same bytes.
        frame.lazy().sink_csv(
            draft,
            separator=check_delimiter(delimiter),
            include_header=has_header,
            line_terminator=line_end,
            compression="gzip" if path.suffix.lower() == ".gz" else "uncompressed",
            check_extension=False,
        )


def check_delimiter(delimiter: str) -> str:
    """Refuse a delimiter that is not one byte, or that has another meaning in a CSV file."""
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise InputError.of("one ASCII character that is no quote or line end", option="delimiter", value=delimiter)
    return delimiter


def find_delimiter(data: bytes) -> str:
    """Return the delimiter that the first line uses most outside quotes and brackets; a comma if it uses none."""
    unquoted = b"".join(first_record(data).split(b'"')[::2])
    # A generalized cell, as {a;b;c} or [1;2], has marks of its own; some put a whole line into brackets.
    for line in (BRACKETED.sub(b"", unquoted), unquoted):
        found = max(DELIMITERS, key=lambda mark: line.count(mark.encode()))
        if found.encode() in line:
            return found
    return DELIMITERS[0]


def _is_trimmed(data: bytes, delimiter: str, path: Path) -> bool:
    """Find out whether blanks belong to the delimiter, and say in a note that they do."""
    found = has_blanks_after(delimiter, data)
    if found:
        said = "%s: a blank stands after every '%s'; names and cells are read without blanks at their ends"
        log.info(said, path, delimiter)
    return found


def _tell_other_mark(data: bytes, names: Sequence[str], path: Path) -> None:
    """Note that a file of one column may be one of several, by a mark that its first two lines share."""
    if len(names) > 1:
        return
    first = first_record(data)
    second = first_record(data[len(first) :].lstrip(b"\r\n"))
    for mark in OTHER_MARKS:
        n_marks = first.count(mark.encode())
        if n_marks and second.count(mark.encode()) == n_marks:
            log.info("%s: read as one column; if '%s' separates its cells, say --delimiter '%s'", path, mark, mark)
            return


def first_bytes(path: Path, n: int = 1 << 20) -> bytes:
    """Read the start of a file, unpacked: enough for its first line."""
    stream: Iterator[bytes] = blocks(path)
    return next(stream, b"")[:n]


def first_record(data: bytes) -> bytes:
    """Cut out the first record, which goes on over a line end inside quotes."""
    end, n_quotes = -1, 1
    while n_quotes % 2:
        start = end + 1
        end = data.find(b"\n", start)
        if end < 0:
            return data
        n_quotes = n_quotes - (start == 0) + data.count(b'"', start, end)
    return data[:end].removesuffix(b"\r")


def header_names(data: bytes, delimiter: str) -> list[str]:
    """Read the names in the first line."""
    head = first_record(data)
    if not head:
        return [""]
    # Not Polars, which makes a column for each: a file may have fifty thousand. What is no UTF-8 is told elsewhere.
    csv.field_size_limit(max(csv.field_size_limit(), len(head)))
    return next(csv.reader(io.StringIO(head.decode(errors="replace"), newline=""), delimiter=delimiter))


def with_row_names(names: list[str], file: str | Path) -> list[str]:
    """Name a first column that alone has no name, and note it: so R and pandas write the names of rows."""
    if len(names) < 3 or names[0] or not all(name.strip() for name in names[1:]) or ROW_NAMES in names:
        return names
    log.info("%s: the first column has no name and is read as %s, as R and pandas write row names", file, ROW_NAMES)
    return [ROW_NAMES, *names[1:]]


# A header of more names, of which all but the first are empty, is no header.
MOST_BLANK = 2


def told_apart(names: Sequence[str], file: str | Path) -> list[str]:
    """Return names of which the second a is a_2, the third a_3, and an empty one column_ with its place; note which.

    A first line that names its first column alone is a title, and is left to be refused.

    >>> told_apart(["a", "a", "a_2", ""], "people.csv")
    ['a', 'a_3', 'a_2', 'column_4']
    """
    made: list[str] = []
    is_title = len(names) > MOST_BLANK and not any(name.strip() for name in names[1:])
    called = [name if name.strip() or is_title else f"column_{at}" for at, name in enumerate(names, start=1)]
    taken = set(called)
    for name in called:
        number, new = 2, name
        while new in made:
            new = f"{name}_{number}"
            number += 1
            # A column of this name may be there.
            new = name if new in taken else new
        made.append(new)
    told = [f"{new} for {name!r}" for name, new in zip(names, made, strict=True) if new != name]
    if told:
        log.info("%s: names that are empty or stand there more than once are read as %s", file, ", ".join(told))
    return made


def check_header(names: Sequence[str], file: str | Path, *, line: int = 1) -> None:
    """Refuse a header with an empty or a repeated name, or one that stands for several."""
    if len(names) > MOST_BLANK and names[0].strip() and not any(name.strip() for name in names[1:]):
        form = "a name for every column; if this is a title above the header, --skip-rows {n}"
        raise InputError.of(Text(form, n=line), file=file, line=line, value=names[0])
    faults = FaultList(str(file))
    seen: set[str] = set()
    for index, name in enumerate(names, start=1):
        if not name.strip():
            faults.add("a name for every column", line=line, column=str(index), value=name)
        elif name in seen:
            expected = "names that differ (--rename reads the second one as name_2, or rename=True in Python)"
            faults.add(expected, line=line, column=str(index), value=name)
        elif is_pattern(name):
            faults.add(PLAIN_NAME, line=line, column=str(index), value=name)
        seen.add(name)
    faults.raise_if_any()


def check_has_columns(wanted: Collection[str], names: Sequence[str], file: str | Path) -> None:
    """Refuse a wanted column that the file lacks, naming those it has."""
    for name in wanted:
        if name not in names:
            raise InputError.of(Text("a column of the file: {names}", names=", ".join(names)), file=file, value=name)
    check_no_patterns(wanted, file=file)


def _with_tabs_for_blanks(data: bytes) -> bytes:
    """Replace each run of blanks between cells by a tab, and strip the ends of lines."""
    trimmed = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", data)
    return re.sub(rb"[ \t]+", b"\t", trimmed)


def _pieces(data: bytes) -> Iterator[bytes]:
    """Cut a file in memory into blocks, since checking makes arrays many times the size of its input."""
    return (data[start : start + BLOCK] for start in range(0, len(data), BLOCK))


def _scan(
    source: Path | io.BytesIO, names: Sequence[str], delimiter: str, layout: Layout, *, has_header: bool
) -> pl.LazyFrame:
    frame = pl.scan_csv(
        source,
        separator=delimiter,
        # The header is skipped as a row: Polars compares it with the schema, and does not read doubled quotes in it.
        has_header=False,
        skip_rows=int(has_header),
        schema=dict.fromkeys(names, pl.String()),
        quote_char='"' if layout.has_quotes else None,
        glob=False,
    )
    # An empty cell in quotes comes as empty text, one without as missing.
    return frame.with_columns(pl.when(pl.all() != "").then(pl.all())) if layout.has_quotes else frame
