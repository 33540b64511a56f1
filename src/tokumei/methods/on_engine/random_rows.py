"""Random changes of tables where the rows are: every draw is a function of the seed and the number of the row.

Rows of a file are numbered as they stand in it, in one streaming pass. The release comes in an order that the same
seed draws again on every engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.progress import step
from tokumei.core.registry import part_name
from tokumei.core.score import Score
from tokumei.core.seeds import DRAWN_BY, fresh_seed, key_of
from tokumei.data.files.atomic import atomic_path
from tokumei.data.files.reading import Reading
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.draws import Draws, either, number
from tokumei.engines.engine import connect
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.methods.goal import Goal
from tokumei.methods.on_engine.block_swap import swapped
from tokumei.methods.on_engine.changed_rows import PLACES, ROW, ChangedRows, RowTask, placed
from tokumei.methods.on_engine.noise import with_noise
from tokumei.methods.perturbation import chosen_columns
from tokumei.methods.regrouping import row_recipe
from tokumei.methods.table.block_swap import BlockSwap
from tokumei.methods.table.noise import Noise
from tokumei.methods.table.pram import Pram, domain_of
from tokumei.methods.table.sample import Sample


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
) -> ChangedRows:
    """Draw a release on an engine and write it there; what was written is counted again before it gets its name."""
    method, name = goal.method, part_name(goal.method)
    task = RowTask.of(source, quasi_identifiers, goal, counts=counts, keep=keep, engine=engine, reading=reading)
    counts, columns = task.counts, task.columns
    used = fresh_seed() if seed is None else seed
    with step(f"anonymizing by {name}"), atomic_path(out) as draft, connect(engine) as connected:
        # One that runs SQL: the local engine was refused before.
        opened: Any = connected
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
    return ChangedRows(recipe, task.told, written, promises, counts.n_rows - written.n_rows)


def _post_randomized(
    method: Pram,
    engine: Any,
    table: Any,
    hierarchies: Mapping[str, Hierarchy],
    goal: Goal,
    counts: ClassCounts,
    columns: Sequence[str],
    seed: int,
) -> tuple[Any, Mapping[str, Score], Mapping[str, Any]]:
    """Keep or draw the values of each column; a drawn one is joined by its number in the list of values."""
    known = [name for name in counts.columns if name not in goal.numeric]
    changed = chosen_columns(method.columns, known, columns, numeric=False)
    given = {name: tree for name, tree in hierarchies.items() if name in counts.columns}
    domains = {name: domain_of(_values(engine, table, name), given.get(name)) for name in changed}
    decided = method.decide({name: len(one) for name, one in domains.items()}, _fewest_alike(counts, changed), given)
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


def _values(engine: Any, table: Any, name: str) -> pl.Series:
    found: pl.DataFrame = engine.fetch(table.select(name).distinct())
    return found.to_series()


def _fewest_alike(counts: ClassCounts, changed: Sequence[str]) -> int:
    """Return the fewest rows that agree on the quasi-identifiers that are not changed; all rows if all are."""
    told = [name for name in counts.columns if name not in changed]
    if not told:
        return counts.n_rows
    classes = counts.values().select(told).rename(dict(zip(told, map(str, range(len(told))), strict=True)))
    sized = classes.with_columns(n_rows=pl.Series(counts.sizes))
    return int(sized.group_by(classes.columns).agg(pl.col("n_rows").sum())["n_rows"].min())  # type: ignore[arg-type]
