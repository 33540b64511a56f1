"""Random changes of tables where the rows are: every draw is a function of the seed and the number of the row.

Rows of a file are numbered as they stand in it, in one streaming pass. The release comes in an order that the same seed
draws again on every engine.

How much noise is added is decided from the counts there, and drawn as the numbered rows go by here. Rows are taken in
their order, some at a time, and each column goes on with its own stream of chance: with the same seed every row gets
the numbers that it gets in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.registry import part_name
from tokumei.core.score import Score
from tokumei.core.seeds import DRAWN_BY, fresh_seed, generator, key_of
from tokumei.data.files.disk import atomic_path
from tokumei.data.files.reading import Reading
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.connect import connect
from tokumei.engines.draws import Draws, beside, either, number, place, whole_number
from tokumei.engines.item_sets import Ints
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.methods.perturbing.masking import BlockSwap, Sample
from tokumei.methods.perturbing.noise import Decided, Noise, NoisyColumn, decimals_kept, noise_stream
from tokumei.methods.perturbing.perturbation import LARGEST_WHOLE, Floats, Original, are_whole, chosen_columns
from tokumei.methods.perturbing.pram import Pram, domain_of
from tokumei.methods.perturbing.rows_on_engine import PLACES, ROW, RowTask, placed
from tokumei.methods.recipes import Goal
from tokumei.methods.rows import RowOutcome, row_recipe

if TYPE_CHECKING:
    from tokumei.engines.engine import EngineTable
    from tokumei.engines.remote import RemoteEngine


@dataclass(frozen=True, eq=False)
class NumberCounts:
    """Values as they stand in a column, their numbers and how many rows have each; missing ones are left out."""

    values: pl.Series
    numbers: Floats
    n_rows: Ints

    @property
    def in_all(self) -> int:
        """How many rows have a number."""
        return int(self.n_rows.sum())


def number_counts(engine: RemoteEngine, table: EngineTable, column: str, source: str) -> NumberCounts:
    """Count the values of a column there and read them as numbers here; what is none is an InputError."""
    counted = engine.fetch(table.select(value=table[column]).group_by("value").aggregate(n=lambda some: some.count()))
    known = counted.drop_nulls("value")
    try:
        numbers = Original(known.select(pl.col("value").alias(column)), ()).numbers(column)
    except InputError as error:
        # A value of some row, and not a line: the engine has them in no order.
        raise InputError([replace(fault, line=None, file=source) for fault in error.faults], error.n_faults) from None
    order = np.argsort(numbers, kind="stable")
    return NumberCounts(known["value"].gather(order), numbers[order], known["n"].to_numpy()[order].astype(np.int64))


def swapped(
    method: BlockSwap,
    engine: RemoteEngine,
    table: EngineTable,
    columns: Sequence[str],
    *,
    row: str,
    n_rows: int,
    seed: int,
    source: str,
) -> tuple[EngineTable, Mapping[str, Any]]:
    """Exchange the cells of each column between rows of near rank; missing values stay."""
    method.check_options()
    for column in columns:
        counts = number_counts(engine, table, column, source)
        if counts.in_all:
            table = _swapped_column(engine, table, column, counts, method.window(counts.in_all), row, seed)
    return table, {"columns": list(columns), "window": method.window(n_rows)}


def _swapped_column(
    engine: RemoteEngine, table: EngineTable, column: str, counts: NumberCounts, window: int, row: str, seed: int
) -> EngineTable:
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


BLOCK_ROWS = 500_000
# No draw of a float is further from 0 than so many standard deviations.
FARTHEST = 60


def with_noise(
    method: Noise,
    engine: RemoteEngine,
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
    decided = method.decide(columns, _fewest_counted_alike(engine, table, names, told))
    streams = [_Stream(method, one, decided.scale, seed) for one in columns]
    parts = []
    batches = pl.scan_parquet(rows, glob=False).collect_batches(chunk_size=BLOCK_ROWS, maintain_order=True)
    for part, batch in enumerate(batches):
        parts.append(rows.with_name(f"noisy-{part:06}.parquet"))
        batch.with_columns(one.next(batch) for one in streams).write_parquet(parts[-1], compression="lz4")
    return parts or [rows], decided


def _fewest_counted_alike(engine: RemoteEngine, table: EngineTable, changed: Sequence[str], told: Sequence[str]) -> int:
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


def write_perturbed(
    source: str,
    quasi_identifiers: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    goal: Goal,
    out: Path,
    *,
    counts: ClassCounts,
    keep: Sequence[str],
    seed: int | None,
    engine: str,
    reading: Reading,
) -> RowOutcome:
    """Draw a release on an engine and write it there; what was written is counted again before it gets its name."""
    method, name = goal.method, part_name(goal.method)
    task = RowTask.of(source, quasi_identifiers, goal, counts=counts, keep=keep, engine=engine, reading=reading)
    counts, columns = task.counts, task.columns
    used = fresh_seed() if seed is None else seed
    with step(f"anonymizing by {name}"), atomic_path(out) as draft, connect(engine) as connected:
        # One that runs SQL: the local engine was refused before.
        opened = cast("RemoteEngine", connected)
        # Beside the draft: there is room for it, and nobody else may read it.
        numbered = draft.with_name("numbered.parquet")
        task.rows().with_row_index(ROW).with_columns(pl.col(ROW).cast(pl.Int64)).sink_parquet(numbered)
        parts = [numbered]
        promises: Mapping[str, Score] = {}
        facts: Mapping[str, Any] = {}
        if isinstance(method, Noise):
            changed = _numeric(method.columns, goal, counts, columns)
            unchanged = [one for one in counts.columns if one not in changed]
            how: dict[str, Any] = {"hierarchies": hierarchies, "seed": used, "source": source}
            parts, decided = with_noise(method, opened, numbered, changed, unchanged, **how)
            promises, facts = decided.promises, decided.facts
        table = placed(opened, opened.table_of_parts(parts), name, used)
        n_drawn = None
        if isinstance(method, Sample):
            n_drawn = method.n_drawn(counts.n_rows)
            facts = {"n_rows": n_drawn}
        elif isinstance(method, Pram):
            table, promises, facts = _post_randomized(method, opened, table, hierarchies, goal, counts, columns, used)
        elif isinstance(method, BlockSwap):
            changed = _numeric(method.columns, goal, counts, columns)
            how = {"row": ROW, "n_rows": counts.n_rows, "seed": used, "source": source}
            table, facts = swapped(method, opened, table, changed, **how)
        elif not isinstance(method, Noise):
            raise TypeError(f"{name} does not run on engines")
        ordered = table.order_by(*PLACES, ROW)
        opened.write((ordered if n_drawn is None else ordered.limit(n_drawn)).select(*columns), draft)
        for part in {numbered, *parts}:
            part.unlink()
        written = task.recounted(draft)
    recipe = row_recipe(goal, quasi_identifiers, hierarchies, keep, used, {**facts, "drawn_by": DRAWN_BY})
    return RowOutcome(
        recipe=recipe,
        checked=task.told,
        n_suppressed=counts.n_rows - written.n_rows,
        counts=written,
        promises=promises,
    )


def _post_randomized(
    method: Pram,
    engine: RemoteEngine,
    table: EngineTable,
    hierarchies: Mapping[str, Hierarchy],
    goal: Goal,
    counts: ClassCounts,
    columns: Sequence[str],
    seed: int,
) -> tuple[EngineTable, Mapping[str, Score], Mapping[str, Any]]:
    """Keep or draw the values of each column; a drawn one is joined by its number in the list of values."""
    known = [name for name in counts.columns if name not in goal.numeric]
    changed = chosen_columns(method.columns, known, columns, numeric=False)
    given = {name: tree for name, tree in hierarchies.items() if name in counts.columns}
    domains = {name: domain_of(_values(engine, table, name), given.get(name)) for name in changed}
    decided = method.decide(
        {name: len(one) for name, one in domains.items()}, _fewest_told_alike(counts, changed), given
    )
    whole = table.columns
    for at, (name, domain) in enumerate(domains.items()):
        draws = Draws.of(engine, key_of(seed, "pram", name), table[ROW])
        listed = pl.DataFrame({f"at_{at}": range(len(domain)), f"value_{at}": domain})
        right = engine.labels(listed.cast({f"at_{at}": pl.Int64}))
        table = table.mutate(**{f"keeps_{at}": draws.share(0), f"drawn_{at}": draws.below(len(domain), 1)})
        joined = table.inner_join(right, table[f"drawn_{at}"] == right[f"at_{at}"])
        is_kept = joined[f"keeps_{at}"] < number(decided.retain)
        table = joined.mutate(**{name: either(is_kept, joined[name], joined[f"value_{at}"])}).select(*whole)
    return table, decided.promises, decided.facts


def _numeric(asked: Sequence[str], goal: Goal, counts: ClassCounts, columns: Sequence[str]) -> list[str]:
    """Return the columns of numbers that are changed."""
    return chosen_columns(asked, [one for one in counts.columns if one in goal.numeric], columns, numeric=True)


def _values(engine: RemoteEngine, table: EngineTable, name: str) -> pl.Series:
    found: pl.DataFrame = engine.fetch(table.select(name).distinct())
    return found.to_series()


def _fewest_told_alike(counts: ClassCounts, changed: Sequence[str]) -> int:
    """Return the fewest rows that agree on the quasi-identifiers that are not changed; all rows if all are."""
    told = [name for name in counts.columns if name not in changed]
    if not told:
        return counts.n_rows
    classes = counts.values().select(told).rename(dict(zip(told, map(str, range(len(told))), strict=True)))
    sized = classes.with_columns(n_rows=pl.Series(counts.sizes))
    return int(sized.group_by(classes.columns).agg(pl.col("n_rows").sum())["n_rows"].min())  # type: ignore[arg-type]
