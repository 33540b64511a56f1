"""The process that looks after the others: work that nobody ended, phases whose time has come, files of nobody.

Any number of them may run, on any number of machines.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from datetime import timedelta

from django.db import close_old_connections, connections
from django.utils import timezone

from tokumei.platform.jobs.limits import SWEEP_SECONDS, WATCH_SECONDS
from tokumei.platform.jobs.models import WorkerSeen
from tokumei.platform.jobs.running import end_worn_out, name_of
from tokumei.platform.jobs.work import SWEEPS, WATCHES

log = logging.getLogger("tokumei.jobs")
# After so long without a sign, a worker is taken for gone.
GONE_SECONDS = 15 * WATCH_SECONDS


def watch(*, sweeps_alone: bool = False) -> None:
    """Look after everything until a signal says to stop.

    sweeps_alone: look after files alone, on a machine that works for nobody but has copies.
    """
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda _signum, _frame: stop.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    swept_at = -1e9
    name = name_of(os.getpid())
    try:
        while not stop.is_set():
            for look in () if sweeps_alone else (lambda: show_presence(name), end_worn_out, *WATCHES):
                _safely(look)
            if time.monotonic() - swept_at >= SWEEP_SECONDS:
                swept_at = time.monotonic()
                for sweep in SWEEPS:
                    _safely(sweep)
            stop.wait(WATCH_SECONDS)
    finally:
        _safely(lambda: WorkerSeen.objects.filter(name=name).delete())
        connections.close_all()


def show_presence(name: str) -> None:
    """Record that a worker is alive, and forget those that are gone."""
    now = timezone.now()
    WorkerSeen.objects.update_or_create(name=name, defaults={"seen_at": now})
    WorkerSeen.objects.filter(seen_at__lt=_gone()).delete()


def n_present() -> int:
    """Count the workers that are there."""
    return WorkerSeen.objects.filter(seen_at__gte=_gone()).count()


def _gone() -> object:
    return timezone.now() - timedelta(seconds=GONE_SECONDS)


def _safely(look: Callable[[], object]) -> None:
    """Go on after an error, say of a database that is being restarted."""
    try:
        close_old_connections()
        look()
    except Exception:
        log.exception("the watcher failed")
