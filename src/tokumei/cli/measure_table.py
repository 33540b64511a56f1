"""`tokumei measure table`: what use of a released table is left."""

from __future__ import annotations

from typing import Annotated

import typer

from tokumei.cli.attack_table import InOrderOption, OriginalOption, ReleaseOption, RowsOption
from tokumei.cli.options import HierarchiesOption, names, part_options
from tokumei.cli.output import JsonFlag, show, showing_progress
from tokumei.cli.reading import reads_tables
from tokumei.cli.request import HierarchyOption, NumericOption, QiOption, hierarchies_of, read_table
from tokumei.core.errors import InputError
from tokumei.data.files.reading import AS_IT_IS, Reading


@reads_tables
def measure_table(
    original: OriginalOption,
    release: ReleaseOption,
    qi: QiOption,
    sensitive: Annotated[
        str | None, typer.Option("--sensitive", metavar="A,B,…", help="The columns others want to learn.")
    ] = None,
    hierarchies: HierarchiesOption = None,
    hierarchy: HierarchyOption = None,
    numeric: NumericOption = None,
    rows: RowsOption = None,
    in_order: InOrderOption = False,
    measures: Annotated[
        str | None, typer.Option("--measures", metavar="A,B,…", help="Only these; all if not given.")
    ] = None,
    options: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="An option of the one measure asked for.")
    ] = None,
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Measure how much use a released table lost, by every measure that its columns allow.

    Example: tokumei measure table --original people.csv --release release.csv --qi sex,age --numeric age --sensitive
    illness --rows rows.csv
    """
    from tokumei.measures.registry import TABLE_UTILITIES
    from tokumei.tasks.measure_table import measure_table as measure_release

    wanted = names(measures, "--measures") if measures else None
    given = part_options(options)
    if given and (wanted is None or len(wanted) != 1):
        raise InputError.of("one measure, whose option it is", option="--set", value=next(iter(given)))
    if wanted is not None and given:
        for key in ("hierarchies", "numeric"):
            if key in given:
                raise InputError.of(f"--{key} instead", option="--set", value=key)
    parts = None if wanted is None else [TABLE_UTILITIES.make_from_text(name, given) for name in wanted]
    with showing_progress():
        before = read_table(
            original,
            names(qi, "--qi"),
            names(sensitive, "--sensitive") if sensitive else [],
            reading,
            hierarchies=hierarchies_of(hierarchies, hierarchy),
        )
        numbers = names(numeric, "--numeric") if numeric else None
        result = measure_release(before, release, parts, numeric=numbers, rows=rows, in_order=in_order, reading=reading)
    show(result, json=json)
