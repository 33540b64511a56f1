"""Tables from original to release by methods that work on rows or classes, not on levels: recount what they give.

Local recoding is a decision about classes: which go together, what their cells become, and who is left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError, PromiseBroken
from tokumei.core.progress import step
from tokumei.core.registry import part_name
from tokumei.core.score import Score
from tokumei.core.seeds import fresh_seed
from tokumei.core.text import Text
from tokumei.data.files.csv import check_has_columns
from tokumei.data.release import Recipe, Release
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.requirement import Requirement, population_of, sees_whole_release, with_population
from tokumei.methods.local.encoding import EncodedRows, count_rows_of, encode_classes, flat_hierarchy, people_domain
from tokumei.methods.local.grid import Grid
from tokumei.methods.local.task import Ints, LocalRecoding, LocalTask
from tokumei.methods.perturbing.perturbation import Original
from tokumei.methods.recipes import (
    Goal,
    against_original,
    check_classes,
    digest_of,
    hierarchy_as_dict,
    part_as_dict,
    released_columns,
    unit_as_dict,
    with_whose,
)
from tokumei.methods.registry import LocalRecoder, Perturber
from tokumei.methods.search.problem import check_asked

# The label of people like whom nobody is released; the private-use character keeps it apart from any other.
LEFT_OUT = "\ue000left out"


@dataclass(frozen=True, eq=False)
class Regrouping:
    """What a method decided about encoded rows or classes, and the requirements as they are checked on the release."""

    encoded: EncodedRows
    recoding: LocalRecoding
    checked: Sequence[Requirement]
    n_suppressed: int
    loss: Score

    def labels(self, kept: Ints) -> list[pl.Series]:
        """Return the labels, a column each, of those of the encoded that are listed."""
        classes = self.encoded.class_of[kept]
        return [
            pl.Series(one.name, list(cells.labels), pl.String).gather(cells.codes[classes]).alias(one.name)
            for one, cells in zip(self.encoded.task.attributes, self.recoding.cells, strict=True)
        ]

    def kept(self) -> Ints:
        """Return the indices of those of the encoded that are not left out."""
        indices: Ints = (~self.recoding.is_suppressed[self.encoded.class_of]).nonzero()[0]
        return indices


def decide_groups(
    method: LocalRecoder, counts: ClassCounts, hierarchies: Mapping[str, Hierarchy], goal: Goal, seed: int
) -> Regrouping:
    """Decide, and once more without leaving rows out where that breaks what is asked of the release as a whole."""
    found = group_classes(method, counts, hierarchies, goal, seed)
    if found.n_suppressed and any(sees_whole_release(one) for one in found.checked):
        try:
            check_classes(released_counts(found, counts), found.checked)
        except PromiseBroken:
            return group_classes(method, counts, hierarchies, replace(goal, suppression=0.0), seed)
    return found


def group_classes(
    method: LocalRecoder,
    counts: ClassCounts,
    hierarchies: Mapping[str, Hierarchy],
    goal: Goal,
    seed: int,
    grids: Mapping[str, Grid] | None = None,
) -> Regrouping:
    """Run a method on counted classes; CannotAnonymize if more rows would have to go than may."""
    asked = goal.requirements
    encoded = encode_classes(
        counts,
        whole_trees(counts.columns, hierarchies, counts.domain, asked),
        asked,
        numeric=goal.numeric,
        suppression=goal.suppression,
        weights=goal.weights,
        grids=grids,
    )
    told, by_leaf = encoded.task.requirements, encoded.task.counts
    task = replace(encoded.task, requirements=against_original(told, by_leaf))
    recoding = method.recode_locally(task, seed=seed)
    n_suppressed = recoding.n_suppressed(task)
    if n_suppressed > task.n_may_suppress:
        raise task.too_many_out(n_suppressed)
    shares = recoding.shares(task)
    checked = against_original(told, by_leaf, moves=n_suppressed > 0)
    return Regrouping(
        encoded,
        recoding,
        [_with_labeled_population(one, task, recoding) for one in checked],
        n_suppressed,
        Score("ncp", min(1.0, sum(shares.values())), best=0, worst=1, inputs={"shares": shares}),
    )


def released_counts(found: Regrouping, counts: ClassCounts) -> ClassCounts:
    """Return the counts that the release will have."""
    kept = found.kept()
    taken = counts.taken(~found.recoding.is_suppressed[found.encoded.class_of])
    labels = found.labels(kept)
    return taken.labelled(labels)


def whole_trees(
    quasi_identifiers: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    values: Callable[[str], pl.Series],
    requirements: Sequence[Requirement],
) -> dict[str, Hierarchy]:
    """Return a hierarchy for each column; one without has the values of all people and nothing coarser."""
    populations = [one for one in map(population_of, requirements) if one is not None]

    def flat(column: str) -> Hierarchy:
        own = values(column)
        return flat_hierarchy(column, pl.concat([own, *(people_domain(one, own) for one in populations)]))

    return {name: (hierarchies.get(name) or flat(name)).with_top() for name in quasi_identifiers}


def row_recipe(
    goal: Goal,
    quasi_identifiers: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    keep: Sequence[str],
    seed: int | None,
    more: Mapping[str, object] = MappingProxyType({}),
) -> Recipe:
    """Return the recipe of a method on rows: its goal and options, to run it again."""
    options = {
        "quasi_identifiers": list(quasi_identifiers),
        "hierarchies": {name: hierarchy_as_dict(one) for name, one in hierarchies.items()},
        "options": part_as_dict(goal.method)["options"],
        "requirements": [part_as_dict(one) for one in goal.requirements],
        "suppression": goal.suppression,
        "weights": dict(goal.weights),
        "numeric": list(goal.numeric),
        "keep": list(keep),
        **unit_as_dict(goal),
    }
    return Recipe(part_name(goal.method), {**options, **more}, seed)


def _with_labeled_population(requirement: Requirement, task: LocalTask, recoding: LocalRecoding) -> Requirement:
    """Return a requirement with its population in the labels of the release; who fits no label is in none."""
    population = population_of(requirement)
    if population is None:
        return requirement
    there = (population.sizes > 0).nonzero()[0]
    is_gone = pl.Series(recoding.is_suppressed[there], dtype=pl.Boolean)
    columns = [
        pl.Series(attribute.name, list(cells.labels), pl.String)
        .gather(cells.codes[there])
        .zip_with(~is_gone, pl.Series([LEFT_OUT], dtype=pl.String))
        for attribute, cells in zip(task.attributes, recoding.cells, strict=True)
    ]
    # Numbered, since a column may have any name, that of the sizes too.
    numbered = [one.alias(str(index)) for index, one in enumerate([*columns, pl.Series(population.sizes[there])])]
    return with_population(
        requirement, ClassCounts.of_groups([one.name for one in task.attributes], pl.DataFrame(numbered))
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class RowOutcome:
    """Facts about a release by a method on rows; the rows may have been written on an engine.

    checked: the requirements as they are checked on the release.
    n_people: of the original, where it is known whose each row is.
    promises: what the method proves beyond counting.
    counts: of the release, over the quasi-identifiers; None where no row is a person's.
    loss: where cells became labels.
    """

    recipe: Recipe
    checked: Sequence[Requirement]
    n_suppressed: int = 0
    n_people: int | None = None
    counts: ClassCounts | None = None
    loss: Score | None = None
    promises: Mapping[str, Score] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, kw_only=True)
class RowRelease(RowOutcome):
    """A release whose rows are in memory."""

    release: Release
    seconds: float = 0.0
    # The rows that a model of the others never saw.
    held_out: pl.Series | None = None


def release_rows(
    frame: pl.DataFrame,
    quasi_identifiers: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    goal: Goal,
    *,
    keep: Sequence[str] = (),
    seed: int | None = None,
    is_reproducible: bool = False,
) -> RowRelease:
    """Make the release of a frame by local recoding or perturbation, and count it again.

    A method that changes values at random is given a seed nobody can guess, unless there is one: who has the seed
    could undo the changes. One that spends a privacy budget takes no seed, unless the release is only to be
    `is_reproducible` and promises nothing.
    """
    started = time.perf_counter()
    columns = released_columns(frame.columns, quasi_identifiers, goal, keep)
    check_has_columns([*quasi_identifiers, *goal.sensitive, *keep], frame.columns, "the table")
    check_asked(columns, goal.suppression, goal.weights, goal.numeric)
    check_is_used(goal, quasi_identifiers)
    asked = _Asked(frame, tuple(quasi_identifiers), columns, hierarchies, goal, keep)
    method = goal.method
    with step(f"anonymizing by {part_name(method)}"):
        if isinstance(method, LocalRecoder):
            made = _recoded_locally(method, asked, seed or 0)
        elif isinstance(method, Perturber):
            made = _changed(method, asked, seed, is_reproducible=is_reproducible)
        else:
            raise TypeError(f"{part_name(method)} works on levels, not on rows")
    return replace(made, seconds=time.perf_counter() - started)


def check_is_used(goal: Goal, quasi_identifiers: Sequence[str]) -> None:
    """Refuse what the method would not look at: whoever asks for it would believe that it was done."""
    name = part_name(goal.method)
    draws = getattr(goal.method, "draws_all_columns", False)
    if goal.unit is not None and isinstance(goal.method, Perturber) and not draws:
        expected = "a method that puts classes together, where a person has several rows: {name} knows rows alone"
        raise InputError.of(Text(expected, name=name), option=str(goal.unit.role), value=goal.unit.column)
    if goal.preference:
        raise InputError.of(f"no columns to prefer: {name} does not choose between levels", option="prefer")
    for column in goal.weights:
        if isinstance(goal.method, Perturber):
            raise InputError.of(f"no weights: {name} does not weigh columns", option="weights", value=column)
        if column not in quasi_identifiers:
            raise InputError.of("a quasi-identifier", option="weights", value=column)
    if goal.suppression and isinstance(goal.method, Perturber):
        expected = f"0: {name} leaves no rows out to meet a requirement"
        raise InputError.of(expected, option="suppress", value=goal.suppression)


@dataclass(frozen=True, eq=False)
class _Asked:
    """What is asked of a method, and the rows."""

    frame: pl.DataFrame
    quasi_identifiers: tuple[str, ...]
    # The columns that are released, in the order of the frame.
    columns: Sequence[str]
    hierarchies: Mapping[str, Hierarchy]
    goal: Goal
    keep: Sequence[str]

    def recipe(self, seed: int | None, more: Mapping[str, object] = MappingProxyType({})) -> Recipe:
        """Return the recipe: the request, and what was found out."""
        return row_recipe(self.goal, self.quasi_identifiers, self.hierarchies, self.keep, seed, more)


def _recoded_locally(method: LocalRecoder, asked: _Asked, seed: int) -> RowRelease:
    """Decide on the classes of the rows, as where they are counted on an engine, and label the rows."""
    frame, goal = asked.frame, asked.goal
    if not goal.requirements:
        raise InputError.of("at least one requirement, such as k")
    counts, class_of = count_rows_of(frame, asked.quasi_identifiers, goal.sensitive, goal.person)
    found = decide_groups(method, counts, asked.hierarchies, goal, seed)
    found = replace(found, encoded=replace(found.encoded, class_of=found.encoded.class_of[class_of]))
    kept = found.kept()
    released = frame.select(asked.columns)[kept].with_columns(found.labels(kept))
    recipe = asked.recipe(seed)
    made = RowRelease(
        recipe=recipe,
        checked=found.checked,
        n_suppressed=found.n_suppressed,
        n_people=counts.n_people,
        loss=found.loss,
        release=Release(released, recipe, rows=pl.Series("row", kept)),
    )
    return replace(made, counts=_recounted(made, asked))


def _changed(method: Perturber, asked: _Asked, seed: int | None, *, is_reproducible: bool) -> RowRelease:
    goal, frame = asked.goal, asked.frame
    spends = bool(getattr(method, "spends_budget", False))
    if spends and seed is not None and not is_reproducible:
        expected = "no seed: its promise rests on noise nobody knows; --reproducible takes one and promises none"
        raise InputError.of(expected, option="seed", value=seed)
    told: Sequence[Requirement] = []
    if goal.requirements:
        told = requirements_told(goal, count_classes(frame, asked.quasi_identifiers, sensitive=goal.sensitive))
    released = frame.select(asked.columns)
    original = Original(
        released,
        asked.quasi_identifiers,
        tuple(goal.numeric),
        tuple(goal.sensitive),
        dict(asked.hierarchies),
        told,
        None if goal.person is None else frame[goal.person],
    )
    used = fresh_seed() if seed is None else seed
    changed = method.perturb(original, seed=used)
    more: dict[str, object] = {"columns": list(asked.columns), "original": digest_of(released)}
    promises = changed.promises
    if spends:
        more["reproducible"] = seed is not None
    if spends and seed is not None:
        promises = {}
        more["promise"] = "void: whoever knows the seed subtracts the noise"
    # The seed of noise that a promise rests on is not kept at all: nobody has to be trusted with it.
    recipe = asked.recipe(None if spends and seed is None else used, {**changed.facts, **more})
    n_suppressed = 0 if changed.rows is None else frame.height - changed.frame.height
    release = Release(changed.frame, recipe, rows=changed.rows)
    made = RowRelease(
        recipe=recipe,
        checked=told,
        n_suppressed=n_suppressed,
        promises=promises,
        release=release,
        held_out=changed.held_out,
    )
    return replace(made, counts=_recounted(made, asked))


def _recounted(made: RowRelease, asked: _Asked) -> ClassCounts | None:
    """Count a release, and raise PromiseBroken or CannotAnonymize if a class does not meet a requirement.

    Where no row is a person's there are no classes; then nothing may have been asked of them.
    """
    if made.release.rows is None:
        if made.checked:
            method = part_name(asked.goal.method)
            raise InputError.of(
                f"no requirement of classes: {method} releases no rows of people and has its own options"
            )
        return None
    return recounted(
        with_whose(made.release, asked.frame, asked.goal), asked.quasi_identifiers, asked.goal, made.checked
    )


def requirements_told(goal: Goal, counts: ClassCounts) -> Sequence[Requirement]:
    """Return the requirements as they are checked on rows that were changed, given the counts of the original."""
    if any(population_of(one) is not None for one in goal.requirements):
        expected = f"no requirement of a population: {part_name(goal.method)} changes the values of rows"
        raise InputError.of(expected)
    # Some methods release other rows than the original's, such as a sample.
    return against_original(goal.requirements, counts, moves=True)


def recounted(
    released: pl.DataFrame | Path, quasi_identifiers: Sequence[str], goal: Goal, told: Sequence[Requirement]
) -> ClassCounts:
    """Count a release, and raise PromiseBroken or CannotAnonymize if a class does not meet a requirement."""
    counts = count_classes(released, quasi_identifiers, sensitive=goal.sensitive, person=goal.person)
    try:
        check_classes(counts, told)
    except PromiseBroken as broken:
        if isinstance(goal.method, LocalRecoder):
            raise
        # Random changes promise nothing of classes; that they were asked to is no fault of theirs.
        raise CannotAnonymize(f"By {part_name(goal.method)}, {broken}.") from None
    return counts
