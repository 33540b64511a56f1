"""Local recoding as a decision about classes: which go together, what their cells become, and who is left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import polars as pl

from tokumei.core.registry import part_name
from tokumei.core.score import Score
from tokumei.data.release import Recipe
from tokumei.engines.class_counts import ClassCounts
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.measures.requirement import Requirement, population_of, with_population
from tokumei.methods.goal import Goal, against_original
from tokumei.methods.local.encoding import EncodedRows, flat_hierarchy, people_domain
from tokumei.methods.local.recoding import LocalRecoding
from tokumei.methods.local.task import Ints, LocalTask
from tokumei.methods.recipes import hierarchy_as_dict, part_as_dict
from tokumei.methods.registry import LocalRecoder

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


def regroup(method: LocalRecoder, encoded: EncodedRows, *, seed: int) -> Regrouping:
    """Run a method; CannotAnonymize if more rows would have to go than may."""
    asked, counts = encoded.task.requirements, encoded.task.counts
    task = replace(encoded.task, requirements=against_original(asked, counts))
    recoding = method.recode_locally(task, seed=seed)
    n_suppressed = recoding.n_suppressed(task)
    if n_suppressed > task.n_may_suppress:
        raise task.too_many_out(n_suppressed)
    shares = recoding.shares(task)
    checked = against_original(asked, counts, moves=n_suppressed > 0)
    return Regrouping(
        encoded,
        recoding,
        [_with_labeled_population(one, task, recoding) for one in checked],
        n_suppressed,
        Score("ncp", min(1.0, sum(shares.values())), best=0, worst=1, inputs={"shares": shares}),
    )


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
    more: Mapping[str, Any] = MappingProxyType({}),
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
