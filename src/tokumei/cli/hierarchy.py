"""`tokumei hierarchy`: build, check and show value hierarchies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tokumei.cli.options import ForceOption, part_options
from tokumei.cli.output import EXIT_CHECK_FAILED, JsonFlag
from tokumei.cli.output import show as show_result
from tokumei.cli.reading import reads_tables
from tokumei.core.result import Answer, Facts, Rows, Section, Sentence
from tokumei.data.files.reading import AS_IT_IS, Reading

app = typer.Typer(help="Build, check and show value hierarchies.", no_args_is_help=True)

HierarchyArgument = Annotated[Path, typer.Argument(metavar="HIERARCHY", help="A hierarchy as CSV.")]
DataOption = Annotated[
    str | None, typer.Option("--data", metavar="FILE", help="Data whose values the hierarchy must cover.")
]
ColumnOption = Annotated[
    str | None, typer.Option("--column", help="The column of the data; the hierarchy's name if not given.")
]


@app.command("build")
@reads_tables
def build(
    builder: Annotated[str, typer.Argument(metavar="BUILDER", help="See 'tokumei parts hierarchy-builder'.")],
    out: Annotated[Path, typer.Option("--out", metavar="OUT.csv", help="File to write.")],
    data: DataOption = None,
    column: ColumnOption = None,
    options: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="An option of the builder; repeatable.")
    ] = None,
    reading: Reading = AS_IT_IS,
    force: ForceOption = False,
    json: JsonFlag = False,
) -> None:
    """Build a hierarchy for a column, from its values and a builder.

    Example: tokumei hierarchy build intervals --data adult.csv --column age --set width=5 --out age.csv
    """
    from tokumei.data.files.outputs import guarded
    from tokumei.hierarchies.files import write_hierarchy
    from tokumei.hierarchies.registry import BUILDERS

    attribute = column or out.stem
    made = BUILDERS.make_from_text(builder, part_options(options))
    with guarded({"--out": out}, inputs=[data], force=force) as drafts:
        values = _values(data, attribute, reading)
        hierarchy = made.build(attribute, values)
        write_hierarchy(hierarchy, drafts["--out"])
    # A builder that looks at the values says what it took them for.
    told = {"read_as": made.told(attribute, values)} if hasattr(made, "told") else {}
    result: dict[str, Any] = {
        "attribute": attribute,
        "builder": builder,
        **told,
        "values_per_level": [len(level) for level in hierarchy.levels],
        "out": str(out),
    }
    show_result(Answer(result), json=json)


@app.command("check")
@reads_tables
def check(
    hierarchy: HierarchyArgument,
    data: DataOption = None,
    column: ColumnOption = None,
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Check that a hierarchy nests and covers a column; exit 1 if it does not.

    Example: tokumei hierarchy check age.csv --data adult.csv
    """
    from dataclasses import asdict

    from tokumei.hierarchies.coverage import check_hierarchy
    from tokumei.hierarchies.files import read_hierarchy

    attribute = column or hierarchy.stem
    read = read_hierarchy(hierarchy, attribute, may_cross=True)
    values = None if data is None else _values(data, attribute, reading)
    report = check_hierarchy(read, values)
    is_good = report.is_usable and report.is_nested
    result: dict[str, Any] = {"file": str(hierarchy), "is_good": is_good, **asdict(report), "remarks": report.remarks}
    facts = {"file": str(hierarchy), "values per level": report.n_labels}
    facts |= {"good" if is_good else "not good": " ".join(report.remarks) or "nests and covers"}
    show_result(Answer(result, [Facts(facts)]), json=json)
    if not is_good:
        raise typer.Exit(EXIT_CHECK_FAILED)


@app.command("show")
def show(
    hierarchy: HierarchyArgument,
    limit: Annotated[int, typer.Option(min=1, help="Values to show.")] = 20,
    json: JsonFlag = False,
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
    show_result(Answer(values, parts), json=json)


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
