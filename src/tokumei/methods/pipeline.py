"""Several methods one after the other, described by a TOML file.

    seed = 1

    [[step]]
    method = "delete"
    random = 0.2

    [[step]]
    method = "pseudonyms"
    lifetime = 1

Methods that change rows come in any number; the last may name the customers. Where none does, each customer gets
one pseudonym for the whole time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import step as progress_step
from tokumei.core.registry import part_name
from tokumei.core.seeds import LARGEST_SEED, check_seed, generator
from tokumei.core.text import JsonView, Text
from tokumei.data.files.toml import Section, Where, make_part, read_toml
from tokumei.data.history import History
from tokumei.data.release import DELETED, Recipe, Release
from tokumei.methods.history.steps import (
    HistoryStep,
    all_rows,
    name_for_the_whole_time,
    recipe_for_the_whole_time,
    recipe_of,
)
from tokumei.methods.registry import HISTORY_ANONYMIZERS, HistoryAnonymizer


@dataclass(frozen=True)
class Pipeline:
    """Some steps that change rows, and at most one method after them that names the customers."""

    methods: tuple[HistoryAnonymizer, ...]
    seed: int | None = None

    def __post_init__(self) -> None:
        for number, method in enumerate(self.methods[:-1], 1):
            if not isinstance(method, HistoryStep):
                raise InputError.of(
                    "methods that name the customers to come last", column=f"step {number}", value=type(method).__name__
                )

        drawn = [method for method in self.methods if getattr(method, "draws_all_rows", False)]
        if drawn and len(self.methods) > 1:
            form = "{name} alone: its rows are nobody's, and are attacked as it drew them"
            raise InputError.of(Text(form, name=part_name(drawn[0])), option="method")

    def anonymize(self, original: History, *, seed: int | None = None) -> Release:
        """Apply the methods in turn; a seed given here counts before the one in the file.

        The release's `rows` lead back to the original through all steps, missing where a step made a row up, and
        its `pseudonyms` lead from the original's customers to the names published. What a step promises is
        recounted at the end, since a later one may have broken it.
        """
        seed = self.seed if seed is None else seed
        if seed is None:
            raise InputError.of("a seed, in the pipeline's file or beside it", option="seed")
        steps = [method for method in self.methods if isinstance(method, HistoryStep)]
        recipes = []
        found: dict[str, object] = {}
        history, rows = original, all_rows(original)
        with progress_step("anonymizing", len(steps) + 1) as bar:
            for number, step in enumerate(steps, 1):
                changed = step.change(history, seed=seed_of(seed, number))
                history, rows = changed.history, rows.gather(changed.rows)
                recipes.append(recipe_of(step, seed_of(seed, number)))
                found |= changed.found
                bar.advance()
            last = self._name(history, seed_of(seed, len(steps) + 1))
            bar.advance()
        released = _countable(last, original)
        for step in steps:
            step.check_promise(released)
        recipes.append(last.recipe)
        steps_taken = [{"method": r.method, "options": r.options, "seed": r.seed} for r in recipes]
        recipe = Recipe("pipeline", {"steps": steps_taken}, seed, found={**found, **last.recipe.found})
        return replace(last, recipe=recipe, rows=None if last.rows is None else rows.gather(last.rows))

    def _name(self, history: History, seed: int) -> Release:
        """Assign pseudonyms to the customers."""
        if self.methods and not isinstance(self.methods[-1], HistoryStep):
            return self.methods[-1].anonymize(history, seed=seed)
        return name_for_the_whole_time(history, recipe=recipe_for_the_whole_time(seed), seed=seed)


def _countable(release: Release, original: History) -> History:
    """Return a release as a history whose items can be counted.

    The cells of a generalized one are text, and each is counted as an item: who shares a cell fits whoever has one of
    the items in it, so that what holds of cells holds of items.
    """
    if release.frame.schema == original.frame.schema:
        return History(release.frame)
    is_kept = pl.col("customer") != DELETED
    cells = release.frame.select(pl.when(is_kept).then(pl.col("customer", "item")))
    others = [pl.lit(None, dtype).alias(name) for name, dtype in original.frame.schema.items()]
    whole = cells.with_columns(one for one in others if one.meta.output_name() not in cells.columns)
    # In the order of a history, so that it is taken as it is: read as a file it would lack its dates.
    return History(whole.select(original.frame.columns))


def read_pipeline(path: Path | str) -> Pipeline:
    """Read a pipeline from its TOML file."""
    where, settings = read_toml(Path(path))
    return pipeline_of(settings, where=where)


class _Step(Section):
    """One step of a file, or what stands above all steps; its place is told by the line and the key."""

    def fault(self, expected: str, key: str = "", value: object = None) -> InputError:
        line = self.where.line(self.name, key, self.nth)
        return InputError.of(expected, file=self.where.file, line=line, column=key, value=value)


def pipeline_of(settings: JsonView, *, where: Where | None = None) -> Pipeline:
    """Make a pipeline from settings as they stand in its file."""
    where = where or Where(None, "")
    top = _Step(where, "", settings)
    for key in settings:
        if key not in ("seed", "step"):
            raise top.fault("only the keys seed and step", key, settings[key])
    seed = settings.get("seed")
    if seed is not None:
        try:
            check_seed(seed)
        except InputError as error:
            raise top.fault(error.faults[0].expected, "seed", seed) from None
    listed = settings.get("step")
    if not isinstance(listed, list) or not listed or not all(isinstance(step, Mapping) for step in listed):
        raise top.fault("at least one [[step]]", "step")
    steps = [_Step(where, "step", step, number) for number, step in enumerate(listed, 1)]
    methods = [_make_method(step) for step in steps]
    for step, method in zip(steps[:-1], methods[:-1], strict=True):
        if not isinstance(method, HistoryStep):
            expected = "a method that names the customers only as the last step"
            raise step.fault(expected, "method", step.found["method"])
    return Pipeline(tuple(methods), seed)


def _make_method(step: _Step) -> HistoryAnonymizer:
    """Make the method of one step with its options."""
    name = step.text("method", expected=f"a method: {', '.join(HISTORY_ANONYMIZERS)}")
    options = {key: value for key, value in step.found.items() if key != "method"}
    made: HistoryAnonymizer = make_part(
        step, HISTORY_ANONYMIZERS, name, options, kind="method", key="method", inside=None
    )
    return made


def seed_of(seed: int, number: int) -> int:
    """Return a seed for each step, so that changing one does not change what the others draw."""
    return int(generator(seed, "step", number).integers(LARGEST_SEED, endpoint=True))
