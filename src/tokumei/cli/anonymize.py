"""`tokumei anonymize` and `tokumei compare`: from an original to a release, and several methods on one table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from tokumei.cli.options import (
    EngineOption,
    ForceOption,
    HierarchiesOption,
    SourceArgument,
    columns_of,
    part_options,
    reads_tables,
)
from tokumei.cli.output import show, showing_progress
from tokumei.cli.parameters import Argument, Names, Option
from tokumei.cli.request import (
    ArxOption,
    HierarchyOption,
    QiOption,
    SensitiveColumnsOption,
    asks,
    hierarchies_of,
    read_table,
    with_sensitive,
)
from tokumei.core.errors import InputError
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.tasks.request import ReleaseRequest

if TYPE_CHECKING:
    from tokumei.methods.apply import Unseen


NOTHING = ReleaseRequest()
OutOption = Annotated[Path, Option("--out", metavar="OUT", help="The release, as CSV or Parquet.")]
SeedOption = Annotated[
    int | None,
    Option("--seed", min=0, help="The same seed gives the same release; a secret one is drawn if not given."),
]


@reads_tables
@asks(ReleaseRequest)
def table(
    file: SourceArgument,
    out: Annotated[
        str, Option("--out", metavar="OUT", help="The release, as CSV or Parquet; DIR/ for a folder of Parquet.")
    ],
    qi: Annotated[
        list[str] | None, Names("--qi", help="The quasi-identifiers: what others may know; those of --from-arx if not.")
    ] = None,
    sensitive: SensitiveColumnsOption = None,
    from_arx: ArxOption = None,
    hierarchies: HierarchiesOption = None,
    hierarchy: HierarchyOption = None,
    request: ReleaseRequest = NOTHING,
    method: Annotated[str, Option("--method", help="See 'tokumei parts table-anonymizer'.")] = "optimal",
    options: Annotated[
        list[str] | None, Option("--set", metavar="NAME=VALUE", help="An option of the method; repeatable.")
    ] = None,
    budget: Annotated[
        str | None,
        Option("--budget", metavar="FILE", help="The ε and δ that all releases of these people may spend, and spent."),
    ] = None,
    anyway: Annotated[
        bool, Option("--anyway", help="Release it even if attacks find people in it; the recipe records that.")
    ] = False,
    recipe: Annotated[
        Path | None, Option("--recipe", metavar="FILE", help="Write the recipe, for 'tokumei anonymize apply'.")
    ] = None,
    rows: Annotated[
        Path | None, Option("--rows", metavar="FILE", help="Write which row each released row was. Keep it secret.")
    ] = None,
    seed: SeedOption = None,
    engine: EngineOption = "local",
    dry_run: Annotated[bool, Option("--dry-run", help="Estimate passes, memory and time, and stop.")] = False,
    reading: Reading = AS_IT_IS,
    force: ForceOption = False,
) -> None:
    """Anonymize a table so that it meets the requirements, with as little loss as the method can.

    The default searches one level for each column. Others, such as mondrian, recode locally; pram, noise and swap
    change values at random. Columns that are neither quasi-identifiers, nor named by a requirement, nor kept, are not
    released. Where no hierarchies are given, one is made for each column, and what was made is said.

    Example: tokumei anonymize table adult.csv --qi sex,age --hierarchies hierarchies --k 5 --out release.csv
    """
    from tokumei.data.files.formats import check_can_be_written
    from tokumei.data.files.outputs import check_outputs, guarded
    from tokumei.methods.registry import TABLE_ANONYMIZERS
    from tokumei.tasks.arx_project import read_arx_project
    from tokumei.tasks.write_table import anonymize_to_files, plan_of_files

    check_can_be_written(out)
    outputs = {"--out": out, "--recipe": recipe, "--rows": rows}
    typed = (
        part_options(options) | ({} if budget is None else {"budget": budget}) | ({"anyway": "true"} if anyway else {})
    )
    read = [file, from_arx, hierarchies, *columns_of(hierarchy).values(), request.prices, request.population, budget]
    if method == "pak" and "table" in typed:
        # It goes on with what it counted before, so that it may exist; nothing else may be there.
        check_outputs({**outputs, "--set table": Path(typed["table"])}, inputs=read, force=True)
        read.append(typed["table"])
    made = TABLE_ANONYMIZERS.make_from_text(method, typed)
    asked = with_sensitive(request, sensitive)
    asked = replace(asked, method=made, seed=seed, hierarchies=hierarchies_of(hierarchies, hierarchy))
    known = qi or []
    if from_arx is not None:
        project = read_arx_project(from_arx)
        known = known or project.columns_of("quasi-identifier")
        asked = project.requirements(asked)
        if asked.hierarchies is None:
            wanted = [*known, *asked.sensitive_columns()]
            trees = {name: tree for name, tree in project.hierarchies.items() if name in wanted}
            asked = replace(asked, hierarchies=trees or None)
    if not known:
        raise InputError.of("the quasi-identifiers", option="--qi")
    if dry_run:
        check_outputs(outputs, inputs=read, force=force)
        is_plain = rows is None and seed is None and not request.reproducible
        show(plan_of_files(file, known, asked, engine=engine, reading=reading, is_plain=is_plain))
        return
    with showing_progress(), guarded(outputs, inputs=read, force=force) as drafts:
        to = {option.removeprefix("--"): draft for option, draft in drafts.items()}
        result = anonymize_to_files(file, known, to, asked, engine=engine, reading=reading, beside=Path(out))
    show(result.written_to(Path(out)))


@reads_tables
def apply(
    recipe: Annotated[Path, Argument(metavar="RECIPE", help="What 'tokumei anonymize table --recipe' wrote.")],
    file: SourceArgument,
    out: OutOption,
    hierarchies: HierarchiesOption = None,
    population: Annotated[
        str | None, Option("--population", metavar="FILE", help="Everybody, as of now, where the recipe needs it.")
    ] = None,
    unseen: Annotated[
        str, Option("--unseen", help="Values the recipe does not know: refuse, suppress (their rows) or top (hide).")
    ] = "refuse",
    key: Annotated[
        list[str] | None,
        Option("--key", metavar="COLUMN=FILE", help="The key by which a job changed a column; repeatable."),
    ] = None,
    together: Annotated[
        str | None,
        Option("--together", metavar="FILE", help="An earlier table of the same people: both are counted as one, too."),
    ] = None,
    keep_order: Annotated[
        bool, Option("--keep-order", help="Release rows in their order; else they are shuffled by a secret seed.")
    ] = False,
    seed: SeedOption = None,
    reading: Reading = AS_IT_IS,
    force: ForceOption = False,
) -> None:
    """Anonymize another table, such as next month's, as a recipe says; values it does not know are refused.

    A method that groups rows groups them anew. Hierarchies are in the recipe; a folder of others counts before them.
    --population is everybody as of now, for recipes with k-map or δ-presence.

    Example: tokumei anonymize apply recipe.json next-month.csv --out release.csv
    """
    from tokumei.data.files.formats import check_can_be_written, read_beside, write_frame
    from tokumei.data.files.outputs import guarded
    from tokumei.tasks.anonymize_table import apply as apply_recipe
    from tokumei.tasks.anonymize_table import recipe_columns

    check_can_be_written(out)
    keys = columns_of(key, "--key")
    inputs = [recipe, file, hierarchies, population, together, *keys.values()]
    with showing_progress(), guarded({"--out": out}, inputs=inputs, force=force) as drafts:
        result = apply_recipe(
            recipe,
            read_table(file, [], [], reading),
            hierarchies=hierarchies,
            population=None if population is None else read_beside(population, reading, recipe_columns(recipe)),
            unseen=cast("Unseen", unseen),
            keys=keys,
            together=None if together is None else read_table(together, [], [], reading),
            keep_order=keep_order,
            seed=seed,
        )
        write_frame(result.release.frame, drafts["--out"])
    show(result.written_to(out))


# What is asked of the rows that are written, and none are.
ROWS_ALONE = ("keep", "keep_anyway", "keep_order", "reproducible")


@reads_tables
@asks(ReleaseRequest, *ROWS_ALONE)
def compare(
    file: SourceArgument,
    qi: QiOption,
    sensitive: SensitiveColumnsOption = None,
    hierarchies: HierarchiesOption = None,
    hierarchy: HierarchyOption = None,
    request: ReleaseRequest = NOTHING,
    methods: Annotated[
        list[str] | None, Names("--methods", help="Only these; all that generalize but exhaustive if not given.")
    ] = None,
    out: Annotated[
        Path | None, Option("--out", metavar="FILE.html", help="Write a page with the table and a figure.")
    ] = None,
    engine: EngineOption = "local",
    reading: Reading = AS_IT_IS,
    force: ForceOption = False,
) -> None:
    """Run methods on one table, and compare what each found and what it cost.

    By default all that search levels and, since both are measured by it, local recodings with --loss ncp.

    Example: tokumei compare people.csv --qi sex,age --hierarchies hierarchies --k 5 --out compare.html
    """
    from tokumei.data.files.outputs import guarded
    from tokumei.tasks.compare_table import compare_source
    from tokumei.tasks.goal import known_on_engine

    asked = replace(with_sensitive(request, sensitive), hierarchies=hierarchies_of(hierarchies, hierarchy))
    read = [file, hierarchies, *columns_of(hierarchy).values(), request.prices, request.population]
    with showing_progress(), guarded({"--out": out}, inputs=read, pages=["--out"], force=force) as drafts:
        known = known_on_engine(
            file, qi, engine=engine, reading=reading, hierarchies=asked.hierarchies, numeric=asked.numeric
        )
        result = compare_source(file, known, asked, methods, engine=engine)
        if out is not None:
            result.write_page(drafts["--out"])
    show(result.written_to(out))
