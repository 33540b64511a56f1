"""A history from original to release, by one method or a pipeline."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.registry import part_name
from tokumei.core.seeds import fresh_seed
from tokumei.data.files.histories import TABLE
from tokumei.data.history import History
from tokumei.data.release import Release
from tokumei.hierarchies.items import item_hierarchy
from tokumei.methods.history.generalize import Generalize
from tokumei.methods.history.roll_up import RollUp
from tokumei.methods.pipeline import Pipeline, pipeline_of, read_pipeline
from tokumei.methods.registry import HISTORY_ANONYMIZERS, HistoryAnonymizer
from tokumei.report.needs import check_needs
from tokumei.tasks.history_release import HistoryRelease
from tokumei.tasks.kept_columns import check_carried


def anonymize_history(
    history: History,
    *,
    method: Any = None,
    pipeline: Path | str | Mapping[str, Any] | None = None,
    seed: int | None = None,
    form: str = TABLE,
    carry_anyway: bool = False,
    hierarchy: Any = None,
    **options: Any,
) -> HistoryRelease:
    """Anonymize a history by a method and its options, or by a pipeline: its file, or what would stand in it.

    The same seed gives the same release; a secret one is drawn if none is given. Columns that the history carries are
    released as they are, unless they single customers out; with `carry_anyway` even then. The file of an item
    `hierarchy` is that of every `roll-up` which names none.
    """
    started = time.perf_counter()
    steps = steps_of(method, pipeline, hierarchy, options)
    used = seed if seed is not None else steps.seed
    if used is None:
        # Who can guess the seed can make the release again, and sees whose each pseudonym is.
        used = fresh_seed()
    for one in steps.methods:
        check_needs(history, one)
    if history.carried is not None and form != TABLE:
        raise InputError.of(f"no column to carry, since {form} has no place for it", option="--carry")
    if not carry_anyway:
        check_carried(history)
    for one in steps.methods:
        if (estimate := getattr(one, "estimate", None)) is not None:
            estimate(history).say(part_name(one))
    release = steps.anonymize(history, seed=used)
    carried = carried_along(history, release)
    kept = release.frame["customer"].drop_nulls()
    kept = kept.filter(kept != "*")
    name = "pipeline" if pipeline is not None else part_name(steps.methods[0])
    facts = {
        "method": name,
        "rows": history.n_rows,
        "released": len(kept),
        "made_up": 0 if release.rows is None else release.rows.null_count(),
        "customers": len(history.customers),
        "pseudonyms": kept.n_unique(),
        **release.recipe.found,
        "carried": [] if history.carried is None else history.carried.columns,
        "left_out": list(history.left_out),
        "seed": used,
        "seconds": round(time.perf_counter() - started, 3),
    }
    return HistoryRelease(history, release, facts, form, history.kind, carried)


def steps_of(
    method: Any, pipeline: Path | str | Mapping[str, Any] | None, hierarchy: Any, options: dict[str, Any]
) -> Pipeline:
    """Return the methods that are asked for: one with its options, or those of a pipeline."""
    if (method is None) == (pipeline is None):
        raise InputError.of("either a method, as method='pseudonyms', or a pipeline")
    steps = Pipeline((_made(method, options),)) if pipeline is None else _pipeline(pipeline)
    return steps if hierarchy is None else _with_hierarchy(steps, hierarchy)


def generalizes(steps: Pipeline) -> bool:
    """Whether cells become ranges and sets, which not every form of file has."""
    return any(isinstance(method, Generalize) for method in steps.methods)


def carried_along(history: History, release: Release) -> pl.DataFrame | None:
    """Return the carried columns beside the rows of a release, missing where a row was deleted."""
    if history.carried is None:
        return None
    if release.rows is not None and release.rows.null_count():
        expected = "a method that makes up no rows, whose carried columns would be empty and give them away"
        raise InputError.of(expected, option="--carry")
    if release.frame.schema["date"] == pl.String() or (release.rows is None and release.frame.height != history.n_rows):
        raise InputError.of("a method that keeps rows as they are, beside which a column can stand", option="--carry")
    rows = history.carried if release.rows is None else history.carried[release.rows.to_numpy()]
    return rows.with_columns(pl.when(release.frame["customer"].is_not_null()).then(pl.all()))


def _pipeline(given: Path | str | Mapping[str, Any]) -> Pipeline:
    return pipeline_of(given) if isinstance(given, Mapping) else read_pipeline(given)


def _with_hierarchy(steps: Pipeline, hierarchy: Any) -> Pipeline:
    """Hand the file of an item hierarchy to the steps that roll items up."""
    item_hierarchy(hierarchy)
    file = hierarchy.get("item") if isinstance(hierarchy, Mapping) else hierarchy
    if not isinstance(file, (str, Path)):
        raise InputError.of("the file of a hierarchy, which a recipe can name", option="hierarchy")
    if not any(isinstance(one, RollUp) for one in steps.methods):
        raise InputError.of("roll-up among the methods, which an item hierarchy is for", option="hierarchy", value=file)
    methods = (
        replace(one, hierarchy=str(file)) if isinstance(one, RollUp) and one.hierarchy is None else one
        for one in steps.methods
    )
    return replace(steps, methods=tuple(methods))


def _made(method: Any, options: dict[str, Any]) -> Any:
    """Make the method of a name; options as typed on a command line are read by it."""
    if not isinstance(method, str):
        if not isinstance(method, HistoryAnonymizer):
            expected = "one method for histories by its name; several follow each other in the file of a pipeline"
            raise InputError.of(expected, option="method", value=method)
        return method
    if options and all(isinstance(value, str) for value in options.values()):
        return HISTORY_ANONYMIZERS.make_from_text(method, options)
    return HISTORY_ANONYMIZERS.make(method, **options)
