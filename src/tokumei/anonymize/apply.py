"""The same decision on next month's data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tokumei.anonymize.goal import Goal, released_columns
from tokumei.anonymize.tables import ROW, check_promise, released_rows
from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.counting.count import count_classes
from tokumei.counting.recoding import Recoding
from tokumei.data.files.source import check_is_file
from tokumei.data.frames import as_frame
from tokumei.data.release import Recipe, Release
from tokumei.hierarchy.hierarchy import Hierarchy
from tokumei.measure.requirement import SAFETY, Requirement


def apply_recipe(recipe: Recipe, data: Any, *, hierarchies: Mapping[str, Hierarchy] | None = None) -> Release:
    """Generalize another table as a recipe says, and check that it keeps the recipe's promise.

    A value the recipe does not know is an InputError that names it. Classes that fail are suppressed as far as the
    recipe allows; beyond that CannotAnonymize is raised, for the new data needs a new decision. `hierarchies` are
    those of sensitive columns, for requirements that measure distances in them.
    """
    frame = as_frame(data)
    options = recipe.options
    mapping: Mapping[str, Mapping[str, str]] = options["mapping"]
    recodings = {
        column: Recoding(column, pl.Series(list(labels), dtype=pl.String), pl.Series(list(labels.values())))
        for column, labels in mapping.items()
    }
    goal = Goal([_requirement(one, hierarchies or {}) for one in options["requirements"]])
    counts = count_classes(frame, list(mapping), recodings=recodings.values(), sensitive=goal.sensitive)
    fails = ~np.all([one.holds_in(counts) for one in goal.requirements], axis=0)
    n_suppressed = int(counts.sizes[fails].sum())
    if n_suppressed > options["suppression"] * counts.n_rows + 1e-9:
        raise CannotAnonymize(
            f"At the recipe's levels {n_suppressed:,} of {counts.n_rows:,} records would have to be suppressed, more "
            f"than the share of {options['suppression']:g} that the recipe allows: decide anew for this table."
        )
    gone = counts.to_frame().filter(pl.Series(fails)).select(list(mapping))
    columns = released_columns(frame.columns, dict.fromkeys(mapping), goal, options["keep"])
    rows = released_rows(frame, columns, list(recodings.values()), gone)
    tables = {one.column: pl.DataFrame({"value": one.values, "label": one.labels}) for one in recodings.values()}
    release = Release(rows.drop(ROW), recipe, rows=rows[ROW], mapping=tables)
    check_promise(release.frame, goal, list(recodings.values()))
    return release


def read_recipe(path: Path | str) -> Recipe:
    """Read a recipe that was written as JSON."""
    path = check_is_file(path)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        needed = ("requirements", "suppression", "keep", "levels", "mapping")
        missing = [name for name in needed if name not in found["options"]]
        if not missing:
            return Recipe(found["method"], found["options"], found["seed"], found["versions"])
    except (UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError) as error:
        raise InputError.of(f"the recipe of a table ({type(error).__name__}: {error})", file=path) from None
    raise InputError.of(f"the recipe of a table, with {', '.join(missing)}", file=path)


def _requirement(described: Mapping[str, Any], hierarchies: Mapping[str, Hierarchy]) -> Requirement:
    options = dict(described["options"])
    column = str(options.get("sensitive"))
    if column in hierarchies:
        options["hierarchy"] = hierarchies[column]
    return SAFETY.make(described["name"], **options)
