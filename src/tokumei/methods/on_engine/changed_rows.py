"""What a change of the rows of a file begins and ends with: what is asked of it, and a count of what was written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tokumei.core.errors import CannotAnonymize, InputError, PromiseBroken
from tokumei.core.registry import part_name
from tokumei.core.score import Score
from tokumei.core.seeds import key_of
from tokumei.data.files.formats import scan_frame
from tokumei.data.files.parquet import is_glob
from tokumei.data.files.reading import Reading
from tokumei.data.release import Recipe
from tokumei.engines.class_counts import ClassCounts
from tokumei.engines.count import column_names, count_classes, with_histograms
from tokumei.measures.requirement import Requirement, population_of
from tokumei.methods.goal import Goal, against_original, check_classes, released_columns
from tokumei.methods.rows import check_is_used
from tokumei.methods.search.problem import check_asked

# The number of a row, and by what rows are ordered that are written in an order that is drawn.
ROW, PLACES = "tokumei_row", ("tokumei_place", "tokumei_place_2")


@dataclass(frozen=True, eq=False)
class ChangedRows:
    """What was found out about a release whose rows were changed on an engine, or as they went by."""

    recipe: Recipe
    checked: Sequence[Requirement]
    counts: ClassCounts
    promises: Mapping[str, Score]
    n_suppressed: int = 0


@dataclass(frozen=True, eq=False)
class RowTask:
    """The columns that are released, counts with what is protected, and what must hold of the release."""

    source: str
    quasi_identifiers: Sequence[str]
    goal: Goal
    columns: Sequence[str]
    counts: ClassCounts
    told: Sequence[Requirement]
    reading: Reading

    @classmethod
    def of(
        cls,
        source: str,
        quasi_identifiers: Sequence[str],
        goal: Goal,
        *,
        counts: ClassCounts,
        keep: Sequence[str],
        engine: str,
        reading: Reading,
    ) -> RowTask:
        """Check what is asked before anything is read."""
        name = part_name(goal.method)
        where: dict[str, Any] = {"engine": engine, "reading": reading}
        columns = released_columns(column_names(source, **where), quasi_identifiers, goal, keep)
        check_asked(columns, goal.suppression, goal.weights, goal.numeric)
        check_is_used(goal, quasi_identifiers)
        if any(population_of(one) is not None for one in goal.requirements):
            raise InputError.of(f"no requirement of a population: {name} changes the values of rows")
        if not Path(source).exists() and not is_glob(source):
            expected = f"a file, whose rows have the order that {name} goes by"
            raise InputError.of(expected, option="engine", value=source)
        counts = with_histograms(source, counts, goal.sensitive, **where)
        told = against_original(goal.requirements, counts, moves=True)
        return cls(source, quasi_identifiers, goal, columns, counts, told, reading)

    def rows(self) -> pl.LazyFrame:
        """Scan the rows in their order."""
        rows = scan_frame(self.source, self.reading).select(self.columns)
        return rows.with_columns(pl.selectors.categorical().cast(pl.String))

    def recounted(self, draft: Path) -> ClassCounts:
        """Count what was written; CannotAnonymize if what was asked for does not hold."""
        written = count_classes(draft, list(self.quasi_identifiers), sensitive=self.goal.sensitive)
        try:
            check_classes(written, self.told)
        except PromiseBroken as broken:
            # Such changes promise nothing of classes; that they were asked to is no fault of theirs.
            raise CannotAnonymize(f"By {part_name(self.goal.method)}, {broken}.") from None
        return written


def placed(engine: Any, table: Any, name: str, seed: int) -> Any:
    """Add the columns that order numbered rows as the seed draws."""
    # Here, since it takes half a second to import, and rows that go by need it not.
    from tokumei.engines.draws import Draws

    draws = Draws.of(engine, key_of(seed, name), table[ROW])
    return table.mutate(**{place: draws.whole(at) for at, place in enumerate(PLACES)})
