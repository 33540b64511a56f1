"""Tables from original to release: count once, search on the counts, apply the decision, recount what was written."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.core.progress import step
from tokumei.core.registry import part_name
from tokumei.core.score import Score
from tokumei.core.text import Json
from tokumei.data.files.disk import atomic_path
from tokumei.data.release import Recipe, Release
from tokumei.engines.class_counts import ClassCounts, Recoding
from tokumei.engines.count import column_names, count_classes, with_histograms, write_recoded
from tokumei.engines.engine import NO_LABEL, WritePlan
from tokumei.engines.local import LocalEngine
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.lattice import Lattice
from tokumei.hierarchies.rules import rule_as_dict, rule_of
from tokumei.measures.losses import loss_score
from tokumei.methods.recipes import (
    Goal,
    check_classes,
    counted_as_decided,
    part_as_dict,
    released_columns,
    unit_as_dict,
    with_whose,
)
from tokumei.methods.registry import TableSearch
from tokumei.methods.search.problem import Found, Problem, recoded_requirement

# The private-use character keeps it apart from the columns of any table.
ROW = "\ue000row"


@dataclass(frozen=True)
class Generalization:
    """A decision about a table: the level of each attribute, and the classes that are suppressed."""

    levels: dict[str, int]
    loss: Score
    k: int
    n_suppressed: int
    # Of the original, where it is known whose each row is.
    n_people: int | None
    is_proven: bool
    n_nodes: int
    n_nodes_checked: int
    n_classes_checked: int
    seconds: float
    recodings: Sequence[Recoding]
    suppressed: pl.DataFrame


def decide(counts: ClassCounts, hierarchies: Mapping[str, Hierarchy], goal: Goal) -> Generalization:
    """Find the generalization of counted rows that meets a goal; CannotAnonymize if there is none."""
    started = time.perf_counter()
    problem = problem_of(counts, hierarchies, goal)
    found = _search_of(goal).search(problem)
    node = found.judged.node
    recodings = problem.recodings(node)
    return Generalization(
        levels=problem.lattice.levels(node),
        loss=loss_score(goal.loss, found.judged.loss, problem.n_rows, _shares(problem, found)),
        k=found.judged.k,
        n_suppressed=found.judged.n_suppressed,
        n_people=counts.n_people,
        is_proven=found.is_proven,
        n_nodes=problem.lattice.n_nodes,
        n_nodes_checked=problem.n_nodes_checked,
        n_classes_checked=problem.n_classes_checked,
        seconds=time.perf_counter() - started,
        recodings=recodings,
        suppressed=_suppressed(problem, found, recodings),
    )


def problem_of(counts: ClassCounts, hierarchies: Mapping[str, Hierarchy], goal: Goal) -> Problem:
    """Return the search problem of a goal, with what requirements on the whole table need of it."""
    lattice = Lattice.of(hierarchies)
    return Problem(
        lattice, counts, goal.requirements, goal.loss, goal.suppression, goal.weights, goal.numeric, goal.preference
    )


def generalize_rows(
    frame: pl.DataFrame, hierarchies: Mapping[str, Hierarchy], goal: Goal, keep: Sequence[str] = ()
) -> tuple[Release, Generalization, ClassCounts]:
    """Make the release of a frame by one level for each column, and return the decision and the recounted classes."""
    with step("counting"):
        counts = count_classes(frame, list(hierarchies), sensitive=goal.sensitive, person=goal.person)
    asked, goal = goal, goal.against(counts)
    decision = decide(counts, hierarchies, goal)
    columns = released_columns(frame.columns, hierarchies, goal, keep)
    rows = released_rows(frame, columns, decision.recodings, decision.suppressed)
    mapping = {one.column: pl.DataFrame({"value": one.values, "label": one.labels}) for one in decision.recodings}
    release = Release(rows.drop(ROW), recipe_of(asked, decision, keep), rows=rows[ROW].cast(pl.Int64), mapping=mapping)
    return release, decision, check_promise(with_whose(release, frame, goal), goal, decision.recodings)


def released_rows(
    frame: pl.DataFrame, columns: Sequence[str], recodings: Sequence[Recoding], suppressed: pl.DataFrame
) -> pl.DataFrame:
    """Return a frame's rows as released, and in the column ROW which row of the frame each was."""
    plan = WritePlan([*columns, ROW], {one.column: one for one in recodings}, suppressed)
    return LocalEngine().open(frame.with_row_index(ROW)).planned(plan).collect()


def write_anonymized(
    source: object,
    hierarchies: Mapping[str, Hierarchy],
    goal: Goal,
    out: Path | str,
    *,
    keep: Sequence[str] = (),
    is_shuffled: bool = False,
    counts: ClassCounts | None = None,
    along: ClassCounts | None = None,
    **reading: Any,
) -> tuple[Generalization, ClassCounts]:
    """Make the release of a file or table on its engine and write it there; `reading` names engine and file format.

    What was written is counted again before it gets its name, and these counts are given. If it does not hold, nothing
    stays and PromiseBroken is raised. The rows are read as seldom as can be: to be counted, once more for each
    sensitive column, and to be written.

    counts: those of the quasi-identifiers, where they are known. along: those of all that is released.
    """
    with step("counting"):
        if counts is None or list(counts.columns) != list(hierarchies):
            counts = count_classes(source, list(hierarchies), **reading)
        counts = with_histograms(source, counts, goal.sensitive, person=goal.person, along=along, **reading)
    goal = goal.against(counts)
    decision = decide(counts, hierarchies, goal)
    columns = released_columns(column_names(source, **reading), hierarchies, goal, keep)
    with step("writing"), atomic_path(out) as draft:
        plan: Json = {"columns": columns, "without": decision.suppressed, "is_shuffled": is_shuffled}
        plan["counts"] = counts if along is None else along
        write_recoded(source, decision.recodings, draft, is_covered=True, **plan, **reading)
        written = check_promise(draft, goal, decision.recodings, _released_counts(counts, decision))
        if not written.n_rows:
            raise CannotAnonymize("Every row would have to be left out: nothing is released.")
        for one in decision.recodings:
            if NO_LABEL in written.domain(one.column):
                raise InputError.of("a table that does not change while it is read", column=one.column)
    return decision, written


def check_promise(
    released: object, goal: Goal, recodings: Sequence[Recoding], decided: ClassCounts | None = None
) -> ClassCounts:
    """Count a release again, return the counts, and raise PromiseBroken if a class does not meet a requirement.

    decided: the classes that were to be released. A file does not tell whose its rows are: its classes must be these.
    """
    columns = [one.column for one in recodings]
    if decided is None:
        counts = count_classes(released, columns, sensitive=goal.sensitive, person=goal.person)
    else:
        counts = counted_as_decided(count_classes(released, columns, sensitive=goal.sensitive), goal, decided)
    check_classes(counts, [recoded_requirement(one, recodings) for one in goal.requirements])
    return counts


def _released_counts(counts: ClassCounts, decision: Generalization) -> ClassCounts:
    """Return the counts that a release will have."""
    rolled = counts.roll_up(counts.maps(decision.recodings))
    labels = rolled.values().with_row_index(ROW)
    kept = labels.join(decision.suppressed, on=decision.suppressed.columns, how="anti", nulls_equal=True)
    is_kept = np.zeros(rolled.n_classes, np.bool_)
    is_kept[kept[ROW].to_numpy()] = True
    return rolled.taken(is_kept)


def recipe_of(goal: Goal, decision: Generalization, keep: Sequence[str]) -> Recipe:
    """Return the recipe of a release: the goal, the decision, and what every value becomes.

    What classes are compared with is not written down: on another table it is that table. A column whose labels follow
    a rule has the rule, others have each value with its label.
    """
    rules = {one.column: rule for one in decision.recodings if (rule := rule_of(one)) is not None}
    listed = [one for one in decision.recodings if one.column not in rules]
    options = {
        "requirements": [part_as_dict(requirement) for requirement in goal.requirements],
        "loss": part_name(goal.loss),
        "suppression": goal.suppression,
        "weights": dict(goal.weights),
        "preference": list(goal.preference),
        "keep": list(keep),
        **unit_as_dict(goal),
        "levels": decision.levels,
        "rules": {column: rule_as_dict(rule) for column, rule in rules.items()},
        "mapping": {one.column: dict(zip(one.values, one.labels, strict=True)) for one in listed},
        "missing": {one.column: one.label_of_missing for one in decision.recodings},
    }
    return Recipe(part_name(goal.method), options)


def _search_of(goal: Goal) -> TableSearch:
    if isinstance(goal.method, TableSearch):
        return goal.method
    raise InputError.of("a method that searches levels", option="method", value=part_name(goal.method))


def _suppressed(problem: Problem, found: Found, recodings: Sequence[Recoding]) -> pl.DataFrame:
    """Return the classes that are suppressed, by their labels."""
    classes = problem.packed.at(found.judged.node)
    gone = classes.classes.taken((~problem.kept(classes)).nonzero()[0])
    columns = {}
    for index, (recoding, level) in enumerate(zip(recodings, found.judged.node, strict=True)):
        labels = [*problem.lattice.hierarchies[index].levels[level].labels, None]
        at = problem.packed.labels(gone, index)
        columns[recoding.column] = pl.Series([labels[label] for label in at], dtype=pl.String)
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


def _shares(problem: Problem, found: Found) -> dict[str, float]:
    """Return what each attribute contributed to a loss that adds up over cells."""
    if not problem.is_cell_loss:
        return {}
    classes = problem.packed.at(found.judged.node)
    gone = classes.classes.taken((~problem.kept(classes)).nonzero()[0])
    shares = {}
    for index, (name, level) in enumerate(problem.lattice.levels(found.judged.node).items()):
        cost = problem.level_costs[index][level]
        rest = cost.rest[problem.packed.labels(gone, index)] @ gone.sizes
        shares[name] = cost.rise + float(rest) / max(1, problem.n_rows)
    return shares
