"""How long, how often and with how much a job may run; operators change it by the environment.

| variable                  | is                                                                    | otherwise |
|---------------------------|-----------------------------------------------------------------------|-----------|
| TOKUMEI_JOB_SECONDS       | how long one job may take                                             | 300       |
| TOKUMEI_JOB_MEMORY_BYTES  | how much address space its process may have                           | 8 GiB     |
| TOKUMEI_JOB_STALE_SECONDS | after how long without a sign of life a job is taken over             | 15        |
| TOKUMEI_JOB_RETRY_SECONDS | how long to wait before a failed job is tried again, twice as long next | 3         |
| TOKUMEI_JOB_ORPHAN_SECONDS | how old files of an upload that broke off must be to be removed      | 60        |
| TOKUMEI_JOB_NICENESS      | how far jobs stand back for pages, from 0 to 19, as of `nice`         | 10        |
"""

from __future__ import annotations

import os

from tokumei.core.errors import InputError

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
