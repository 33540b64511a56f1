"""The kinds of work: every app registers its own when it is ready.

    register("score", Work("tokumei.platform.contests.folder_work:score", "contest", ask, write_score, …))

`function` names what the limited process runs, on files and plain values alone. The other callables run in the process
that took the job, with the database; the three that write do so inside the transaction that ends the job.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tokumei.platform.jobs.limits import MEMORY_BYTES, SECONDS
from tokumei.platform.jobs.models import Job
from tokumei.platform.jobs.process import ChildAnswer

# Which processes do which work: evaluations never wait for tables that somebody hosts.
CONTEST, EXCHANGE, MAIL, WORKBENCH = QUEUES = ("contest", "exchange", "mail", "workbench")


class Overtaken(Exception):
    """What was worked on has been changed meanwhile: the work is done again, on what is there now."""


def _nothing(job: Job) -> None:
    """Do nothing."""


@dataclass(frozen=True)
class Work:
    """One kind of work."""

    function: str
    queue: str
    ask: Callable[[Job], dict[str, Any]]
    write_result: Callable[[Job, dict[str, Any]], None]
    write_faults: Callable[[Job, ChildAnswer], None]
    write_failure: Callable[[Job, str], None]
    begin: Callable[[Job], None] = _nothing
    # Called now and then while the work goes on, as to show what is there of it already.
    during: Callable[[Job], None] = _nothing
    seconds: float = SECONDS
    memory_bytes: int = MEMORY_BYTES
    # Addresses without memory behind them: what draws figures takes 64 GiB of these, and uses next to none.
    reserved_bytes: int = 0


WORK: dict[str, Work] = {}
# What is looked after every few seconds, and now and then.
WATCHES: list[Callable[[], object]] = []
SWEEPS: list[Callable[[], object]] = []


def register(kind: str, work: Work) -> None:
    """Register the work for a kind of job."""
    if WORK.setdefault(kind, work) != work:
        raise TypeError(f"two kinds of work are called {kind}")
