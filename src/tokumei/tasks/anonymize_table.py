"""A table from original to release, by any method, with what was asked for as keywords."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.progress import step
from tokumei.core.registry import part_name
from tokumei.core.score import Score
from tokumei.core.seeds import fresh_seed, generator
from tokumei.data.kinds import check_single
from tokumei.data.release import Recipe, Release
from tokumei.data.table import Table, check_column
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import count_classes
from tokumei.measures.requirement import Requirement, in_words
from tokumei.methods.goal import Goal, released_columns
from tokumei.methods.recipes import is_in_drawn_order, with_order
from tokumei.methods.registry import TableAnonymizer, TableSearch
from tokumei.methods.rows import release_rows
from tokumei.methods.search.problem import recoded_requirement
from tokumei.methods.tables import (
    ROW,
    Generalization,
    check_promise,
    decide,
    recipe_of,
    released_rows,
)
from tokumei.tasks.goal import Known, Trees, check_is_possible, goal_of, method_of, trees_of
from tokumei.tasks.kept_columns import check_kept
from tokumei.tasks.request import ReleaseRequest
from tokumei.tasks.table_release import TableRelease


def anonymize_table(table: Table, request: ReleaseRequest) -> TableRelease:
    """Anonymize a table that is in memory."""
    started = time.perf_counter()
    made, asked = method_of(request.of_columns(table.sensitive))
    check_is_possible(table.n_rows, request, table.name)
    known = known_of(table, asked)
    trees = trees_of(known, made, asked)
    goal = goal_of(known, made, asked, trees)
    for column in asked.keep:
        check_column(column, table.frame.columns, "a column to keep", table.name)
    check_single(table.frame.schema, asked.keep, table.name)
    unchanged = [*asked.keep, *(name for name in table.sensitive if name not in goal.sensitive)]
    if not asked.keep_anyway:
        check_kept(table.frame.lazy(), unchanged, table.name)
    released = list(dict.fromkeys(unchanged))
    if isinstance(made, TableSearch):
        done = _by_levels(table, goal, trees, released)
    else:
        done = _by_rows(table, goal, trees, released, asked.seed, is_reproducible=asked.reproducible)
    release, recipe = done.release, done.recipe
    if release is not None and release.rows is not None:
        if not release.frame.height:
            raise CannotAnonymize("Every row would have to be left out: nothing is released.")
        if not asked.keep_order and not is_in_drawn_order(recipe):
            order = fresh_seed() if asked.seed is None else asked.seed
            recipe = with_order(recipe, order, table.frame.select(release.frame.columns))
            release = replace(shuffled(release, order), recipe=recipe)
    facts = {**done.facts, "seconds": round(time.perf_counter() - started, 4)}
    there = set(released if release is None else release.frame.columns)
    left_out = [name for name in table.frame.columns if name not in there]
    return replace(done, release=release, recipe=recipe, facts=facts, left_out=left_out)


def known_of(table: Table, asked: ReleaseRequest) -> Known:
    """Return the facts of a table in memory; it must have quasi-identifiers."""
    if not table.quasi_identifiers:
        raise InputError.of("a quasi-identifier or more, as tk.Table(data, qi=['age'])", file=table.name)
    values = {name: table.frame[name].unique() for name in table.quasi_identifiers}
    return Known(
        table.name,
        table.frame.columns,
        table.quasi_identifiers,
        values.__getitem__,
        table.hierarchies if asked.hierarchies is None else asked.hierarchies,
        table.numeric if asked.numeric is None else asked.numeric,
        table.reading,
        table.sensitive,
    )


def promised(requirements: Sequence[Requirement], counts: ClassCounts) -> dict[str, Score]:
    """Measure each requirement on the counts of a release."""
    return {in_words(one): one.measure(counts) for one in requirements}


def shuffled(release: Release, seed: int) -> Release:
    """Shuffle the rows by the seed: the order of the original tells who is who."""
    order = generator(seed, "order of released rows").permutation(release.frame.height)
    rows = None if release.rows is None else release.rows[order]
    return replace(release, frame=release.frame[order], rows=rows)


def _by_levels(table: Table, goal: Goal, trees: Trees, keep: Sequence[str]) -> TableRelease:
    frame = table.frame
    with step("counting"):
        counts = count_classes(frame, list(trees.of_columns), sensitive=goal.sensitive)
    asked, goal = goal, goal.against(counts)
    decision = decide(counts, trees.of_columns, goal)
    columns = released_columns(frame.columns, trees.of_columns, goal, keep)
    rows = released_rows(frame, columns, decision.recodings, decision.suppressed)
    mapping = {one.column: pl.DataFrame({"value": one.values, "label": one.labels}) for one in decision.recodings}
    recipe = recipe_of(asked, decision, keep)
    release = Release(rows.drop(ROW), recipe, rows=rows[ROW].cast(pl.Int64), mapping=mapping)
    recounted = check_promise(release.frame, goal, decision.recodings)
    told = [recoded_requirement(one, decision.recodings) for one in goal.requirements]
    return TableRelease(
        table,
        release,
        recipe,
        search_facts(goal.method, decision, recounted),
        promised(told, recounted),
        search_columns(decision, trees),
        trees.of_columns,
        trees.made,
        goal.numeric,
        recounted,
        table.kind,
    )


def _by_rows(
    table: Table, goal: Goal, trees: Trees, keep: Sequence[str], seed: int | None, *, is_reproducible: bool
) -> TableRelease:
    known = table.quasi_identifiers
    options: dict[str, Any] = {"keep": keep, "seed": seed, "is_reproducible": is_reproducible}
    made = release_rows(table.frame, known, trees.of_columns, goal, **options)
    shares = {} if made.loss is None else made.loss.inputs["shares"]
    n_rows = made.release.frame.height
    facts = row_facts(goal.method, made.loss, n_rows, made.counts, made.n_suppressed, made.release.recipe)
    checked = {} if made.counts is None else promised(made.checked, made.counts)
    return TableRelease(
        table,
        made.release,
        made.release.recipe,
        facts,
        checked | dict(made.promises),
        [{"column": name, "loss": share} for name, share in shares.items()],
        trees.of_columns,
        trees.made,
        goal.numeric,
        made.counts,
        table.kind,
    )


def row_facts(
    method: TableAnonymizer,
    loss: Score | None,
    n_rows: int,
    counts: ClassCounts | None,
    n_suppressed: int,
    recipe: Recipe,
) -> dict[str, Any]:
    """Return the result-page facts of a release by a method that works on rows."""
    return {
        "method": part_name(method),
        "loss": None if loss is None else loss.value,
        "loss_name": None if loss is None else loss.name,
        "loss_by_attribute": {} if loss is None else loss.inputs["shares"],
        "rows": n_rows,
        "k": None if counts is None else counts.k,
        "classes": None if counts is None else counts.n_classes,
        "suppressed": n_suppressed,
        "ranges": getattr(method, "ranges", None),
        **({"gives_away": said} if (said := getattr(method, "gives_away", None)) else {}),
        "promise": recipe.options.get("promise"),
        "seed": recipe.seed,
    }


def search_facts(method: TableAnonymizer, decision: Generalization, counts: ClassCounts) -> dict[str, Any]:
    """Summarize a full-domain release for the result page."""
    return {
        "method": part_name(method),
        "levels": decision.levels,
        "loss": decision.loss.value,
        "loss_name": decision.loss.name,
        "loss_by_attribute": decision.loss.inputs["shares"],
        "rows": counts.n_rows,
        "k": counts.k,
        "classes": counts.n_classes,
        "suppressed": decision.n_suppressed,
        "nodes": decision.n_nodes,
        "nodes_checked": decision.n_nodes_checked,
        "classes_checked": decision.n_classes_checked,
        "is_proven": decision.is_proven,
    }


def search_columns(decision: Generalization, trees: Trees) -> list[dict[str, Any]]:
    """Return the level of each column, and what it cost."""
    shares = decision.loss.inputs["shares"]
    return [
        {"column": name, "level": level, "of": trees.of_columns[name].height, "loss": shares.get(name)}
        for name, level in decision.levels.items()
    ]
