"""The process that takes jobs of some queues and does them, oldest first.

It takes them from the table itself and holds nothing that its death could keep from others.
"""

from __future__ import annotations

import logging
import signal
from collections.abc import Sequence
from typing import Any

from django.db import close_old_connections

from tokumei.platform.jobs.lease import release_worker
from tokumei.platform.jobs.limits import POLL_SECONDS
from tokumei.platform.jobs.queue import next_jobs
from tokumei.platform.jobs.running import name_of, run, stopping

log = logging.getLogger("tokumei.jobs")
# After an error of the database, before it is asked again.
PAUSE_SECONDS = 2.0


def consume(queues: Sequence[str], dead: int | None = None) -> None:
    """Do jobs until the process is told to stop.

    dead: the process that this one takes the place of; what it held is free at once.
    """
    signal.signal(signal.SIGTERM, _stop)
    # Ctrl-C reaches the whole group of the terminal; the supervisor decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while not stopping.is_set():
        try:
            close_old_connections()
            if dead is not None:
                release_worker(name_of(dead))
                dead = None
            if not any(run(job) for job in next_jobs(queues)):
                stopping.wait(POLL_SECONDS)
        except Exception:
            log.exception("a job could not be taken or ended")
            stopping.wait(PAUSE_SECONDS)


def _stop(signum: int, frame: Any) -> None:
    stopping.set()
