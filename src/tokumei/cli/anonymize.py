"""`tokumei anonymize`: from an original to a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tokumei.cli.anonymizing import Source, Written, anonymize_levels, anonymize_rows
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
    HierarchiesOption,
    SourceArgument,
    names,
    part_options,
)
from tokumei.cli.output import JsonFlag, print_facts, print_json, print_table, showing_progress
from tokumei.cli.reading import reads_tables
from tokumei.cli.requirements import (
    AlphaOption,
    Asked,
    BetaOption,
    DisclosureOption,
    KMapOption,
    KOption,
    LDiversityOption,
    PopulationOption,
    PresenceOption,
    PresetOption,
    TClosenessOption,
)
from tokumei.data.files.reading import AS_IT_IS, Reading

app = typer.Typer(help="Anonymize tables and histories.", no_args_is_help=True)


@app.command("table")
@reads_tables
def table(
    file: SourceArgument,
    qi: QiOption,
    out: Annotated[Path, typer.Option("--out", metavar="OUT", help="The release, as CSV or Parquet.")],
    hierarchies: HierarchiesOption = None,
    k: KOption = None,
    preset: PresetOption = None,
    l_diversity: LDiversityOption = None,
    t_closeness: TClosenessOption = None,
    alpha_k: AlphaOption = None,
    beta_likeness: BetaOption = None,
    delta_disclosure: DisclosureOption = None,
    k_map: KMapOption = None,
    delta_presence: PresenceOption = None,
    population: PopulationOption = None,
    suppress: SuppressOption = 0.0,
    loss: LossOption = None,
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
    rows: Annotated[
        Path | None,
        typer.Option("--rows", metavar="FILE", help="Write which row each released row was. Keep it secret."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="The same seed gives the same release; a secret one is drawn if not given."),
    ] = None,
    reproducible: Annotated[
        bool,
        typer.Option(
            "--reproducible",
            help="Take --seed though the promise rests on noise nobody knows; it is then void.",
        ),
    ] = False,
    engine: EngineOption = "local",
    reading: Reading = AS_IT_IS,
    force: ForceOption = False,
    json: JsonFlag = False,
) -> None:
    """Anonymize a table so that it keeps what was asked for, with as little loss as the method can.

    The default searches one level for each column. Others, such as mondrian, recode locally; pram, noise and swap
    change values at random. Columns that are neither quasi-identifiers, nor named by a requirement, nor kept, are not
    released.

    Example: tokumei anonymize table adult.csv --qi sex,age --hierarchies hierarchies --k 5 --out release.csv
    """
    from tokumei.anonymize.registry import TABLE_ANONYMIZERS, TableSearch

    asked = Asked(k, preset, l_diversity, t_closeness, alpha_k, beta_likeness, k_map, delta_presence, delta_disclosure)
    typed = GoalOptions(qi, hierarchies, asked, population, suppress, loss, prices, weights, prefer, numeric)
    source = Source(file, engine, reading)
    kept = names(keep, "--keep") if keep else []
    read = [file, hierarchies, prices, population]
    with showing_progress(), Written(out, recipe, rows).drafts(read, force=force) as files:
        made = TABLE_ANONYMIZERS.make_from_text(method, part_options(options))
        if isinstance(made, TableSearch):
            result, losses = anonymize_levels(source, typed, made, kept, files)
        else:
            result, losses = anonymize_rows(source, typed, made, kept, seed, files, is_reproducible=reproducible)
    result = {"method": method, **result, "out": str(out)}
    if json:
        print_json(result)
        return
    facts = {name: value for name, value in result.items() if value is not None and not isinstance(value, dict)}
    # A seed is a name, not an amount.
    print_facts(facts | ({"seed": str(facts["seed"])} if "seed" in facts else {}))
    if losses:
        print_table(list(losses[0]), [list(one.values()) for one in losses])
    if result.get("promises"):
        scores = result["promises"].values()
        print_table(["promise", "value"], [[one["name"], one["value"]] for one in scores])


@app.command("apply")
@reads_tables
def apply(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE", help="What 'tokumei anonymize table --recipe' wrote.")],
    file: SourceArgument,
    out: Annotated[Path, typer.Option("--out", metavar="OUT", help="The release, as CSV or Parquet.")],
    hierarchies: HierarchiesOption = None,
    population: PopulationOption = None,
    reading: Reading = AS_IT_IS,
    force: ForceOption = False,
    json: JsonFlag = False,
) -> None:
    """Anonymize another table, such as next month's, as a recipe says; values it does not know are an error.

    A method that groups rows groups them anew. Hierarchies are in the recipe; a folder of others counts before them.
    --population is everybody as of now, for recipes with k-map or δ-presence.

    Example: tokumei anonymize apply recipe.json next-month.csv --out release.csv
    """
    from tokumei.anonymize.apply import write_applied
    from tokumei.anonymize.recipes import columns_of, quasi_identifiers_of, read_recipe
    from tokumei.counting.count import count_classes
    from tokumei.data.files.formats import check_can_be_written
    from tokumei.data.files.outputs import guarded
    from tokumei.hierarchy.files import has_hierarchy, read_hierarchies

    check_can_be_written(out)
    inputs = [recipe, file, hierarchies, population]
    with showing_progress(), guarded({"--out": out}, inputs=inputs, force=force) as drafts:
        read = read_recipe(recipe)
        named = [] if hierarchies is None else [one for one in columns_of(read) if has_hierarchy(hierarchies, one)]
        trees = {} if hierarchies is None else read_hierarchies(hierarchies, named)
        everybody = None if population is None else count_classes(population, quasi_identifiers_of(read))
        found = write_applied(read, file, drafts["--out"], hierarchies=trees, population=everybody, reading=reading)
    result: dict[str, Any] = {**found, "levels": read.options.get("levels"), "out": str(out)}
    print_json(result) if json else print_facts(result | {"levels": "as in the recipe"})
