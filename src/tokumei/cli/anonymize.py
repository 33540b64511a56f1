"""`tokumei anonymize`: from an original to a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

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
    read_table,
)
from tokumei.cli.options import EngineOption, ForceOption, HierarchiesOption, SourceArgument, names, part_options
from tokumei.cli.output import JsonFlag, show, showing_progress
from tokumei.cli.reading import reads_tables
from tokumei.cli.requirements import (
    AlphaOption,
    BetaOption,
    DisclosureOption,
    KMapOption,
    KOption,
    LDiversityOption,
    MissingOption,
    PopulationOption,
    PresenceOption,
    PresetOption,
    TClosenessOption,
    requirement_options,
)
from tokumei.data.files.reading import AS_IT_IS, Reading

if TYPE_CHECKING:
    from tokumei.methods.unseen import Unseen

app = typer.Typer(help="Anonymize tables and histories.", no_args_is_help=True)
OutOption = Annotated[Path, typer.Option("--out", metavar="OUT", help="The release, as CSV or Parquet.")]
KeepOrderOption = Annotated[
    bool, typer.Option("--keep-order", help="Release rows in their order; else they are shuffled by a secret seed.")
]
SeedOption = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="The same seed gives the same release; a secret one is drawn if not given."),
]


@app.command("table")
@reads_tables
def table(
    file: SourceArgument,
    qi: QiOption,
    out: Annotated[
        str, typer.Option("--out", metavar="OUT", help="The release, as CSV or Parquet; DIR/ for a folder of Parquet.")
    ],
    hierarchies: HierarchiesOption = None,
    hierarchy: HierarchyOption = None,
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
    missing_is_a_value: MissingOption = False,
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
    keep_anyway: Annotated[
        bool, typer.Option("--keep-anyway", help="Keep columns that single people out, and free text, all the same.")
    ] = False,
    keep_order: KeepOrderOption = False,
    recipe: Annotated[
        Path | None, typer.Option("--recipe", metavar="FILE", help="Write the recipe, for 'tokumei anonymize apply'.")
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option("--rows", metavar="FILE", help="Write which row each released row was. Keep it secret."),
    ] = None,
    seed: SeedOption = None,
    reproducible: Annotated[
        bool,
        typer.Option(
            "--reproducible",
            help="Take --seed though the promise rests on noise nobody knows; it is then void.",
        ),
    ] = False,
    engine: EngineOption = "local",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say how many passes, how much memory and time it would take, and end.")
    ] = False,
    reading: Reading = AS_IT_IS,
    force: ForceOption = False,
    json: JsonFlag = False,
) -> None:
    """Anonymize a table so that it keeps what was asked for, with as little loss as the method can.

    The default searches one level for each column. Others, such as mondrian, recode locally; pram, noise and swap
    change values at random. Columns that are neither quasi-identifiers, nor named by a requirement, nor kept, are not
    released. Where no hierarchies are given, one is made for each column, and what was made is said.

    Example: tokumei anonymize table adult.csv --qi sex,age --hierarchies hierarchies --k 5 --out release.csv
    """
    from tokumei.data.files.formats import check_can_be_written
    from tokumei.data.files.outputs import check_outputs, guarded
    from tokumei.methods.registry import TABLE_ANONYMIZERS
    from tokumei.tasks.writing import anonymize_to_files, plan_of_files

    asked = requirement_options(
        *(k, preset, l_diversity, t_closeness, alpha_k, beta_likeness, k_map, delta_presence),
        missing_is_a_value=missing_is_a_value,
        delta_disclosure=delta_disclosure,
    )
    goal = goal_options(suppress, loss, prices, weights, prefer, population)
    known, kept = names(qi, "--qi"), names(keep, "--keep") if keep else []
    check_can_be_written(out)
    outputs = {"--out": out, "--recipe": recipe, "--rows": rows}
    typed = part_options(options)
    read = [file, hierarchies, *columns_of(hierarchy).values(), prices, population]
    if method == "pak" and "table" in typed:
        # It goes on with what it counted before, so that it may exist; nothing else may be there.
        check_outputs({**outputs, "--set table": Path(typed["table"])}, inputs=read, force=True)
        read.append(typed["table"])
    made = TABLE_ANONYMIZERS.make_from_text(method, typed)
    if dry_run:
        check_outputs(outputs, inputs=read, force=force)
        is_plain = rows is None and seed is None and not reproducible
        how: dict[str, Any] = {"method": made, "keep": kept, "is_plain": is_plain, **asked, **goal}
        show(plan_of_files(file, known, engine=engine, reading=reading, **how), json=json)
        return
    with showing_progress(), guarded(outputs, inputs=read, force=force) as drafts:
        result = anonymize_to_files(
            file,
            known,
            {option.removeprefix("--"): draft for option, draft in drafts.items()},
            engine=engine,
            reading=reading,
            hierarchies=hierarchies_of(hierarchies, hierarchy),
            numeric=names(numeric, "--numeric") if numeric else None,
            method=made,
            keep=kept,
            keep_anyway=keep_anyway,
            keep_order=keep_order,
            seed=seed,
            reproducible=reproducible,
            beside=Path(out),
            **asked,
            **goal,
        )
    show(result.written_to(Path(out)), json=json)


@app.command("apply")
@reads_tables
def apply(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE", help="What 'tokumei anonymize table --recipe' wrote.")],
    file: SourceArgument,
    out: OutOption,
    hierarchies: HierarchiesOption = None,
    population: PopulationOption = None,
    unseen: Annotated[
        str,
        typer.Option("--unseen", help="Values the recipe does not know: refuse, suppress (their rows) or top (hide)."),
    ] = "refuse",
    keep_order: KeepOrderOption = False,
    seed: SeedOption = None,
    reading: Reading = AS_IT_IS,
    force: ForceOption = False,
    json: JsonFlag = False,
) -> None:
    """Anonymize another table, such as next month's, as a recipe says; values it does not know are refused.

    A method that groups rows groups them anew. Hierarchies are in the recipe; a folder of others counts before them.
    --population is everybody as of now, for recipes with k-map or δ-presence.

    Example: tokumei anonymize apply recipe.json next-month.csv --out release.csv
    """
    from tokumei.data.files.beside import read_beside
    from tokumei.data.files.formats import check_can_be_written, write_frame
    from tokumei.data.files.outputs import guarded
    from tokumei.tasks.apply_recipe import apply as apply_recipe
    from tokumei.tasks.apply_recipe import recipe_columns

    check_can_be_written(out)
    inputs = [recipe, file, hierarchies, population]
    with showing_progress(), guarded({"--out": out}, inputs=inputs, force=force) as drafts:
        result = apply_recipe(
            recipe,
            read_table(file, [], [], reading),
            hierarchies=hierarchies,
            population=None if population is None else read_beside(population, reading, recipe_columns(recipe)),
            unseen=cast("Unseen", unseen),
            keep_order=keep_order,
            seed=seed,
        )
        write_frame(result.release.frame, drafts["--out"])
    show(result.written_to(out), json=json)
