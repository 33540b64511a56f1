"""A release written from counts alone: rows of a class are alike, so that none of them has to be read again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from polars.io.plugins import register_io_source

from tokumei.core.progress import step
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
    if len(more) > 1 or more[0] not in counts.histograms:
        return None
    pairs = counts.histograms[more[0]]
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
