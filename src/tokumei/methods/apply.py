"""The same decision on next month's data, and what becomes of values that its recipe has no label for.

Such values are refused, left out with their rows, or hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import polars as pl

from tokumei.core.errors import LISTED_FAULTS, CannotAnonymize, FaultList, InputError, NotAllowed
from tokumei.core.text import Text, counted
from tokumei.data.files.csv import check_has_columns
from tokumei.data.frames import as_frame
from tokumei.data.release import Recipe, Release
from tokumei.engines.class_counts import ClassCounts, Recoding
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import SUPPRESSED, Hierarchy
from tokumei.measures.requirement import classes_to_keep
from tokumei.methods.recipes import (
    Goal,
    digest_of,
    hierarchy_of,
    method_options,
    recodings_of,
    released_columns,
    requirement_of,
    unit_of,
    with_whose,
)
from tokumei.methods.registry import TABLE_ANONYMIZERS, Perturber
from tokumei.methods.rows import release_rows
from tokumei.methods.search.problem import recoded_requirement
from tokumei.methods.tables import ROW, check_promise, released_rows

Unseen = Literal["refuse", "suppress", "top"]
LineOf = Callable[[int], int | None]


def rows_left(frame: pl.DataFrame, recodings: Sequence[Recoding]) -> pl.Series:
    """Return for each row whether every value of it has a label, or is hidden anyhow."""
    left = pl.repeat(True, frame.height, eager=True)
    for one in recodings:
        if one.label_of_missing is None:
            left &= ~_is_unseen(frame, one)
    return left


def with_unseen_hidden(frame: pl.DataFrame, recodings: Sequence[Recoding], *, everywhere: bool) -> list[Recoding]:
    """Return recodings that hide the values without a label: where a column says nothing anyhow, or `everywhere`."""
    return [_hiding(frame, one) if everywhere or one.label_of_missing is not None else one for one in recodings]


def check_all_seen(frame: pl.DataFrame, recodings: Sequence[Recoding], file: str, line_of: LineOf) -> None:
    """Raise an InputError that names each value without a label, the first line it stands in, and how often."""
    faults = FaultList(file)
    for one in recodings:
        if one.label_of_missing is not None:
            continue
        rows = pl.DataFrame({"value": frame[one.column]}).with_row_index("row").filter(_is_unseen(frame, one))
        found = rows.group_by("value", maintain_order=True).agg(pl.col("row").min(), n=pl.len())
        for value, row, n_rows in found.head(LISTED_FAULTS).iter_rows():
            expected = (
                f"a value that the recipe knows (in {counted(n_rows, 'row')}; unseen values are left "
                "out with --unseen suppress, or hidden with --unseen top)"
            )
            faults.add(expected, line=line_of(row), column=one.column, value=value)
        faults.count_more(max(0, found.height - LISTED_FAULTS))
    faults.raise_if_any()


def _is_unseen(frame: pl.DataFrame, recoding: Recoding) -> pl.Series:
    cells = frame[recoding.column]
    return cells.is_not_null() & ~cells.is_in(recoding.as_type(cells.dtype)["value"].implode())


def _hiding(frame: pl.DataFrame, recoding: Recoding) -> Recoding:
    label = recoding.label_of_missing or SUPPRESSED
    unseen = frame[recoding.column].filter(_is_unseen(frame, recoding)).unique().sort().cast(pl.String)
    labels = pl.repeat(label, len(unseen), dtype=pl.String, eager=True)
    return replace(recoding, values=pl.concat([recoding.values, unseen]), labels=pl.concat([recoding.labels, labels]))


@dataclass(frozen=True, eq=False)
class Applied:
    """What a recipe of levels does to some rows: its recodings, the classes left out, and what is promised."""

    goal: Goal
    recodings: Sequence[Recoding]
    suppressed: pl.DataFrame
    n_rows: int
    n_suppressed: int


def apply_recipe(
    recipe: Recipe,
    data: Any,
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    population: ClassCounts | None = None,
    unseen: Unseen = "refuse",
    file: str = "table",
    line_of: LineOf = lambda row: row + 1,
) -> Release:
    """Anonymize another table as a recipe says, and check that it keeps the recipe's promise.

    A recipe of levels gives every value the label it had. A value it does not know is an InputError that names `file`,
    line, value and count, unless `unseen` says otherwise: "suppress" leaves its rows out, beyond what the recipe allows
    to be, and "top" hides it. A column that is hidden anyhow takes any value.
    Classes that fail are suppressed as far as the recipe allows; beyond that CannotAnonymize is raised, for the new
    data needs a new decision. A method that groups or changes rows runs again with the same options, and on the same
    table with the same seed: so the recipe's own table gives the same release.

    `hierarchies` count before those that the recipe holds; `population`, the class counts of everybody, is needed where
    a requirement compares with one.
    """
    if "hardened" in recipe.options:
        expected = "a recipe of a release that was not hardened: apply its own recipe, and harden what that gives"
        raise InputError.of(expected, file=file, option="recipe")
    frame = as_frame(data)
    if "mapping" not in recipe.options:
        return _made_again(recipe, frame, hierarchies or {}, population)
    recodings = recodings_of(recipe.options)
    check_has_columns([one.column for one in recodings], frame.columns, file)
    if unseen == "refuse":
        check_all_seen(frame, recodings, file, line_of)
    kept = pl.arange(0, frame.height, eager=True)
    if unseen == "suppress":
        kept = kept.filter(rows_left(frame, recodings))
        frame = frame[kept]
    recodings = with_unseen_hidden(frame, recodings, everywhere=unseen == "top")
    applied = _applied(recipe, frame, recodings, hierarchies or {}, population)
    columns = _columns(recipe, applied, frame.columns)
    rows = released_rows(frame, columns, applied.recodings, applied.suppressed)
    tables = {one.column: pl.DataFrame({"value": one.values, "label": one.labels}) for one in applied.recodings}
    release = Release(rows.drop(ROW), recipe, rows=kept.gather(rows[ROW]).alias(ROW), mapping=tables)
    check_promise(with_whose(release, as_frame(data), applied.goal), applied.goal, applied.recodings)
    return release


def _applied(
    recipe: Recipe,
    frame: pl.DataFrame,
    recodings: Sequence[Recoding],
    hierarchies: Mapping[str, Hierarchy],
    population: ClassCounts | None,
) -> Applied:
    """Count a table at the recipe's levels and find the classes that have to go."""
    options = recipe.options
    names = [one.column for one in recodings]
    asked = [requirement_of(one, hierarchies, population) for one in options["requirements"]]
    goal = Goal(asked, suppression=options["suppression"], unit=unit_of(recipe))
    counts = count_classes(frame, names, recodings=recodings, sensitive=goal.sensitive, person=goal.person)
    goal = goal.against(counts)
    kept = classes_to_keep(counts, [recoded_requirement(one, recodings) for one in goal.requirements])
    n_suppressed = int(counts.sizes[~kept].sum())
    if n_suppressed > counts.most_left_out(options["suppression"]):
        raise CannotAnonymize(
            Text(
                "At the recipe's levels {n:,} of {m:,} records would have to be suppressed, more than the "
                "share of {p:g} that the recipe allows: decide anew for this table.",
                n=n_suppressed,
                m=counts.n_rows,
                p=options["suppression"],
            )
        )
    gone = counts.values().filter(pl.Series(~kept, dtype=pl.Boolean))
    return Applied(goal, recodings, gone, counts.n_rows, n_suppressed)


def _columns(recipe: Recipe, applied: Applied, names: Sequence[str]) -> list[str]:
    return released_columns(names, [one.column for one in applied.recodings], applied.goal, recipe.options["keep"])


def _made_again(
    recipe: Recipe, frame: pl.DataFrame, hierarchies: Mapping[str, Hierarchy], population: ClassCounts | None
) -> Release:
    """Run a method that works on rows once more."""
    options = recipe.options
    method = TABLE_ANONYMIZERS.make(recipe.method, **method_options(recipe))
    if getattr(method, "spends_budget", False) and not options.get("reproducible"):
        raise NotAllowed(
            f"A recipe of {recipe.method} is not applied, since every release spends budget: anonymize the table anew, "
            "with this recipe as 'earlier'."
        )
    own = {name: hierarchy_of(one) for name, one in options["hierarchies"].items()}
    goal = Goal(
        [requirement_of(one, hierarchies, population) for one in options["requirements"]],
        method=method,
        suppression=options["suppression"],
        weights=options["weights"],
        numeric=options["numeric"],
        unit=unit_of(recipe),
    )
    known = options["quasi_identifiers"]
    seed = recipe.seed
    # Who sees two tables that were changed by the same draws sees what differs between the originals. A recipe of an
    # engine names no original; there the same seed drew other numbers.
    if isinstance(method, Perturber) and not (
        "original" in options and options["original"] == digest_of(frame.select(options["columns"]))
    ):
        seed = None
    made = release_rows(
        frame,
        known,
        {name: one for name, one in {**own, **hierarchies}.items() if name in known},
        goal,
        keep=options["keep"],
        seed=seed,
        is_reproducible=bool(options.get("reproducible")),
    )
    return made.release
