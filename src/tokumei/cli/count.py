"""`tokumei count`: the classes of some columns, on any engine."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from tokumei.cli.options import (
    EngineOption,
    HierarchiesOption,
    SourceArgument,
    level_pairs,
    names,
)
from tokumei.cli.output import JsonFlag, show, showing_progress
from tokumei.cli.reading import reads_tables
from tokumei.core.errors import InputError
from tokumei.core.result import Answer
from tokumei.data.files.reading import AS_IT_IS, Reading


@reads_tables
def count(
    file: SourceArgument,
    by: Annotated[str, typer.Option("--by", metavar="A,B,…", help="Columns whose classes are counted.")],
    levels: Annotated[
        list[str] | None, typer.Option("--levels", metavar="A=1,B=2", help="Generalize columns to a level first.")
    ] = None,
    hierarchies: HierarchiesOption = None,
    engine: EngineOption = "local",
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Count the classes of some columns: how many there are, the smallest (k), and the rows that are alone.

    Example: tokumei count adult.csv --by sex,age --levels age=2 --hierarchies hierarchies/
    """
    from tokumei.engines.count import count_classes
    from tokumei.hierarchies.files import read_hierarchies

    columns = names(by, "--by")
    wanted = level_pairs(levels or [])
    if wanted and hierarchies is None:
        raise InputError.of("--hierarchies DIR, which --levels needs")
    for name in wanted:
        if name not in columns:
            raise InputError.of(f"a column of --by: {', '.join(columns)}", option="--levels", value=name)
    recodings = []
    if hierarchies is not None:
        found = read_hierarchies(hierarchies, wanted)
        recodings = [found[name].recoding(level) for name, level in wanted.items()]
    started = time.perf_counter()
    with showing_progress():
        counts = count_classes(file, columns, recodings=recodings, engine=engine, reading=reading)
    result: dict[str, Any] = {
        "rows": counts.n_rows,
        "classes": counts.n_classes,
        "k": counts.k,
        "unique": counts.n_unique,
        "seconds": round(time.perf_counter() - started, 4),
    }
    show(Answer(result), json=json)
