"""The worker: some processes that take jobs, watched over by this one.

Besides keeping them alive it looks every few seconds for work that the queue forgot, for evaluations whose process
died, for contests whose phase ends, and sometimes for files that belong to nothing. Any number of workers may run on
any number of machines.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial

from django.conf import settings
from django.db import close_old_connections, connections

from tokumei.platform.contests.services.phase_work import begin_due_work
from tokumei.platform.contests.services.uploads import sweep_orphans
from tokumei.platform.jobs import queue
from tokumei.platform.jobs.evaluate import give_up_worn_out, name_of
from tokumei.platform.jobs.lease import release_worker
from tokumei.platform.jobs.limits import SWEEP_SECONDS, WATCH_SECONDS
from tokumei.platform.jobs.presence import end_presence, show_presence

log = logging.getLogger("tokumei.jobs")

LOOK_SECONDS = 0.2
# A process that dies at once, again and again, must not keep the machine busy with starting it.
LEAST_LIFE_SECONDS = 2.0
# How long processes have to give back what they hold.
STOP_SECONDS = 10.0


def run(processes: int | None = None) -> None:
    """Work until a signal says to stop; `configure` comes first."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _signum, _frame: stop.set())
    pool = Pool(processes or int(str(settings.Q_CLUSTER["workers"])))
    watched_at = swept_at = -1e9
    try:
        while not stop.is_set():
            pool.keep_alive()
            now = time.monotonic()
            if now - watched_at >= WATCH_SECONDS:
                watched_at = now
                _safely(lambda: show_presence(name_of(os.getpid())))
                for look in WATCHES:
                    _safely(look)
            if now - swept_at >= SWEEP_SECONDS:
                swept_at = now
                _safely(sweep)
            stop.wait(LOOK_SECONDS)
    finally:
        pool.stop()
        end_presence(name_of(os.getpid()))
        connections.close_all()


def end_worn_out() -> None:
    """End what three attempts could not do."""
    give_up_worn_out(queue.worn_out())


def requeue() -> None:
    """Send lost messages again."""
    n_told = queue.requeue_forgotten()
    if n_told:
        log.info("evaluations queued again", extra={"facts": {"evaluations": n_told}})


def sweep() -> None:
    """Remove files that belong to nothing."""
    n_removed = sweep_orphans()
    if n_removed:
        log.info("orphans removed", extra={"facts": {"uploads": n_removed}})


# What a worker looks after every few seconds.
WATCHES: tuple[Callable[[], None], ...] = (end_worn_out, begin_due_work, requeue)


class Pool:
    """The processes that take jobs."""

    def __init__(self, n_processes: int) -> None:
        self._n_processes = n_processes
        self._running: list[tuple[subprocess.Popen[bytes], float]] = []

    def keep_alive(self) -> None:
        """Start what is missing, and free what the dead ones held."""
        now = time.monotonic()
        for entry in list(self._running):
            process, started_at = entry
            if process.poll() is None:
                continue
            if now - started_at < LEAST_LIFE_SECONDS:
                continue
            self._running.remove(entry)
            log.warning("a job process died", extra={"facts": {"code": process.returncode}})
            _safely(partial(release_worker, name_of(process.pid)))
        while len(self._running) < self._n_processes:
            self._running.append((_start(), now))

    def stop(self) -> None:
        """End all of them; they give back what they hold."""
        for process, _ in self._running:
            process.terminate()
        ends_at = time.monotonic() + STOP_SECONDS
        for process, _ in self._running:
            try:
                process.wait(max(0.0, ends_at - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _start() -> subprocess.Popen[bytes]:
    # Our end of its input is held open, and closed by our death: then it ends too.
    command = [sys.executable, "-m", "tokumei.platform.jobs.start", "consumer"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)  # noqa: S603 - our own.


def _safely(work: Callable[[], object]) -> None:
    """Go on after an error, say of a database that is being restarted."""
    try:
        close_old_connections()
        work()
    except Exception:
        log.exception("the watcher failed")
