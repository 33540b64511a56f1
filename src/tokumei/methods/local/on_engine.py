"""Local recoding where the rows are: classes are counted there, grouped here, and joined with their labels there.

Where there are more classes than fit into memory, rows are cut there first, as Mondrian does, until each part fits. A
cut is decided by what the engine counts of one column after the other, so that no class needs to come here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.progress import step
from tokumei.core.registry import part_name
from tokumei.core.score import Score
from tokumei.core.text import Json
from tokumei.data.files.disk import atomic_path
from tokumei.data.files.formats import scan_frame
from tokumei.data.files.reading import Reading
from tokumei.engines.class_counts import ClassCounts, ClassRecoding
from tokumei.engines.connect import connect
from tokumei.engines.count import (
    TooManyClasses,
    column_names,
    count_classes,
    count_relation,
    too_many_classes,
    with_histograms,
    write_recoded,
    write_relation,
)
from tokumei.engines.engine import Relation, WritePlan
from tokumei.engines.writing import write_shuffled
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.requirement import Requirement, population_of, sees_whole_release
from tokumei.methods.local.encoding import encode_classes
from tokumei.methods.local.grid import Grid
from tokumei.methods.local.mondrian import SafeSplitting
from tokumei.methods.local.splitting import Splitting, first_cut
from tokumei.methods.local.task import Ranges, column_weights
from tokumei.methods.recipes import Goal, against_original, check_classes, counted_as_decided, released_columns
from tokumei.methods.registry import LocalRecoder
from tokumei.methods.rows import (
    RowOutcome,
    check_is_used,
    decide_groups,
    group_classes,
    released_counts,
    row_recipe,
    whole_trees,
)
from tokumei.methods.search.problem import check_asked


@dataclass(frozen=True, eq=False)
class FittingPart:
    """Rows on an engine whose classes fit into memory, their classes, and the grids of the whole table."""

    relation: Relation
    counts: ClassCounts
    grids: Mapping[str, Grid]


def parts_that_fit(
    relation: Relation, trees: Mapping[str, Hierarchy], goal: Goal, requirements: Sequence[Requirement], most: int
) -> Iterator[FittingPart]:
    """Cut rows that have more classes than `most` into parts that do not, and of which all rows together hold.

    TooManyClasses where a part cannot be cut any more, or where a single column has more values.
    """
    cutting = _Cutting(trees, goal, requirements, most)
    waiting, grids = cutting.cut(relation, None)
    while waiting:
        # The first part, so that few are waiting at any time.
        part = waiting.pop()
        try:
            counts = count_relation(part, list(trees), sensitive=goal.sensitive, most=most)
        except TooManyClasses:
            waiting += cutting.cut(part, grids)[0]
            continue
        yield FittingPart(part, counts, grids)


@dataclass(frozen=True, eq=False)
class _Cutting:
    """What rows are cut by."""

    trees: Mapping[str, Hierarchy]
    goal: Goal
    requirements: Sequence[Requirement]
    most: int

    def cut(self, part: Relation, grids: Mapping[str, Grid] | None) -> tuple[list[Relation], Mapping[str, Grid]]:
        """Cut a part once and return the new ones, the first of them last, and the grids; they are made of all rows."""
        trees, goal, names = self.trees, self.goal, list(self.trees)
        # A class of one column takes as much less as there are columns.
        most = self.most * len(trees)
        counted = [count_relation(part, [one], sensitive=goal.sensitive, most=most) for one in trees]
        given: dict[str, Any] = {"numeric": goal.numeric, "weights": goal.weights, "grids": grids}
        encoded = [
            encode_classes(counts, {column: tree}, self.requirements, **given)
            for counts, (column, tree) in zip(counted, trees.items(), strict=True)
        ]
        tasks = [one.task for one in encoded]
        if grids is None:
            ranges: Ranges = getattr(goal.method, "ranges", "tight")
            tasks = [one.with_ranges(ranges, n_columns=len(trees)) for one in tasks]
            grids = {one.name: one.grid for task in tasks for one in task.attributes if one.grid is not None}
        margin = getattr(goal.method, "margin", 0.0) if getattr(goal.method, "cuts", "") == "safe" else None
        each = [Splitting(one) if margin is None else SafeSplitting(one, margin) for one in tasks]
        found = first_cut(each, column_weights(names, goal.weights))
        if found is None:
            raise too_many_classes(part, names, self.most)
        index, part_of = found
        values = counted[index].values().to_series(0)
        number = part_of[encoded[index].class_of]
        numbers = range(int(number.max()), -1, -1)
        parts = [part.within(names[index], values.gather(np.flatnonzero(number == one))) for one in numbers]
        return parts, grids


# Methods that take one part of the rows after another, where all classes do not fit into memory.
IN_PARTS = ("mondrian", "partition", "min-dis", "utility-clustering")


def write_regrouped(
    source: object,
    quasi_identifiers: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    goal: Goal,
    out: Path | str,
    *,
    counts: ClassCounts,
    along: ClassCounts | None = None,
    keep: Sequence[str] = (),
    seed: int | None = None,
    is_shuffled: bool = False,
    **reading: Any,
) -> RowOutcome:
    """Make the release of a file or table by local recoding on its engine, and write it there.

    The decision is the one that the rows themselves would give, since methods see classes and no rows; `counts` are
    those of the quasi-identifiers, `along` those of all that is released, where they are known. What was written is
    counted again before it gets its name.
    """
    method, columns = _asked(column_names(source, **reading), quasi_identifiers, goal, keep)
    with step("counting"):
        counts = with_histograms(source, counts, goal.sensitive, person=goal.person, along=along, **reading)
    with step(f"anonymizing by {part_name(method)}"):
        found = decide_groups(method, counts, hierarchies, goal, seed or 0)
    kept = found.kept()
    if not len(kept):
        raise CannotAnonymize("Every row would have to be left out: nothing is released.")
    classes = ClassRecoding(counts.values()[kept], pl.DataFrame(found.labels(kept)))
    with step("writing"), atomic_path(out) as draft:
        plan: Json = {"columns": columns, "classes": classes, "is_shuffled": is_shuffled}
        plan["counts"] = counts if along is None else along
        write_recoded(source, [], draft, **plan, **reading)
        written = _counted_again(draft, source, quasi_identifiers, goal, counts.n_rows, found.n_suppressed)
        if goal.unit is not None:
            written = counted_as_decided(written, goal, released_counts(found, counts))
        check_classes(written, found.checked)
    recipe = row_recipe(goal, quasi_identifiers, hierarchies, keep, seed or 0)
    return RowOutcome(
        recipe=recipe,
        checked=found.checked,
        n_suppressed=found.n_suppressed,
        n_people=counts.n_people,
        counts=written,
        loss=found.loss,
    )


def write_in_parts(
    source: object,
    quasi_identifiers: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    goal: Goal,
    out: Path | str,
    *,
    values: Callable[[str], pl.Series],
    most: int,
    keep: Sequence[str] = (),
    seed: int | None = None,
    engine: str,
    reading: Reading,
) -> tuple[RowOutcome, int]:
    """Make the release of more classes than `most`: rows are cut on the engine until each part fits, then part by part.

    Without rows left out Mondrian gives what it would give of all rows in memory, but where several cuts are equally
    good. Others see one part at a time. Each part may leave out its share of rows. The classes of the release, which
    are fewer by far, fit into memory. Gives how many parts there were as well.

    values: the distinct values of a column.
    """
    with connect(engine) as opened:
        relation = opened.open(source, reading)
        method, columns = _asked(list(relation.schema), quasi_identifiers, goal, keep)
        if goal.unit is not None:
            expected = "fewer combinations of values, which fit into memory together, where people have several rows"
            raise InputError.of(expected, option=str(goal.unit.role), value=goal.unit.column)
        # The shares of sensitive values in the original are those of all parts together.
        whole = count_relation(relation, list(quasi_identifiers[:1]), sensitive=goal.sensitive)
        asked = against_original(goal.requirements, whole)
        _check_in_parts(against_original(goal.requirements, whole, moves=goal.suppression > 0))
        trees = whole_trees(quasi_identifiers, hierarchies, values, asked)
        told = replace(goal, requirements=tuple(asked))
        n_suppressed, n_parts, shares = 0, 0, dict.fromkeys(quasi_identifiers, 0.0)
        with atomic_path(out) as draft, TemporaryDirectory(dir=draft.parent, prefix=".parts-") as folder:
            for part in parts_that_fit(relation, trees, told, asked, most):
                counts = part.counts
                with step(f"anonymizing part {n_parts + 1} by {part_name(method)}"):
                    found = group_classes(method, counts, trees, told, seed or 0, part.grids)
                kept = found.kept()
                classes = ClassRecoding(counts.values()[kept], pl.DataFrame(found.labels(kept)))
                plan = WritePlan(columns, {}, is_shuffled=True, classes=classes)
                write_relation(part.relation, plan, Path(folder) / f"{n_parts:06}.parquet", counts=counts)
                n_parts, n_suppressed = n_parts + 1, n_suppressed + found.n_suppressed
                for column, share in found.loss.inputs["shares"].items():
                    shares[column] += share * counts.n_rows / whole.n_rows
            if n_suppressed == whole.n_rows:
                raise CannotAnonymize("Every row would have to be left out: nothing is released.")
            with step("writing"):
                write_shuffled(pl.concat([scan_frame(one) for one in sorted(Path(folder).iterdir())]), draft)
            written = _counted_again(draft, source, quasi_identifiers, goal, whole.n_rows, n_suppressed)
            checked = against_original(goal.requirements, whole, moves=n_suppressed > 0)
            check_classes(written, checked)
    loss = Score("ncp", min(1.0, sum(shares.values())), best=0, worst=1, inputs={"shares": shares})
    recipe = row_recipe(goal, quasi_identifiers, hierarchies, keep, seed or 0)
    made = RowOutcome(recipe=recipe, checked=checked, n_suppressed=n_suppressed, counts=written, loss=loss)
    return made, n_parts


def _check_in_parts(requirements: Sequence[Requirement]) -> None:
    """Refuse what speaks of more than the rows of a part."""
    for one in requirements:
        if sees_whole_release(one) or population_of(one) is not None:
            expected = "fewer combinations of values, which fit into memory together, for what is asked of all rows"
            raise InputError.of(expected, option=part_name(one))


def _asked(
    names: Sequence[str], quasi_identifiers: Sequence[str], goal: Goal, keep: Sequence[str]
) -> tuple[LocalRecoder, list[str]]:
    """Check what is asked; give the method, and the columns that are released."""
    method = goal.method
    if not isinstance(method, LocalRecoder):
        raise TypeError(f"{part_name(method)} does not put classes into groups")
    columns = released_columns(names, quasi_identifiers, goal, keep)
    check_asked(columns, goal.suppression, goal.weights, goal.numeric)
    check_is_used(goal, quasi_identifiers)
    if not goal.requirements:
        raise InputError.of("at least one requirement, such as k")
    return method, columns


def _counted_again(
    draft: Path, source: object, quasi_identifiers: Sequence[str], goal: Goal, n_rows: int, n_suppressed: int
) -> ClassCounts:
    """Count what was written, and refuse it if rows came or went meanwhile."""
    written = count_classes(draft, list(quasi_identifiers), sensitive=goal.sensitive)
    if written.n_rows != n_rows - n_suppressed:
        expected = f"a table that does not change while it is read, of {n_rows:,} rows"
        raise InputError.of(expected, file=str(source), value=f"{written.n_rows + n_suppressed:,}")
    return written
