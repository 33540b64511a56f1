"""Parquet: one file, a folder of part files as Spark and Hive write them, or all files of a pattern."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.text import Text
from tokumei.data.files.atomic import atomic_path
from tokumei.data.files.source import check_is_file, is_folder, unchanged
from tokumei.data.names import check_no_patterns

MAGIC = b"PAR1"
# Magic, the length of the footer, magic again: no Parquet file is shorter.
SHORTEST = 12
# How Hive writes a missing value of a column that partitions are named by.
HIVE_MISSING = "__HIVE_DEFAULT_PARTITION__"
# Of one part file of a folder that is written.
PART_ROWS = 5_000_000
# The lowest level packs about as well as the usual one, in less time.
PACKED: dict[str, Any] = {"compression": "zstd", "compression_level": 1}


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
def _refusing_broken(path: Path | str) -> Iterator[None]:
    """Turn what the reader says of a broken file into an error for the user."""
    try:
        yield
    # A damaged page makes the reader panic, which is no ordinary exception.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError.of(Text("a whole Parquet file ({why})", why=reason), file=path) from None


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
