"""Space on the disk: how much is left, and whether an error came of its lack."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

from django.conf import settings

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# Told before it is too late: so many of the largest requests still fit.
REQUESTS_TO_SPARE = 4
FILES_TO_SPARE = 1000
# What PostgreSQL calls a full disk.
POSTGRESQL_DISK_FULL = "53100"


def is_space_low() -> bool:
    """Whether a few more requests could fill the disk that the data folder is on."""
    found = os.statvfs(settings.DATA)
    is_short_of_files = found.f_files > 0 and found.f_favail < FILES_TO_SPARE
    return free_bytes() < REQUESTS_TO_SPARE * settings.MAX_REQUEST_BYTES or is_short_of_files


def free_bytes() -> int:
    """Return how many bytes can still be written."""
    found = os.statvfs(settings.DATA)
    return found.f_bavail * found.f_frsize


def is_out_of_space(error: BaseException | None) -> bool:
    """Whether an error, or one that led to it, says that the disk is full: the system's, SQLite's or PostgreSQL's."""
    return any(_tells_full_disk(each) for each in _chain(error))


def _tells_full_disk(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno in FULL:
        return True
    if getattr(error, "sqlstate", None) == POSTGRESQL_DISK_FULL:
        return True
    name = str(getattr(error, "sqlite_errorname", ""))
    # SQLite calls it an I/O error where it finds no room for what processes share.
    return name == "SQLITE_FULL" or (name.startswith("SQLITE_IOERR") and free_bytes() < settings.MAX_REQUEST_BYTES)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
