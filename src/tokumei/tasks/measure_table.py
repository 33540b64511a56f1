"""What use of a released table is left, by every measure that its columns allow."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.registry import part_name, part_options
from tokumei.core.result import Drawing, Result, Rows, Section, Sentence
from tokumei.core.score import Score
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.data.table import Table, check_column
from tokumei.measures.registry import TABLE_UTILITIES, TableUtility
from tokumei.tasks.pairs import hierarchies_of, numeric_of, published


@dataclass(frozen=True, eq=False, repr=False)
class TableUse(Result):
    """The scores of measures by name, and what was left out and why."""

    scores: Mapping[str, Score]
    left_out: Mapping[str, str]
    seconds: float
    frame_kind: str = "polars"

    def to_dict(self) -> dict[str, Any]:
        """Return the result as `tokumei measure table --json` prints it."""
        scores = {name: score.as_dict() for name, score in self.scores.items()}
        return {"scores": scores, "left_out": dict(self.left_out), "seconds": self.seconds}

    def sections(self) -> Sequence[Section]:
        """Return the scores, and what was not measured, each reason once."""
        rows = [[name, one.value, one.best, one.worst, one.baseline] for name, one in self.scores.items()]
        parts: list[Section] = [Rows(["measure", "value", "best", "worst", "blindly"], rows)]
        for reason in dict.fromkeys(self.left_out.values()):
            who = ", ".join(name for name, own in self.left_out.items() if own == reason)
            parts.append(Sentence(f"left out: {who}: {reason}"))
        return parts

    def __repr__(self) -> str:
        return f"TableUse({', '.join(f'{name} {one.value:.4g}' for name, one in self.scores.items())})"

    def figure(self) -> Drawing | None:
        """Draw those scores that lie between 0 and 1."""
        from tokumei.report.figures import bar_figure

        shown = {name: one.value for name, one in self.scores.items() if {one.best, one.worst} == {0, 1}}
        if not shown:
            return None
        points = pl.DataFrame({"measure": list(shown), "value": list(shown.values())})
        return Drawing(bar_figure(points, x="value", y="measure", x_title="value"))


def measure_table(
    original: Table,
    release: Any,
    measures: Any = None,
    *,
    numeric: Sequence[str] | None = None,
    hierarchies: Any = None,
    rows: Any = None,
    in_order: bool = False,
    reading: Reading = AS_IT_IS,
    **options: Any,
) -> TableUse:
    """Measure how much use a released table lost; see `tk.measure`."""
    started = time.perf_counter()
    asked = [measures] if isinstance(measures, str) or hasattr(measures, "measure") else measures
    wanted = list(TABLE_UTILITIES) if asked is None else list(asked)
    if options and len(wanted) != 1:
        raise InputError.of("one measure, whose option it is", value=next(iter(options)))
    numbers = numeric_of(original, numeric)
    for column in numbers:
        check_column(column, original.frame.columns, "numeric", original.name)
    given = published(original, release, rows, in_order=in_order, reading=reading)
    given.owners(original.n_rows)
    before, after = typed_alike(original, given.table, numbers)
    trees = hierarchies_of(original, release, hierarchies)
    scores: dict[str, Score] = {}
    left_out: dict[str, str] = {}
    with step("measuring", len(wanted)) as bar:
        for one in wanted:
            name, part = _part(one, options, trees, numbers)
            try:
                scores[name] = part.measure(before, after, given.rows)
            except InputError as error:
                if asked is not None:
                    raise
                left_out[name] = error.text
            bar.advance()
    return TableUse(scores, left_out, round(time.perf_counter() - started, 3), original.kind)


def typed_alike(before: Table, after: Table, numeric: Sequence[str]) -> tuple[Table, Table]:
    """Read the columns of numbers as such, where every cell of both tables is one."""
    for name in numeric:
        if name not in after.frame.columns:
            continue
        columns = [table.frame[name] for table in (before, after)]
        numbers = [column.cast(pl.Float64, strict=False) for column in columns]
        if all(found.is_finite().sum() == column.count() for found, column in zip(numbers, columns, strict=True)):
            before = before.with_frame(before.frame.with_columns(numbers[0]))
            after = after.with_frame(after.frame.with_columns(numbers[1]))
    return before, after


def _part(
    measure: Any, options: Mapping[str, Any], hierarchies: Mapping[str, Any], numeric: Sequence[str]
) -> tuple[str, TableUtility]:
    """Make a measure with its options and, if it reads labels, what is needed for that."""
    name = measure if isinstance(measure, str) else part_name(measure)
    more = {"hierarchies": dict(hierarchies), "numeric": tuple(numeric)}
    for key in more.keys() & options.keys():
        raise InputError.of(f"{key} of the job instead", value=key)
    part: Any = TABLE_UTILITIES.make(name, **options) if isinstance(measure, str) else measure
    known = {option.name for option in part_options(type(part))}
    return name, replace(part, **{key: value for key, value in more.items() if key in known})
