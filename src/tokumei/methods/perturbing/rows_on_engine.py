"""Rows of a file: counted on an engine, changed as they go by here, and put into the order that is drawn there.

What becomes of a row is decided as in memory, by the same code. Beside each row stand its number and what the seed
draws for its place, so that every engine orders rows alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.registry import part_name
from tokumei.core.seeds import fresh_seed, places_of_rows
from tokumei.core.text import Json
from tokumei.data.files.disk import atomic_path
from tokumei.data.files.formats import is_glob, scan_frame, write_file_or_folder
from tokumei.data.files.reading import Reading
from tokumei.engines.class_counts import ClassCounts, Recoding
from tokumei.engines.connect import connect
from tokumei.engines.count import column_names, with_histograms
from tokumei.engines.writing import SIZE, write_shuffled
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.methods.perturbing.perturbation import Original, RowByRow, RowChange
from tokumei.methods.recipes import Goal, released_columns
from tokumei.methods.rows import RowOutcome, check_is_used, recounted, requirements_told, row_recipe
from tokumei.methods.search.problem import check_asked

if TYPE_CHECKING:
    from tokumei.engines.remote import RemoteEngine

# The number of a row, and by what rows are ordered.
ROW, PLACE = "tokumei_row", "tokumei_place"
BLOCK_ROWS = 500_000


@dataclass(frozen=True, eq=False, kw_only=True)
class OriginalFile(Original):
    """The rows of a file: counted on an engine, and read here in their order."""

    file: str
    counts: ClassCounts
    engine: str
    reading: Reading

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.counts.n_rows

    @property
    def rows(self) -> pl.LazyFrame:
        """The rows in their order."""
        rows = scan_frame(self.file, self.reading).select(self.frame.columns)
        return rows.with_columns(pl.selectors.categorical().cast(pl.String))

    def column(self, name: str) -> pl.Series:
        """Read a column, row by row."""
        return self.rows.select(name).collect(engine="streaming").to_series()

    def weighted(self, columns: Sequence[str], missing: Sequence[str] = ()) -> pl.DataFrame:
        """Return the classes of some columns, each for as many rows as it has."""
        wanted = [*columns, *missing]
        if set(wanted) <= set(self.counts.columns):
            counts = self.counts.over(wanted)
            return counts.values().with_columns(pl.Series(SIZE, counts.sizes))
        with connect(self.engine) as opened:
            # No value has a label, so that all but a missing one are alike.
            none = pl.Series([], dtype=pl.String)
            flags = {name: Recoding(name, none, none) for name in missing}
            found = opened.open(self.file, self.reading).group_sizes(wanted, flags)
        return found.rename(dict(zip(found.columns, [*wanted, SIZE], strict=True))).cast({SIZE: pl.Int64})


def write_changed(
    source: str,
    quasi_identifiers: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    goal: Goal,
    out: Path,
    *,
    counts: ClassCounts,
    keep: Sequence[str],
    seed: int | None,
    is_shuffled: bool,
    engine: str,
    reading: Reading,
) -> RowOutcome:
    """Change the rows of a file and write the release; what was written is counted again before it gets its name.

    Every engine but the local one draws the order of rows from the seed, and all draw the same.
    """
    method, name = goal.method, part_name(goal.method)
    if not isinstance(method, RowByRow):
        raise TypeError(f"{name} does not change rows as they go by")
    where: Json = {"engine": engine, "reading": reading}
    columns = released_columns(column_names(source, **where), quasi_identifiers, goal, keep)
    check_asked(columns, goal.suppression, goal.weights, goal.numeric)
    check_is_used(goal, quasi_identifiers)
    if not Path(source).exists() and not is_glob(source):
        expected = f"a file, whose rows have the order that {name} goes by"
        raise InputError.of(expected, option="engine", value=source)
    counts = with_histograms(source, counts, goal.sensitive, **where)
    told = requirements_told(goal, counts)
    frame = scan_frame(source, reading).select(columns).clear().collect()
    original = OriginalFile(
        frame.with_columns(pl.selectors.categorical().cast(pl.String)),
        tuple(quasi_identifiers),
        tuple(goal.numeric),
        tuple(goal.sensitive),
        {name: tree for name, tree in hierarchies.items() if name in counts.columns},
        told,
        file=source,
        counts=counts,
        **where,
    )
    used = fresh_seed() if seed is None else seed
    with step(f"anonymizing by {name}"), atomic_path(out) as draft:
        change = method.change(original, seed=used)
        # Beside the draft: there is room for them, and nobody else may read them.
        parts = list(_written_parts(original, change, draft, name, used))
        if engine == "local" or (method.keeps_order and not is_shuffled):
            plain = pl.concat([pl.scan_parquet(part, glob=False) for part in parts]).select(columns)
            (write_shuffled if is_shuffled else write_file_or_folder)(plain, draft)
        else:
            with connect(engine) as connected:
                # One that runs SQL: the local engine has no other order than that of the file.
                opened = cast("RemoteEngine", connected)
                ordered = opened.table_of_parts(parts).order_by(PLACE, ROW)
                opened.write(ordered.limit(change.n_released or counts.n_rows).select(*columns), draft)
        for part in parts:
            part.unlink()
        promises = change.promises(draft)
        written = recounted(draft, quasi_identifiers, goal, told)
    recipe = row_recipe(goal, quasi_identifiers, hierarchies, keep, used, change.facts)
    n_suppressed = counts.n_rows - written.n_rows
    return RowOutcome(recipe=recipe, checked=told, n_suppressed=n_suppressed, counts=written, promises=promises)


def _written_parts(original: OriginalFile, change: RowChange, draft: Path, name: str, seed: int) -> Iterator[Path]:
    """Write the rows in their order as they are released, numbered, in parts."""
    first = 0
    batches = original.rows.collect_batches(chunk_size=BLOCK_ROWS, maintain_order=True, engine="streaming")
    for number, batch in enumerate(batches):
        part = draft.with_name(f"changed-{number:06}.parquet")
        places = pl.Series(PLACE, places_of_rows(seed, name, batch.height, first))
        row = pl.int_range(first, first + pl.len(), dtype=pl.Int64).alias(ROW)
        batch.with_columns(*change.next(batch, first), places, row).write_parquet(part, compression="lz4")
        first += batch.height
        yield part
