"""Frames by the name of their file: the suffix says the format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.data.files.csv import TextFrame, check_header, read_csv, scan_csv, write_csv
from tokumei.data.files.excel import read_excel
from tokumei.data.files.missing import with_missing
from tokumei.data.files.parquet import read_parquet, scan_parquet, write_parquet, write_parts
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.files.source import is_folder
from tokumei.data.files.trimming import BLANK, trimmed

# The delimiter a suffix stands for; None where it is found from the first line.
TEXT_SUFFIXES: dict[str, str | None] = {
    ".csv": None,
    ".tsv": "\t",
    ".txt": None,
    ".tab": "\t",
    ".dat": None,
    ".data": None,
}
PARQUET, EXCEL = ".parquet", ".xlsx"
READ = (*TEXT_SUFFIXES, *(f"{suffix}.gz" for suffix in TEXT_SUFFIXES), PARQUET, EXCEL)


def read_frame(path: Path | str, reading: Reading = AS_IT_IS) -> pl.DataFrame:
    """Read a file by its suffix, or a folder of Parquet files; the cells of a text file stay text.

    >>> import tokumei as tk
    >>> tk.write_frame(tk.Table({"age": [31, 52]}).frame, "people.csv")
    >>> tk.read_frame("people.csv")["age"].to_list()
    ['31', '52']
    """
    suffix = format_of(path)
    check_applies(reading, suffix, path)
    if suffix in TEXT_SUFFIXES:
        return read_text_frame(path, reading).frame
    if suffix == EXCEL:
        frame = read_excel(path, sheet=reading.sheet, skip_rows=reading.skip_rows, has_header=reading.has_header)
    else:
        frame = read_parquet(path)
    if not reading.null_values and not reading.trim:
        return frame
    return _as_meant(frame.lazy(), reading, path).collect()


def read_text_frame(path: Path | str, reading: Reading = AS_IT_IS) -> TextFrame:
    """Read a text file with the line of each of its rows."""
    return read_csv(
        path,
        delimiter=reading.delimiter or TEXT_SUFFIXES[format_of(path)],
        encoding=reading.encoding,
        skip_rows=reading.skip_rows,
        null_values=reading.null_values,
        has_header=reading.has_header,
        trim=reading.trim or None,
    )


def scan_frame(path: Path | str, reading: Reading = AS_IT_IS) -> pl.LazyFrame:
    """Scan a file by its suffix, or a folder of Parquet files, without loading what need not be loaded."""
    suffix = format_of(path)
    check_applies(reading, suffix, path)
    if suffix == PARQUET:
        return _as_meant(scan_parquet(path), reading, path)
    if suffix in TEXT_SUFFIXES and reading.is_whole_text:
        return scan_csv(
            path,
            delimiter=reading.delimiter or TEXT_SUFFIXES[suffix],
            encoding=reading.encoding,
            trim=reading.trim or None,
        )
    return read_frame(path, reading).lazy()


def _as_meant(frame: pl.LazyFrame, reading: Reading, path: Path | str) -> pl.LazyFrame:
    """Replace cells that stand for a missing value, and strip blanks if that is asked for."""
    if reading.trim:
        check_header([name.strip(BLANK) for name in frame.collect_schema().names()], path)
        frame = trimmed(frame)
    return with_missing(frame, reading.null_values)


def check_applies(reading: Reading, suffix: str, path: Path | str) -> None:
    """Refuse an option that says nothing about a file of this kind, rather than pass over it."""
    given = {
        "sheet": (reading.sheet is not None, (EXCEL,)),
        "delimiter": (reading.delimiter is not None, tuple(TEXT_SUFFIXES)),
        "encoding": (reading.encoding is not None, tuple(TEXT_SUFFIXES)),
        "skip-rows": (reading.skip_rows > 0, (*TEXT_SUFFIXES, EXCEL)),
        "no-header": (not reading.has_header, (*TEXT_SUFFIXES, EXCEL)),
    }
    for option, (is_given, suffixes) in given.items():
        if is_given and suffix not in suffixes:
            expected = f"a file that --{option} is for: {', '.join(suffixes)}"
            raise InputError.of(expected, file=path, value=suffix)


def write_frame(frame: pl.DataFrame | pl.LazyFrame, path: Path | str) -> None:
    """Write a frame by the suffix of the file's name: .tsv and .tab with tabs, other text with commas.

    >>> import tokumei as tk
    >>> tk.write_frame(tk.Table({"age": [31, 52]}).frame, "people.parquet")
    """
    check_can_be_written(path)
    suffix = _suffix_of(path)
    if suffix == PARQUET:
        write_parquet(frame, path)
    else:
        write_csv(frame, path, delimiter=TEXT_SUFFIXES[suffix] or ",")


def write_file_or_folder(frame: pl.DataFrame | pl.LazyFrame, path: Path) -> None:
    """Write a frame as a file or, where the name has no suffix at all, as a folder of Parquet files."""
    (write_frame if _suffix_of(path) else write_parts)(frame, path)


def check_can_be_written(path: Path | str) -> None:
    """Refuse a name whose suffix does not say how to write a file, and that does not end in / as a folder's does."""
    if str(path).endswith("/"):
        if _suffix_of(path):
            raise InputError.of("a folder whose name has no dot in it", file=path)
        return
    if _suffix_of(path) not in (*TEXT_SUFFIXES, PARQUET):
        raise _unknown_suffix((PARQUET,), file=path, value=Path(path).suffix)


def format_of(path: Path | str) -> str:
    """Return the suffix that says how to read a file, without .gz; a folder is read as Parquet."""
    suffix = PARQUET if is_folder(path) else _suffix_of(path)
    if suffix not in (*TEXT_SUFFIXES, PARQUET, EXCEL):
        raise _unknown_suffix((PARQUET, EXCEL), file=path, value=Path(path).suffix)
    return suffix


def ending_of(name: str, **where: Any) -> str:
    """Return the ending of an upload's name, with .gz; an InputError lists those that can be read."""
    found = next((one for one in sorted(READ, key=len, reverse=True) if name.lower().endswith(one)), None)
    if found is None:
        raise _unknown_suffix((PARQUET, EXCEL), **where)
    return found


def _suffix_of(path: Path | str) -> str:
    """Return the last suffix in lower case; the one before where .gz only says that a text is packed."""
    name = Path(path).name.lower()
    unpacked = Path(name.removesuffix(".gz")).suffix
    return unpacked if unpacked in TEXT_SUFFIXES else Path(name).suffix


def _unknown_suffix(others: tuple[str, ...], **where: Any) -> InputError:
    form = "a name that ends in {texts} (or so with .gz), {others}"
    return InputError.of(Text(form, texts=", ".join(TEXT_SUFFIXES), others=", ".join(others)), **where)
