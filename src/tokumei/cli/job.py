"""Job files: `tokumei job new`, `run` and `verify`, and `tokumei studio`, which edits them in the browser.

The studio is the workbench of the platform for one person on their own machine.
"""

from __future__ import annotations

import os
import webbrowser
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import click

from tokumei.cli.options import ForceOption, reads_histories
from tokumei.cli.output import EXIT_CHECK_FAILED, show, showing_progress
from tokumei.cli.parameters import Argument, Option, shows_no_result
from tokumei.core.errors import InputError, MissingExtra
from tokumei.core.result import Answer
from tokumei.data.files.reading import AS_IT_IS, Reading


class Kind(StrEnum):
    """What a file holds."""

    TABLE = "table"
    HISTORY = "history"


@reads_histories
def new(
    file: Annotated[Path, Argument(metavar="FILE", help="The file to anonymize: CSV, Parquet, Excel, JSON, Stata, …")],
    out: Annotated[Path, Option("--out", metavar="JOB.toml", help="The job file to write.")],
    kind: Annotated[Kind, Option("--kind", help="A table of people or a purchase history.")] = Kind.TABLE,
    force: ForceOption = False,
    reading: Reading = AS_IT_IS,
) -> None:
    """Write a job file to start from, filled in from what `tokumei inspect` finds; it can be run as it is.

    Example: tokumei job new patients.csv --out job.toml
    """
    from tokumei.data.files.disk import write_text
    from tokumei.data.files.outputs import guarded
    from tokumei.data.history import read_history
    from tokumei.tasks.inspect_table import inspect
    from tokumei.tasks.job_file import Job
    from tokumei.tasks.job_writing import history_template, table_template

    with showing_progress(), guarded({"--out": out}, inputs=[file], force=force) as drafts:
        if kind is Kind.HISTORY:
            n_rows = read_history(str(file), reading).n_rows
            text, roles = history_template(file, reading, beside=out.parent), {}
        else:
            found = inspect(file, reading=reading)
            text, roles, n_rows = table_template(found, file, reading, beside=out.parent), found.roles, found.n_rows
        # What is handed out must be readable by what reads it.
        Job.of(text, folder=out.parent)
        write_text(drafts["--out"], text)
    show(Answer({"file": str(file), "kind": kind.value, "rows": n_rows, "roles": roles, "out": str(out)}))


def run(
    file: Annotated[Path, Argument(metavar="JOB.toml", help="The job file.")],
    out: Annotated[Path | None, Option("--out", metavar="DIR", help="Folder for the release and the dossier.")] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Check the job and list its steps; write nothing.")] = False,
    sign: Annotated[
        Path | None, Option("--sign", metavar="ME.key", help="Sign the dossier with a key of 'exchange keys'.")
    ] = None,
    pdf: Annotated[bool, Option("--pdf", help="Print the pages too, where Chromium is installed.")] = False,
    force: ForceOption = False,
) -> None:
    """Do a whole job, from raw data to dossier; exit 1 if a bound does not hold.

    A second run in the same folder goes on where the first one stopped: what is finished is not done again, unless the
    job or its input changed.

    Example: tokumei run job.toml --out dossier
    """
    from dataclasses import replace

    from tokumei.core.errors import InputError
    from tokumei.tasks.job_file import Job
    from tokumei.tasks.run_job import plan_job, run_job

    job = Job.read(file)
    job = job if sign is None else replace(job, sign=sign)
    if dry_run:
        planned = plan_job(job)
        show(Answer({"job": job.name, "kind": job.kind, "planned": planned.results["planned"]}))
        return
    if out is None:
        raise InputError.of("a folder to write to", option="--out")
    with showing_progress():
        done = run_job(job, out, force=force, pdf=pdf)
    show(done)
    if not done.holds:
        raise click.exceptions.Exit(EXIT_CHECK_FAILED)


def verify(
    file: Annotated[Path, Argument(metavar="DOSSIER.json", help="The dossier of a job.")],
    key: Annotated[
        Path | None, Option("--key", metavar="NAME.pub", help="Whoever must have signed it, by the public key.")
    ] = None,
    clause: Annotated[
        str | None, Option("--clause", metavar="ID", help="Show the figure of one clause, and what it is now.")
    ] = None,
) -> None:
    """Check a dossier: hash its files, do its job again where that is possible, and name what differs; exit 1 if any.

    A signature is checked wherever there is one; with --key it must be there, and by that key.

    Example: tokumei verify dossier/dossier.json
    """
    from tokumei.data.files.keys import read_public
    from tokumei.tasks.verification import verify_dossier

    with showing_progress():
        found = verify_dossier(file, key=None if key is None else read_public(key), clause=clause)
    show(found)
    if not found.holds:
        raise click.exceptions.Exit(EXIT_CHECK_FAILED)


LOOPBACK = "127.0.0.1"
# On one's own machine the disk is the limit, not other people.
LARGE = str(4 * 1024**3)


@shows_no_result
def studio(
    file: Annotated[
        Path | None, Argument(metavar="[FILE]", help="The file to begin with: CSV, Parquet, Excel, JSON, Stata, …")
    ] = None,
    kind: Annotated[Kind, Option("--kind", help="A table of people or a purchase history.")] = Kind.TABLE,
    port: Annotated[int, Option("--port", min=0, max=65535, help="Where it listens; 0 takes any free one.")] = 0,
    data: Annotated[
        Path | None,
        Option("--data", metavar="DIR", help="Where it keeps files. [default: ~/.local/share/tokumei-studio]"),
    ] = None,
    browser: Annotated[bool, Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
) -> None:
    """Open the workbench in the browser: mark columns, see the risk, protect, take a release home.

    It listens on this machine alone and needs no account; the link that it prints lets one person in, once.

    Example: tokumei studio patients.csv
    """
    try:
        from tokumei.platform.serving import bind, serve
        from tokumei.platform.start import configure, prepare
    except ImportError:
        raise MissingExtra("The workbench", "platform") from None
    if file is not None and not file.is_file():
        raise InputError.of("a file that exists", file=file)
    for name, value in _settings().items():
        os.environ.setdefault(name, value)
    listener = bind(LOOPBACK, port)
    configure(_folder() if data is None else data)
    prepare()
    from tokumei.platform.workbench.services import make_link

    link = make_link(file, kind.value)

    def show(url: str) -> None:
        address = url.rstrip("/") + link
        click.echo(f"The workbench is at {address}  (the link works once; Ctrl-C ends it)")
        if browser:
            webbrowser.open(address)

    serve(listener, show)


def _settings() -> dict[str, str]:
    return {
        "TOKUMEI_STUDIO": "1",
        # Whoever opened it reads its link in the same window, not every request.
        "TOKUMEI_LOG_LEVEL": "WARNING",
        "TOKUMEI_HOSTS": f"{LOOPBACK},localhost",
        "TOKUMEI_WORKBENCH_BYTES": LARGE,
        "TOKUMEI_WORKBENCH_QUOTA": str(4 * int(LARGE)),
        "TOKUMEI_WORKBENCH_PIECES": "100",
        "TOKUMEI_WORKBENCH_SECONDS": "36000",
    }


def _folder() -> Path:
    """Keep it apart from a server's."""
    from tokumei.platform.start import data_folder

    return data_folder() if os.environ.get("TOKUMEI_DATA") else data_folder().with_name("tokumei-studio")
