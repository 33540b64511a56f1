"""What anonymizing a table gives: the release, what it promises, what it lost, and what is needed to judge it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.result import Drawing, Facts, Result, Rows, Section, Sentence, as_kind
from tokumei.core.score import Score
from tokumei.core.wording import counted
from tokumei.data.files.atomic import write_text
from tokumei.data.files.formats import check_can_be_written, write_file_or_folder
from tokumei.data.files.outputs import guarded
from tokumei.data.files.row_numbers import write_rows
from tokumei.data.release import Recipe, Release
from tokumei.data.table import Table
from tokumei.engines.class_counts import ClassCounts
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.tasks.hierarchies import told_of_made

TIGHT_RANGES = (
    "Ranges of numbers are tight: both ends of each are values of people in the group, so that some of them can be "
    "singled out. 'tokumei attack table downcoding' tells how many; --set ranges=grid hides the ends."
)


NOT_ATTACKED = (
    "Whether labels single people out was not measured, since attacks do not run on engines: "
    "'tokumei attack table downcoding' reads the released file here."
)


def not_released(columns: Sequence[str], why: str) -> Sentence:
    """Note which columns a release leaves out."""
    return Sentence(f"Columns that are not released, since they were {why}: {', '.join(columns)}.")


@dataclass(frozen=True, eq=False, repr=False)
class TableRelease(Result):
    """The release of a table.

    k: fewest rows in a class; None where no row is a person's.
    loss: what was lost by the measure `loss_name`, 0 if nothing and 1 if all; None where no cell became a label.
    promises: what was asked for, recounted on the release, as scores by name.
    recipe: how it came about, for `tk.apply`; a secret of the publisher, as `rows` are.
    left_out: columns of the original that are not released, since they have no role and nobody kept them.
    """

    original: Table | None
    release: Release | None
    recipe: Recipe
    facts: Mapping[str, Any]
    promises: Mapping[str, Score]
    columns: Sequence[Mapping[str, Any]]
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    made: Mapping[str, str] = field(default_factory=dict)
    numeric: Sequence[str] = ()
    counts: ClassCounts | None = None
    frame_kind: str = "polars"
    left_out: Sequence[str] = ()

    @property
    def frame(self) -> Any:
        """The released rows, as a frame of the kind that the original was."""
        return None if self.release is None else as_kind(self.release.frame, self.frame_kind)

    @property
    def table(self) -> pl.DataFrame:
        """The released rows as a Polars frame."""
        if self.release is None:
            raise ValueError("the release was written on its engine and is not in this process")
        return self.release.frame

    @property
    def rows(self) -> pl.Series | None:
        """The row of the original that each released row was, counted from 0; a secret of the publisher."""
        return None if self.release is None else self.release.rows

    @property
    def k(self) -> int | None:
        """Fewest rows in a class."""
        return self.facts.get("k")

    @property
    def loss(self) -> float | None:
        """What was lost, 0 to 1."""
        return self.facts.get("loss")

    @property
    def loss_name(self) -> str | None:
        """The measure of the loss."""
        return self.facts.get("loss_name")

    @property
    def n_suppressed(self) -> int:
        """Number of rows that were left out."""
        return int(self.facts["suppressed"])

    @property
    def levels(self) -> dict[str, int] | None:
        """The level of each quasi-identifier, where the method searches levels."""
        return self.facts.get("levels")

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as `tokumei anonymize table --json` prints them."""
        promises = {name: score.as_dict() for name, score in self.promises.items()}
        more = {"hierarchies_made": dict(self.made), "left_out": list(self.left_out)}
        return {**self.facts, "promises": promises, **more}

    def sections(self) -> Sequence[Section]:
        """Return the facts, what became of each column, the promises, and which hierarchies were made here."""
        plain = {k: v for k, v in self.facts.items() if v is not None and not isinstance(v, dict)}
        plain.pop("gives_away", None)
        # A seed is a name, not an amount.
        facts = plain | ({"seed": str(plain["seed"])} if "seed" in plain else {})
        parts: list[Section] = [Facts(facts)]
        if self.columns:
            parts.append(Rows(list(self.columns[0]), [list(one.values()) for one in self.columns]))
        if self.promises:
            parts.append(Rows(["promise", "value"], [[name, one.value] for name, one in self.promises.items()]))
        if self.facts.get("ranges") == "tight" and self.numeric:
            parts.append(Sentence(TIGHT_RANGES))
        if gives_away := self.facts.get("gives_away"):
            parts.append(Sentence(gives_away))
        if self.release is None:
            parts.append(Sentence(NOT_ATTACKED))
        parts += told_of_made(self.made)
        if self.left_out:
            parts.append(not_released(self.left_out, "neither named nor kept (option keep)"))
        return parts

    def __repr__(self) -> str:
        said = f"{counted(self.facts['rows'], 'row')}, {self.n_suppressed:,} left out, by {self.facts['method']}"
        loss = "" if self.loss is None else f", {self.loss_name} {self.loss:.4g}"
        without = f", without {', '.join(self.left_out)}" if self.left_out else ""
        return f"TableRelease({said}{'' if self.k is None else f', k {self.k:,}'}{loss}{without})"

    def figure(self) -> Drawing | None:
        """Draw what each column lost."""
        from tokumei.report.figures import bar_figure

        shares = self.facts.get("loss_by_attribute")
        if not shares:
            return None
        points = pl.DataFrame({"column": list(shares), "loss": list(shares.values())})
        return Drawing(bar_figure(points, x="loss", y="column", x_title=f"loss ({self.loss_name})"))

    def save(
        self,
        out: Path | str,
        *,
        recipe: Path | str | None = None,
        rows: Path | str | None = None,
        force: bool = False,
    ) -> None:
        """Write the release as CSV or Parquet and, where named, its recipe and which row each released row was.

        A file that exists is replaced only with `force`; all files get their names together.

        >>> import tokumei as tk
        >>> r = tk.anonymize(tk.Table({"age": [31, 31, 52, 52]}, qi=["age"]), k=2)
        >>> r.save("release.csv", recipe="recipe.json")
        """
        check_can_be_written(out)
        outputs = {"out": out, "recipe": recipe, "rows": rows}
        with guarded(outputs, inputs=[self.original and self.original.name], force=force) as drafts:
            self.write(drafts["out"], drafts.get("recipe"), drafts.get("rows"))

    def write(self, out: Path | None, recipe: Path | None, rows: Path | None) -> None:
        """Write to drafts that were guarded before."""
        if out is not None:
            write_file_or_folder(self.table, out)
        if recipe is not None:
            write_text(recipe, json.dumps(self.recipe.as_dict(), ensure_ascii=False) + "\n")
        if rows is not None and self.rows is not None:
            write_rows(self.rows + 1, rows)
