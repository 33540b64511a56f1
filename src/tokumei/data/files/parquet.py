"""Parquet: one file, or a folder of part files as Spark writes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import polars as pl

from tokumei.core.errors import InputError
from tokumei.data.files.atomic import atomic_path
from tokumei.data.files.source import check_is_file, is_folder, unchanged

MAGIC = b"PAR1"
# Magic, the length of the footer, magic again: no Parquet file is shorter.
SHORTEST = 12


def read_parquet(path: Path | str) -> pl.DataFrame:
    """Read a Parquet file or a folder of part files, in the order of their names."""
    parts = part_files(path)
    with ExitStack() as stack, _refusing_broken(path):
        for part in parts:
            stack.enter_context(unchanged(part))
        return _scan(parts).collect()


def scan_parquet(path: Path | str) -> pl.LazyFrame:
    """Scan a Parquet file or a folder of part files without loading it; only the footers are read now."""
    parts = part_files(path)
    with _refusing_broken(path):
        return _scan(parts)


def write_parquet(frame: pl.DataFrame | pl.LazyFrame, path: Path | str) -> None:
    """Write one Parquet file atomically."""
    with atomic_path(path) as draft:
        frame.lazy().sink_parquet(draft)


def part_files(path: Path | str) -> list[Path]:
    """Give the file itself, or the part files of a folder; each has been seen to start and end as Parquet does."""
    folder = Path(path)
    if not is_folder(folder):
        return [_check_is_parquet(folder)]
    # Spark marks what is no data with a leading _ or dot.
    parts = sorted(part for part in folder.glob("*.parquet") if not part.name.startswith(("_", ".")))
    if not parts:
        raise InputError.of("a folder with files named *.parquet", file=folder)
    return [_check_is_parquet(part) for part in parts]


def _scan(parts: list[Path]) -> pl.LazyFrame:
    """Scan parts that have the same columns of the same types."""
    frames = [pl.scan_parquet(part, glob=False, hive_partitioning=False) for part in parts]
    schemas = []
    for part, frame in zip(parts, frames, strict=True):
        with _refusing_broken(part):
            schemas.append(frame.collect_schema())
    for part, schema in zip(parts, schemas, strict=True):
        if schema != schemas[0]:
            wanted = ", ".join(f"{name} {kind}" for name, kind in schemas[0].items())
            found = ", ".join(f"{name} {kind}" for name, kind in schema.items())
            raise InputError.of(f"the columns of {parts[0].name}: {wanted}", file=part, value=found)
    return pl.concat(frames)


@contextmanager
def _refusing_broken(path: Path | str) -> Iterator[None]:
    """Turn what the reader says of a broken file into an error for the user."""
    try:
        yield
    # A damaged page makes the reader panic, which is no ordinary exception.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError.of(f"a whole Parquet file ({reason})", file=path) from None


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
