"""`tokumei compare`: several methods on one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from tokumei.cli.anonymizing import Source
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
    EngineOption,
    ForceOption,
    SourceArgument,
    names,
)
from tokumei.cli.output import JsonFlag, print_facts, print_json, print_table, showing_progress
from tokumei.cli.reading import reads_tables
from tokumei.cli.requirements import Asked, KOption, LDiversityOption, TClosenessOption
from tokumei.core.errors import CannotAnonymize, InputError
from tokumei.data.files.reading import AS_IT_IS, Reading


@reads_tables
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
        str | None,
        typer.Option("--methods", metavar="A,B,…", help="Only these; all searches but exhaustive if not given."),
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

    By default all that search levels; with --loss ncp also local recodings, which are measured by it.

    Example: tokumei compare people.csv --qi sex,age --hierarchies hierarchies --k 5 --out compare.html
    """
    from tokumei.anonymize.registry import TABLE_ANONYMIZERS
    from tokumei.counting.count import count_classes
    from tokumei.data.files.outputs import guarded

    asked = Asked(k, None, l_diversity, t_closeness)
    made = _methods(names(methods, "--methods") if methods else _usual_methods(loss))
    typed = GoalOptions(qi, hierarchies, asked, None, suppress, loss, prices, weights, prefer, numeric)
    source = Source(file, engine, reading)
    guard = guarded({"--out": out}, inputs=[file, hierarchies, prices], force=force)
    with showing_progress(), guard as drafts:
        usual = TABLE_ANONYMIZERS.make("optimal")
        read, goal = typed.read_hierarchies(usual), typed.goal(usual)
        counts = count_classes(file, list(read), sensitive=goal.sensitive, **source.reading)
        results = []
        failed: list[CannotAnonymize] = []
        for name, method in made.items():
            run = _run_rows if hasattr(method, "recode_locally") else _run_levels
            results.append(_run(name, run, failed, source, counts, read, replace(goal, method=method)))
        if failed and len(failed) == len(results):
            raise failed[0]
        if out is not None:
            _write_page(results, loss or "prec", drafts["--out"])
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


def _usual_methods(loss: str | None) -> list[str]:
    from tokumei.anonymize.registry import TABLE_ANONYMIZERS, searches

    recoders = [name for name in TABLE_ANONYMIZERS if hasattr(TABLE_ANONYMIZERS.get(name), "recode_locally")]
    return [*(name for name in searches() if name != "exhaustive"), *(recoders if loss == "ncp" else [])]


def _methods(listed: list[str]) -> dict[str, Any]:
    """Make the methods; one that takes a predictor is run with each of them."""
    from tokumei.anonymize.registry import TABLE_ANONYMIZERS
    from tokumei.core.registry import part_options
    from tokumei.predict.predictor import PREDICTORS

    made: dict[str, Any] = {}
    for name in listed:
        if hasattr(TABLE_ANONYMIZERS.get(name), "perturb"):
            raise InputError.of("a method that generalizes, whose loss can be compared", value=name)
        if any(option.name == "predictor" for option in part_options(TABLE_ANONYMIZERS.get(name))):
            made |= {f"{name} ({one})": TABLE_ANONYMIZERS.make(name, predictor=one) for one in PREDICTORS}
        else:
            made[name] = TABLE_ANONYMIZERS.make(name)
    return made


def _run(name: str, run: Callable[..., dict[str, Any]], failed: list[CannotAnonymize], *given: Any) -> dict[str, Any]:
    """Give what a method found, or why it did not."""
    try:
        return {"method": name, **run(*given)}
    except InputError as error:
        # A method that cannot take this requirement is no reason to hide what the others found.
        return {"method": name, "is_proven": False, "error": error.faults[0].expected}
    except CannotAnonymize as error:
        # Another may leave other rows out, and hold.
        failed.append(error)
        return {"method": name, "is_proven": False, "error": str(error)}


def _run_levels(source: Source, counts: Any, hierarchies: Any, goal: Any) -> dict[str, Any]:  # noqa: ARG001 - alike.
    from tokumei.anonymize.tables import decide

    decision = decide(counts, hierarchies, goal.against(counts))
    return {
        "levels": decision.levels,
        "loss": decision.loss.value,
        "k": decision.k,
        "suppressed": decision.n_suppressed,
        "nodes_checked": decision.n_nodes_checked,
        "classes_checked": decision.n_classes_checked,
        "seconds": round(decision.seconds, 4),
        "is_proven": decision.is_proven,
    }


def _run_rows(source: Source, counts: Any, hierarchies: Any, goal: Any) -> dict[str, Any]:  # noqa: ARG001 - alike.
    from tokumei.anonymize.rows import release_rows
    from tokumei.core.registry import part_name

    if part_name(goal.loss) != "ncp":
        raise InputError.of("--loss ncp, which local recodings are measured by")
    found = release_rows(source.frame(part_name(goal.method)), list(hierarchies), hierarchies, goal)
    return {
        "loss": found.loss and found.loss.value,
        "k": found.counts and found.counts.k,
        "suppressed": found.n_suppressed,
        "nodes_checked": None,
        "classes_checked": None,
        "seconds": round(found.seconds, 4),
        "is_proven": False,
    }


def _write_page(results: list[dict[str, Any]], loss: str, out: Path) -> None:
    import polars as pl

    from tokumei.report.figures import bar_figure, dot_figure
    from tokumei.report.page import Page

    done = [one for one in results if "error" not in one]
    searched = [one for one in done if one["classes_checked"] is not None]
    page = Page("Ways to anonymize one table")
    page.paragraph("Each method was given the same rows, and the same was asked of it.")
    bars = pl.DataFrame({"method": [o["method"] for o in done], "loss": [o["loss"] for o in done]})
    page.figure(bar_figure(bars, x="loss", y="method", x_title=f"loss ({loss})"), "What each release lost.")
    if searched:
        costs = pl.DataFrame({"method": [o["method"] for o in searched], "n": [o["classes_checked"] for o in searched]})
        page.figure(
            dot_figure(costs, x="n", y="method", x_title="classes checked, on a logarithmic axis"),
            "Cost of a search: the class counts of all nodes whose k was computed, added up. Left is cheaper.",
        )
    names_of = ("method", "loss", "k", "suppressed", "nodes_checked", "classes_checked", "seconds")
    page.table(
        ["method", f"loss ({loss})", "k", "suppressed", "nodes checked", "classes checked", "seconds"],
        [["–" if one[name] is None else one[name] for name in names_of] for one in done],
        "What each method found. Least loss is best.",
    )
    page.write(out)
