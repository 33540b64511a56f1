"""How `tokumei anonymize table` makes a release, writes its files, and says what came of it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokumei.cli.goals import GoalOptions
from tokumei.core.errors import InputError
from tokumei.data.files.reading import AS_IT_IS, Reading

if TYPE_CHECKING:
    import polars as pl

    from tokumei.anonymize.registry import TableAnonymizer, TableSearch
    from tokumei.data.release import Recipe

Facts = dict[str, Any]


@dataclass(frozen=True)
class Source:
    """Where the original is, and how it is read."""

    file: str
    engine: str
    how: Reading = AS_IT_IS

    @property
    def reading(self) -> Facts:
        """The options of whoever reads it on its engine."""
        return {"engine": self.engine, "reading": self.how}

    def frame(self, why: str) -> pl.DataFrame:
        """Read it into this process, which only the local engine allows."""
        from tokumei.data.files.formats import read_frame

        if self.engine != "local":
            raise InputError.of(f"the local engine, which {why} needs", option="--engine", value=self.engine)
        return read_frame(self.file, self.how)


@dataclass(frozen=True)
class Written:
    """The files that are written, or the drafts of them."""

    out: Path
    recipe: Path | None
    rows: Path | None

    @contextmanager
    def drafts(self, inputs: Iterable[Any], *, force: bool) -> Iterator[Written]:
        """Give files to write to that get these names together at the end, or not at all if something fails."""
        from tokumei.data.files.outputs import guarded

        outputs = {"--out": self.out, "--recipe": self.recipe, "--rows": self.rows}
        with guarded(outputs, inputs=inputs, force=force) as drafts:
            yield Written(drafts["--out"], drafts.get("--recipe"), drafts.get("--rows"))

    def write_recipe(self, recipe: Recipe) -> None:
        """Write how the release came about, if asked for."""
        from tokumei.data.files.atomic import write_text

        if self.recipe is not None:
            write_text(self.recipe, json.dumps(recipe.as_dict(), ensure_ascii=False) + "\n")

    def write_rows(self, rows: pl.Series | None) -> None:
        """Write which row of the original each released row was, if asked for."""
        from tokumei.data.files.row_numbers import write_rows

        if self.rows is not None and rows is not None:
            write_rows(rows + 1, self.rows)


def anonymize_levels(
    source: Source, typed: GoalOptions, method: TableSearch, keep: Sequence[str], files: Written
) -> tuple[Facts, list[Facts]]:
    """Search levels, write the release, and give the facts and what became of each column."""
    from tokumei.anonymize.tables import ROW, recipe_of, released_rows, write_anonymized
    from tokumei.data.files.formats import check_can_be_written

    started = time.perf_counter()
    trees, goal = typed.read_hierarchies(method), typed.goal(method)
    check_can_be_written(files.out)
    decision = write_anonymized(source.file, trees, goal, files.out, keep=keep, **source.reading)
    files.write_recipe(recipe_of(goal, decision, keep))
    if files.rows is not None:
        frame = source.frame("--rows")
        files.write_rows(released_rows(frame, list(trees), decision.recodings, decision.suppressed)[ROW])
    shares = decision.loss.inputs["shares"]
    facts: Facts = {
        "levels": decision.levels,
        "loss": decision.loss.value,
        "loss_name": decision.loss.name,
        "loss_by_attribute": shares,
        "k": decision.k,
        "suppressed": decision.n_suppressed,
        "nodes": decision.n_nodes,
        "nodes_checked": decision.n_nodes_checked,
        "classes_checked": decision.n_classes_checked,
        "is_proven": decision.is_proven,
        "seconds": round(time.perf_counter() - started, 4),
    }
    return facts, [
        {"column": name, "level": level, "of": trees[name].height, "loss": shares.get(name)}
        for name, level in decision.levels.items()
    ]


def anonymize_rows(
    source: Source,
    typed: GoalOptions,
    method: TableAnonymizer,
    keep: Sequence[str],
    seed: int | None,
    files: Written,
    *,
    is_reproducible: bool = False,
) -> tuple[Facts, list[Facts]]:
    """Recode locally or perturb, write the release, and give the facts and what became of each column."""
    from tokumei.anonymize.rows import release_rows
    from tokumei.core.registry import part_name
    from tokumei.data.files.formats import check_can_be_written, write_frame

    started = time.perf_counter()
    check_can_be_written(files.out)
    frame = source.frame(part_name(method))
    trees, goal = typed.read_hierarchies(method), typed.goal(method)
    made = release_rows(
        frame, typed.quasi_identifiers, trees, goal, keep=keep, seed=seed, is_reproducible=is_reproducible
    )
    if files.rows is not None and made.release.rows is None:
        raise InputError.of("a method that releases rows of people, for --rows")
    write_frame(made.release.frame, files.out)
    files.write_recipe(made.release.recipe)
    files.write_rows(made.release.rows)
    shares = {} if made.loss is None else made.loss.inputs["shares"]
    facts: Facts = {
        "loss": None if made.loss is None else made.loss.value,
        "loss_name": None if made.loss is None else made.loss.name,
        "loss_by_attribute": shares,
        "rows": made.release.frame.height,
        "k": None if made.counts is None else made.counts.k,
        "classes": None if made.counts is None else made.counts.n_classes,
        "suppressed": made.n_suppressed,
        "promises": {name: score.as_dict() for name, score in made.promises.items()},
        "promise": made.release.recipe.options.get("promise"),
        "seed": made.release.recipe.seed,
        "seconds": round(time.perf_counter() - started, 4),
    }
    return facts, [{"column": name, "loss": share} for name, share in shares.items()]
