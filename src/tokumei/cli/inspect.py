"""`tokumei inspect`: what a file holds, and the roles that its columns may have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tokumei.cli.options import ForceOption, SeedOption, SourceArgument
from tokumei.cli.output import JsonFlag, show, showing_progress
from tokumei.cli.reading import reads_tables
from tokumei.data.files.reading import AS_IT_IS, Reading


@reads_tables
def inspect(
    file: SourceArgument,
    out: Annotated[Path | None, typer.Option("--out", metavar="PAGE.html", help="Write one page with figures.")] = None,
    job: Annotated[
        Path | None, typer.Option("--job", metavar="JOB.toml", help="Write a job file to edit and run.")
    ] = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Describe each column: what it is, which single people out, and which roles they may have.

    Roles are suggested with their reasons; nothing is changed. The job file is that of `tokumei job new`.

    Example: tokumei inspect patients.csv --out patients.html --job job.toml
    """
    from tokumei.data.files.atomic import write_text
    from tokumei.data.files.outputs import guarded
    from tokumei.tasks.inspect_table import inspect as look
    from tokumei.tasks.job_template import table_template

    with (
        showing_progress(),
        guarded({"--out": out, "--job": job}, inputs=[file], pages=["--out"], force=force) as drafts,
    ):
        found = look(file, seed=seed, reading=reading)
        if out is not None:
            found.page().write(drafts["--out"])
        if job is not None:
            write_text(drafts["--job"], table_template(found, Path(file), reading, beside=job.parent))
    show(found.written_to(out or job), json=json)
