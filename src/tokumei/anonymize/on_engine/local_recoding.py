"""Local recoding where the rows are: classes are counted there, grouped here, and joined with their labels there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.anonymize.goal import Goal, check_classes, released_columns
from tokumei.anonymize.local.encoding import encode_classes
from tokumei.anonymize.registry import LocalRecoder
from tokumei.anonymize.regrouping import Regrouping, regroup, row_recipe, whole_trees
from tokumei.anonymize.rows import check_is_used
from tokumei.anonymize.search.problem import check_asked
from tokumei.core.errors import CannotAnonymize, InputError, PromiseBroken
from tokumei.core.progress import step
from tokumei.core.registry import part_name
from tokumei.core.score import Score
from tokumei.counting.class_counts import ClassCounts
from tokumei.counting.count import column_names, count_classes, with_histograms, write_recoded
from tokumei.counting.recoding import ClassRecoding
from tokumei.data.files.atomic import atomic_path
from tokumei.data.release import Recipe
from tokumei.hierarchy.hierarchy import Hierarchy
from tokumei.measure.requirement import Requirement, sees_whole_release


@dataclass(frozen=True, eq=False)
class WrittenRelease:
    """What was found out about a release that was written on its engine."""

    recipe: Recipe
    checked: Sequence[Requirement]
    n_suppressed: int
    loss: Score
    # Of the release, over the quasi-identifiers.
    counts: ClassCounts


def write_regrouped(
    source: Any,
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
) -> WrittenRelease:
    """Make the release of a file or table by local recoding on its engine, and write it there.

    The decision is the one that the rows themselves would give, since methods see classes and no rows; `counts` are
    those of the quasi-identifiers, `along` those of all that is released, where they are known. What was written is
    counted again before it gets its name.
    """
    method = goal.method
    if not isinstance(method, LocalRecoder):
        raise TypeError(f"{part_name(method)} does not put classes into groups")
    columns = released_columns(column_names(source, **reading), quasi_identifiers, goal, keep)
    check_asked(columns, goal.suppression, goal.weights, goal.numeric)
    check_is_used(goal, quasi_identifiers)
    if not goal.requirements:
        raise InputError.of("at least one requirement, such as k")
    with step("counting"):
        counts = with_histograms(source, counts, goal.sensitive, along=along, **reading)
    with step(f"anonymizing by {part_name(method)}"):
        found = _decided(method, counts, hierarchies, goal, seed or 0)
    kept = found.kept()
    if not len(kept):
        raise CannotAnonymize("Every row would have to be left out: nothing is released.")
    classes = ClassRecoding(counts.values()[kept], pl.DataFrame(found.labels(kept)))
    with step("writing"), atomic_path(out) as draft:
        plan: dict[str, Any] = {"columns": columns, "classes": classes, "is_shuffled": is_shuffled}
        plan["counts"] = counts if along is None else along
        write_recoded(source, [], draft, **plan, **reading)
        written = count_classes(draft, list(quasi_identifiers), sensitive=goal.sensitive)
        if written.n_rows != counts.n_rows - found.n_suppressed:
            expected = f"a table that does not change while it is read, of {counts.n_rows:,} rows"
            raise InputError.of(expected, file=str(source), value=f"{written.n_rows + found.n_suppressed:,}")
        check_classes(written, found.checked)
    recipe = row_recipe(goal, quasi_identifiers, hierarchies, keep, seed or 0)
    return WrittenRelease(recipe, found.checked, found.n_suppressed, found.loss, written)


def _decided(
    method: LocalRecoder, counts: ClassCounts, hierarchies: Mapping[str, Hierarchy], goal: Goal, seed: int
) -> Regrouping:
    """Decide, and once more without leaving rows out where that breaks what is asked of the release as a whole."""
    found = _grouped(method, counts, hierarchies, goal, seed)
    if found.n_suppressed and any(sees_whole_release(one) for one in found.checked):
        try:
            check_classes(_released_counts(found, counts), found.checked)
        except PromiseBroken:
            return _grouped(method, counts, hierarchies, replace(goal, suppression=0.0), seed)
    return found


def _grouped(
    method: LocalRecoder, counts: ClassCounts, hierarchies: Mapping[str, Hierarchy], goal: Goal, seed: int
) -> Regrouping:
    trees = whole_trees(counts.columns, hierarchies, counts.domain, goal.requirements)
    asked: dict[str, Any] = {"numeric": goal.numeric, "suppression": goal.suppression, "weights": goal.weights}
    return regroup(method, encode_classes(counts, trees, goal.requirements, **asked), seed=seed)


def _released_counts(found: Regrouping, counts: ClassCounts) -> ClassCounts:
    """Give the counts that the release will have."""
    kept = found.kept()
    taken = counts.taken(~found.recoding.is_suppressed[found.encoded.class_of])
    labels = found.labels(kept)
    released = ClassCounts.of_groups(counts.columns, _numbered([*labels, pl.Series(taken.sizes)]))
    for name, one in taken.histograms.items():
        cells = [label.gather(one.class_of) for label in labels]
        pairs = _numbered([*cells, one.values.gather(one.value_of), pl.Series(one.counts)])
        released = released.with_histogram(name, ClassCounts.of_groups([*counts.columns, name], pairs))
    return released


def _numbered(columns: Sequence[pl.Series]) -> pl.DataFrame:
    # A column may have any name, that of the sizes too.
    return pl.DataFrame([one.alias(str(index)) for index, one in enumerate(columns)])
