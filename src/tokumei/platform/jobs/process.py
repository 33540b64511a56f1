"""Starting the limited process of a job, hearing what it says, and ending it in time; and its limits.

Operators change the limits by the environment:

| variable                   | is                                                                      | otherwise |
|----------------------------|-------------------------------------------------------------------------|-----------|
| TOKUMEI_JOB_SECONDS        | how long one job may take                                               | 300       |
| TOKUMEI_JOB_MEMORY_BYTES   | how much address space its process may have                             | 8 GiB     |
| TOKUMEI_JOB_STALE_SECONDS  | after how long without a sign of life a job is taken over               | 15        |
| TOKUMEI_JOB_RETRY_SECONDS  | how long to wait before a failed job is tried again, twice as long next | 3         |
| TOKUMEI_JOB_ORPHAN_SECONDS | how old files of an upload that broke off must be to be removed         | 60        |
| TOKUMEI_JOB_NICENESS       | how far jobs stand back for pages, from 0 to 19, as of `nice`           | 10        |
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tokumei.core.errors import InputError
from tokumei.core.text import Json, JsonView, from_json

MOST_ATTEMPTS = 3
# What used up its time or memory will do so again.
MOST_ATTEMPTS_AT_ITS_LIMIT = 2
# Work on a whole contest takes as long as all of its teams' evaluations.
WHOLE_CONTEST_FACTOR = 20
# A file that a process writes, at most.
MOST_FILE_BYTES = 2 * 1024**3


def _niceness() -> int:
    given = os.environ.get("TOKUMEI_JOB_NICENESS") or "10"
    if given not in map(str, range(20)):
        raise InputError.of("a whole number from 0 to 19", column="TOKUMEI_JOB_NICENESS", value=given)
    return int(given)


def _number(variable: str, otherwise: float) -> float:
    given = os.environ.get(variable)
    try:
        value = float(given) if given else otherwise
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise InputError.of("a number above 0", column=variable, value=given)
    return value


SECONDS = _number("TOKUMEI_JOB_SECONDS", 300)
# Much of it is only reserved and never used: a thread alone takes 72 MiB of addresses.
MEMORY_BYTES = int(_number("TOKUMEI_JOB_MEMORY_BYTES", 8 * 1024**3))
STALE_SECONDS = _number("TOKUMEI_JOB_STALE_SECONDS", 15)
RETRY_SECONDS = _number("TOKUMEI_JOB_RETRY_SECONDS", 3)
ORPHAN_SECONDS = _number("TOKUMEI_JOB_ORPHAN_SECONDS", 60)
# Whoever waits for a page goes before who waits for a score: a page takes a moment, and work takes what is left.
NICENESS = _niceness()
# A job that stood back for others so long as this many times its own time is not given more.
MOST_WAITING = 4
BEAT_SECONDS = STALE_SECONDS / 5
# How often a process without work looks for some.
POLL_SECONDS = 0.3
WATCH_SECONDS = min(2.0, STALE_SECONDS / 3)
SWEEP_SECONDS = 30.0


# All that the process gets of the environment: where programs and packages are, and how text is written. No keys, no
# address of a database.
PASSED_ON = ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "LANG", "LC_ALL", "TZ", "TMPDIR", "HOME")
THREADS = {"POLARS_MAX_THREADS": "2", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
# An answer is a score with its details: far less than this.
MOST_LINE_BYTES = 16 * 1024 * 1024
LOOK_SECONDS = 0.2
TIMEOUT = "timeout"

Beat = Callable[[Mapping[str, object] | None], bool]


class Interrupted(Exception):
    """The work was ended before it was done: by a signal, or since it is somebody else's now."""


@dataclass(frozen=True)
class ChildAnswer:
    """What the process gave: one of a result, faults of what was handed in, or the kind of a failure."""

    result: Json | None = None
    faults: tuple[Json, ...] = ()
    n_faults: int = 0
    # The faults in words, with files called by their names alone.
    said: str = ""
    # The same by their kinds: how many of each, and the first.
    groups: tuple[Json, ...] = ()
    failure: str = ""


def run(
    function: str,
    asked: Mapping[str, object],
    *,
    seconds: float,
    memory_bytes: int,
    reserved_bytes: int = 0,
    beat: Beat,
    is_stopping: Callable[[], bool],
) -> ChildAnswer:
    """Run a function, named as `module:function`, in a process of its own.

    seconds: how long it may take; what it stood back for others is not counted, up to a bound.
    reserved_bytes: addresses that it may take beside its memory without using them.
    beat: called every few seconds, with the progress if there is new; the work is interrupted when it says no.
    is_stopping: asked several times a second; the work is interrupted when it says yes.
    """
    limits = {"memory_bytes": memory_bytes, "file_bytes": MOST_FILE_BYTES, "cpu_seconds": int(2 * seconds) + 1}
    limits["reserved_bytes"] = reserved_bytes
    with subprocess.Popen(
        [sys.executable, "-m", "tokumei.platform.jobs.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=little_environment(),
        start_new_session=True,
    ) as process:
        try:
            lower_priority(process.pid)
            _ask(process, {"function": function, "asked": dict(asked), "limits": limits})
            return _hear(process, seconds, beat, is_stopping)
        finally:
            # The whole group, or what it started would outlive it.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def little_environment() -> dict[str, str]:
    """Return the few environment variables a process needs, with one thread where many would compete."""
    return {name: os.environ[name] for name in PASSED_ON if name in os.environ} | THREADS


def lower_priority(pid: int) -> None:
    """Lower the process's priority from its first moment, so that pages go first."""
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, 0) + NICENESS)
        # Linux may weigh whole sessions, and this process is one of its own.
        Path(f"/proc/{pid}/autogroup").write_text(str(NICENESS))


def _ask(process: subprocess.Popen[bytes], asked: Mapping[str, object]) -> None:
    if process.stdin is None:
        return
    # A process that died at once is noticed by its silence.
    with suppress(BrokenPipeError):
        process.stdin.write(json.dumps(asked).encode() + b"\n")
        process.stdin.flush()


def _hear(process: subprocess.Popen[bytes], seconds: float, beat: Beat, is_stopping: Callable[[], bool]) -> ChildAnswer:
    ends_at = time.monotonic() + seconds
    lines = _Lines(process.stdout.fileno() if process.stdout is not None else -1)
    beaten_at = time.monotonic()
    progress: Mapping[str, object] | None = None
    while True:
        for line in lines.wait(LOOK_SECONDS):
            if "step" not in line:
                return answer_of(line)
            progress = line
        if lines.is_over:
            return ChildAnswer(failure=_end_of(process))
        if is_stopping():
            raise Interrupted
        now = time.monotonic()
        if now >= ends_at and now >= ends_at + min(seconds_delayed(process.pid), MOST_WAITING * seconds):
            return ChildAnswer(failure=TIMEOUT)
        if now - beaten_at >= (BEAT_SECONDS if progress is None else LOOK_SECONDS):
            if not beat(progress):
                raise Interrupted
            beaten_at, progress = now, None


def seconds_delayed(pid: int) -> float:
    """Return the seconds a process was ready while others had the processors; 0 where nobody counts them."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    return 0.0


def answer_of(line: JsonView) -> ChildAnswer:
    """Read the last line that a process told."""
    if "faults" in line:
        groups = tuple(line.get("groups", ()))
        told = from_json(line["said"]) if isinstance(line["said"], dict) else str(line["said"])
        return ChildAnswer(faults=tuple(line["faults"]), n_faults=int(line["n_faults"]), said=told, groups=groups)
    return ChildAnswer(failure=str(line["failure"])) if "failure" in line else ChildAnswer(result=dict(line["result"]))


def _end_of(process: subprocess.Popen[bytes]) -> str:
    try:
        code = process.wait(LOOK_SECONDS)
    except subprocess.TimeoutExpired:
        return "closed its output"
    return f"ended by signal {-code}" if code < 0 else f"ended with code {code}"


class _Lines:
    """The JSON lines of a pipe, read without waiting longer than asked."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._selector = selectors.DefaultSelector()
        self._selector.register(descriptor, selectors.EVENT_READ)
        self._rest = b""
        self.is_over = False

    def wait(self, seconds: float) -> list[dict[str, object]]:
        """Return the lines that came within the time."""
        if not self._selector.select(seconds):
            return []
        block = os.read(self._descriptor, 1024 * 1024)
        *whole, self._rest = (self._rest + block).split(b"\n")
        self.is_over = not block or len(self._rest) > MOST_LINE_BYTES
        return [json.loads(line) for line in whole]
