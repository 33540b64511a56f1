"""What is asked of a release of a table, and recipes of releases as JSON.

A recipe holds what was asked for and decided, so that it can be done again.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import polars as pl

from tokumei.core.errors import InputError, PromiseBroken
from tokumei.core.registry import part_name, part_options
from tokumei.core.text import Json, JsonView
from tokumei.data.frames import written
from tokumei.data.release import Recipe, Release
from tokumei.data.table import Role, Unit
from tokumei.engines.class_counts import ClassCounts, Recoding
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.rules import rule_from, rule_of
from tokumei.measures.losses import LOSSES, Loss
from tokumei.measures.requirement import SAFETY, Requirement, in_words, value_shares
from tokumei.methods.registry import TABLE_ANONYMIZERS, TableAnonymizer


@dataclass(frozen=True)
class Goal:
    """What a release must promise, what it may lose, and how it is found.

    The loss is what a search keeps small. A local recoding is measured by the certainty penalty.
    """

    requirements: Sequence[Requirement]
    loss: Loss = field(default_factory=lambda: LOSSES.make("prec"))
    method: TableAnonymizer = field(default_factory=lambda: TABLE_ANONYMIZERS.make("optimal"))
    suppression: float = 0.0
    weights: Mapping[str, float] = field(default_factory=dict)
    numeric: Sequence[str] = ()
    preference: Sequence[str] = ()
    # Who is protected, where not every row is somebody else.
    unit: Unit | None = None

    @property
    def person(self) -> str | None:
        """The column that tells whose a row is; None where every row is somebody else."""
        return None if self.unit is None else self.unit.column

    @property
    def whose(self) -> list[str]:
        """The column that tells whose a row is, if any."""
        return [] if self.unit is None else [self.unit.column]

    @property
    def sensitive(self) -> list[str]:
        """The columns whose values the requirements protect."""
        return sorted({column for one in self.requirements for column in one.sensitive_columns})

    def against(self, counts: ClassCounts) -> Goal:
        """Return the goal whose requirements know what classes are compared with: the original, and the release."""
        return replace(self, requirements=against_original(self.requirements, counts, moves=self.suppression > 0))


def against_original(
    requirements: Iterable[Requirement], counts: ClassCounts, *, moves: bool = False
) -> list[Requirement]:
    """Return requirements that compare classes with the original, where they compare with all rows.

    Where rows may be left out, all rows of the release are others than those of the original (`moves`). Classes are
    then compared with both, unless a requirement says with which.
    """
    return [told for one in requirements for told in _against(one, counts, moves=moves)]


def check_classes(counts: ClassCounts, requirements: Iterable[Requirement]) -> None:
    """Raise PromiseBroken if a class of a release does not meet a requirement."""
    for requirement in requirements:
        n_failing = int((~requirement.holds_in(counts)).sum())
        if n_failing:
            raise PromiseBroken(f"{n_failing:,} classes of the release do not meet {in_words(requirement)}")


def counted_as_decided(counts: ClassCounts, goal: Goal, decided: ClassCounts) -> ClassCounts:
    """Return the counts of what was written; whose the rows are is known of the classes that were decided on."""
    if goal.unit is None:
        return counts
    people = decided.as_written(counts)
    if people is None:
        raise PromiseBroken("The classes that were written are not those that were decided on.")
    return people


def with_whose(release: Release, original: pl.DataFrame, goal: Goal) -> pl.DataFrame:
    """Return released rows beside the column of the original that tells whose they are, where one does."""
    if goal.person is None or release.rows is None:
        return release.frame
    return release.frame.with_columns(original[goal.person].gather(release.rows))


def check_not_whose(unit: Unit | None, columns: Iterable[str]) -> None:
    """Refuse to release the column that tells whose a row is."""
    if unit is not None and unit.column in columns:
        expected = "a release without the column that tells whose a row is: it would link all rows of one"
        raise InputError.of(expected, column=unit.column)


def released_columns(
    names: Sequence[str] | None, quasi_identifiers: Iterable[str], goal: Goal, keep: Sequence[str]
) -> list[str]:
    """Return the columns to release, in the order of the original where that is known."""
    quasi_identifiers = list(quasi_identifiers)
    wanted = list(dict.fromkeys([*quasi_identifiers, *goal.sensitive, *keep]))
    check_not_whose(goal.unit, wanted)
    for column in keep:
        if column in quasi_identifiers:
            raise InputError.of("a column that is not a quasi-identifier", option="keep", value=column)
    return wanted if names is None else [name for name in names if name in wanted]


def _against(requirement: Requirement, counts: ClassCounts, *, moves: bool) -> list[Requirement]:
    """Add the shares of sensitive values in the original to a requirement that needs them and has none."""
    if getattr(requirement, "reference", 0) is not None:
        return [requirement]
    against = getattr(requirement, "against", "original")
    if against == "release" and moves:
        return [requirement]
    shares = value_shares(counts, requirement.sensitive_columns[0])
    # Of no rows there are no shares, and nothing to compare with them.
    told = replace(requirement, reference=shares) if shares else requirement  # type: ignore[type-var]
    return [told, requirement] if against == "both" and moves else [told]


def part_as_dict(part: Any) -> Json:
    """Return a part by its name and its options, for JSON.

    A population is people, most of them not in the release: a recipe must not hold them. Shares of values are pairs,
    since in JSON only text can be a key.
    """
    options = {one.name: getattr(part, one.name) for one in fields(part)}
    return {
        "name": part_name(part),
        "options": {name: _plain(value) for name, value in options.items() if not isinstance(value, ClassCounts)},
    }


def requirement_of(
    described: JsonView, hierarchies: Mapping[str, Hierarchy], population: ClassCounts | None
) -> Requirement:
    """Make a requirement that a recipe describes; hierarchies given here count before its own."""
    options = dict(described["options"])
    own = options.get("hierarchy")
    column = str(options.get("sensitive"))
    if column in hierarchies:
        options["hierarchy"] = hierarchies[column]
    elif isinstance(own, Mapping):
        options["hierarchy"] = hierarchy_of(own)
    if isinstance(options.get("reference"), list):
        options["reference"] = {value: share for value, share in options["reference"]}  # noqa: C416 - pairs of JSON.
    if "population" in {one.name for one in fields(SAFETY.get(described["name"]))}:  # type: ignore[arg-type]
        if population is None and described["name"] != "marketer-risk":
            raise InputError.of(f"the population that the recipe's {described['name']} compares with")
        options["population"] = population
    return SAFETY.make(described["name"], **options)


def hierarchy_as_dict(hierarchy: Hierarchy) -> dict[str, object]:
    """Return a hierarchy for JSON: a list of labels for each level, in the order of the leaves."""
    levels = [hierarchy.labels_at(level) for level in range(len(hierarchy.levels))]
    return {"attribute": hierarchy.attribute, "levels": levels}


def hierarchy_of(described: JsonView) -> Hierarchy:
    """Make a hierarchy that a recipe describes."""
    return Hierarchy.of_levels(described["attribute"], described["levels"])


def unit_of(recipe: Recipe) -> Unit | None:
    """Return who a recipe protects, where not every row is somebody else."""
    found = recipe.options.get("unit")
    return None if found is None else Unit(found["column"], Role(found["role"]))


def unit_as_dict(goal: Goal) -> dict[str, object]:
    """Return who is protected as it stands in a recipe; nothing where every row is somebody else."""
    return {} if goal.unit is None else {"unit": {"column": goal.unit.column, "role": str(goal.unit.role)}}


def quasi_identifiers_of(recipe: Recipe) -> list[str]:
    """Return the columns that a recipe anonymizes."""
    return list(recipe.options["quasi_identifiers"] if "mapping" not in recipe.options else recipe.options["levels"])


def columns_of(recipe: Recipe) -> list[str]:
    """Return the columns of a recipe that may have a hierarchy: those it anonymizes, and those it protects."""
    named = [one["options"].get("sensitive") for one in recipe.options["requirements"]]
    return list(dict.fromkeys([*quasi_identifiers_of(recipe), *(name for name in named if name is not None)]))


def method_options(recipe: Recipe) -> dict[str, object]:
    """Return the options of a method that works on rows; where a recipe says nothing of ranges, they were tight."""
    types = {one.name: one.type for one in part_options(TABLE_ANONYMIZERS.get(recipe.method))}
    tight = {"ranges": "tight"} if "ranges" in types else {}
    made: Mapping[str, Any] = recipe.options["options"]
    return tight | {name: float(one) if types.get(name) is float else one for name, one in made.items()}


def recodings_of(options: Mapping[str, Any], frame: pl.DataFrame) -> list[Recoding]:
    """Return what a recipe of levels does to the values of each column, new ones that a rule covers among them.

    A recipe that was written as lists alone follows the rules that can be read off them.
    """
    missing: Mapping[str, str | None] = options.get("missing", {})
    rules = options.get("rules", {})
    made = []
    for column in options["levels"]:
        listed = options["mapping"].get(column, {})
        known = _recoding(column, listed, listed.values(), missing.get(column))
        rule = rule_from(rules[column], column) if column in rules else rule_of(known)
        if rule is not None:
            texts = texts_of(frame[column].filter(known.lacks(frame[column])))
            labels = dict(zip(texts, rule.labels(texts), strict=True))
            whole = listed | {text: label for text, label in labels.items() if label is not None}
            known = _recoding(column, whole, whole.values(), known.label_of_missing)
        made.append(known)
    return made


def texts_of(values: pl.Series) -> list[str]:
    """Return the distinct values of a column as text, missing ones left out."""
    return written(values.drop_nulls().unique(maintain_order=True)).cast(pl.String).to_list()


def _recoding(column: str, values: Iterable[str], labels: Iterable[str], label_of_missing: str | None) -> Recoding:
    texts, said = (pl.Series(list(one), dtype=pl.String) for one in (values, labels))
    return Recoding(column, texts, said, label_of_missing)


def digest_of(frame: pl.DataFrame) -> str:
    """Return a digest of a table's columns and cells, which tells whether it is the same."""
    return hashlib.sha256(frame.write_csv().encode()).hexdigest()


def with_order(recipe: Recipe, seed: int, original: pl.DataFrame) -> Recipe:
    """Write down by which seed the rows were put in order, and of which table: who has both can undo it."""
    order = {"seed": seed, "columns": original.columns, "original": digest_of(original)}
    return replace(recipe, options={**recipe.options, "order": order})


def is_in_drawn_order(recipe: Recipe) -> bool:
    """Whether the method drew the order of the rows, by the seed of the recipe: then none is drawn on top of it."""
    return "drawn_by" in recipe.options


def order_seed(recipe: Recipe, frame: pl.DataFrame) -> int | None:
    """Return the seed of the order of a recipe's own table; None for another table, whose order must not follow it."""
    order = recipe.options.get("order")
    if order is None or not set(order["columns"]) <= set(frame.columns):
        return None
    return int(order["seed"]) if digest_of(frame.select(order["columns"])) == order["original"] else None


def _plain(value: object) -> object:
    """Return an option as JSON has it."""
    if isinstance(value, Hierarchy):
        return hierarchy_as_dict(value)
    if isinstance(value, Mapping):
        return [[_plain_key(key), share] for key, share in value.items()]
    # JSON has no infinity; as text, `float` reads it again.
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _plain_key(key: object) -> object:
    return key if key is None or isinstance(key, (str, int, float)) else str(key)
