"""`tokumei compare`: every way to search, on one table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from tokumei.cli.goals import (
    GoalOptions,
    LossOption,
    NumericOption,
    PreferOption,
    PricesOption,
    QiOption,
    SuppressOption,
    WeightsOption,
)
from tokumei.cli.options import (
    DelimiterOption,
    EncodingOption,
    EngineOption,
    SourceArgument,
    names,
)
from tokumei.cli.output import JsonFlag, print_facts, print_json, print_table, showing_progress
from tokumei.cli.requirements import Asked, KOption, LDiversityOption, TClosenessOption


def compare(
    file: SourceArgument,
    qi: QiOption,
    hierarchies: Annotated[
        Path, typer.Option("--hierarchies", metavar="DIR", help="Folder with one hierarchy file for each column.")
    ],
    k: KOption = None,
    l_diversity: LDiversityOption = None,
    t_closeness: TClosenessOption = None,
    suppress: SuppressOption = 0.0,
    loss: LossOption = None,
    prices: PricesOption = None,
    weights: WeightsOption = None,
    prefer: PreferOption = None,
    numeric: NumericOption = None,
    methods: Annotated[
        str | None, typer.Option("--methods", metavar="A,B,…", help="Only these; all but exhaustive if not given.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.html", help="Write a page with the table and a figure.")
    ] = None,
    engine: EngineOption = "local",
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = "utf-8",
    json: JsonFlag = False,
) -> None:
    """Run every search on one table, and compare what each found and what it cost.

    Example: tokumei compare people.csv --qi sex,age --hierarchies hierarchies --k 5 --out compare.html
    """
    from tokumei.anonymize.registry import searches
    from tokumei.counting.count import count_classes

    asked = Asked(k, None, l_diversity, t_closeness)
    listed = names(methods, "--methods") if methods else [name for name in searches() if name != "exhaustive"]
    made = _searches(listed)
    with showing_progress():
        typed = GoalOptions(qi, hierarchies, asked, None, suppress, loss, prices, weights, prefer, numeric)
        first = next(iter(made.values()))
        read, goal = typed.read_hierarchies(first), typed.goal(first)
        reading: dict[str, Any] = {"engine": engine, "delimiter": delimiter, "encoding": encoding}
        counts = count_classes(file, list(read), sensitive=goal.sensitive, **reading)
        goal = goal.against(counts)
        results = [_run(name, counts, read, replace(goal, method=search)) for name, search in made.items()]
        if out is not None:
            _write_page(results, loss or "prec", out)
    if json:
        print_json({"rows": counts.n_rows, "classes": counts.n_classes, "methods": results, "out": out and str(out)})
        return
    print_facts({"rows": counts.n_rows, "classes": counts.n_classes, "page": out and str(out)})
    print_table(
        ["method", "loss", "k", "suppressed", "nodes checked", "classes checked", "seconds", ""],
        [
            [
                one["method"],
                *(one.get(name) for name in ("loss", "k", "suppressed", "nodes_checked", "classes_checked", "seconds")),
                one.get("error") or ("proven" if one["is_proven"] else ""),
            ]
            for one in results
        ],
    )


def _searches(listed: list[str]) -> dict[str, Any]:
    """Make the searches; one that takes a predictor is run with each of them."""
    from tokumei.anonymize.registry import TABLE_ANONYMIZERS
    from tokumei.predict.predictor import PREDICTORS

    made: dict[str, Any] = {}
    for name in listed:
        if name == "pak":
            made |= {f"pak ({one})": TABLE_ANONYMIZERS.make(name, predictor=one) for one in PREDICTORS}
        else:
            made[name] = TABLE_ANONYMIZERS.make(name)
    return made


def _run(name: str, counts: Any, hierarchies: Any, goal: Any) -> dict[str, Any]:
    from tokumei.anonymize.tables import decide
    from tokumei.core.errors import InputError

    try:
        decision = decide(counts, hierarchies, goal)
    except InputError as error:
        # A method that cannot take this requirement is no reason to hide what the others found.
        return {"method": name, "is_proven": False, "error": error.faults[0].expected}
    return {
        "method": name,
        "levels": decision.levels,
        "loss": decision.loss.value,
        "k": decision.k,
        "suppressed": decision.n_suppressed,
        "nodes_checked": decision.n_nodes_checked,
        "classes_checked": decision.n_classes_checked,
        "seconds": round(decision.seconds, 4),
        "is_proven": decision.is_proven,
    }


def _write_page(results: list[dict[str, Any]], loss: str, out: Path) -> None:
    import polars as pl

    from tokumei.report.figures import bar_figure
    from tokumei.report.page import Page

    done = [one for one in results if "error" not in one]
    page = Page("Ways to search for the best generalisation")
    page.paragraph("Each method was given the same counts of the same table, and searched the same lattice.")
    bars = pl.DataFrame({"method": [o["method"] for o in done], "cost": [o["classes_checked"] for o in done]})
    page.figure(
        bar_figure(bars, x="cost", y="method", x_title="classes checked (logarithmic)", is_log=True),
        "Cost: the class counts of all nodes whose k was computed, added up. Lower is cheaper.",
    )
    page.table(
        ["method", f"loss ({loss})", "k", "suppressed", "nodes checked", "classes checked", "seconds"],
        [
            [o["method"], o["loss"], o["k"], o["suppressed"], o["nodes_checked"], o["classes_checked"], o["seconds"]]
            for o in done
        ],
        "What each method found. Least loss is best.",
    )
    page.write(out)
