"""Frames by the name of their file: the suffix says the format."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from tokumei.core.errors import InputError
from tokumei.data.files.csv import read_csv, scan_csv, write_csv
from tokumei.data.files.excel import read_excel
from tokumei.data.files.parquet import read_parquet, scan_parquet, write_parquet
from tokumei.data.files.source import is_folder

# The delimiter a suffix stands for; None where it is found from the first line.
TEXT_SUFFIXES: dict[str, str | None] = {".csv": None, ".tsv": "\t", ".txt": None}
PARQUET, EXCEL = ".parquet", ".xlsx"
WRITTEN = (*TEXT_SUFFIXES, *(f"{suffix}.gz" for suffix in TEXT_SUFFIXES), PARQUET)
READ = (*WRITTEN, EXCEL)


def read_frame(path: Path | str, *, delimiter: str | None = None, encoding: str = "utf-8") -> pl.DataFrame:
    """Read a file by its suffix, or a folder of Parquet files; the cells of a text file stay text."""
    suffix = format_of(path)
    if suffix == PARQUET:
        return read_parquet(path)
    if suffix == EXCEL:
        return read_excel(path)
    return read_csv(path, delimiter=delimiter or TEXT_SUFFIXES[suffix], encoding=encoding).frame


def scan_frame(path: Path | str, *, delimiter: str | None = None, encoding: str = "utf-8") -> pl.LazyFrame:
    """Scan a file by its suffix, or a folder of Parquet files, without loading what need not be loaded."""
    suffix = format_of(path)
    if suffix == PARQUET:
        return scan_parquet(path)
    if suffix == EXCEL:
        return read_excel(path).lazy()
    return scan_csv(path, delimiter=delimiter or TEXT_SUFFIXES[suffix], encoding=encoding)


def write_frame(frame: pl.DataFrame | pl.LazyFrame, path: Path | str) -> None:
    """Write a frame by the suffix of the file's name: .tsv with tabs, .csv and .txt with commas."""
    check_can_be_written(path)
    suffix = _suffix_of(path)
    if suffix == PARQUET:
        write_parquet(frame, path)
    else:
        write_csv(frame, path, delimiter=TEXT_SUFFIXES[suffix] or ",")


def check_can_be_written(path: Path | str) -> None:
    """Refuse a name whose suffix does not say how to write a file."""
    if _suffix_of(path) not in (*TEXT_SUFFIXES, PARQUET):
        raise _unknown_suffix(path, WRITTEN)


def format_of(path: Path | str) -> str:
    """Give the suffix that says how to read a file, without .gz; a folder is read as Parquet."""
    suffix = PARQUET if is_folder(path) else _suffix_of(path)
    if suffix not in (*TEXT_SUFFIXES, PARQUET, EXCEL):
        raise _unknown_suffix(path, READ)
    return suffix


def _suffix_of(path: Path | str) -> str:
    """Give the last suffix, in lower case; the one before where .gz only says that a text is packed."""
    name = Path(path).name.lower()
    unpacked = Path(name.removesuffix(".gz")).suffix
    return unpacked if unpacked in TEXT_SUFFIXES else Path(name).suffix


def _unknown_suffix(path: Path | str, known: tuple[str, ...]) -> InputError:
    return InputError.of(f"a name that ends in {', '.join(known)}", file=path, value=Path(path).suffix)
