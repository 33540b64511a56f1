"""The one supervisor: it starts the processes of a server or a worker, keeps them alive and ends them together."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

log = logging.getLogger("tokumei.processes")

# Seconds: between looks at the processes, and until a process that was asked to end is made to.
BETWEEN_LOOKS = 0.2
TIME_TO_END = 20.0
# A process that keeps failing is started again ever more slowly.
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 30.0
# Linux's number for "signal me when my parent dies".
PR_SET_PDEATHSIG = 1
# Tells a process who started it.
STARTED_BY = "TOKUMEI_STARTED_BY"


class Told:
    """Whether a signal said to stop: the signal may come at any moment, also while this is being waited for.

    A `threading.Event` would not do: its `set` waits for a lock that may be held by what the signal interrupted.
    """

    def __init__(self) -> None:
        self._is_set = False
        # Its `put` may interrupt its `get`.
        self._words: queue.SimpleQueue[None] = queue.SimpleQueue()

    def by(self, *numbers: signal.Signals) -> Told:
        """Be told by these signals."""
        for number in numbers:
            signal.signal(number, lambda *_: self.set())
        return self

    def set(self) -> None:
        """Say to stop."""
        self._is_set = True
        self._words.put(None)

    def is_set(self) -> bool:
        """Whether it was said."""
        return self._is_set

    def wait(self, seconds: float) -> bool:
        """Wait until it is said, or so long; return whether it was said."""
        if not self._is_set:
            with contextlib.suppress(queue.Empty):
                self._words.get(timeout=seconds)
        return self._is_set


class Kept:
    """A process that is started again when it dies."""

    def __init__(self, *command: str, pass_fds: tuple[int, ...] = ()) -> None:
        self.command, self._pass_fds = command, pass_fds
        self._pause, self._restart_at = FIRST_PAUSE, 0.0
        self._is_dead = False
        self.process = self._start()

    def _start(self, *more: str) -> subprocess.Popen[bytes]:
        self._started_at = time.monotonic()
        command = [sys.executable, "-m", *self.command, *more]
        # A session of its own: Ctrl-C reaches the supervisor only, which then ends the others in order.
        return subprocess.Popen(  # noqa: S603 - our own programs.
            command,
            pass_fds=self._pass_fds,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, STARTED_BY: str(os.getpid())},
        )

    def keep_alive(self) -> None:
        """Start it again, after a pause, if it is dead; the next one is told whose place it takes."""
        now = time.monotonic()
        if self.process.poll() is None:
            return
        if not self._is_dead:
            self._is_dead = True
            facts = {"process": self.command[-1], "code": self.process.returncode}
            log.warning("a process died", extra={"facts": facts})
            is_steady = now - self._started_at > LONGEST_PAUSE
            self._pause = FIRST_PAUSE if is_steady else min(2 * self._pause, LONGEST_PAUSE)
            self._restart_at = now + self._pause
        if now >= self._restart_at:
            self._is_dead = False
            self.process = self._start(f"after={self.process.pid}")


def keep(kept: Sequence[Kept], is_over: Told) -> None:
    """Keep processes alive until it is over, and end them."""
    try:
        while not is_over.wait(BETWEEN_LOOKS):
            for each in kept:
                each.keep_alive()
    finally:
        end([each.process for each in kept])


def end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """End processes with all that they started: first by asking."""
    for process in processes:
        if process.poll() is None:
            process.terminate()
    give_up = time.monotonic() + TIME_TO_END
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(give_up - time.monotonic(), 0.1))
        # The whole session, so that nothing it started stays behind.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def end_with_parent() -> None:
    """Ask Linux to end this process when the one that started it is gone, even if it was killed."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    starter = os.environ.get(STARTED_BY, "")
    if not starter:
        return
    # Python takes a moment to start, in which the other may have gone: of that nobody tells any more.
    if starter != str(os.getppid()):
        raise SystemExit
    threading.Thread(target=_end_if_left_alone, args=(int(starter),), daemon=True).start()


def _end_if_left_alone(starter: int) -> None:
    """End this process and all that it started, as its starter would, where being asked was not enough."""
    while os.getppid() == starter:
        time.sleep(1)
    time.sleep(TIME_TO_END)
    log.error("a process whose server is gone did not end when asked to")
    faulthandler.dump_traceback()
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def job_processes(n_evaluations: int, queues: Sequence[str] = ("exchange", "workbench")) -> list[Kept]:
    """Start what does the jobs: one that watches, some for evaluations, one for the exchange and one for the workbench.

    Evaluations are never kept waiting by a table that somebody hosts, nor the other way; mail goes by whoever is free.
    """
    start = "tokumei.platform.jobs.start"
    evaluating = [Kept(start, "consumer", "contest", "mail") for _ in range(n_evaluations)]
    others = [Kept(start, "consumer", queue, "mail") for queue in queues]
    return [Kept(start, "watcher"), *evaluating, *others]
