"""A table from original to release: by any method, or by the recipe of an earlier release.

`anonymize_table` takes what was asked for as keywords; `apply` repeats a decision on next month's table.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from tokumei.core.errors import CannotAnonymize, InputError, NotAllowed
from tokumei.core.progress import step
from tokumei.core.registry import part_name
from tokumei.core.result import Facts, Result, Rows, Section, UserFrame
from tokumei.core.score import Score
from tokumei.core.seeds import fresh_seed, generator
from tokumei.core.text import Json, Text, choice_of
from tokumei.data.files.formats import check_can_be_written, write_frame
from tokumei.data.files.outputs import guarded
from tokumei.data.frames import as_original, check_single
from tokumei.data.release import Recipe, Release
from tokumei.data.table import Table, check_column, with_moments_as_text
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import count_classes
from tokumei.inspection.repeated_people import several_rows
from tokumei.measures.requirement import Requirement, in_words
from tokumei.methods.apply import Applied, Unseen, apply_recipe, recounted_together
from tokumei.methods.recipes import (
    Goal,
    columns_of,
    is_in_drawn_order,
    order_seed,
    quasi_identifiers_of,
    unit_of,
    with_order,
)
from tokumei.methods.registry import TableAnonymizer, TableSearch
from tokumei.methods.rows import RowOutcome, RowRelease, release_rows
from tokumei.methods.search.problem import recoded_requirement
from tokumei.methods.synthetic.account import ACCOUNT_FACTS
from tokumei.methods.synthetic.synthesizer import Synthesizer
from tokumei.methods.tables import Generalization, generalize_rows
from tokumei.tasks.audit_drawn import audit_drawn
from tokumei.tasks.goal import Known, Trees, check_is_possible, goal_of, method_of, trees_of
from tokumei.tasks.preparing import given_hierarchies, prepare_again
from tokumei.tasks.request import ReleaseRequest
from tokumei.tasks.table_release import TableRelease, alone_words, check_generalized, check_kept, not_released

# What a recipe of rows of nobody says of them, on the result page, too.
OF_NEW_ROWS = ("constraints", "epsilon", "delta", "rho", "protects", *ACCOUNT_FACTS, "held_out")
# How long tables of counts are attacked together before they are published; what is left open is said.
SECONDS_TOGETHER = 30.0


def anonymize_table(table: Table, request: ReleaseRequest) -> TableRelease:
    """Anonymize a table that is in memory."""
    started = time.perf_counter()
    made, asked = method_of(request.of_table(table))
    table = table.of_unit(asked.unit)
    known = known_of(table, asked)
    check_is_possible(table.n_rows, asked, table.name)
    trees = trees_of(known, made, asked)
    goal = goal_of(known, made, asked, trees)
    if goal.person is not None:
        check_is_possible(table.n_rows, asked, table.name, table.distinct(goal.person).len())
    for column in asked.keep:
        check_column(column, table.frame.columns, "a column to keep", table.name)
    check_single(table.frame.schema, asked.keep, table.name)
    unchanged = [*asked.keep, *(name for name in table.sensitive if name not in goal.sensitive)]
    what = alone_words(goal.unit)
    # Nothing of a row goes into new ones as it is.
    whole = [] if getattr(made, "draws_all_columns", False) else unchanged
    guarded = asked.guarded([*whole, *table.quasi_identifiers])
    anyway = check_kept(table.frame.lazy(), whole, table.name, person=goal.person, guarded=guarded, what=what)
    released = list(dict.fromkeys(unchanged))
    if isinstance(made, TableSearch):
        done = _by_levels(table, goal, trees, released)
    else:
        done = _by_rows(table, goal, trees, released, asked.seed, is_reproducible=asked.reproducible)
    release, recipe = done.release, done.recipe
    if release is not None and not isinstance(made, Synthesizer):
        anyway += check_generalized(table, release.frame, guarded=guarded)
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
    several = several_rows(table.frame.lazy()) if asked.unit is None else None
    done = replace(done, left_out=left_out, kept_anyway=anyway, several_rows=several)
    return replace(done, release=release, recipe=recipe, facts=facts)


def known_of(table: Table, asked: ReleaseRequest) -> Known:
    """Return the facts of a table in memory; it must have quasi-identifiers."""
    if not table.quasi_identifiers:
        raise InputError.of("a quasi-identifier or more, as tk.Table(data, qi=['age'])", file=table.name)
    return Known(
        table.name,
        table.frame.columns,
        table.quasi_identifiers,
        table.distinct,
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
    release, decision, recounted = generalize_rows(table.frame, trees.of_columns, goal, keep)
    return level_release(decision, recounted, release.recipe, goal, trees, table, release)


def _by_rows(
    table: Table, goal: Goal, trees: Trees, keep: Sequence[str], seed: int | None, *, is_reproducible: bool
) -> TableRelease:
    known = table.quasi_identifiers
    options: dict[str, Any] = {"keep": keep, "seed": seed, "is_reproducible": is_reproducible}
    made = release_rows(table.frame, known, trees.of_columns, goal, **options)
    tried: Json = {}
    if isinstance(goal.method, Synthesizer):
        again = {**options, "is_reproducible": True}
        tried["audit"] = audit_drawn(
            table,
            made,
            goal.method,
            lambda other: release_rows(table.frame, known, trees.of_columns, goal, **{**again, "seed": other}),
        )
    elif proven := _proven_beside(made, goal, trees, known):
        tried["beside_others"] = proven
    done = row_release(made, goal, trees, table, made.release)
    if not tried:
        return done
    recipe = replace(made.recipe, options={**made.recipe.options, **tried})
    release = replace(made.release, recipe=recipe)
    return replace(done, recipe=recipe, release=release, facts={**done.facts, **tried})


def _proven_beside(made: RowRelease, goal: Goal, trees: Trees, known: Sequence[str]) -> dict[str, object]:
    """Attack counts together with those published before; NotAllowed if they prove a group under k, unless anyway."""
    beside, k = getattr(goal.method, "beside", ()), getattr(goal.method, "k", 1)
    if not beside:
        return {}
    from tokumei.attacks.disclosure.reconstruction import Reconstruction
    from tokumei.attacks.public_knowledge import PublicKnowledge
    from tokumei.attacks.threat_model import KnownMethod
    from tokumei.methods.perturbing.marginals import counts_by_column

    counts = Table(counts_by_column(made.release.frame, known), known, name="release")
    public = PublicKnowledge(counts, trees.of_columns, list(goal.numeric), KnownMethod("marginals", k=k))
    with step("attacking all tables together"):
        proven, n_open = Reconstruction(beside=tuple(beside), seconds=SECONDS_TOGETHER).prove(public)
    if proven and not getattr(goal.method, "anyway", False):
        raise NotAllowed(
            Text(
                "With {files} the counts prove a group of fewer than {k}: {claim}. (anyway=true publishes them all the "
                "same, and the recipe says so.)",
                files=", ".join(beside),
                k=k,
                claim=proven[0],
            )
        )
    return {"files": [str(one) for one in beside], "proven_under_k": proven, "open": n_open, "k": k}


def level_release(
    decision: Generalization,
    counts: ClassCounts,
    recipe: Recipe,
    goal: Goal,
    trees: Trees,
    table: Table | None = None,
    release: Release | None = None,
) -> TableRelease:
    """Return the result of a method that searches levels; without table and release it was written on an engine."""
    told = [recoded_requirement(one, decision.recodings) for one in goal.requirements]
    return TableRelease(
        table,
        release,
        recipe,
        {
            **search_facts(goal.method, decision, counts),
            "may_suppress": goal.suppression,
            **unit_facts(goal, counts, decision.n_people),
        },
        promised(told, counts),
        search_columns(decision, trees),
        trees.of_columns,
        trees.made,
        goal.numeric,
        counts,
        "polars" if table is None else table.kind,
    )


def row_release(
    made: RowOutcome, goal: Goal, trees: Trees, table: Table | None = None, release: Release | None = None
) -> TableRelease:
    """Return the result of a method on rows; without table and release it was written on an engine."""
    shares = {} if made.loss is None else made.loss.inputs["shares"]
    n_written = 0 if made.counts is None else made.counts.n_rows
    return TableRelease(
        table,
        release,
        made.recipe,
        {
            **_row_facts(made, goal, n_written if release is None else release.frame.height),
            **unit_facts(goal, made.counts, made.n_people),
        },
        ({} if made.counts is None else promised(made.checked, made.counts)) | dict(made.promises),
        [{"column": name, "loss": share} for name, share in shares.items()],
        trees.of_columns,
        trees.made,
        goal.numeric,
        made.counts,
        "polars" if table is None else table.kind,
        held_out=getattr(made, "held_out", None),
    )


def unit_facts(goal: Goal, counts: ClassCounts | None, n_people: int | None) -> Json:
    """Return who is protected, how many of them are released and how many are gone; nothing where each row is one."""
    if goal.unit is None or counts is None or counts.n_people is None or n_people is None:
        return {}
    return {
        "unit": goal.unit.plural,
        "people": counts.n_people,
        "people_left_out": n_people - counts.n_people,
        "largest_share_of_one": counts.largest_share_of_one,
    }


def _row_facts(made: RowOutcome, goal: Goal, n_rows: int) -> Json:
    """Return the result-page facts of a release by a method that works on rows."""
    loss, counts, method = made.loss, made.counts, goal.method
    return {
        "method": part_name(method),
        "loss": None if loss is None else loss.value,
        "loss_name": None if loss is None else loss.name,
        "loss_by_attribute": {} if loss is None else loss.inputs["shares"],
        "rows": n_rows,
        "k": None if counts is None else counts.k,
        "classes": None if counts is None else counts.n_classes,
        "suppressed": made.n_suppressed,
        "may_suppress": goal.suppression,
        "ranges": getattr(method, "ranges", None),
        **({"gives_away": said} if (said := getattr(method, "gives_away", None)) else {}),
        "promise": made.recipe.options.get("promise"),
        **{name: made.recipe.options[name] for name in OF_NEW_ROWS if name in made.recipe.options},
        "seed": made.recipe.seed,
    }


def search_facts(method: TableAnonymizer, decision: Generalization, counts: ClassCounts) -> dict[str, object]:
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


def search_columns(decision: Generalization, trees: Trees) -> list[dict[str, object]]:
    """Return the level of each column, and what it cost."""
    shares = decision.loss.inputs["shares"]
    return [
        {"column": name, "level": level, "of": trees.of_columns[name].height, "loss": shares.get(name)}
        for name, level in decision.levels.items()
    ]


@dataclass(frozen=True, eq=False, repr=False)
class AppliedRecipe(Result):
    """Another table, generalized as a recipe says."""

    applied: Applied
    n_original: int
    left_out: Sequence[str] = ()
    frame_kind: str = "polars"
    promises_together: Mapping[str, Score] = field(default_factory=dict)

    @property
    def release(self) -> Release:
        """The released rows, and which row of the table each was."""
        return self.applied.release

    @property
    def promises(self) -> Mapping[str, Score]:
        """What the recipe promises, recounted on this release, as scores by name."""
        counts = self.applied.counts
        counted = {} if counts is None else promised(self.applied.checked, counts)
        return counted | dict(self.applied.promises)

    @property
    def frame(self) -> UserFrame:
        """The released rows, as a frame of the kind that the table was."""
        return as_original(self.release.frame, self.frame_kind)

    @property
    def n_suppressed(self) -> int:
        """Number of rows that were left out."""
        return self.n_original - self.release.frame.height

    def to_dict(self) -> Json:
        """Return the result as `tokumei anonymize apply --json` prints it."""
        together = self.promises_together
        return {
            "rows": self.release.frame.height,
            "suppressed": self.n_suppressed,
            "unseen": self.applied.n_unseen,
            "hidden": self.applied.n_hidden,
            "promises": {name: score.as_dict() for name, score in self.promises.items()},
            **({"promises_together": {k: v.as_dict() for k, v in together.items()}} if together else {}),
            "levels": self.release.recipe.options.get("levels"),
            "left_out": list(self.left_out),
        }

    def sections(self) -> Sequence[Section]:
        """Return how many rows are released, and which columns are not."""
        told: dict[str, object] = {"rows": self.release.frame.height, "suppressed": self.n_suppressed}
        if self.applied.n_unseen:
            told["of these with values unseen"] = self.applied.n_unseen
        if self.applied.n_hidden:
            told["unseen values hidden"] = self.applied.n_hidden
        parts: list[Section] = [Facts(told | {"levels": "as in the recipe"})]
        if self.promises:
            parts.append(Rows(["promise", "value"], [[name, one.value] for name, one in self.promises.items()]))
        if self.promises_together:
            rows = [[name, one.value] for name, one in self.promises_together.items()]
            parts.append(Rows(["promise, both tables together", "value"], rows))
        return [*parts, not_released(self.left_out, "not in the recipe")] if self.left_out else parts

    def save(self, out: Path | str, *, force: bool = False) -> None:
        """Write the release as CSV or Parquet; a file that exists is replaced only with `force`."""
        check_can_be_written(out)
        with guarded({"out": out}, force=force) as drafts:
            write_frame(self.release.frame, drafts["out"])


def apply(
    recipe: object,
    data: object,
    *,
    keep_order: bool = False,
    seed: int | None = None,
    hierarchies: object = None,
    population: object = None,
    unseen: Unseen = "refuse",
    keys: Mapping[str, object] | None = None,
    together: object = None,
    **reading: Any,
) -> AppliedRecipe:
    """Generalize another table, such as next month's, as a recipe says, and check that it keeps its promise.

    recipe: what `r.recipe` gave, or the file that it was saved in.
    data: a frame, a file or a `tk.Table`.
    hierarchies: count before those that the recipe holds; `population`: everybody as of now, where it needs them.
    unseen: what becomes of values that the recipe neither knows nor has a rule for: "refuse", "suppress" (their rows
    are left out, as far as the recipe allows) or "top" (they are hidden).
    keys: the file of the key by column, where a job changed columns by keys before they were released.
    together: an earlier table of the same people, as last month's, where the recipe protects people or households: what
    the recipe makes of both is counted as one release, too.

    >>> import tokumei as tk
    >>> r = tk.anonymize(tk.Table({"age": [31, 31, 52, 52]}, qi=["age"]), k=2)
    >>> tk.apply(r.recipe, {"age": [52, 52, 52]}).frame["age"].to_list()
    ['52', '52', '52']
    """
    if unseen not in get_args(Unseen):
        raise InputError.of(choice_of(get_args(Unseen)), option="unseen", value=unseen)
    used = _recipe_of(recipe)
    if together is not None and unit_of(used) is None:
        expected = "a recipe of a release that protects people or households (person=), who are in both tables"
        raise InputError.of(expected, option="together")
    table = data if isinstance(data, Table) else Table(data, **reading)
    known = [name for name in quasi_identifiers_of(used) if name in table.frame.columns]
    check_single(table.frame.schema, known, table.name)
    released = {*columns_of(used), *used.options["keep"]} & set(table.frame.columns)
    frame = prepare_again(table.frame, used, released, keys or {}, table.name)
    frame = with_moments_as_text(frame, known)
    trees = given_hierarchies(hierarchies, columns_of(used), table.distinct)
    everybody = None if population is None else count_classes(population, quasi_identifiers_of(used))
    applied = apply_recipe(
        used,
        frame,
        hierarchies=trees,
        population=everybody,
        unseen=unseen,
        file=table.name,
        line_of=table.line_of,
    )
    release = applied.release
    is_ordered = seed is None and is_in_drawn_order(release.recipe)
    if not keep_order and not is_ordered and release.rows is not None:
        own = order_seed(used, frame) if seed is None else seed
        applied = replace(applied, release=shuffled(release, fresh_seed() if own is None else own))
    left_out = [name for name in table.frame.columns if name not in release.frame.columns]
    if together is None:
        return AppliedRecipe(applied, table.n_rows, left_out, table.kind)
    earlier = together if isinstance(together, Table) else Table(together, **reading)
    options: dict[str, Any] = {"hierarchies": hierarchies, "population": population, "unseen": unseen, "keys": keys}
    before = apply(used, earlier, keep_order=True, **options)
    months = [(before.applied, earlier.frame), (applied, table.frame)]
    both = promised(*recounted_together(used, months, trees, everybody))
    return AppliedRecipe(applied, table.n_rows, left_out, table.kind, both)


def recipe_columns(recipe: object) -> list[str]:
    """Return the columns that a recipe anonymizes."""
    return quasi_identifiers_of(_recipe_of(recipe))


def _recipe_of(recipe: object) -> Recipe:
    if isinstance(recipe, TableRelease):
        return recipe.recipe
    if not isinstance(recipe, (Recipe, str, Path)):
        expected = "a recipe, as r.recipe, or its file; the table comes second: tk.apply(recipe, df)"
        raise InputError.of(expected, option="recipe", value=type(recipe).__name__)
    return recipe if isinstance(recipe, Recipe) else Recipe.load(recipe)
