"""The same decision on next month's table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from tokumei.core.errors import InputError
from tokumei.core.result import Facts, Result, Section, as_kind
from tokumei.core.seeds import fresh_seed
from tokumei.core.wording import choice_of
from tokumei.data.files.formats import check_can_be_written, write_frame
from tokumei.data.files.outputs import guarded
from tokumei.data.release import Recipe, Release
from tokumei.data.table import Table
from tokumei.engines.count import count_classes
from tokumei.methods.apply import apply_recipe
from tokumei.methods.recipes import columns_of, is_in_drawn_order, order_seed, quasi_identifiers_of, read_recipe
from tokumei.methods.unseen import Unseen
from tokumei.tasks.anonymize_table import shuffled
from tokumei.tasks.hierarchies import given_hierarchies
from tokumei.tasks.table_release import TableRelease, not_released


@dataclass(frozen=True, eq=False, repr=False)
class AppliedRecipe(Result):
    """Another table, generalized as a recipe says."""

    release: Release
    n_original: int
    left_out: Sequence[str] = ()
    frame_kind: str = "polars"

    @property
    def frame(self) -> Any:
        """The released rows, as a frame of the kind that the table was."""
        return as_kind(self.release.frame, self.frame_kind)

    @property
    def n_suppressed(self) -> int:
        """Number of rows that were left out."""
        return self.n_original - self.release.frame.height

    def to_dict(self) -> dict[str, Any]:
        """Return the result as `tokumei anonymize apply --json` prints it."""
        return {
            "rows": self.release.frame.height,
            "suppressed": self.n_suppressed,
            "levels": self.release.recipe.options.get("levels"),
            "left_out": list(self.left_out),
        }

    def sections(self) -> Sequence[Section]:
        """Return how many rows are released, and which columns are not."""
        facts = Facts(
            {"rows": self.release.frame.height, "suppressed": self.n_suppressed, "levels": "as in the recipe"}
        )
        return [facts, not_released(self.left_out, "not in the recipe")] if self.left_out else [facts]

    def save(self, out: Path | str, *, force: bool = False) -> None:
        """Write the release as CSV or Parquet; a file that exists is replaced only with `force`."""
        check_can_be_written(out)
        with guarded({"out": out}, force=force) as drafts:
            write_frame(self.release.frame, drafts["out"])


def apply(
    recipe: Any,
    data: Any,
    *,
    keep_order: bool = False,
    seed: int | None = None,
    hierarchies: Any = None,
    population: Any = None,
    unseen: Unseen = "refuse",
    **reading: Any,
) -> AppliedRecipe:
    """Generalize another table, such as next month's, as a recipe says, and check that it keeps its promise.

    recipe: what `r.recipe` gave, or the file that it was saved in.
    data: a frame, a file or a `tk.Table`.
    hierarchies: count before those that the recipe holds; `population`: everybody as of now, where it needs them.
    unseen: what becomes of values that the recipe does not know: "refuse", "suppress" (their rows are left out) or
    "top" (they are hidden).

    >>> import tokumei as tk
    >>> r = tk.anonymize(tk.Table({"age": [31, 31, 52, 52]}, qi=["age"]), k=2)
    >>> tk.apply(r.recipe, {"age": [52, 52, 52]}).frame["age"].to_list()
    ['52', '52', '52']
    """
    if unseen not in get_args(Unseen):
        raise InputError.of(choice_of(get_args(Unseen)), option="unseen", value=unseen)
    used = _recipe_of(recipe)
    table = data if isinstance(data, Table) else Table(data, **reading)
    trees = given_hierarchies(hierarchies, columns_of(used))
    everybody = None if population is None else count_classes(population, quasi_identifiers_of(used))
    release = apply_recipe(
        used,
        table.frame,
        hierarchies=trees,
        population=everybody,
        unseen=unseen,
        file=table.name,
        line_of=table.line_of,
    )
    is_ordered = seed is None and is_in_drawn_order(release.recipe)
    if not keep_order and not is_ordered and release.rows is not None:
        own = order_seed(used, table.frame) if seed is None else seed
        release = shuffled(release, fresh_seed() if own is None else own)
    left_out = [name for name in table.frame.columns if name not in release.frame.columns]
    return AppliedRecipe(release, table.n_rows, left_out, table.kind)


def recipe_columns(recipe: Any) -> list[str]:
    """Return the columns that a recipe anonymizes."""
    return quasi_identifiers_of(_recipe_of(recipe))


def _recipe_of(recipe: Any) -> Recipe:
    if isinstance(recipe, TableRelease):
        return recipe.recipe
    return recipe if isinstance(recipe, Recipe) else read_recipe(recipe)
