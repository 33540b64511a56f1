"""`tokumei predict`: the k of nodes without counting them."""

from __future__ import annotations

from typing import Annotated

import typer

from tokumei.cli.options import (
    CautionOption,
    EngineOption,
    HierarchiesOption,
    LargestOption,
    NNodesOption,
    RuleOption,
    SourceArgument,
    level_pairs,
    names,
)
from tokumei.cli.output import JsonFlag, show, showing_progress
from tokumei.cli.reading import reads_tables
from tokumei.cli.request import HierarchyOption, hierarchies_of
from tokumei.data.files.reading import AS_IT_IS, Reading

# More nodes than this are summed up, not listed, unless asked for.
LISTED = 40


@reads_tables
def predict(
    file: SourceArgument,
    qi: Annotated[str, typer.Option("--qi", metavar="A,B,…", help="The quasi-identifiers.")],
    hierarchies: HierarchiesOption = None,
    hierarchy: HierarchyOption = None,
    method: Annotated[
        str | None, typer.Option("--method", help="Only this predictor: see 'tokumei parts predictor'.")
    ] = None,
    levels: Annotated[
        list[str] | None, typer.Option("--levels", metavar="A=1,B=2", help="Only this node; all nodes if not given.")
    ] = None,
    k: Annotated[int, typer.Option("--k", min=1, help="The k that a release must have.")] = 2,
    rule: RuleOption = "low",
    largest: LargestOption = None,
    n_nodes: NNodesOption = None,
    caution: CautionOption = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Nodes to list.")] = LISTED,
    engine: EngineOption = "local",
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Predict the k of nodes from few counts, and compare it with the k that counting gives.

    Example: tokumei predict people.csv --qi sex,age,prefecture --hierarchies hierarchies --k 10
    """
    from tokumei.tasks.predict_table import predict_source

    with showing_progress():
        result = predict_source(
            file,
            names(qi, "--qi"),
            k=k,
            method=method,
            levels=None if levels is None else level_pairs(levels),
            limit=limit,
            hierarchies=hierarchies_of(hierarchies, hierarchy),
            rule=rule,
            largest=largest,
            n_nodes=n_nodes,
            caution=caution,
            engine=engine,
            reading=reading,
        )
    show(result, json=json)
