"""`tokumei worker`: the processes that evaluate what teams hand in to the server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def worker(
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="The folder of the server's files.")
    ] = None,
    processes: Annotated[int | None, typer.Option(min=1, max=64, help="Evaluations to run at once.")] = None,
) -> None:
    """Evaluate submissions for the server until stopped; start as many as wanted, on this machine or others.

    Workers on other machines need the same DATABASE_URL and the same folder, by a shared file system.

    Example: tokumei worker --data /var/lib/tokumei --processes 4
    """
    from tokumei.platform.start import configure

    configure(data)
    from tokumei.platform.jobs.worker import run

    run(processes)
