"""`tokumei compare`: several methods on one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tokumei.cli.goals import (
    HierarchyOption,
    LossOption,
    NumericOption,
    PreferOption,
    PricesOption,
    QiOption,
    SuppressOption,
    WeightsOption,
    columns_of,
    goal_options,
    hierarchies_of,
)
from tokumei.cli.options import EngineOption, ForceOption, HierarchiesOption, SourceArgument, names
from tokumei.cli.output import JsonFlag, show, showing_progress
from tokumei.cli.reading import reads_tables
from tokumei.cli.requirements import KOption, LDiversityOption, MissingOption, TClosenessOption, requirement_options
from tokumei.data.files.reading import AS_IT_IS, Reading


@reads_tables
def compare(
    file: SourceArgument,
    qi: QiOption,
    hierarchies: HierarchiesOption = None,
    hierarchy: HierarchyOption = None,
    k: KOption = None,
    l_diversity: LDiversityOption = None,
    t_closeness: TClosenessOption = None,
    missing_is_a_value: MissingOption = False,
    suppress: SuppressOption = 0.0,
    loss: LossOption = None,
    prices: PricesOption = None,
    weights: WeightsOption = None,
    prefer: PreferOption = None,
    numeric: NumericOption = None,
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

    asked = requirement_options(k, None, l_diversity, t_closeness, missing_is_a_value=missing_is_a_value)
    read = [file, hierarchies, *columns_of(hierarchy).values(), prices]
    with showing_progress(), guarded({"--out": out}, inputs=read, pages=["--out"], force=force) as drafts:
        known = known_on_engine(
            file,
            names(qi, "--qi"),
            engine=engine,
            reading=reading,
            hierarchies=hierarchies_of(hierarchies, hierarchy),
            numeric=names(numeric, "--numeric") if numeric else None,
        )
        chosen = names(methods, "--methods") if methods else None
        goal = goal_options(suppress, loss, prices, weights, prefer)
        result = compare_source(file, known, methods=chosen, engine=engine, **asked, **goal)
        if out is not None:
            result.write_page(drafts["--out"])
    show(result.written_to(out), json=json)
