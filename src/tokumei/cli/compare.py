"""`tokumei compare`: several methods on one table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tokumei.cli.options import EngineOption, ForceOption, HierarchiesOption, SourceArgument, names
from tokumei.cli.output import JsonFlag, show, showing_progress
from tokumei.cli.reading import reads_tables
from tokumei.cli.request import HierarchyOption, QiOption, asks, columns_of, hierarchies_of
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.tasks.request import ReleaseRequest

NOTHING = ReleaseRequest()
# What is asked of the rows that are written, and none are.
ROWS_ALONE = ("keep", "keep_anyway", "keep_order", "reproducible")


@reads_tables
@asks(ReleaseRequest, *ROWS_ALONE)
def compare(
    file: SourceArgument,
    qi: QiOption,
    hierarchies: HierarchiesOption = None,
    hierarchy: HierarchyOption = None,
    request: ReleaseRequest = NOTHING,
    methods: Annotated[
        str | None,
        typer.Option("--methods", metavar="A,B,…", help="Only these; all that generalize but exhaustive if not given."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.html", help="Write a page with the table and a figure.")
    ] = None,
    engine: EngineOption = "local",
    reading: Reading = AS_IT_IS,
    force: ForceOption = False,
    json: JsonFlag = False,
) -> None:
    """Run methods on one table, and compare what each found and what it cost.

    By default all that search levels and, since both are measured by it, local recodings with --loss ncp.

    Example: tokumei compare people.csv --qi sex,age --hierarchies hierarchies --k 5 --out compare.html
    """
    from tokumei.data.files.outputs import guarded
    from tokumei.tasks.compare_table import compare_source
    from tokumei.tasks.goal import known_on_engine

    asked = replace(request, hierarchies=hierarchies_of(hierarchies, hierarchy))
    read = [file, hierarchies, *columns_of(hierarchy).values(), request.prices, request.population]
    with showing_progress(), guarded({"--out": out}, inputs=read, pages=["--out"], force=force) as drafts:
        known = known_on_engine(
            file,
            names(qi, "--qi"),
            engine=engine,
            reading=reading,
            hierarchies=asked.hierarchies,
            numeric=asked.numeric,
        )
        result = compare_source(file, known, asked, names(methods, "--methods") if methods else None, engine=engine)
        if out is not None:
            result.write_page(drafts["--out"])
    show(result.written_to(out), json=json)
