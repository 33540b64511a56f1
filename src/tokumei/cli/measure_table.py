"""`tokumei measure table`: what use of a released table is left."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tokumei.cli.attack_table import (
    NumericOption,
    OriginalOption,
    QiOption,
    ReleaseOption,
    RowsOption,
    hierarchies_of,
    read_published,
    read_table,
)
from tokumei.cli.options import HierarchiesOption, names, part_options
from tokumei.cli.output import JsonFlag, print_json, print_table, print_text, showing_progress
from tokumei.cli.reading import reads_tables
from tokumei.core.errors import InputError
from tokumei.data.files.reading import AS_IT_IS, Reading

if TYPE_CHECKING:
    from tokumei.core.score import Score
    from tokumei.data.table import Table
    from tokumei.measure.registry import TableUtility


@reads_tables
def measure_table(
    original: OriginalOption,
    release: ReleaseOption,
    qi: QiOption,
    sensitive: Annotated[
        str | None, typer.Option("--sensitive", metavar="A,B,…", help="The columns others want to learn.")
    ] = None,
    hierarchies: HierarchiesOption = None,
    numeric: NumericOption = None,
    rows: RowsOption = None,
    measures: Annotated[
        str | None, typer.Option("--measures", metavar="A,B,…", help="Only these; all if not given.")
    ] = None,
    options: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="An option of the one measure asked for.")
    ] = None,
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Measure how much use a released table lost, by every measure that its columns allow.

    Example: tokumei measure table --original people.csv --release release.csv --qi sex,age --numeric age --sensitive
    illness --rows rows.csv
    """
    from tokumei.core.progress import step
    from tokumei.measure.registry import TABLE_UTILITIES

    started = time.perf_counter()
    attributes, columns = names(qi, "--qi"), names(sensitive, "--sensitive") if sensitive else []
    wanted = names(measures, "--measures") if measures else list(TABLE_UTILITIES)
    if options and len(wanted) != 1:
        raise InputError.of("one measure, whose option it is", option="--set", value=options[0])
    numbers = names(numeric, "--numeric") if numeric else []
    with showing_progress():
        before = read_table(original, attributes, columns, reading)
        published = read_published(release, rows, before, attributes, columns)
        published.owners(before.n_rows)
        before, after = typed(before, published.table, numbers)
        trees = hierarchies_of(hierarchies, [*attributes, *columns])
        scores: dict[str, Score] = {}
        left_out: dict[str, str] = {}
        with step("measuring", len(wanted)) as bar:
            for name in wanted:
                part = with_columns(name, part_options(options), trees, numbers)
                try:
                    scores[name] = part.measure(before, after, published.rows)
                except InputError as error:
                    if measures:
                        raise
                    left_out[name] = str(error)
                bar.advance()
    seconds = round(time.perf_counter() - started, 3)
    if json:
        found = {name: score.as_dict() for name, score in scores.items()}
        print_json({"scores": found, "left_out": left_out, "seconds": seconds})
        return
    listed: list[list[Any]] = [[name, one.value, one.best, one.worst, one.baseline] for name, one in scores.items()]
    print_table(["measure", "value", "best", "worst", "blindly"], listed)
    print_left_out(left_out)


def print_left_out(reasons: dict[str, str]) -> None:
    """Say what was not measured, each reason once."""
    for reason in dict.fromkeys(reasons.values()):
        who = ", ".join(name for name, own in reasons.items() if own == reason)
        print_text(f"Left out: {who}. {reason}")


def typed(before: Table, after: Table, numeric: list[str]) -> tuple[Table, Table]:
    """Read the columns that are declared to be numbers as such, where every cell of both tables is one."""
    import polars as pl

    from tokumei.attack.threat_model import column_of

    for name in numeric:
        columns = [column_of(table.frame, name, table.name) for table in (before, after)]
        numbers = [column.cast(pl.Float64, strict=False) for column in columns]
        if all(found.is_finite().sum() == column.count() for found, column in zip(numbers, columns, strict=True)):
            before = before.with_frame(before.frame.with_columns(numbers[0]))
            after = after.with_frame(after.frame.with_columns(numbers[1]))
    return before, after


def with_columns(name: str, given: dict[str, str], hierarchies: dict[str, Any], numeric: list[str]) -> TableUtility:
    """Make a measure with its options and, if it reads labels, what is needed for that."""
    from dataclasses import replace

    from tokumei.core.registry import part_options as options_of
    from tokumei.measure.registry import TABLE_UTILITIES

    more = {"hierarchies": hierarchies, "numeric": tuple(numeric)}
    for key in more.keys() & given.keys():
        raise InputError.of(f"--{key} instead", option="--set", value=key)
    part = TABLE_UTILITIES.make_from_text(name, given)
    known = {option.name for option in options_of(TABLE_UTILITIES.get(name))}
    return replace(part, **{key: value for key, value in more.items() if key in known})  # type: ignore[type-var]
