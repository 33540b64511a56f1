"""Noise for rows on an engine: how much is decided from the counts there, and drawn as the numbered rows go by here.

Rows are taken in their order, some at a time, and each column goes on with its own stream of chance: with the same seed
every row gets the numbers that it gets in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tokumei.engines.draws import whole_number
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.methods.on_engine.numbers import number_counts
from tokumei.methods.perturbation import LARGEST_WHOLE, Floats, Original, are_whole
from tokumei.methods.table.noise import Decided, Noise, NoisyColumn, decimals_kept, noise_stream

BLOCK_ROWS = 500_000
# No draw of a float is further from 0 than so many standard deviations.
FARTHEST = 60


def with_noise(
    method: Noise,
    engine: Any,
    rows: Path,
    names: Sequence[str],
    told: Sequence[str],
    *,
    hierarchies: Mapping[str, Hierarchy],
    seed: int,
    source: str,
) -> tuple[list[Path], Decided]:
    """Write the numbered rows of a file again, with noise in some columns, beside it.

    told: quasi-identifiers that are released as they are.
    """
    table = engine.table_of_parts([rows])
    counted = {name: number_counts(engine, table, name, source) for name in names}
    original = Original(pl.DataFrame(), (), hierarchies=hierarchies)
    columns = method.columns_of(original, names, {name: (one.numbers, one.n_rows) for name, one in counted.items()})
    decided = method.decide(columns, _fewest_alike(engine, table, names, told))
    streams = [_Stream(method, one, decided.scale, seed) for one in columns]
    parts = []
    batches = pl.scan_parquet(rows, glob=False).collect_batches(chunk_size=BLOCK_ROWS, maintain_order=True)
    for number, batch in enumerate(batches):
        parts.append(rows.with_name(f"noisy-{number:06}.parquet"))
        batch.with_columns(one.next(batch) for one in streams).write_parquet(parts[-1], compression="lz4")
    return parts or [rows], decided


def _fewest_alike(engine: Any, table: Any, changed: Sequence[str], told: Sequence[str]) -> int:
    """Count the fewest rows that agree on what is not changed, and on which numbers are missing."""
    keys = {f"told_{at}": table[name] for at, name in enumerate(told)}
    keys |= {f"missing_{at}": table[name].isnull() for at, name in enumerate(changed)}
    alike = table.select(**keys).group_by(list(keys)).aggregate(n=lambda some: some.count())
    found = engine.fetch(alike.aggregate(n=alike.n.min().fill_null(whole_number(0))))
    return int(found["n"][0])


class _Stream:
    """The noisy numbers of a column, as far as its rows have gone by."""

    def __init__(self, method: Noise, column: NoisyColumn, scale: float, seed: int) -> None:
        self.method, self.column, self.scale = method, column, scale
        self.random = noise_stream(seed, column.name)
        size = scale * column.deviation
        self.decimals = decimals_kept(column.numbers, size) if size else None
        farthest = float(np.abs(column.numbers).max(initial=0.0)) + FARTHEST * size
        self.is_whole = are_whole(column.numbers) and farthest <= LARGEST_WHOLE

    def next(self, batch: pl.DataFrame) -> pl.Series:
        """Return the next rows their numbers."""
        numbers: Floats = Original(batch, ()).numbers(self.column.name)
        noisy = self.method.noisy(self.column, numbers, self.scale, self.random, self.decimals)
        values = pl.Series(self.column.name, noisy).fill_nan(None)
        return values.cast(pl.Int64) if self.is_whole else values
