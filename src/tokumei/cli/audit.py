"""`tokumei audit`: every safety measure of a table, and whether what was stated holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tokumei.cli.options import (
    EngineOption,
    HierarchiesOption,
    SourceArgument,
    names,
)
from tokumei.cli.output import EXIT_CHECK_FAILED, JsonFlag, show, showing_progress
from tokumei.cli.reading import reads_tables
from tokumei.cli.request import asks
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.tasks.request import Requirements

NOTHING = Requirements()


@reads_tables
@asks(Requirements)
def audit(
    file: SourceArgument,
    qi: Annotated[
        str,
        typer.Option(
            "--qi",
            metavar="A,B,…",
            help="The quasi-identifiers: what others may know. With --against, FILE and each of its files have classes "
            "by those that they have.",
        ),
    ],
    sensitive: Annotated[
        str | None, typer.Option("--sensitive", metavar="A,B,…", help="The columns others want to learn.")
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            metavar="FILE",
            help="An earlier release or another table of the same people, to see what comparing gives away; "
            "repeatable. Whose each row is must be told by --id, --rows or --in-order.",
        ),
    ] = None,
    person: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="Says whose each row is, in all files: your own secret copy of the releases. A person may have "
            "several rows. Used for --against only.",
        ),
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option("--rows", metavar="FILE", help="The row of the original behind each row of FILE, counted from 1."),
    ] = None,
    against_rows: Annotated[
        list[Path] | None,
        typer.Option("--against-rows", metavar="FILE", help="The rows of each --against, in order; repeatable."),
    ] = None,
    in_order: Annotated[
        bool, typer.Option("--in-order", help="Row n of all files is the same person, as after --keep-order.")
    ] = False,
    hierarchies: HierarchiesOption = None,
    request: Requirements = NOTHING,
    original: Annotated[
        str | None,
        typer.Option(
            "--original",
            metavar="FILE",
            help="What the release was made of: what compares a class with all rows is held against both.",
        ),
    ] = None,
    recipe: Annotated[
        Path | None,
        typer.Option("--recipe", metavar="FILE", help="How the release was made: a promise that is void fails."),
    ] = None,
    threshold: Annotated[float, typer.Option("--threshold", help="Records with a larger risk are counted.")] = 0.2,
    engine: EngineOption = "local",
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Measure how safe a table is as it stands; exit 1 if a stated requirement fails.

    With --against, the k of --k must also hold for all releases together: by sequential-k, or by multi-r-k-anonymity
    where a person has several rows in one of them.

    Example: tokumei audit release.csv --qi sex,age --sensitive illness --k 5 --l-diversity illness=3
    """
    from tokumei.tasks.audit_releases import Matching
    from tokumei.tasks.audit_table import audit_source

    with showing_progress():
        result = audit_source(
            file,
            names(qi, "--qi"),
            names(sensitive, "--sensitive") if sensitive else [],
            request,
            name=file,
            against=against or [],
            matching=Matching(person, rows, against_rows or [], in_order),
            original=original,
            recipe=recipe,
            threshold=threshold,
            hierarchies=hierarchies,
            engine=engine,
            reading=reading,
        )
    show(result, json=json)
    if not result.holds:
        raise typer.Exit(EXIT_CHECK_FAILED)
