"""`tokumei predict`: the k of nodes without counting them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tokumei.cli.options import EngineOption, SourceArgument, level_pairs, names
from tokumei.cli.output import JsonFlag, print_facts, print_json, print_table, showing_progress
from tokumei.cli.reading import reads_tables
from tokumei.data.files.reading import AS_IT_IS, Reading

# More nodes than this are summed up, not listed, unless asked for.
LISTED = 40


@reads_tables
def predict(
    file: SourceArgument,
    qi: Annotated[str, typer.Option("--qi", metavar="A,B,…", help="The quasi-identifiers.")],
    hierarchies: Annotated[
        Path, typer.Option("--hierarchies", metavar="DIR", help="Folder with one hierarchy file for each column.")
    ],
    method: Annotated[
        str | None, typer.Option("--method", help="Only this predictor: see 'tokumei parts predictor'.")
    ] = None,
    levels: Annotated[
        list[str] | None, typer.Option("--levels", metavar="A=1,B=2", help="Only this node; all nodes if not given.")
    ] = None,
    k: Annotated[int, typer.Option("--k", min=1, help="The k that a release must have.")] = 2,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Nodes to list.")] = LISTED,
    engine: EngineOption = "local",
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Predict the k of nodes from few counts, and compare it with the k that counting gives.

    Example: tokumei predict people.csv --qi sex,age,prefecture --hierarchies hierarchies --k 10
    """
    from tokumei.counting.count import count_classes
    from tokumei.hierarchy.files import read_hierarchies
    from tokumei.hierarchy.lattice import Lattice
    from tokumei.predict.compare import compare, predictors_for
    from tokumei.predict.predictor import PREDICTORS

    lattice = Lattice.of(read_hierarchies(hierarchies, names(qi, "--qi")))
    nodes = None if levels is None else [lattice.node(level_pairs(levels))]
    predictors = predictors_for(k)
    if method is not None:
        PREDICTORS.get(method)
        predictors = {method: predictors[method]}
    with showing_progress():
        counts = count_classes(file, list(lattice.attributes), engine=engine, reading=reading)
        compared = compare(lattice, counts, predictors, nodes=nodes)
    rows = [
        {
            "levels": lattice.levels(one.node),
            "class_count": one.class_count,
            "k": one.k,
            "predicted": {
                name: {"k": each.k, "low": each.low, "high": each.high, "serves": each.low >= k}
                for name, each in one.predictions.items()
            },
        }
        for one in compared.nodes
    ]
    summary = compared.summary()
    quadrants = {name: _quadrants(compared.quadrants(name, k)) for name in predictors}
    if json:
        methods = {name: {**summary[name], **quadrants[name]} for name in predictors}
        print_json({"rows": counts.n_rows, "nodes": rows, "k_p": k, "methods": methods})
        return
    print_facts({"rows": counts.n_rows, "nodes": len(rows), "k asked for": k})
    header = [", ".join(lattice.attributes), "classes", "k", *predictors]
    print_table(header, [_row(one, list(predictors)) for one in rows[:limit]])
    if len(rows) > limit:
        typer.echo(f"… and {len(rows) - limit:,} more nodes (--limit shows more)")
    print_table(
        ["predictor", "mean error ratio", "classes counted", "numbers published", "α", "β", "γ", "δ"],
        [[name, *summary[name].values(), *list(quadrants[name].values())[:4]] for name in predictors],
        title="α served and holds, β refused though it holds, γ served and fails, δ refused and fails",
    )


def _row(one: dict[str, Any], predictors: list[str]) -> list[Any]:
    shown = ["{k:,.0f} ({low:,.0f}–{high:,.0f})".format(**one["predicted"][name]) for name in predictors]
    return [", ".join(str(level) for level in one["levels"].values()), one["class_count"], one["k"], *shown]


def _quadrants(found: Any) -> dict[str, int]:
    from dataclasses import asdict

    return asdict(found)
