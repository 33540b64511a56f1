"""`tokumei anonymize`: from an original to a release."""

from __future__ import annotations

import json as json_module
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tokumei.cli.options import (
    DelimiterOption,
    EncodingOption,
    EngineOption,
    SourceArgument,
    names,
    pairs,
    part_options,
)
from tokumei.cli.output import JsonFlag, print_facts, print_json, print_table, showing_progress
from tokumei.cli.requirements import (
    AlphaOption,
    Asked,
    BetaOption,
    KMapOption,
    KOption,
    LDiversityOption,
    PopulationOption,
    PresenceOption,
    PresetOption,
    TClosenessOption,
)
from tokumei.core.errors import InputError

if TYPE_CHECKING:
    from tokumei.anonymize.goal import Goal
    from tokumei.hierarchy.hierarchy import Hierarchy

app = typer.Typer(help="Anonymize tables and histories.", no_args_is_help=True)

QiOption = Annotated[str, typer.Option("--qi", metavar="A,B,…", help="The quasi-identifiers: what others may know.")]
HierarchiesOption = Annotated[
    Path, typer.Option("--hierarchies", metavar="DIR", help="Folder with one hierarchy file for each column.")
]
SuppressOption = Annotated[float, typer.Option("--suppress", help="Share of rows that may be left out, 0 to 1.")]
LossOption = Annotated[
    str, typer.Option("--loss", help="What to keep small: prec, dis, ncp, entropy, dm, average-class-size, price.")
]
PricesOption = Annotated[
    Path | None, typer.Option("--prices", metavar="FILE", help="For --loss price: attribute, label and price as CSV.")
]
WeightsOption = Annotated[
    list[str] | None, typer.Option("--weights", metavar="A=2,B=1", help="How much each column's loss counts.")
]
PreferOption = Annotated[
    str | None, typer.Option("--prefer", metavar="A,B,…", help="Columns to keep finest, among equal losses.")
]
NumericOption = Annotated[
    str | None, typer.Option("--numeric", metavar="A,B,…", help="Columns of numbers, for losses that measure widths.")
]
# Names that people type for a loss.
SHORT_NAMES = {"dm": "discernibility", "acs": "average-class-size"}


@app.command("table")
def table(
    file: SourceArgument,
    qi: QiOption,
    hierarchies: HierarchiesOption,
    out: Annotated[Path, typer.Option("--out", metavar="OUT", help="The release, as CSV or Parquet.")],
    k: KOption = None,
    preset: PresetOption = None,
    l_diversity: LDiversityOption = None,
    t_closeness: TClosenessOption = None,
    alpha_k: AlphaOption = None,
    beta_likeness: BetaOption = None,
    k_map: KMapOption = None,
    delta_presence: PresenceOption = None,
    population: PopulationOption = None,
    suppress: SuppressOption = 0.0,
    loss: LossOption = "prec",
    prices: PricesOption = None,
    method: Annotated[str, typer.Option("--method", help="See 'tokumei parts table-anonymizer'.")] = "optimal",
    options: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="An option of the method; repeatable.")
    ] = None,
    weights: WeightsOption = None,
    prefer: PreferOption = None,
    numeric: NumericOption = None,
    keep: Annotated[
        str | None, typer.Option("--keep", metavar="A,B,…", help="Further columns to release, unchanged.")
    ] = None,
    recipe: Annotated[
        Path | None, typer.Option("--recipe", metavar="FILE", help="Write the recipe, for 'tokumei anonymize apply'.")
    ] = None,
    engine: EngineOption = "local",
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = "utf-8",
    json: JsonFlag = False,
) -> None:
    """Generalise the quasi-identifiers of a table with the least loss that keeps what was asked for.

    Columns that are neither quasi-identifiers, nor named by a requirement, nor kept, are not released.

    Example: tokumei anonymize table adult.csv --qi sex,age --hierarchies hierarchies --k 5 --out release.csv
    """
    from tokumei.anonymize.registry import TABLE_ANONYMIZERS
    from tokumei.anonymize.tables import recipe_of, write_anonymized
    from tokumei.data.files.atomic import write_text

    started = time.perf_counter()
    asked = Asked(k, preset, l_diversity, t_closeness, alpha_k, beta_likeness, k_map, delta_presence)
    reading = {"engine": engine, "delimiter": delimiter, "encoding": encoding}
    kept = names(keep, "--keep") if keep else []
    with showing_progress():
        read, goal = goal_of(qi, hierarchies, asked, population, suppress, loss, prices, weights, prefer, numeric)
        search = TABLE_ANONYMIZERS.make_from_text(method, part_options(options))
        goal = with_method(goal, search)
        decision = write_anonymized(file, read, goal, out, keep=kept, **reading)
        if recipe is not None:
            write_text(recipe, json_module.dumps(recipe_of(goal, decision, kept).as_dict(), ensure_ascii=False) + "\n")
    shares = decision.loss.inputs["shares"]
    result: dict[str, Any] = {
        "method": method,
        "levels": decision.levels,
        "loss": decision.loss.value,
        "loss_name": decision.loss.name,
        "loss_by_attribute": shares,
        "k": decision.k,
        "suppressed": decision.n_suppressed,
        "nodes": decision.n_nodes,
        "nodes_checked": decision.n_nodes_checked,
        "classes_checked": decision.n_classes_checked,
        "is_proven": decision.is_proven,
        "seconds": round(time.perf_counter() - started, 4),
        "out": str(out),
    }
    if json:
        print_json(result)
        return
    print_facts({name: value for name, value in result.items() if name not in ("levels", "loss_by_attribute")})
    rows = [[name, level, read[name].height, shares.get(name)] for name, level in decision.levels.items()]
    print_table(["column", "level", "of", "loss"], rows)


@app.command("apply")
def apply(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE", help="What 'tokumei anonymize table --recipe' wrote.")],
    file: SourceArgument,
    out: Annotated[Path, typer.Option("--out", metavar="OUT", help="The release, as CSV or Parquet.")],
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = "utf-8",
    json: JsonFlag = False,
) -> None:
    """Generalise another table, such as next month's, as a recipe says; values it does not know are an error.

    Example: tokumei anonymize apply recipe.json next-month.csv --out release.csv
    """
    from tokumei.anonymize.apply import apply_recipe, read_recipe
    from tokumei.data.files.formats import read_frame, write_frame

    with showing_progress():
        frame = read_frame(file, delimiter=delimiter, encoding=encoding)
        release = apply_recipe(read_recipe(recipe), frame)
        write_frame(release.frame, out)
    result: dict[str, Any] = {
        "rows": release.frame.height,
        "suppressed": frame.height - release.frame.height,
        "levels": release.recipe.options["levels"],
        "out": str(out),
    }
    print_json(result) if json else print_facts(result | {"levels": "as in the recipe"})


def goal_of(
    qi: str,
    folder: Path,
    asked: Asked,
    population: str | None,
    suppress: float,
    loss: str,
    prices: Path | None,
    weights: list[str] | None,
    prefer: str | None,
    numeric: str | None,
) -> tuple[dict[str, Hierarchy], Goal]:
    """Make what is asked of a search from the options that several commands share."""
    from tokumei.anonymize.goal import Goal
    from tokumei.counting.count import count_classes
    from tokumei.hierarchy.files import has_hierarchy, read_hierarchies
    from tokumei.measure.losses import LOSSES

    attributes = names(qi, "--qi")
    read = read_hierarchies(folder, attributes)
    sensitive = [column for column in asked.sensitive_columns() if has_hierarchy(folder, column)]
    everybody = None
    if population is not None:
        everybody = count_classes(population, attributes)
    loss_name = SHORT_NAMES.get(loss, loss)
    loss_options = {"file": str(prices)} if prices is not None else {}
    return read, Goal(
        requirements=asked.requirements(read_hierarchies(folder, sensitive), everybody),
        loss=LOSSES.make(loss_name, **loss_options),
        suppression=suppress,
        weights={name: _weight(name, text) for name, text in pairs(weights or [], "--weights").items()},
        numeric=names(numeric, "--numeric") if numeric else [],
        preference=names(prefer, "--prefer") if prefer else [],
    )


def with_method(goal: Goal, method: Any) -> Goal:
    """Give the goal with another way to search."""
    from dataclasses import replace

    return replace(goal, method=method)


def _weight(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError.of("a number", column=f"--weights {name}", value=text) from None
