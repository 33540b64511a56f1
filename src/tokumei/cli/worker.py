"""`tokumei worker`: the processes that do the jobs of the server."""

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
    """Do the server's jobs until stopped: evaluations, the exchange, mail; start as many as wanted, here or elsewhere.

    Workers on other machines need the same DATABASE_URL and the same folder, by a shared file system.

    Example: tokumei worker --data /var/lib/tokumei --processes 4
    """
    from tokumei.platform.start import configure_supervisor

    configure_supervisor(data)
    from django.conf import settings

    from tokumei.platform.processes import job_processes, keep, until_told_to_stop

    is_over = until_told_to_stop()
    keep(job_processes(processes or settings.JOB_PROCESSES), is_over)
