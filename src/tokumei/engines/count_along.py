"""Columns that are released as they are, counted along with the quasi-identifiers where they add few combinations.

Then one pass over the rows tells all that is decided about and all that is released, and rows are made from the counts.
Where there may be many combinations, nothing is gained: they would have to be in memory, and rows are read again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from tokumei.data.files.formats import PARQUET, format_of, scan_frame
from tokumei.data.files.parquet import is_glob
from tokumei.data.files.reading import Reading
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import most_classes
from tokumei.engines.engine import connect
from tokumei.engines.made_rows import SIZE

# Fewer rows of a combination are as well read again.
ROWS_EACH = 4
# A sample is this share of the rows, but at least so many, from so many places: rows may be sorted.
SAMPLE_SHARE, SAMPLE_ROWS, N_PLACES = 0.01, 100_000, 16
# Types that every engine groups and gives back as they are; a float may be 0 or −0, and a decimal no float.
PLAIN = (pl.String, pl.Boolean, pl.Date, pl.Categorical, pl.Enum)


def count_along(
    source: str, columns: Sequence[str], along: Sequence[str], *, engine: str, reading: Reading
) -> ClassCounts | None:
    """Count the classes of some columns and others along, or give None where that may be too much or is not told.

    Of Parquet alone rows can be looked at in many places; of other files there is no telling before.
    """
    wanted = list(dict.fromkeys([*columns, *along]))
    is_parquet = (Path(source).exists() or is_glob(source)) and format_of(source) == PARQUET
    if not is_parquet or not set(along) - set(columns) or len(set(columns)) < len(columns):
        return None
    rows = scan_frame(source, reading)
    schema = rows.collect_schema()
    if any(name not in schema or schema[name].is_nested() for name in wanted):
        return None
    if not all(schema[name].is_integer() or isinstance(schema[name], PLAIN) for name in along):
        return None
    with connect(engine) as opened:
        relation = opened.open(source, reading)
        if relation.writes_there:
            return None
        n_rows = int(rows.select(pl.len()).collect().item())
        most = most_along(n_rows, len(wanted))
        if most_combinations(_sample(rows.select(wanted), n_rows), n_rows) > most:
            return None
        groups = relation.group_sizes(wanted, {}, most)
        if groups.height > most:
            return None
    # Engines give whole numbers back as wider ones; what is released as it is keeps its type.
    whole = {name: schema[name] for name in wanted[len(columns) :] if schema[name].is_integer()}
    counts = ClassCounts.of_groups(wanted, groups)
    domains = (one.cast(whole.get(name, one.dtype)) for name, one in zip(wanted, counts.domains, strict=True))
    return replace(counts, domains=tuple(domains))


def most_along(n_rows: int, n_columns: int) -> int:
    """Return how many combinations may be counted along: a quarter of what fits, since rows are made of them."""
    return min(n_rows // ROWS_EACH, most_classes(n_columns) // 4)


def most_combinations(sample: pl.DataFrame, n_rows: int) -> int:
    """Estimate the most combinations from a sample: one that stands there once may be one of N/n such ones.

    Charikar et al. (2000) expect the square root of it; this is the upper end.

    >>> most_combinations(pl.DataFrame({"age": [31, 31, 52, 60]}), 400)
    201
    """
    if not sample.height:
        return 0
    sizes = sample.group_by(pl.all()).len(SIZE)[SIZE]
    once = int((sizes == 1).sum())
    return math.ceil(once * n_rows / sample.height) + len(sizes) - once


def _sample(rows: pl.LazyFrame, n_rows: int) -> pl.DataFrame:
    """Read rows at places that are spread over the file; of few rows all."""
    n_wanted = max(SAMPLE_ROWS, math.ceil(n_rows * SAMPLE_SHARE))
    if n_rows <= n_wanted:
        return rows.collect()
    n_each = n_wanted // N_PLACES
    starts = [at * (n_rows - n_each) // (N_PLACES - 1) for at in range(N_PLACES)]
    return pl.concat([rows.slice(start, n_each).collect() for start in starts])
