"""`tokumei data` and `tokumei hierarchy`: data cleaned, made up and described; hierarchies built, checked and shown."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import click

from tokumei.cli.options import (
    DrawOption,
    ForceOption,
    SeedOption,
    SourceArgument,
    part_options,
    reads_histories,
    reads_tables,
)
from tokumei.cli.output import EXIT_CHECK_FAILED, show, showing_progress
from tokumei.cli.output import show as show_result
from tokumei.cli.parameters import Argument, Option
from tokumei.core.errors import InputError
from tokumei.core.result import Answer, Facts, Rows, Section, Sentence
from tokumei.core.text import Json
from tokumei.data.files.reading import AS_IT_IS, Reading

OutFolder = Annotated[Path, Option("--out", metavar="DIR", help="Folder to write to; made if missing.")]


class FileFormat(StrEnum):
    """How made-up data is written."""

    PARQUET = "parquet"
    CSV = "csv"


FormatOption = Annotated[FileFormat, Option("--format", help="File format.")]


@reads_tables
def clean_retail(
    file: Annotated[Path, Argument(metavar="IN", help="UCI Online Retail as Excel, CSV or Parquet.")],
    out: Annotated[Path, Option("--out", metavar="OUT", help="File to write, Parquet or CSV.")],
    force: ForceOption = False,
    reading: Reading = AS_IT_IS,
) -> None:
    """Clean the UCI Online Retail data as the PWSCUP contests did.

    Example: tokumei data clean-retail "Online Retail.xlsx" --out clean.parquet
    """
    import polars as pl

    from tokumei.core.progress import step
    from tokumei.data.files.formats import check_can_be_written, read_frame, write_frame
    from tokumei.data.files.outputs import guarded
    from tokumei.data.online_retail import clean_retail as clean
    from tokumei.data.online_retail import to_history

    check_can_be_written(out)
    with showing_progress(), guarded({"--out": out}, inputs=[file], force=force) as drafts, step("cleaning"):
        raw = read_frame(file, reading)
        cleaned = clean(raw)
        history = to_history(cleaned)
        write_frame(history.frame, drafts["--out"])
    moments = history.frame.select(pl.col("date").dt.combine(pl.col("time")).alias("moment"))["moment"]
    result: Json = {
        "rows": history.n_rows,
        "customers": len(history.customers),
        "items": history.frame["item"].n_unique(),
        "dropped": raw.height - history.n_rows,
        "first": moments.min(),
        "last": moments.max(),
        "out": str(out),
    }
    show(Answer(result))


@reads_tables
def describe(file: SourceArgument, reading: Reading = AS_IT_IS) -> None:
    """Show the columns of a file: type, missing and distinct values, range, the most common value.

    Example: tokumei data describe adult.csv
    """
    from tokumei.data.column_summary import FACTS, describe_frame, tell_blanks
    from tokumei.data.files.formats import scan_frame

    with showing_progress():
        described = describe_frame(scan_frame(file, reading))
    columns = described["columns"]
    tell_blanks(columns)
    facts = Facts({"file": file, "rows": described["rows"], "columns": len(columns)})
    table = Rows(FACTS, [list(column.values()) for column in columns])
    show(Answer({"file": file, **described}, [facts, table]))


@reads_tables
def croissant(
    file: Annotated[Path, Argument(metavar="RELEASE", help="A release in CSV or Parquet.")],
    out: Annotated[Path, Option("--out", metavar="CROISSANT.json", help="The metadata to write.")],
    name: Annotated[str, Option("--name", help="What the data is called.")],
    description: Annotated[str, Option("--description", help="What the data is, in a sentence or two.")],
    dossier: Annotated[
        Path | None, Option("--dossier", metavar="public.json", help="The public dossier, whose decision is told.")
    ] = None,
    license: Annotated[str | None, Option("--license", help="The license, as its name or address.")] = None,  # noqa: A002
    creator: Annotated[str | None, Option("--creator", help="Who publishes it.")] = None,
    url: Annotated[str | None, Option("--url", help="Where it is published.")] = None,
    force: ForceOption = False,
    reading: Reading = AS_IT_IS,
) -> None:
    """Describe a release as Croissant 1.1, for catalogues and machine learning; no value is in it.

    Example: tokumei data croissant release.csv --name Visits --description "Visits by district" --out croissant.json
    """
    import json

    from tokumei.data.files.disk import write_text
    from tokumei.data.files.outputs import guarded
    from tokumei.reports.croissant import croissant as described
    from tokumei.reports.croissant import read_public

    public = None if dossier is None else read_public(dossier)
    with guarded({"--out": out}, inputs=[file], force=force) as drafts:
        found = described(
            file,
            name=name,
            description=description,
            license=license,
            creator=creator,
            url=url,
            public=public,
            reading=reading,
        )
        write_text(drafts["--out"], json.dumps(found, ensure_ascii=False, indent=1) + "\n")
    show(Answer({"file": file, "columns": len(found["recordSet"][0]["field"]), "out": out}))


@reads_histories
def draw_knowledge(
    file: Annotated[Path, Argument(metavar="T", help="A history.")],
    share: Annotated[int, Option("--share", min=1, max=100, metavar="PER CENT", help="How much is known.")],
    out: Annotated[Path, Option("--out", metavar="T25", help="T with its unknown rows empty.")],
    draw: DrawOption = "contest",
    item_characters: Annotated[
        int, Option("--item-characters", min=0, help="How much of an item is known; 0 for all of it.")
    ] = 2,
    seed: SeedOption = 0,
    force: ForceOption = False,
    reading: Reading = AS_IT_IS,
) -> None:
    """Draw the purchases that an attacker knows, for 'tokumei attack history'.

    Example: tokumei data draw-knowledge T.csv --share 25 --out T25.csv
    """
    from tokumei.data.files.histories import form_of, write_known_history
    from tokumei.data.files.outputs import guarded
    from tokumei.data.history import read_history

    with showing_progress(), guarded({"--out": out}, inputs=[file], force=force) as drafts:
        history = read_history(file, reading)
        known = history.known(share / 100, seed=seed, draw=draw, item_characters=item_characters or None)  # type: ignore[arg-type]
        write_known_history(known, drafts["--out"], form_of(file, reading))
    n_unknown = len(set(history.customers) - set(known.customers))
    result: Json = {"rows": known.n_rows, "known": known.kept.height, "draw": draw, "seed": seed}
    result |= {"customers without a known row": n_unknown, "out": str(out)}
    show(Answer(result))


def make_retail(
    out: OutFolder,
    customers: Annotated[int, Option(min=1, help="Number of customers.")] = 400,
    rows: Annotated[int | None, Option(min=1, help="Number of rows; about 95 a customer if not given.")] = None,
    seed: SeedOption = 0,
    file_format: FormatOption = FileFormat.PARQUET,
    force: ForceOption = False,
) -> None:
    """Make up a year of purchases shaped like Online Retail, and the customers' master data.

    Example: tokumei data make retail --customers 400 --seed 1 --out shop/
    """
    import polars as pl

    from tokumei.data.files.formats import write_frame
    from tokumei.data.made_retail import make_master, write_retail

    history, master = (_new_file(out, name, file_format, force=force) for name in ("history", "master"))
    with showing_progress():
        write_retail(history, customers, n_rows=rows, seed=seed)
        scanned = (
            pl.scan_parquet(history) if file_format is FileFormat.PARQUET else pl.scan_csv(history, infer_schema=False)
        )
        facts = scanned.select(rows=pl.len(), items=pl.col("item").n_unique()).collect(engine="streaming")
        ids = scanned.select(pl.col("customer").cast(pl.String).unique().sort()).collect(engine="streaming")
        write_frame(make_master(ids["customer"], seed=seed), master)
    result: Json = {
        "rows": facts["rows"][0],
        "customers": ids.height,
        "items": facts["items"][0],
        "seed": seed,
        "files": [str(history), str(master)],
    }
    show(Answer(result))


def make_services(
    out: OutFolder,
    services: Annotated[int, Option(min=1, max=1635, help="Number of services, the largest first.")] = 20,
    seed: SeedOption = 0,
    file_format: FormatOption = FileFormat.PARQUET,
    force: ForceOption = False,
) -> None:
    """Make up the people of services by sex, age and prefecture, each service with its own skew.

    Their hierarchies are written beside them.

    Example: tokumei data make services --services 20 --seed 1 --out services/
    """
    from tokumei.data.files.formats import write_frame
    from tokumei.data.files.outputs import guarded
    from tokumei.data.made_services import make_services as make
    from tokumei.data.made_services import service_names
    from tokumei.hierarchies.builders.people import JapanAge, JapanPrefecture, Sex
    from tokumei.hierarchies.files import write_hierarchy

    builders: Json = {"sex": Sex(), "age": JapanAge(), "prefecture": JapanPrefecture()}
    folder = _made_folder(out) / "hierarchies"
    folder.mkdir(exist_ok=True)
    files = {f"--out {name}": out / f"{name}.{file_format}" for name in service_names(services)}
    trees = {f"--out {column}": folder / f"{column}.csv" for column in builders}
    n_rows = 0
    with showing_progress(), guarded(files | trees, force=force) as drafts:
        for name, people in make(services, seed=seed):
            write_frame(people, drafts[f"--out {name}"])
            n_rows += people.height
        for column, builder in builders.items():
            write_hierarchy(builder.build(column, people[column]), drafts[f"--out {column}"])
    result: Json = {"rows": n_rows, "services": services, "seed": seed, "hierarchies": str(folder)}
    shown = Facts(result | {"files": str(out)})
    show(Answer(result | {"files": [str(file) for file in files.values()]}, [shown]))


def make_survey(
    out: OutFolder,
    rows: Annotated[int, Option(min=1, help="Number of rows.")] = 8333,
    seed: SeedOption = 0,
    file_format: FormatOption = FileFormat.PARQUET,
    force: ForceOption = False,
) -> None:
    """Make up survey microdata: 13 quasi-identifiers and 12 correlated numeric columns.

    Example: tokumei data make survey --seed 1 --out survey/
    """
    from tokumei.data.files.formats import write_frame
    from tokumei.data.made_survey import make_survey as make

    file = _new_file(out, "survey", file_format, force=force)
    frame = make(rows, seed=seed)
    write_frame(frame, file)
    result: Json = {"rows": frame.height, "columns": frame.width, "seed": seed, "files": [str(file)]}
    show(Answer(result))


def _new_file(folder: Path, name: str, file_format: FileFormat, *, force: bool) -> Path:
    """Make the folder if needed and give the path of a file in it, which must not exist unless `force`."""
    from tokumei.data.files.outputs import check_outputs

    file = _made_folder(folder) / f"{name}.{file_format}"
    check_outputs({"--out": file}, force=force)
    return file


def _made_folder(folder: Path) -> Path:
    if folder.exists() and not folder.is_dir():
        raise InputError.of("a folder, not a file", file=folder)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


HierarchyArgument = Annotated[Path, Argument(metavar="HIERARCHY", help="A hierarchy as CSV.")]
DataOption = Annotated[str | None, Option("--data", metavar="FILE", help="Data whose values the hierarchy must cover.")]
ColumnOption = Annotated[
    str | None, Option("--column", help="The column of the data; the hierarchy's name if not given.")
]


@reads_tables
def build(
    builder: Annotated[str, Argument(metavar="BUILDER", help="See 'tokumei parts hierarchy-builder'.")],
    out: Annotated[Path, Option("--out", metavar="OUT.csv", help="File to write.")],
    data: DataOption = None,
    column: ColumnOption = None,
    options: Annotated[
        list[str] | None, Option("--set", metavar="NAME=VALUE", help="An option of the builder; repeatable.")
    ] = None,
    reading: Reading = AS_IT_IS,
    force: ForceOption = False,
) -> None:
    """Build a hierarchy for a column, from its values and a builder.

    Example: tokumei hierarchy build intervals --data adult.csv --column age --set width=5 --out age.csv
    """
    from tokumei.data.files.outputs import guarded
    from tokumei.hierarchies.files import write_hierarchy
    from tokumei.hierarchies.hierarchy import BUILDERS

    attribute = column or out.stem
    made = BUILDERS.make_from_text(builder, part_options(options))
    with guarded({"--out": out}, inputs=[data], force=force) as drafts:
        values = _values(data, attribute, reading)
        hierarchy = made.build(attribute, values)
        write_hierarchy(hierarchy, drafts["--out"])
    # A builder that looks at the values says what it took them for.
    told = {"read_as": made.told(attribute, values)} if hasattr(made, "told") else {}
    result: Json = {
        "attribute": attribute,
        "builder": builder,
        **told,
        "values_per_level": [len(level) for level in hierarchy.levels],
        "out": str(out),
    }
    show_result(Answer(result))


@reads_tables
def check(
    hierarchy: HierarchyArgument, data: DataOption = None, column: ColumnOption = None, reading: Reading = AS_IT_IS
) -> None:
    """Check that a hierarchy nests and covers a column; exit 1 if it does not.

    Example: tokumei hierarchy check age.csv --data adult.csv
    """
    from dataclasses import asdict

    from tokumei.hierarchies.files import read_hierarchy
    from tokumei.hierarchies.leaves import check_hierarchy

    attribute = column or hierarchy.stem
    read = read_hierarchy(hierarchy, attribute, may_cross=True)
    values = None if data is None else _values(data, attribute, reading)
    report = check_hierarchy(read, values)
    is_good = report.is_usable and report.is_nested
    result: Json = {"file": str(hierarchy), "is_good": is_good, **asdict(report), "remarks": report.remarks}
    facts = {"file": str(hierarchy), "values per level": report.n_labels}
    facts |= {"good" if is_good else "not good": " ".join(report.remarks) or "nests and covers"}
    show_result(Answer(result, [Facts(facts)]))
    if not is_good:
        raise click.exceptions.Exit(EXIT_CHECK_FAILED)


def show_hierarchy(
    hierarchy: HierarchyArgument, limit: Annotated[int, Option(min=1, help="Values to show.")] = 20
) -> None:
    """Show a hierarchy: how many labels each level has, and its first values.

    Example: tokumei hierarchy show age.csv
    """
    from tokumei.hierarchies.files import read_hierarchy

    read = read_hierarchy(hierarchy, hierarchy.stem, may_cross=True)
    levels = [read.labels_at(level) for level in range(len(read.levels))]
    sizes = [len(level) for level in read.levels]
    rows = list(zip(*levels, strict=True))
    values = {"file": str(hierarchy), "values_per_level": sizes, "values": rows[:limit], "n_values": len(rows)}
    parts: list[Section] = [Rows([f"level {level} ({size:,})" for level, size in enumerate(sizes)], rows[:limit])]
    if len(rows) > limit:
        parts.append(Sentence(f"… and {len(rows) - limit:,} more values (--limit shows more)"))
    show_result(Answer(values, parts))


def _values(data: str | None, column: str, reading: Reading) -> Any:
    """Read a column, row by row, since some builders count; none without data, for builders that know their values."""
    import polars as pl

    from tokumei.data.files.csv import check_has_columns
    from tokumei.data.files.formats import scan_frame
    from tokumei.data.table import with_moments_as_text

    if data is None:
        return pl.Series(column, [], pl.String)
    rows = scan_frame(data, reading)
    check_has_columns([column], rows.collect_schema().names(), data)
    return with_moments_as_text(rows.select(column).collect(), [column])[column]
