"""A history from original to release where its rows are: decided by group-bys, applied as a function of the row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import polars as pl

from tokumei.core.errors import InputError, PromiseBroken
from tokumei.core.progress import Bar, step
from tokumei.core.registry import part_name
from tokumei.core.seeds import key_of
from tokumei.core.text import Text
from tokumei.data.release import Recipe
from tokumei.engines.chance import DrawnBeside
from tokumei.engines.engine_history import EngineHistory
from tokumei.methods.history.delete import Delete
from tokumei.methods.history.dummies import Dummies
from tokumei.methods.history.generalize import Generalize
from tokumei.methods.history.perturb import Perturb
from tokumei.methods.history.pseudonyms import Pseudonyms
from tokumei.methods.on_engine.delete import delete, drawn_for_delete
from tokumei.methods.on_engine.dummies import dummies
from tokumei.methods.on_engine.generalize import GeneralizedRows, generalize
from tokumei.methods.on_engine.perturb import DAYS, drawn_for_perturb, perturb
from tokumei.methods.on_engine.pseudonyms import Naming
from tokumei.methods.pipeline import Pipeline, seed_of
from tokumei.methods.steps import HistoryStep, recipe_of

# How a recipe says that its numbers were drawn.
DRAWN_BY = "philox of key and row, md5 of key and name"
STEPS: dict[type, Callable[..., EngineHistory]] = {Delete: delete, Dummies: dummies, Perturb: perturb}
DRAWN_FOR: dict[type, Callable[..., dict[tuple[str, ...], int]]] = {
    Delete: drawn_for_delete,
    Perturb: drawn_for_perturb,
}


@dataclass(frozen=True, eq=False)
class NamedRows:
    """The rows of a release, not yet named and written, and who is who."""

    history: EngineHistory
    naming: Naming
    # Customer, period and pseudonym, once each.
    truth: Any
    n_lives: int
    recipe: Recipe


def check_engine_can(pipeline: Pipeline) -> None:
    """Refuse methods that need their rows in this process."""
    for method in pipeline.methods:
        if type(method) not in (*STEPS, Pseudonyms, Generalize):
            names = ", ".join(map(part_name, (*STEPS, Pseudonyms, Generalize)))
            form = "the local engine, which {what} needs; others have {names}"
            raise InputError.of(Text(form, what=part_name(method), names=names), option="engine")


def drawn_beside(pipeline: Pipeline, *, seed: int) -> DrawnBeside:
    """Return what must be drawn for the rows before any step is taken."""
    of_rows: dict[str, int] = {}
    basket_key = ""
    moves_dates = False
    for at, method in enumerate(_steps_of(pipeline), 1):
        own = seed_of(seed, at)
        purposes = DRAWN_FOR[type(method)](method) if type(method) in DRAWN_FOR else {}
        of_rows |= {key_of(own, *purpose): n for purpose, n in purposes.items()}
        # Once dates were moved, what a customer bought on a day is no longer what it was.
        if isinstance(method, Perturb) and method.days and not moves_dates:
            basket_key, moves_dates = key_of(own, *DAYS) if method.whole_baskets else "", True
    return DrawnBeside(of_rows, basket_key)


def release_on_engine(pipeline: Pipeline, history: EngineHistory, *, seed: int) -> NamedRows:
    """Decide all steps of a pipeline, and count that no two customers share a pseudonym in a month."""
    check_engine_can(pipeline)
    steps = _steps_of(pipeline)
    with step("deciding", len(steps) + 1) as bar:
        history, recipes = _changed(steps, history, seed, bar)
        last = pipeline.methods[-1] if pipeline.methods else None
        method = last if isinstance(last, Pseudonyms) else None
        own = seed_of(seed, len(steps) + 1)
        lives = history.keep("lives", history.kept.select("customer", "period").distinct())
        naming = Naming.of(method, history, lives, seed=own)
        truth = history.keep("truth", naming.named(lives).select("customer", "period", "pseudonym"))
        n_lives = _check_names(history, truth)
        shown = naming.named(history.kept).select(customer="pseudonym", item="item")
        _check_shared(steps, lambda: history.fetch(shown.distinct()))
        bar.advance()
    recipes.append(Recipe("pseudonyms for the whole time", {}, own) if method is None else recipe_of(method, own))
    return NamedRows(history, naming, truth, n_lives, _recipe(recipes, seed))


def generalize_on_engine(
    pipeline: Pipeline, history: EngineHistory, *, seed: int
) -> tuple[EngineHistory, GeneralizedRows, Recipe]:
    """Decide all steps of a pipeline whose last method writes customers alike, and write the cells of its release."""
    check_engine_can(pipeline)
    steps, method = _steps_of(pipeline), pipeline.methods[-1]
    if not isinstance(method, Generalize):
        raise TypeError(f"{part_name(method)} does not write customers alike")
    own = seed_of(seed, len(steps) + 1)
    with step("deciding", len(steps) + 1) as bar:
        history, recipes = _changed(steps, history, seed, bar)
        rows = generalize(method, history, seed=own)
        # Each cell counts as an item: who shares a cell fits whoever has one of the items in it.
        _check_shared(steps, lambda: rows.cells().unique().collect(engine="streaming"))
        bar.advance()
    recipe = _recipe([*recipes, Recipe("generalize", asdict(method), own)], seed)
    return history, rows, replace(recipe, found={"ranges": method.ranges})


def _steps_of(pipeline: Pipeline) -> list[HistoryStep]:
    return [method for method in pipeline.methods if isinstance(method, HistoryStep)]


def _changed(
    steps: Sequence[HistoryStep], history: EngineHistory, seed: int, bar: Bar
) -> tuple[EngineHistory, list[Recipe]]:
    """Take the steps that change rows, one after the other."""
    recipes = []
    for at, method in enumerate(steps, 1):
        own = seed_of(seed, at)
        history = STEPS[type(method)](method, history, seed=own, name=f"step-{at}")
        recipes.append(recipe_of(method, own))
        bar.advance()
    return history, recipes


def _check_shared(steps: Sequence[HistoryStep], shown: Callable[[], pl.DataFrame]) -> None:
    """Count again what dummies promise, on the pseudonyms and items that are shown."""
    for method in steps:
        if isinstance(method, Dummies):
            method.check_shared(shown())


def _recipe(recipes: Sequence[Recipe], seed: int) -> Recipe:
    taken = [{"method": one.method, "options": one.options, "seed": one.seed} for one in recipes]
    return Recipe("pipeline", {"steps": taken, "drawn_by": DRAWN_BY}, seed)


def _check_names(history: EngineHistory, truth: Any) -> int:
    """Count the pseudonyms; two customers who share one are a broken promise, however unlikely."""
    owners = truth.select("customer", "pseudonym").distinct()
    by_name = owners.group_by("pseudonym").aggregate(n=lambda some: some.count())
    found = history.fetch(by_name.aggregate(n=by_name.count(), most=by_name.n.max()))
    if (found["most"][0] or 0) > 1:
        raise PromiseBroken("Two customers would share a pseudonym.")
    return int(found["n"][0])
