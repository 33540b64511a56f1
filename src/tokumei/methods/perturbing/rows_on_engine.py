"""Changes of the rows of a file: what each begins and ends with, and microaggregation as the rows go by.

MDAV sees numbers and no rows. Of equal numbers some may be in one group and some in another; the first rows of a file
that have them are in the first, as in memory. So the rows pass this process once, some at a time, and each gets the
next center that is left for its numbers. What is in memory is the numbers of all rows, sorted, and their centers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError, PromiseBroken
from tokumei.core.progress import step
from tokumei.core.registry import part_name
from tokumei.core.seeds import fresh_seed, key_of
from tokumei.data.files.disk import atomic_path
from tokumei.data.files.formats import is_glob, scan_frame, write_file_or_folder
from tokumei.data.files.reading import Reading
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.connect import connect
from tokumei.engines.count import column_names, count_classes, with_histograms
from tokumei.engines.item_sets import Ints
from tokumei.engines.writing import write_shuffled
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.requirement import Requirement, population_of
from tokumei.methods.perturbing.microaggregate import Microaggregate
from tokumei.methods.perturbing.perturbation import Floats, Original, are_whole
from tokumei.methods.recipes import Goal, against_original, check_classes, released_columns
from tokumei.methods.rows import RowOutcome, check_is_used, row_recipe
from tokumei.methods.search.problem import check_asked

if TYPE_CHECKING:
    from tokumei.engines.engine import EngineTable
    from tokumei.engines.remote import RemoteEngine

# The number of a row, and by what rows are ordered that are written in an order that is drawn.
ROW, PLACES = "tokumei_row", ("tokumei_place", "tokumei_place_2")


@dataclass(frozen=True, eq=False)
class RowTask:
    """The columns that are released, counts with what is protected, and what must hold of the release."""

    source: str
    quasi_identifiers: Sequence[str]
    goal: Goal
    columns: Sequence[str]
    counts: ClassCounts
    told: Sequence[Requirement]
    reading: Reading

    @classmethod
    def of(
        cls,
        source: str,
        quasi_identifiers: Sequence[str],
        goal: Goal,
        *,
        counts: ClassCounts,
        keep: Sequence[str],
        engine: str,
        reading: Reading,
    ) -> RowTask:
        """Check what is asked before anything is read."""
        name = part_name(goal.method)
        where: dict[str, Any] = {"engine": engine, "reading": reading}
        columns = released_columns(column_names(source, **where), quasi_identifiers, goal, keep)
        check_asked(columns, goal.suppression, goal.weights, goal.numeric)
        check_is_used(goal, quasi_identifiers)
        if any(population_of(one) is not None for one in goal.requirements):
            raise InputError.of(f"no requirement of a population: {name} changes the values of rows")
        if not Path(source).exists() and not is_glob(source):
            expected = f"a file, whose rows have the order that {name} goes by"
            raise InputError.of(expected, option="engine", value=source)
        counts = with_histograms(source, counts, goal.sensitive, **where)
        told = against_original(goal.requirements, counts, moves=True)
        return cls(source, quasi_identifiers, goal, columns, counts, told, reading)

    def rows(self) -> pl.LazyFrame:
        """Scan the rows in their order."""
        rows = scan_frame(self.source, self.reading).select(self.columns)
        return rows.with_columns(pl.selectors.categorical().cast(pl.String))

    def recounted(self, draft: Path) -> ClassCounts:
        """Count what was written; CannotAnonymize if what was asked for does not hold."""
        written = count_classes(draft, list(self.quasi_identifiers), sensitive=self.goal.sensitive)
        try:
            check_classes(written, self.told)
        except PromiseBroken as broken:
            # Such changes promise nothing of classes; that they were asked to is no fault of theirs.
            raise CannotAnonymize(f"By {part_name(self.goal.method)}, {broken}.") from None
        return written


def placed(engine: RemoteEngine, table: EngineTable, name: str, seed: int) -> EngineTable:
    """Add the columns that order numbered rows as the seed draws."""
    # Here, since it takes half a second to import, and rows that go by need it not.
    from tokumei.engines.draws import Draws

    draws = Draws.of(engine, key_of(seed, name), table[ROW])
    return table.mutate(**{place: draws.whole(at) for at, place in enumerate(PLACES)})


BLOCK_ROWS = 500_000
# The private-use character keeps it apart from the columns of any table.
SIZE = "\ue000size"


def write_microaggregated(
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
    """Average groups of rows and write the release; what was written is counted again before it gets its name.

    Every engine but the local one draws the order of shuffled rows from the seed, and all draw the same.
    """
    method, name = goal.method, part_name(goal.method)
    if not isinstance(method, Microaggregate):
        raise TypeError(f"{name} does not average groups of rows")
    where: dict[str, Any] = {"engine": engine, "reading": reading}
    task = RowTask.of(source, quasi_identifiers, goal, counts=counts, keep=keep, **where)
    counts, columns = task.counts, task.columns
    empty = pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
    original = Original(empty, tuple(quasi_identifiers), tuple(goal.numeric), requirements=task.told)
    k, averaged = method.asked(original)
    known = [*method.within, *averaged]
    classes = counts.over(known) if set(known) <= set(counts.columns) else count_classes(source, known, **where)
    used = fresh_seed() if seed is None else seed
    with step(f"anonymizing by {name}"), atomic_path(out) as draft:
        centers = _Centers(method, classes, averaged, k, source)
        # Beside the draft: there is room for them, and nobody else may read them.
        parts = list(_written_parts(task.rows(), centers, draft))
        if engine == "local" or not is_shuffled:
            plain = pl.concat([pl.scan_parquet(part, glob=False) for part in parts]).select(columns)
            (write_shuffled if is_shuffled else write_file_or_folder)(plain, draft)
        else:
            _write_in_drawn_order(parts, columns, draft, engine, used)
        for part in parts:
            part.unlink()
        promises = method.promises(draft, original, averaged)
        written = task.recounted(draft)
    recipe = row_recipe(goal, quasi_identifiers, hierarchies, keep, used, centers.facts)
    return RowOutcome(recipe=recipe, checked=task.told, counts=written, promises=promises)


class _Centers:
    """What the rows with some numbers become: the first of them the first center that is left for these, and so on."""

    def __init__(
        self, method: Microaggregate, classes: ClassCounts, averaged: Sequence[str], k: int, source: str
    ) -> None:
        self.within, self.averaged, self.source = list(method.within), list(averaged), source
        # One number may be written in several ways, which are one here.
        points = self._keys(classes.values()).with_columns(pl.Series(SIZE, classes.sizes))
        points = points.group_by(pl.exclude(SIZE), maintain_order=True).agg(pl.col(SIZE).sum())
        self.sizes: Ints = points[SIZE].to_numpy().astype(np.int64)
        self.points = points.drop(SIZE).with_row_index(SIZE)
        point_of = np.repeat(np.arange(len(self.sizes)), self.sizes)
        names = [str(at) for at in range(len(averaged))]
        numbers = np.stack([points[name].fill_null(float("nan")).to_numpy()[point_of] for name in names], axis=1)
        within = [points[f"within {at}"].gather(point_of) for at in range(len(self.within))]
        self.centers, self.facts = method.averaged(within, numbers, k)
        pairs = zip(numbers.T, self.centers.T, strict=True)
        self.is_whole = [are_whole(before) and are_whole(after) for before, after in pairs]
        self.next = np.cumsum(self.sizes) - self.sizes
        self.ends = np.cumsum(self.sizes)

    def of(self, rows: pl.DataFrame) -> list[pl.Series]:
        """Return the next rows their centers, column by column."""
        keys = self._keys(rows)
        # Engines give some types back as wider ones.
        points = self.points.cast({name: keys.schema[name] for name in keys.columns})
        found = keys.join(points, on=keys.columns, how="left", nulls_equal=True, maintain_order="left")[SIZE]
        if found.null_count():
            raise self._changed()
        point: Ints = found.to_numpy().astype(np.int64)
        order = np.argsort(point, kind="stable")
        there, starts, n_each = np.unique(point[order], return_index=True, return_counts=True)
        among = np.empty(len(point), np.int64)
        among[order] = np.arange(len(point)) - np.repeat(starts, n_each)
        at = self.next[point] + among
        if np.any(at >= self.ends[point]):
            raise self._changed()
        self.next[there] += n_each
        columns = []
        for name, center, is_whole in zip(self.averaged, self.centers.T, self.is_whole, strict=True):
            values = pl.Series(name, center[at]).fill_nan(None)
            columns.append(values.cast(pl.Int64) if is_whole else values)
        return columns

    def check_all_came(self) -> None:
        """Raise unless every row that was counted has gone by."""
        if not np.array_equal(self.next, self.ends):
            raise self._changed()

    def _keys(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return what is compared: columns that stay as they are, and numbers, whatever they are written like."""
        own = Original(rows, ())
        try:
            # 0 and −0 are one number.
            numbers: list[Floats] = [own.numbers(name) + 0.0 for name in self.averaged]
        except InputError as error:
            # A value of some row, and not a line: the engine has them in no order.
            faults = [replace(fault, line=None, file=self.source) for fault in error.faults]
            raise InputError(faults, error.n_faults) from None
        keys = [rows[name].alias(f"within {at}") for at, name in enumerate(self.within)]
        keys += [pl.Series(str(at), one).fill_nan(None) for at, one in enumerate(numbers)]
        return pl.DataFrame(keys)

    def _changed(self) -> InputError:
        return InputError.of("a table that does not change while it is read", file=self.source)


def _written_parts(rows: pl.LazyFrame, centers: _Centers, draft: Path) -> Iterator[Path]:
    """Write the rows in their order with the centers of their groups, numbered, in parts."""
    n_rows = 0
    batches = rows.collect_batches(chunk_size=BLOCK_ROWS, maintain_order=True, engine="streaming")
    for number, batch in enumerate(batches):
        part = draft.with_name(f"averaged-{number:06}.parquet")
        numbers = pl.Series(ROW, np.arange(n_rows, n_rows + batch.height))
        batch.with_columns(*centers.of(batch), numbers).write_parquet(part, compression="lz4")
        n_rows += batch.height
        yield part
    centers.check_all_came()


def _write_in_drawn_order(parts: Sequence[Path], columns: Sequence[str], out: Path, engine: str, seed: int) -> None:
    """Write the rows on an engine in the order that the seed draws."""
    with connect(engine) as connected:
        opened = cast("RemoteEngine", connected)
        table = placed(opened, opened.table_of_parts(parts), "microaggregate", seed)
        opened.write(table.order_by(*PLACES, ROW).select(*columns), out)
