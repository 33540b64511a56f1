"""Frames by the name of their file: the suffix says the format.

Parquet is one file, a folder of part files as Spark and Hive write them, or all files of a pattern.

A second file is read beside the one that the reading options were given for. An original may be a table of a ministry,
in Shift-JIS under five lines of title, and its release the plain file that Tokumei wrote. The options are one set, so
that each file is read by them if it then has the columns that it must have, else as it is.
"""

from __future__ import annotations

import logging
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Json, Text, counted
from tokumei.data.files.csv import BLANK, TextFrame, check_header, read_csv, scan_csv, trimmed, write_csv
from tokumei.data.files.disk import atomic_path, check_is_file, is_folder, unchanged
from tokumei.data.files.excel import CELL_LIMIT, read_excel
from tokumei.data.files.excel_writing import write_excel
from tokumei.data.files.json_rows import read_json
from tokumei.data.files.missing import missing_beside_numbers, with_found_missing, with_missing
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.files.statistics import READERS, read_statistics
from tokumei.data.files.text_bytes import UTF_8
from tokumei.data.frames import check_no_patterns

log = logging.getLogger("tokumei.notes")
MAGIC = b"PAR1"
# How workbooks begin, of Excel before 2007 and since, and what the latter hold.
OLD_WORKBOOK, PACKED_FILE, WORKBOOK = bytes.fromhex("d0cf11e0a1b11ae1"), b"PK\x03\x04", "xl/workbook.xml"
ARROW_MAGIC, FEATHER_1 = b"ARROW1", b"FEA1"
BITS = 8
# Magic, the length of the footer, magic again: no Parquet file is shorter.
SHORTEST = 12
# How Hive writes a missing value of a column that partitions are named by.
HIVE_MISSING = "__HIVE_DEFAULT_PARTITION__"
# Of one part file of a folder that is written.
PART_ROWS = 5_000_000
# The lowest level packs about as well as the usual one, in less time.
PACKED: Json = {"compression": "zstd", "compression_level": 1}


def read_parquet(path: Path | str) -> pl.DataFrame:
    """Read a Parquet file, or the part files of a folder or glob, in the order of their names."""
    parts = part_files(path)
    with ExitStack() as stack, _refusing_broken(path):
        for part in parts:
            stack.enter_context(unchanged(part))
        return _scan(parts, path).collect()


def scan_parquet(path: Path | str) -> pl.LazyFrame:
    """Scan a Parquet file, or the part files of a folder or glob, without loading them; only footers are read now."""
    parts = part_files(path)
    with _refusing_broken(path):
        return _scan(parts, path)


def scan_in_turn(path: Path | str, n_rows: int) -> list[pl.LazyFrame]:
    """Scan the part files of a folder or glob, one run of them after the other, of about so many rows each."""
    runs: list[list[Path]] = []
    n_left = 0
    with _refusing_broken(path):
        for part in part_files(path):
            if n_left <= 0:
                runs.append([])
                n_left = n_rows
            runs[-1].append(part)
            n_left -= pl.scan_parquet(part, glob=False, hive_partitioning=False).select(pl.len()).collect().item()
        return [_scan(run, path) for run in runs]


def write_parquet(frame: pl.DataFrame | pl.LazyFrame, path: Path | str, *, row_group_size: int | None = None) -> None:
    """Write one Parquet file atomically."""
    with atomic_path(path) as draft:
        frame.lazy().sink_parquet(draft, row_group_size=row_group_size, **PACKED)


def write_parts(frame: pl.DataFrame | pl.LazyFrame, folder: Path | str) -> None:
    """Write a folder of Parquet part files atomically."""
    with atomic_path(folder) as draft:
        draft.mkdir()
        frame.lazy().sink_parquet(pl.PartitionBy(draft, max_rows_per_file=PART_ROWS), **PACKED)
        if not any(draft.iterdir()):
            # Of no rows there would be no part, and so no columns.
            frame.lazy().collect().write_parquet(draft / "00000000.parquet")


def read_arrow(path: Path | str) -> pl.DataFrame:
    """Read an Arrow file or stream, or Feather of version 2."""
    path = check_is_file(path)
    with path.open("rb") as handle:
        head = handle.read(len(ARROW_MAGIC))
    if head.startswith(FEATHER_1):
        raise InputError.of("Feather of version 2 (in R and pandas of today: write it again)", file=path)
    is_file = head == ARROW_MAGIC
    with unchanged(path), _refusing_broken(path, "Arrow"):
        scan = pl.scan_ipc(path) if is_file else pl.read_ipc_stream(path).lazy()
        schema = scan.collect_schema()
        check_no_patterns(schema, file=path)
        n_rows = scan.select(pl.len()).collect().item()
        # No honest cell takes less than a bit, but in a file that was packed to fill the memory.
        most = max(CELL_LIMIT, BITS * path.stat().st_size)
        if n_rows * len(schema) > most:
            found = Text("{columns} and {rows}", columns=counted(len(schema), "column"), rows=counted(n_rows, "row"))
            raise InputError.of(Text("at most {n:,} cells", n=most), file=path, value=found)
        return scan.collect()


def is_glob(path: Path | str) -> bool:
    """Whether a path names Parquet files by a pattern, and no file or folder by itself."""
    text = str(path)
    return any(mark in text for mark in "*?[") and text.lower().endswith(".parquet") and not Path(path).exists()


def part_files(path: Path | str) -> list[Path]:
    """Return the file itself, or the part files of a folder or glob; each starts and ends as Parquet does."""
    if is_glob(path):
        base = base_folder(path)
        found = list(base.glob(str(Path(path).relative_to(base))))
        expected = "a pattern that files *.parquet are named by"
    elif is_folder(path):
        found = [*Path(path).glob("*.parquet"), *Path(path).glob("*=*/**/*.parquet")]
        expected = "a folder with files named *.parquet, in it or in folders named COLUMN=VALUE"
    else:
        return [_check_is_parquet(Path(path))]
    # Spark marks what is no data with a leading _ or dot.
    parts = sorted(part for part in found if not part.name.startswith(("_", ".")))
    if not parts:
        raise InputError.of(expected, file=path)
    return [_check_is_parquet(part) for part in parts]


def base_folder(path: Path | str) -> Path:
    """Return the folder below which files are partitioned: the one read, or that of a file, or of a pattern."""
    if not is_glob(path):
        return Path(path) if is_folder(path) else Path(path).parent
    whole = Path(path).parts
    return Path(*whole[: next(index for index, one in enumerate(whole) if any(mark in one for mark in "*?["))])


def partition_of(part: Path, base: Path) -> dict[str, str | None]:
    """Return the values that a part file has by its folders, as Hive names them: year=2024/town=%E6%B4%A5.

    They are text, as all cells whose type nobody declared.

    >>> partition_of(Path("sales/year=2024/part-0.parquet"), Path("sales"))
    {'year': '2024'}
    """
    pairs = [unquote(folder).partition("=") for folder in part.relative_to(base).parts[:-1] if "=" in folder]
    return {name: None if value in ("", HIVE_MISSING) else value for name, _, value in pairs}


def _scan(parts: list[Path], path: Path | str) -> pl.LazyFrame:
    """Scan parts that have the same columns of the same types."""
    base = base_folder(path)
    frames = []
    for part in parts:
        frame = pl.scan_parquet(part, glob=False, hive_partitioning=False)
        values = partition_of(part, base)
        with _refusing_broken(part):
            own = frame.collect_schema().names()
        for name in values:
            if name in own:
                raise InputError.of(
                    "a column in the file or in the name of its folder, not in both", file=part, column=name
                )
        frames.append(frame.with_columns(pl.lit(value, pl.String).alias(name) for name, value in values.items()))
    schemas = [frame.collect_schema() for frame in frames]
    check_no_patterns(schemas[0], file=path)
    for part, schema in zip(parts, schemas, strict=True):
        if schema != schemas[0]:
            wanted = ", ".join(f"{name} {kind}" for name, kind in schemas[0].items())
            found = ", ".join(f"{name} {kind}" for name, kind in schema.items())
            raise InputError.of(
                Text("the columns of {file}: {names}", file=parts[0].name, names=wanted), file=part, value=found
            )
    return pl.concat(frames)


@contextmanager
def _refusing_broken(path: Path | str, form: str = "Parquet") -> Iterator[None]:
    """Turn what the reader says of a broken file into an error for the user."""
    try:
        yield
    # A damaged page makes the reader panic, which is no ordinary exception.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError.of(Text("a whole {form} file ({why})", form=form, why=reason), file=path) from None


def _check_is_parquet(path: Path) -> Path:
    check_is_file(path)
    n_bytes = path.stat().st_size
    with path.open("rb") as handle:
        head = handle.read(len(MAGIC))
        if n_bytes < SHORTEST or head != MAGIC:
            raise InputError.of("a Parquet file, which starts with PAR1", file=path, value=head.hex(" "))
        handle.seek(-len(MAGIC), 2)
        tail = handle.read()
    if tail != MAGIC:
        raise InputError.of("a whole Parquet file, which ends with PAR1", file=path, value=tail.hex(" "))
    return path


# The delimiter a suffix stands for; None where it is found from the first line.
TEXT_SUFFIXES: dict[str, str | None] = {
    ".csv": None,
    ".tsv": "\t",
    ".txt": None,
    ".tab": "\t",
    ".dat": None,
    ".data": None,
}
PARQUET, EXCEL, ODS = ".parquet", ".xlsx", ".ods"
JSON_LINES, JSON = (".jsonl", ".ndjson"), ".json"
ARROW = (".arrow", ".feather", ".ipc")
# That may be packed by gzip, and all others that can be read.
PACKABLE = (*TEXT_SUFFIXES, *JSON_LINES, JSON)
OTHERS = (PARQUET, EXCEL, ODS, *ARROW, *READERS)
READ = (*PACKABLE, *(f"{suffix}.gz" for suffix in PACKABLE), *OTHERS)


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
    if suffix in (EXCEL, ODS):
        options: dict[str, Any] = {"skip_rows": reading.skip_rows, "has_header": reading.has_header}
        frame = read_excel(path, sheet=reading.sheet, rename=reading.rename, **options)
        if not reading.null_values:
            frame = with_found_missing(frame.lazy(), missing_beside_numbers(frame.lazy(), path)).collect()
    elif suffix in (*JSON_LINES, JSON):
        frame = read_json(path, is_lines=suffix in JSON_LINES)
    elif suffix in READERS:
        frame = read_statistics(path, suffix, codes=reading.codes)
    elif suffix in ARROW:
        frame = read_arrow(path)
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
        rename=reading.rename,
        finds_missing=True,
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
            finds_missing=True,
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
        "sheet": (reading.sheet is not None, (EXCEL, ODS)),
        "delimiter": (reading.delimiter is not None, tuple(TEXT_SUFFIXES)),
        "encoding": (reading.encoding is not None, tuple(TEXT_SUFFIXES)),
        "skip-rows": (reading.skip_rows > 0, (*TEXT_SUFFIXES, EXCEL, ODS)),
        "no-header": (not reading.has_header, (*TEXT_SUFFIXES, EXCEL, ODS)),
        "rename": (reading.rename, (*TEXT_SUFFIXES, EXCEL, ODS)),
        "codes": (reading.codes, tuple(READERS)),
    }
    for option, (is_given, suffixes) in given.items():
        if is_given and suffix not in suffixes:
            expected = f"a file that --{option} is for: {', '.join(suffixes)}"
            raise InputError.of(expected, file=path, value=suffix)


def write_frame(frame: pl.DataFrame | pl.LazyFrame, path: Path | str, *, encoding: str = UTF_8) -> None:
    """Write a frame by the suffix of the file's name: .tsv and .tab with tabs, other text with commas.

    encoding: of a text file, such as cp932, or utf-8-sig, by whose first bytes Excel knows it.

    >>> import tokumei as tk
    >>> tk.write_frame(tk.Table({"age": [31, 52]}).frame, "people.parquet")
    """
    suffix = _suffix_of(path)
    if suffix == EXCEL:
        write_excel(frame.lazy().collect(), path)
        return
    check_can_be_written(path)
    if suffix == PARQUET:
        write_parquet(frame, path)
        return
    write_csv(frame, path, delimiter=TEXT_SUFFIXES[suffix] or ",")
    if encoding != UTF_8:
        _encode_again(Path(path), encoding)


def _encode_again(path: Path, encoding: str) -> None:
    """Write a text file in another encoding; a sign that it lacks is an InputError, and the file is gone."""
    text = path.read_bytes().decode(UTF_8)
    try:
        data = text.encode(encoding)
    except UnicodeEncodeError as error:
        path.unlink()
        line = text.count("\n", 0, error.start) + 1
        expected = Text("signs of the encoding {name}; write it in UTF-8", name=encoding)
        raise InputError.of(expected, file=path, line=line, value=text[error.start : error.end]) from None
    with atomic_path(path) as draft:
        draft.write_bytes(data)


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
        raise _unknown_suffix(tuple(TEXT_SUFFIXES), (PARQUET,), file=path, value=Path(path).suffix)


def format_of(path: Path | str) -> str:
    """Return the suffix that says how to read a file, without .gz; a folder is read as Parquet."""
    suffix = PARQUET if is_folder(path) else _suffix_of(path)
    if suffix not in (*PACKABLE, *OTHERS):
        raise _unknown_suffix(PACKABLE, OTHERS, file=path, value=Path(path).suffix)
    return EXCEL if suffix in TEXT_SUFFIXES and is_workbook(path) else suffix


def is_workbook(path: Path | str) -> bool:
    """Whether a file is an Excel workbook, whatever its name ends in; one of the old form is refused."""
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        head = file.read(len(OLD_WORKBOOK))
    if head == OLD_WORKBOOK:
        raise InputError.of("a text file; this is a workbook of an old Excel: save it as .xlsx", file=path)
    if not head.startswith(PACKED_FILE) or not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        is_one = WORKBOOK in archive.namelist()
    if is_one:
        log.info("%s: an Excel workbook, though its name says otherwise; read as one", path)
    return is_one


def ending_of(name: str, **where: object) -> str:
    """Return the ending of an upload's name, with .gz; an InputError lists those that can be read."""
    found = next((one for one in sorted(READ, key=len, reverse=True) if name.lower().endswith(one)), None)
    if found is None:
        raise _unknown_suffix(PACKABLE, OTHERS, **where)
    return found


def _suffix_of(path: Path | str) -> str:
    """Return the last suffix in lower case; the one before where .gz only says that a text is packed."""
    name = Path(path).name.lower()
    unpacked = Path(name.removesuffix(".gz")).suffix
    return unpacked if unpacked in PACKABLE else Path(name).suffix


def _unknown_suffix(packable: Iterable[str], others: Iterable[str], **where: Any) -> InputError:
    # What Excel and R write besides, with the way out of it.
    advice = {".xls": " (save the workbook as .xlsx)", ".xlsb": " (save the workbook as .xlsx)"}
    advice |= dict.fromkeys((".rds", ".rdata", ".rda"), " (in R: write.csv(x, 'x.csv', row.names = FALSE))")
    hint = advice.get(str(where.get("value", "")).lower(), "")
    form = "a name that ends in {texts} (or so with .gz), {others}{advice}"
    return InputError.of(Text(form, texts=", ".join(packable), others=", ".join(others), advice=hint), **where)


def reading_beside(path: Path | str, reading: Reading, columns: Iterable[str]) -> Reading:
    """Return the options for reading a file: those given if it then has any of the columns, else none."""
    wanted = set(columns)
    if reading == AS_IT_IS:
        return reading
    plain = replace(AS_IT_IS, null_values=reading.null_values, trim=reading.trim)
    return reading if _has(path, reading, wanted) or not _has(path, plain, wanted) else plain


def read_beside(path: Path | str, reading: Reading, columns: Iterable[str]) -> pl.DataFrame:
    """Read a file beside another."""
    return read_frame(path, reading_beside(path, reading, columns))


def _has(path: Path | str, reading: Reading, columns: set[str]) -> bool:
    try:
        check_applies(reading, format_of(path), path)
        return bool(columns & set(scan_frame(path, reading).collect_schema().names()))
    except InputError:
        return False
