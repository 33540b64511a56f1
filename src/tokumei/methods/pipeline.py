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

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import InputError, UnknownPart, nearest
from tokumei.core.progress import step as progress_step
from tokumei.core.registry import Option, fit_option, part_options
from tokumei.core.seeds import LARGEST_SEED, check_seed, generator
from tokumei.core.text import choice_of
from tokumei.data.files.toml import read_toml
from tokumei.data.history import History
from tokumei.data.release import DELETED, Recipe, Release
from tokumei.methods.history.steps import HistoryStep, all_rows, name_for_the_whole_time, recipe_of
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
        found: dict[str, Any] = {}
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
        return name_for_the_whole_time(history, recipe=Recipe("pseudonyms for the whole time", {}, seed), seed=seed)


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
    return pipeline_of(settings, where=_Where(where.file, where.text))


@dataclass(frozen=True)
class _Where:
    """Knows on which line of a file a setting stands, as far as that can be told from the text."""

    file: str | None = None
    text: str = ""

    def line(self, number: int | None, key: str) -> int | None:
        """Find a key of the numbered step, or of the top where there is no number."""
        lines = self.text.splitlines()
        heads = [at for at, line in enumerate(lines) if re.match(r"\s*\[\[\s*step\s*\]\]", line)]
        bounds = [0, *heads, len(lines)]
        if number is not None and number > len(heads):
            return None
        start, end = bounds[number or 0], bounds[(number or 0) + 1]
        for at in range(start, end):
            if re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", lines[at]):
                return at + 1
        return start + 1 if number is not None else None

    def fault(self, expected: str, number: int | None, key: str, value: object = None) -> InputError:
        """Make the error for one setting."""
        return InputError.of(expected, file=self.file, line=self.line(number, key), column=key, value=value)


def pipeline_of(settings: Mapping[str, Any], *, where: _Where | None = None) -> Pipeline:
    """Make a pipeline from settings as they stand in its file."""
    where = where or _Where()
    for key in settings:
        if key not in ("seed", "step"):
            raise where.fault("only the keys seed and step", None, key, settings[key])
    seed = settings.get("seed")
    if seed is not None:
        try:
            check_seed(seed)
        except InputError as error:
            raise where.fault(error.faults[0].expected, None, "seed", seed) from None
    steps = settings.get("step")
    if not isinstance(steps, list) or not steps or not all(isinstance(step, Mapping) for step in steps):
        raise where.fault("at least one [[step]]", None, "step")
    methods = [_make_method(step, number, where) for number, step in enumerate(steps, 1)]
    for number, method in enumerate(methods[:-1], 1):
        if not isinstance(method, HistoryStep):
            name = steps[number - 1]["method"]
            raise where.fault("a method that names the customers only as the last step", number, "method", name)
    return Pipeline(tuple(methods), seed)


def _make_method(step: Mapping[str, Any], number: int, where: _Where) -> HistoryAnonymizer:
    """Make the method of one step with its options."""
    name = step.get("method")
    if not isinstance(name, str):
        raise where.fault(f"a method: {', '.join(HISTORY_ANONYMIZERS)}", number, "method", name)
    try:
        part = HISTORY_ANONYMIZERS.get(name)
    except UnknownPart as error:
        wanted = f"'{error.nearest}'" if error.nearest else choice_of(HISTORY_ANONYMIZERS)
        raise where.fault(f"a method: {wanted}", number, "method", name) from None
    known = {option.name: option for option in part_options(part)}
    options = {}
    for key, value in step.items():
        if key == "method":
            continue
        if key not in known:
            near = nearest(key, known)
            wanted = f"'{near}'" if near else choice_of(known or ["none"])
            raise where.fault(f"an option of '{name}': {wanted}", number, key, value)
        options[key] = _fitted(known[key], value, number, where)
    return HISTORY_ANONYMIZERS.make(name, **options)


def _fitted(option: Option, value: object, number: int, where: _Where) -> Any:
    try:
        return fit_option(option, value)
    except ValueError:
        raise where.fault(option.type_name, number, option.name, value) from None


def seed_of(seed: int, number: int) -> int:
    """Return a seed for each step, so that changing one does not change what the others draw."""
    return int(generator(seed, "step", number).integers(LARGEST_SEED, endpoint=True))
