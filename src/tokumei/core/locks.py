"""A lock that processes of one machine hold on a file or a folder while they change it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tokumei.core.errors import InputError
from tokumei.core.text import Text

# Where the system has no locks that end with their process, somebody who was killed leaves a file behind.
LONGEST_WAIT, BETWEEN_TRIES = 60.0, 0.02


@contextmanager
def held(path: Path, *, is_shared: bool = False) -> Iterator[None]:
    """Hold a file or a folder; others wait, but for those who share it where the system can do that."""
    try:
        import fcntl
    except ImportError:
        with _held_by_a_file(path):
            yield
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _held_by_a_file(path: Path) -> Iterator[None]:
    """Hold a file by another one beside it, which only one process can make."""
    lock = path.with_name(f".{path.name}.lock")
    ends = time.monotonic() + LONGEST_WAIT
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            break
        except FileExistsError:
            if time.monotonic() > ends:
                raise InputError.of(
                    Text("no other process at work on it; delete {file} if there is none", file=lock.name), file=path
                ) from None
            time.sleep(BETWEEN_TRIES)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
