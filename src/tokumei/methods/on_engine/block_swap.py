"""Numbers exchanged within blocks of ranks where the rows are; the rows of a block change places in pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from tokumei.core.seeds import generator, key_of
from tokumei.engines.draws import Draws, either, whole_number
from tokumei.engines.places import beside, place
from tokumei.methods.on_engine.numbers import NumberCounts, number_counts
from tokumei.methods.table.block_swap import BlockSwap


def swapped(
    method: BlockSwap, engine: Any, table: Any, columns: Sequence[str], *, row: str, n_rows: int, seed: int, source: str
) -> tuple[Any, Mapping[str, Any]]:
    """Exchange the cells of each column between rows of near rank; missing values stay."""
    method.check_options()
    for column in columns:
        counts = number_counts(engine, table, column, source)
        if counts.in_all:
            table = _swapped_column(engine, table, column, counts, method.window(counts.in_all), row, seed)
    return table, {"columns": list(columns), "window": method.window(n_rows)}


def _swapped_column(
    engine: Any, table: Any, column: str, counts: NumberCounts, window: int, row: str, seed: int
) -> Any:
    whole = table.columns
    starts = engine.labels(_rank_starts(counts))
    draws = Draws.of(engine, key_of(seed, "block-swap", column), table[row])
    drawn = table.mutate(tokumei_lot=draws.whole(0), tokumei_turn=draws.whole(1))
    joined = drawn.left_join(starts, drawn[column] == starts.tokumei_value)
    # Equal numbers get their ranks by lot.
    among = place(joined.tokumei_tie, [joined.tokumei_lot, joined[row]])
    # Where blocks begin is drawn, so that no border is known.
    shift = int(generator(seed, "block-swap", column, "blocks").integers(window + 1))
    at = joined.tokumei_start + among + whole_number(shift)
    size = whole_number(window + 1)
    ranked = joined.mutate(tokumei_block=(at - at % size) // size)
    by_turn = (ranked.tokumei_block, [ranked.tokumei_turn, ranked.tokumei_lot, ranked[row]])
    following, previous = beside(ranked[column], *by_turn)
    paired = ranked.mutate(tokumei_at=place(*by_turn), tokumei_next=following, tokumei_last=previous)
    # First and second change places, third and fourth, …; of an odd number one is left and stays.
    is_first = paired.tokumei_at % whole_number(2) == whole_number(0)
    partner = either(is_first, paired.tokumei_next, paired.tokumei_last)
    return paired.mutate(**{column: either(partner.isnull(), paired[column], partner)}).select(*whole)


def _rank_starts(counts: NumberCounts) -> pl.DataFrame:
    """Return for each value the rank of the first row with its number; one number may be written in several ways."""
    is_new = np.append(True, counts.numbers[1:] != counts.numbers[:-1])
    tie = np.cumsum(is_new) - 1
    before = np.cumsum(counts.n_rows) - counts.n_rows
    return pl.DataFrame(
        {"tokumei_value": counts.values, "tokumei_tie": tie, "tokumei_start": before[is_new][tie]}
    ).cast({"tokumei_tie": pl.Int64, "tokumei_start": pl.Int64})
