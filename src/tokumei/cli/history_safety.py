"""`tokumei measure safety`: what a released history promises to who knows some items."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tokumei.cli.options import names, part_options
from tokumei.cli.output import EXIT_CHECK_FAILED, JsonFlag, show, showing_progress
from tokumei.cli.reading import reads_histories
from tokumei.core.errors import InputError
from tokumei.core.result import Answer, Facts
from tokumei.data.files.reading import AS_IT_IS, Reading

if TYPE_CHECKING:
    from tokumei.data.table import Table


@reads_histories
def measure_safety(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="See 'tokumei parts safety-measure-of-histories' and 'safety-measure-of-rows'."
        ),
    ],
    release: Annotated[Path, typer.Option("--release", metavar="A", help="The released history or table.")],
    original: Annotated[
        Path | None, typer.Option("--original", metavar="T", help="The original table, for measures of rows.")
    ] = None,
    qi: Annotated[
        str | None, typer.Option("--qi", metavar="A,B,…", help="The quasi-identifiers of a table; all if not given.")
    ] = None,
    options: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="An option of the measure; repeatable.")
    ] = None,
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Measure how well a history hides customers, or a table whose values were drawn; exit 1 if it does not hold.

    Example: tokumei measure safety km-anonymity --set k=2 --set m=2 --release A.parquet
    """
    from tokumei.core.progress import step
    from tokumei.data.files.histories import read_released_history
    from tokumei.measures.wider_safety import HISTORY_SAFETY, ROWS_SAFETY

    given = part_options(options)
    with showing_progress(), step(f"measuring {name}"):
        if name in ROWS_SAFETY:
            tables = _tables(original, release, qi, reading)
            of_rows = ROWS_SAFETY.make_from_text(name, given)
            score, holds = of_rows.measure(*tables), of_rows.holds(*tables)
        else:
            part = HISTORY_SAFETY.make_from_text(name, given)
            if original is not None:
                raise InputError.of(f"no original: {name} looks at the release alone", option="--original")
            history = read_released_history(release, reading)
            score, holds = part.measure(history), part.holds(history)
    facts = {"measure": name, "value": score.value, "holds": holds, **score.inputs}
    show(Answer({"measure": name, "holds": holds, "score": score.as_dict()}, [Facts(facts)]), json=json)
    if not holds:
        raise typer.Exit(EXIT_CHECK_FAILED)


def _tables(original: Path | None, release: Path, qi: str | None, reading: Reading) -> tuple[Table, Table]:
    """Read the original and the release, with all columns as quasi-identifiers unless some are named."""
    from tokumei.data.files.formats import read_frame
    from tokumei.data.table import Table

    if original is None:
        raise InputError.of("--original FILE, which a measure of rows compares with")
    frames = read_frame(original, reading), read_frame(release, reading)
    columns = names(qi, "--qi") if qi else None
    before, after = (
        Table.with_quasi_identifiers(frame, frame.columns if columns is None else columns, name=str(path))
        for frame, path in zip(frames, (original, release), strict=True)
    )
    return before, after
