"""The same decision on next month's data, and what becomes of values that its recipe has no label for.

Such values are refused, left out with their rows, or hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import polars as pl

from tokumei.core.errors import LISTED_FAULTS, CannotAnonymize, FaultList, InputError, NotAllowed
from tokumei.core.score import Score, most_within
from tokumei.core.text import Text, counted
from tokumei.data.files.csv import check_has_columns
from tokumei.data.frames import as_frame
from tokumei.data.release import Recipe, Release
from tokumei.engines.class_counts import ClassCounts, Recoding
from tokumei.engines.count import count_classes
from tokumei.hierarchies.hierarchy import SUPPRESSED, Hierarchy
from tokumei.hierarchies.rules import extended
from tokumei.measures.requirement import Requirement, classes_to_keep
from tokumei.methods.recipes import (
    Goal,
    check_classes,
    digest_of,
    hierarchy_of,
    method_options,
    quasi_identifiers_of,
    recodings_of,
    released_columns,
    requirement_of,
    texts_of,
    unit_of,
    with_whose,
)
from tokumei.methods.registry import TABLE_ANONYMIZERS, Perturber
from tokumei.methods.rows import RowRelease, release_rows
from tokumei.methods.search.problem import recoded_requirement
from tokumei.methods.tables import ROW, check_promise, released_rows

Unseen = Literal["refuse", "suppress", "top"]
LineOf = Callable[[int], int | None]


def rows_left(frame: pl.DataFrame, recodings: Sequence[Recoding]) -> pl.Series:
    """Return for each row whether every value of it has a label."""
    left = pl.repeat(True, frame.height, eager=True)
    for one in recodings:
        left &= ~one.lacks(frame[one.column])
    return left


def check_all_seen(frame: pl.DataFrame, recodings: Sequence[Recoding], file: str, line_of: LineOf) -> None:
    """Raise an InputError that names each value without a label, the first line it stands in, and how often."""
    faults = FaultList(file)
    for one in recodings:
        rows = pl.DataFrame({"value": frame[one.column]}).with_row_index("row").filter(one.lacks(frame[one.column]))
        found = rows.group_by("value", maintain_order=True).agg(pl.col("row").min(), n=pl.len())
        for value, row, n_rows in found.head(LISTED_FAULTS).iter_rows():
            expected = (
                f"a value that the recipe knows or has a rule for (in {counted(n_rows, 'row')}; the rows of others are "
                "left out with --unseen suppress, the values hidden with --unseen top)"
            )
            faults.add(expected, line=line_of(row), column=one.column, value=value)
        faults.count_more(max(0, found.height - LISTED_FAULTS))
    faults.raise_if_any()


def _hiding(frame: pl.DataFrame, recoding: Recoding) -> Recoding:
    label = recoding.label_of_missing or SUPPRESSED
    unseen = texts_of(frame[recoding.column].filter(recoding.lacks(frame[recoding.column])))
    labels = pl.repeat(label, len(unseen), dtype=pl.String, eager=True)
    values = pl.Series(unseen, dtype=pl.String)
    return replace(recoding, values=pl.concat([recoding.values, values]), labels=pl.concat([recoding.labels, labels]))


@dataclass(frozen=True, eq=False)
class Applied:
    """What a recipe made of a table.

    checked, counts: the requirements and what they were recounted on, the release itself; None without classes.
    n_unseen: rows left out for a value that the recipe says nothing of; n_hidden: such cells that were hidden.
    """

    release: Release
    checked: Sequence[Requirement]
    counts: ClassCounts | None
    n_unseen: int = 0
    n_hidden: int = 0
    promises: Mapping[str, Score] = field(default_factory=dict)
    recodings: Sequence[Recoding] = ()


def apply_recipe(
    recipe: Recipe,
    data: object,
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    population: ClassCounts | None = None,
    unseen: Unseen = "refuse",
    file: str = "table",
    line_of: LineOf = lambda row: row + 1,
) -> Applied:
    """Anonymize another table as a recipe says, and check that it keeps the recipe's promise.

    A recipe of levels gives every value the label that its rule says, or that it had. A value of which the recipe says
    nothing is an InputError that names `file`, line, value and count, unless `unseen` says otherwise: "suppress" leaves
    its rows out, and "top" hides it. Rows of unseen values and of classes that fail are left out as far as the recipe
    allows; beyond that CannotAnonymize is raised, for the new data needs a new decision. A method that groups or
    changes rows runs again with the same options, and on the same table with the same seed: so the recipe's own table
    gives the same release.

    `hierarchies` count before those that the recipe holds; `population`, the class counts of everybody, is needed where
    a requirement compares with one.
    """
    if "hardened" in recipe.options:
        expected = "a recipe of a release that was not hardened: apply its own recipe, and harden what that gives"
        raise InputError.of(expected, file=file, option="recipe")
    frame = as_frame(data)
    unit = unit_of(recipe)
    check_has_columns([*quasi_identifiers_of(recipe), *([] if unit is None else [unit.column])], frame.columns, file)
    is_of_levels = "mapping" in recipe.options
    own: dict[str, Hierarchy] = {}
    if is_of_levels:
        recodings = recodings_of(recipe.options, frame)
    else:
        own = _hierarchies(recipe.options, hierarchies or {}, frame)
        recodings = [one.recoding(0) for one in own.values()]
    left = rows_left(frame, recodings)
    # A method that groups rows has no level for a cell alone, by which it could be hidden.
    if unseen == "refuse" or (unseen == "top" and not is_of_levels):
        check_all_seen(frame, recodings, file, line_of)
    rows = left.arg_true() if unseen == "suppress" else pl.arange(0, frame.height, eager=True)
    kept = frame[rows]
    n_unseen = frame.height - kept.height
    limit = _Limit(recipe.options["suppression"], n_rows=frame.height, n_people=_n_people(recipe, frame))
    limit.check(n_unseen, 0)
    if not is_of_levels:
        made = _made_again(recipe, kept, own, {**(hierarchies or {}), **own}, population)
        limit.check(n_unseen, made.n_suppressed if n_unseen else 0)
        _check_some_left(made.release.frame, frame)
        release = _of_original(made.release, rows) if n_unseen else made.release
        return Applied(release, made.checked, made.counts, n_unseen, promises=made.promises)
    n_hidden = sum(int(one.lacks(kept[one.column]).sum()) for one in recodings)
    recodings = [_hiding(kept, one) for one in recodings]
    goal, counts = _counted(recipe, kept, recodings, hierarchies or {}, population)
    checked = [recoded_requirement(one, recodings) for one in goal.requirements]
    is_kept = classes_to_keep(counts, checked)
    limit.check(n_unseen, int(counts.sizes[~is_kept].sum()))
    suppressed = counts.values().filter(pl.Series(~is_kept, dtype=pl.Boolean))
    columns = released_columns(kept.columns, [one.column for one in recodings], goal, recipe.options["keep"])
    found = released_rows(kept, columns, recodings, suppressed)
    tables = {one.column: pl.DataFrame({"value": one.values, "label": one.labels}) for one in recodings}
    release = _of_original(Release(found.drop(ROW), recipe, rows=found[ROW], mapping=tables), rows)
    _check_some_left(release.frame, frame)
    counts = check_promise(with_whose(release, frame, goal), goal, recodings)
    return Applied(release, checked, counts, n_unseen, n_hidden, recodings=recodings)


def recounted_together(
    recipe: Recipe,
    months: Sequence[tuple[Applied, pl.DataFrame]],
    hierarchies: Mapping[str, Hierarchy],
    population: ClassCounts | None,
) -> tuple[Sequence[Requirement], ClassCounts]:
    """Count several releases of a recipe as one, by the people in them, and raise PromiseBroken if it does not hold.

    months: each release with the table that it was made of. Requirements compare with all these tables together.
    """
    asked = [requirement_of(one, hierarchies, population) for one in recipe.options["requirements"]]
    goal = Goal(asked, suppression=recipe.options["suppression"], unit=unit_of(recipe))
    known = quasi_identifiers_of(recipe)
    wanted = [*known, *goal.sensitive, *goal.whose]
    own = pl.concat([frame.select(pl.col(wanted).cast(pl.String)) for _, frame in months])
    goal = goal.against(count_classes(own, known, sensitive=goal.sensitive, person=goal.person))
    rows = [with_whose(one.release, frame, goal).select(pl.col(wanted).cast(pl.String)) for one, frame in months]
    counts = count_classes(pl.concat(rows), known, sensitive=goal.sensitive, person=goal.person)
    recodings = [one for month, _ in months for one in month.recodings]
    checked = [recoded_requirement(one, recodings) for one in goal.requirements] if recodings else goal.requirements
    check_classes(counts, checked)
    return checked, counts


def _of_original(release: Release, rows: pl.Series) -> Release:
    """Return a release of some rows of a table, by the rows of the table."""
    return release if release.rows is None else replace(release, rows=rows.gather(release.rows).alias(ROW))


def _check_some_left(released: pl.DataFrame, original: pl.DataFrame) -> None:
    if original.height and not released.height:
        raise CannotAnonymize("Every row would have to be left out: nothing is released.")


@dataclass(frozen=True)
class _Limit:
    """How many rows a recipe allows to be left out: a share of the rows, or of the people whose rows they are."""

    share: float
    n_rows: int
    n_people: int

    def check(self, n_unseen: int, n_failing: int) -> None:
        """Raise if more would be left out."""
        n = n_unseen + n_failing
        if n <= most_within(self.share, self.n_people):
            return
        if n_unseen:
            form = (
                "At the recipe's levels {n:,} of {m:,} records would have to be suppressed ({unseen:,} for values that "
                "the recipe does not know), more than the share of {p:g} that the recipe allows: decide anew for this "
                "table."
            )
            raise CannotAnonymize(Text(form, n=n, m=self.n_rows, p=self.share, unseen=n_unseen))
        raise CannotAnonymize(
            Text(
                "At the recipe's levels {n:,} of {m:,} records would have to be suppressed, more than the "
                "share of {p:g} that the recipe allows: decide anew for this table.",
                n=n,
                m=self.n_rows,
                p=self.share,
            )
        )


def _n_people(recipe: Recipe, frame: pl.DataFrame) -> int:
    unit = unit_of(recipe)
    return frame.height if unit is None else frame[unit.column].n_unique()


def _counted(
    recipe: Recipe,
    frame: pl.DataFrame,
    recodings: Sequence[Recoding],
    hierarchies: Mapping[str, Hierarchy],
    population: ClassCounts | None,
) -> tuple[Goal, ClassCounts]:
    """Count a table at the recipe's levels; return what is asked of it, too."""
    options = recipe.options
    asked = [requirement_of(one, hierarchies, population) for one in options["requirements"]]
    goal = Goal(asked, suppression=options["suppression"], unit=unit_of(recipe))
    names = [one.column for one in recodings]
    counts = count_classes(frame, names, recodings=recodings, sensitive=goal.sensitive, person=goal.person)
    return goal.against(counts), counts


def _hierarchies(
    options: Mapping[str, Any], given: Mapping[str, Hierarchy], frame: pl.DataFrame
) -> dict[str, Hierarchy]:
    """Return the hierarchies of a method on rows, with the values of a table that their rules cover."""
    own = {name: hierarchy_of(one) for name, one in options["hierarchies"].items()} | dict(given)
    known = [name for name in options["quasi_identifiers"] if name in own]
    new = {name: frame[name].filter(own[name].recoding(0).lacks(frame[name])) for name in known}
    return {name: extended(own[name], texts_of(new[name])) for name in known}


def _made_again(
    recipe: Recipe,
    frame: pl.DataFrame,
    own: Mapping[str, Hierarchy],
    hierarchies: Mapping[str, Hierarchy],
    population: ClassCounts | None,
) -> RowRelease:
    """Run a method that works on rows once more."""
    options = recipe.options
    method = TABLE_ANONYMIZERS.make(recipe.method, **method_options(recipe))
    if getattr(method, "spends_budget", False) and not options.get("reproducible"):
        raise NotAllowed(
            f"A recipe of {recipe.method} is not applied, since every release spends budget: anonymize the table anew, "
            + ("with this recipe as 'earlier'." if hasattr(method, "earlier") else "with the same file of the budget.")
        )
    goal = Goal(
        [requirement_of(one, hierarchies, population) for one in options["requirements"]],
        method=method,
        suppression=options["suppression"],
        weights=options["weights"],
        numeric=options["numeric"],
        unit=unit_of(recipe),
    )
    seed = recipe.seed
    # Who sees two tables that were changed by the same draws sees what differs between the originals. A recipe of an
    # engine names no original; there the same seed drew other numbers.
    if isinstance(method, Perturber) and not (
        "original" in options and options["original"] == digest_of(frame.select(options["columns"]))
    ):
        seed = None
    return release_rows(
        frame,
        options["quasi_identifiers"],
        own,
        goal,
        keep=options["keep"],
        seed=seed,
        is_reproducible=bool(options.get("reproducible")),
    )
