"""How rows of a release are written: made from counts alone, or in an order that nobody can guess.

Rows of a class are alike, so that none of them has to be read again. Rows are shuffled also where they do not fit into
memory.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from polars.io.plugins import register_io_source

from tokumei.core.progress import step
from tokumei.data.files.disk import write_text
from tokumei.data.files.formats import write_file_or_folder
from tokumei.engines.class_counts import ClassCounts

Ints = npt.NDArray[np.int64]

# The private-use character keeps it apart from the columns of any table.
SIZE = "\ue000size"
# What is made at once.
PIECE_ROWS = 1_000_000


def combinations_of(counts: ClassCounts, columns: Sequence[str]) -> pl.DataFrame | None:
    """Return the combinations of some columns with the rows of each; None where the counts lack them.

    Beside the columns of the classes, counts tell those of one sensitive column; of two they tell each alone.
    """
    more = [column for column in columns if column not in counts.columns]
    if not more:
        return counts.values().with_columns(pl.Series(SIZE, counts.sizes))
    pairs = counts.histograms.get(more[0])
    if len(more) > 1 or pairs is None or pairs.of_codes is not None:
        return None
    values = pairs.values.gather(pairs.value_of).alias(more[0])
    return counts.values()[pairs.class_of].with_columns(values, pl.Series(SIZE, pairs.counts))


def with_types(rows: pl.DataFrame, types: Mapping[str, pl.DataType]) -> pl.DataFrame | None:
    """Restore the types of columns released as they are; None where a count does not keep their values.

    Engines count whole numbers as those of 64 bits and categories as text, which loses nothing; decimals as floats,
    which may.
    """
    for name, own in types.items():
        counted = rows.schema[name]
        if own.is_integer() and counted.is_integer():
            # One that is narrower was given its type by whoever counted.
            rows = rows.cast({name: own}) if counted == pl.Int64() else rows
        elif counted != own and not (counted == pl.String() and isinstance(own, (pl.Categorical, pl.Enum))):
            return None
    return rows


def write_made(combinations: pl.DataFrame, out: Path, *, piece_rows: int = PIECE_ROWS) -> None:
    """Write so many rows of each combination as its SIZE says, in an order as likely as any other.

    That is how rows would come that were sorted by a random number each. Which piece they are in is its first digit, so
    that of each combination a piece has a binomial number of those that are left; a piece is then shuffled.
    """
    lines, sizes = lines_of(combinations)
    n_pieces = max(1, math.ceil(int(sizes.sum()) / piece_rows))
    random = np.random.default_rng()

    def pieces(columns: list[str] | None, *_: object) -> Iterator[pl.DataFrame]:
        with step("writing rows", n_pieces) as bar:
            for drawn in dealt_out(sizes, n_pieces, random):
                made = lines[random.permutation(np.repeat(np.arange(len(drawn)), drawn))]
                yield made if columns is None else made.select(columns)
                bar.advance()

    write_file_or_folder(register_io_source(pieces, schema=dict(lines.schema)), out)


def lines_of(combinations: pl.DataFrame) -> tuple[pl.DataFrame, Ints]:
    """Return each combination once, and how many rows it has."""
    lines = combinations.group_by(pl.exclude(SIZE)).agg(pl.col(SIZE).sum())
    return lines.drop(SIZE), lines[SIZE].to_numpy().astype(np.int64)


def dealt_out(sizes: Ints, n_pieces: int, random: np.random.Generator) -> Iterator[Ints]:
    """Yield how many rows of each combination are in each piece; every row is in any piece with equal chance."""
    left = sizes.copy()
    for n_to_come in range(n_pieces, 0, -1):
        drawn = random.binomial(left, 1 / n_to_come)
        left -= drawn
        yield drawn


# What is shuffled in memory at once.
MOST_BYTES = 512 * 1024 * 1024
# Of a cell at the least; the estimate of Polars does not count what texts take that are repeated.
CELL_BYTES = 24
# Among so many files are rows dealt out that are more.
N_FILES = 64


def write_shuffled(rows: pl.LazyFrame, out: Path, *, most_bytes: int = MOST_BYTES, n_files: int = N_FILES) -> None:
    """Write rows in a random order, every one of which is as likely as any other.

    Those that are too many for memory are dealt out to files by lot; each file is shuffled, and they are written one
    after the other. That is how rows would come that were sorted by a random number each, of which the file is the
    first digit.
    """
    random = np.random.default_rng()
    blocks = _blocks(rows, most_bytes // 2)
    first = next(blocks, None)
    second = next(blocks, None)
    if first is None or second is None:
        whole = rows.clear().collect() if first is None else first
        write_file_or_folder(_shuffled(whole, random), out)
        return
    # Beside what is written: there is room for it, and nobody else may read it.
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".shuffling-") as folder:
        place = Path(folder)
        sizes = _deal(_again(first, second, blocks), place, "0", random, n_files)
        shuffled = [_shuffle_file(place, file, size, most_bytes, random) for file, size in enumerate(sizes)]
        write_file_or_folder(_scan(shuffled), out)


def write_slices_shuffled(
    slices: Sequence[pl.LazyFrame], out: Path, place: Path, *, most_bytes: int = MOST_BYTES, n_files: int = N_FILES
) -> None:
    """Write the rows of all slices in a random order by way of a folder, which keeps the slices that are dealt out."""
    random = np.random.default_rng()
    place.mkdir(mode=0o700, exist_ok=True)
    sizes = np.zeros(n_files, np.int64)
    with step("dealing out rows", len(slices)) as bar:
        for number, rows in enumerate(slices):
            # It says that the slice is complete; what an earlier run left of one that is not would come twice.
            told = place / f"slice-{number:06}.json"
            if not told.exists():
                for stale in place.glob(f"*-{number:06}-*.parquet"):
                    stale.unlink()
                dealt = _deal(_blocks(rows, most_bytes // 2), place, f"{number:06}", random, n_files)
                write_text(told, json.dumps(dealt))
            sizes += json.loads(told.read_text())
            bar.advance()
    with step("shuffling", n_files) as bar:
        shuffled = []
        for file, size in enumerate(sizes.tolist()):
            shuffled.append(_shuffle_file(place, file, size, most_bytes, random))
            bar.advance()
    written = [path for path in shuffled if path.exists()]
    write_file_or_folder(_scan(written) if written else slices[0].clear(), out)


def _deal(
    blocks: Iterable[pl.DataFrame], place: Path, name: str, random: np.random.Generator, n_files: int
) -> list[int]:
    """Deal rows out to files by lot, and tell about how many bytes each got."""
    sizes = np.zeros(n_files, np.int64)
    for number, block in enumerate(blocks):
        drawn = random.integers(n_files, size=block.height)
        order, ends = np.argsort(drawn, kind="stable"), np.cumsum(np.bincount(drawn, minlength=n_files))
        dealt = block[order]
        for file, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
            part = dealt[int(start) : int(end)]
            part.write_parquet(place / f"{file:04}-{name}-{number:06}.parquet", compression="lz4")
            sizes[file] += _bytes_of(part)
    return sizes.tolist()


def _shuffle_file(place: Path, file: int, n_bytes: int, most_bytes: int, random: np.random.Generator) -> Path:
    """Shuffle the rows that one file was dealt; one that is still too large is dealt out again."""
    parts, whole = sorted(place.glob(f"{file:04}-*.parquet")), place / f"{file:04}.parquet"
    if parts and not whole.exists():
        draft = whole.with_name(f"draft-{whole.name}")
        if n_bytes > most_bytes:
            write_shuffled(_scan(parts), draft, most_bytes=most_bytes)
        else:
            _shuffled(_scan(parts).collect(), random).write_parquet(draft, compression="lz4")
        draft.replace(whole)
    for part in parts:
        part.unlink()
    return whole


def _scan(paths: Sequence[Path]) -> pl.LazyFrame:
    return pl.concat([pl.scan_parquet(path, glob=False) for path in paths])


def _bytes_of(frame: pl.DataFrame) -> int:
    return max(int(frame.estimated_size()), CELL_BYTES * frame.height * frame.width)


def _shuffled(frame: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    return frame[random.permutation(frame.height)]


def _blocks(rows: pl.LazyFrame, n_bytes: int) -> Iterator[pl.DataFrame]:
    """Yield the rows in blocks of about so many bytes."""
    held: list[pl.DataFrame] = []
    size = 0
    for batch in rows.collect_batches(maintain_order=False, engine="streaming"):
        if not batch.height:
            continue
        held.append(batch)
        size += _bytes_of(batch)
        if size >= n_bytes:
            yield pl.concat(held, rechunk=True)
            held, size = [], 0
    if held:
        yield pl.concat(held, rechunk=True)


def _again(first: pl.DataFrame, second: pl.DataFrame, others: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield the two blocks that were looked at, and all others."""
    yield first
    yield second
    yield from others
