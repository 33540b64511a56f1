"""The process that takes messages from django-q2's queue and does what they ask, one after the other.

django-q2's own cluster hands messages to its processes through a pipe with a lock. A process killed while it waits for
work takes that lock with it, and the cluster stands still from then on. Here every process takes its messages from the
table itself, by the same broker, and holds nothing that its death could keep from others.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

from django.db import close_old_connections
from django.utils.module_loading import import_string
from django_q.brokers import get_broker
from django_q.signing import BadSignature, SignedPackage

from tokumei.platform.jobs.evaluate import stopping

log = logging.getLogger("tokumei.jobs")
# After an error of the database, before it is asked again.
PAUSE_SECONDS = 2.0


def consume() -> None:
    """Take messages until the process is told to stop."""
    signal.signal(signal.SIGTERM, _stop)
    # Ctrl-C reaches the whole group of the terminal; the supervisor decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(stopping.set)
    broker = get_broker()
    while not stopping.is_set():
        try:
            # Waits a moment when there is nothing.
            for number, payload in broker.dequeue() or ():
                _handle(payload)
                broker.acknowledge(number)
        except Exception:
            log.exception("a message could not be taken or acknowledged")
            close_old_connections()
            stopping.wait(PAUSE_SECONDS)


def end_with_parent(stop: Callable[[], None]) -> None:
    """Stop when the other end of the input is gone: nobody would start this process again, or end it."""

    def wait() -> None:
        while os.read(0, 4096):
            pass
        stop()

    threading.Thread(target=wait, daemon=True).start()


def _handle(payload: Any) -> None:
    """Do what a message asks; its failure is logged and never stored, since errors may quote data."""
    close_old_connections()
    try:
        task = SignedPackage.loads(payload)
        function = import_string(task["func"]) if isinstance(task["func"], str) else task["func"]
        function(*task["args"], **task["kwargs"])
    except BadSignature:
        log.error("a message of the queue was not ours")
    except Exception:
        log.exception("a job failed")


def _stop(signum: int, frame: Any) -> None:
    stopping.set()
